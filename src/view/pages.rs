//! What each address shows: the list of files, a comparison with its choices, a history, downloads.

use std::rc::Rc;
use std::sync::Arc;

use anyhow::{Context, Error, Result, ensure};
use maud::{Markup, html};

use super::files::{ENTRIES, Files, Listing, Summary};
use super::history::{self, Taxes};
use super::request::{Request, encoded};
use super::response::Response;
use crate::compare::{Comparison, Margins, Row, compare, sides, tax_of};
use crate::model::{Failure, visible};
use crate::report::{self, CHARTS, Detail, Explained, REPORTS, Style, failure};
use crate::runfile::RunFile;
use crate::units;
use crate::words::{LANGUAGES, Language, Words};

/// Most files of one comparison.
const MOST: usize = 40;
/// Files of one page of the list.
const SHOWN: usize = 250;
/// The margin that the form begins with, in per cent.
const MARGIN: f64 = 3.0;
/// Orders other than the usual ones: of the list, and of the rows of a comparison.
const BY_NAME: &str = "name";
const BY_TAX: &str = "tax";
/// What can be downloaded: the format, the ending of its file, its type.
const DOWNLOADS: [(&str, &str, &str); 6] = [
    ("html", "html", "text/html; charset=utf-8"),
    ("svg", "svg", "image/svg+xml"),
    ("png", "png", "image/png"),
    ("article", "md", "text/markdown; charset=utf-8"),
    ("json", "json", "application/json"),
    ("csv", "csv", "text/csv; charset=utf-8"),
];

/// Whether this build has the format: `png` is a feature.
fn is_built(format: &str) -> bool {
    REPORTS.iter().any(|report| report.info().name == format)
}

/// What a probe is, by its id.
type Tip = fn(&str, &Words) -> Option<Explained>;

/// What the user chose.
#[derive(Clone)]
struct Choice<'a> {
    files: Vec<&'a str>,
    reference: Option<&'a str>,
    margin: f64,
    filter: &'a str,
    /// The order of the rows; the usual one if it is empty.
    sort: &'a str,
    chart: &'a str,
    language: Language,
}

impl<'a> Choice<'a> {
    fn of(request: &'a Request, language: Language) -> Result<Choice<'a>> {
        let language = request.value("lang").map_or(Ok(language), Language::find)?;
        let margin = request.value("margin").map_or(Ok(MARGIN), str::parse);
        let margin = margin.context("the margin must be a number, in per cent")?;
        ensure!(margin.is_finite() && margin >= 0.0, "the margin must be zero or more");
        let files: Vec<&str> = request.values("file").collect();
        ensure!(files.len() <= MOST, "at most {MOST} files are compared at once");
        Ok(Choice {
            files,
            reference: request.value("reference"),
            margin,
            filter: request.value("filter").unwrap_or_default(),
            sort: request.value("sort").unwrap_or_default(),
            chart: request.value("chart").unwrap_or(CHARTS[0].name),
            language,
        })
    }

    /// The choice as a part of an address.
    fn query(&self) -> String {
        let mut pairs: Vec<(&str, String)> =
            self.files.iter().map(|file| ("file", (*file).to_owned())).collect();
        pairs.extend(self.reference.map(|reference| ("reference", reference.to_owned())));
        pairs.push(("margin", self.margin.to_string()));
        pairs.push(("filter", self.filter.to_owned()));
        pairs.push(("sort", self.sort.to_owned()));
        pairs.push(("lang", self.language.code.to_owned()));
        let pair = |(name, value): &(&str, String)| format!("{name}={}", encoded(value));
        pairs.iter().map(pair).collect::<Vec<_>>().join("&")
    }
}

/// The answer to a request for that address below the token.
pub fn answer(
    (files, taxes): (&Files, &Taxes),
    (language, probe): (Language, Tip),
    rest: &str,
    request: &Request,
) -> Result<Response> {
    let choice = Choice::of(request, language)?;
    let words = Words::of(choice.language);
    match rest {
        "" => index(files, (request, &choice), &words),
        "compare" => comparison(files, &choice, (words, probe), None),
        "history" => history((files, taxes), request, &words),
        "download" => {
            let format = request.value("format").unwrap_or("html");
            comparison(files, &choice, (words, probe), Some(format))
        }
        _ => Ok(shell(&words, &words.say("view-nothing-here"), html! {}).with_status(404)),
    }
}

/// An error as a page.
pub fn problem(language: Language, error: &Error) -> Response {
    let words = Words::of(language);
    let shown = visible(&failure::long(&Failure::new(format!("{error:#}")))).to_string();
    let body = html! { p { (shown) } p { a href="./" { (words.say("view-back")) } } };
    shell(&words, &words.say("view-problem"), body).with_status(400)
}

fn shell(words: &Words, title: &str, body: Markup) -> Response {
    Response::page(report::shell(words, title, body))
}

/// Which files of the list are shown, and in which order.
struct Part<'a> {
    find: &'a str,
    order: &'a str,
    from: usize,
}

impl<'a> Part<'a> {
    fn of(request: &'a Request) -> Result<Part<'a>> {
        let from = request.value("from").map_or(Ok(0), str::parse);
        Ok(Part {
            find: request.value("find").unwrap_or_default(),
            order: request.value("order").unwrap_or_default(),
            from: from.context("`from` must be a number of files")?,
        })
    }

    /// The files that fit, in that order.
    fn choose(&self, files: &'a [Arc<Summary>]) -> Vec<&'a Summary> {
        let find = self.find.to_lowercase();
        let fits = |it: &&Summary| {
            let facts = it.facts.iter().map(|(_, value)| value.as_str());
            let own = [it.name.as_str()].into_iter();
            let all = own.chain(it.environments.iter().map(String::as_str)).chain(facts);
            all.collect::<Vec<_>>().join(" ").to_lowercase().contains(&find)
        };
        let mut chosen: Vec<&Summary> = files.iter().map(Arc::as_ref).filter(fits).collect();
        if self.order == BY_NAME {
            chosen.sort_by(|a, b| a.name.cmp(&b.name));
        }
        chosen
    }
}

fn index(
    files: &Files,
    (request, choice): (&Request, &Choice<'_>),
    words: &Words,
) -> Result<Response> {
    let part = Part::of(request)?;
    let Listing { files, damaged, cut } = files.list()?;
    let chosen = part.choose(&files);
    let body = html! {
        form .bar method="get" action="./" {
            label { (words.say("view-filter")) " "
                input type="search" name="find" value=(part.find); }
            label { (words.say("view-sort")) " " select name="order" {
                option value="" { (words.say("view-sort-date")) }
                option value=(BY_NAME) selected[part.order == BY_NAME] {
                    (words.say("view-sort-name"))
                }
            } }
            (language_choice(words, choice.language))
            button { (words.say("view-apply")) }
        }
        @if files.is_empty() { p { strong { (words.say("view-empty")) } } }
        @if cut { p { (words.with("view-cut", &[("most", ENTRIES.into())])) } }
        @if !files.is_empty() {
            (list(words, choice, &part, &chosen))
            form .bar method="get" action="history" {
                input type="hidden" name="lang" value=(choice.language.code);
                input type="hidden" name="find" value=(part.find);
                label { (words.say("view-history")) " "
                    input type="text" name="row" placeholder="syscall.getppid" required; }
                button { (words.say("view-show")) }
            }
            p .dim { (words.with("view-limits", &[
                ("files", MOST.into()), ("history", history::MOST.into()),
            ])) }
        }
        @if !damaged.is_empty() { details {
            summary { (words.with("view-damaged", &[("count", damaged.len().into())])) }
            ul { @for (name, why) in damaged.iter().take(200) {
                li { code { (visible(name)) } ": " (visible(why)) }
            } }
        } }
        form method="post" action="stop" { button { (words.say("view-stop")) } }
    };
    Ok(shell(words, &words.say("view-title"), body))
}

/// A page of the list as a form, which keeps what is ticked on other pages.
fn list(words: &Words, choice: &Choice<'_>, part: &Part<'_>, chosen: &[&Summary]) -> Markup {
    let from = part.from.min(chosen.len());
    let to = (from + SHOWN).min(chosen.len());
    let shown = &chosen[from..to];
    let is_shown = |file: &&&str| shown.iter().any(|it| visible(&it.name) == **file);
    let range = [("from", (from + 1).into()), ("to", to.into()), ("count", chosen.len().into())];
    let page = |from: usize, id: &str| {
        html! { button formaction="./" name="from" value=(from) { (words.say(id)) } " " }
    };
    html! { form method="get" action="compare" {
        input type="hidden" name="lang" value=(choice.language.code);
        input type="hidden" name="find" value=(part.find);
        input type="hidden" name="order" value=(part.order);
        @for file in choice.files.iter().filter(|file| !is_shown(file)) {
            input type="hidden" name="file" value=(visible(file));
        }
        (file_table(words, shown, &choice.files))
        p {
            button { (words.say("view-compare")) } " "
            @if shown.len() < chosen.len() {
                @if from > 0 { (page(from.saturating_sub(SHOWN), "view-before")) }
                @if to < chosen.len() { (page(to, "view-after")) }
                (words.with("view-shown", &range))
            }
        }
    } }
}

fn file_table(words: &Words, shown: &[&Summary], ticked: &[&str]) -> Markup {
    let columns = ["file", "started", "environments", "cases", "size", "machine"];
    html! { div .scroll tabindex="0" role="group" aria-label=(words.say("view-title")) { table {
        thead { tr { @for column in columns {
            th scope="col" { (words.say(&format!("view-column-{column}"))) }
        } } }
        tbody { @for it in shown { tr {
            th scope="row" .name {
                input type="checkbox" name="file" value=(visible(&it.name))
                    checked[ticked.contains(&&*visible(&it.name))]
                    aria-label=(visible(&it.name));
                " "
                @let file = encoded(&visible(&it.name));
                a href={ "compare?file=" (file) "&lang=" (words.language.code) } {
                    (visible(&it.name))
                }
            }
            td { (it.started) " (" (it.version) ")" }
            td { (it.environments.join(", ")) }
            td .number { (it.cases) }
            td .number { (units::bytes(it.bytes as f64)) }
            td { (it.facts.iter().map(|it| it.1.as_str()).collect::<Vec<_>>().join(" · ")) }
        } } }
    } } }
}

fn language_choice(words: &Words, own: Language) -> Markup {
    html! { label { (words.say("view-language")) " " select name="lang" {
        @for language in LANGUAGES {
            option value=(language.code) selected[*language == own] { (language.name) }
        }
    } } }
}

/// The comparison as a page of the viewer, or in a format to keep.
fn comparison(
    files: &Files,
    choice: &Choice<'_>,
    (words, probe): (Words, Tip),
    format: Option<&str>,
) -> Result<Response> {
    ensure!(!choice.files.is_empty(), "{}", words.say("view-none-chosen"));
    let sources: Vec<(String, Rc<RunFile>, Option<String>)> = choice
        .files
        .iter()
        .map(|name| Ok((visible(name).to_string(), Rc::new(files.read(name)?), None)))
        .collect::<Result<_>>()?;
    let sides = sides(&sources, choice.reference)?;
    let mut comparison = compare(&sides, &Margins::general(choice.margin / 100.0))?;
    choose_rows(&mut comparison, choice);
    let mut again = vec!["envtax".to_owned(), "compare".to_owned()];
    again.extend(choice.files.iter().map(|file| visible(file).to_string()));
    if choice.margin != MARGIN {
        again.extend(["--margin".to_owned(), choice.margin.to_string()]);
    }
    let chart = report::find_chart(choice.chart)?;
    let bar = toolbar(&words, choice, &comparison);
    let (colour, width, layout, detail) = (false, None, None, Detail::Screen);
    let style = Style { colour, width, layout, detail, words, chart, probe, again };
    let Some(format) = format else {
        return Ok(Response::page(report::page_with(&comparison, &style, bar)?));
    };
    let kept = DOWNLOADS.iter().find(|kept| kept.0 == format);
    let (_, ending, kind) = kept.with_context(|| format!("there is no download `{format}`"))?;
    let bytes = report::find(format)?.render(&comparison, &style)?;
    Ok(Response::download(&format!("envtax.{ending}"), kind, bytes))
}

/// Keeps the rows that the user asked for, in the order that the user asked for.
fn choose_rows(comparison: &mut Comparison, choice: &Choice<'_>) {
    let rows = std::mem::take(&mut comparison.rows);
    let lines = std::mem::take(&mut comparison.time_lines);
    let mut both: Vec<_> = rows.into_iter().zip(lines).collect();
    both.retain(|(row, _)| row.name().to_lowercase().contains(&choice.filter.to_lowercase()));
    let size = |row: &Row| {
        let taxes = row.cells.iter().filter_map(tax_of).map(|tax| tax.ratio.ln().abs());
        taxes.filter(|it| it.is_finite()).fold(0.0, f64::max)
    };
    if choice.sort == BY_TAX {
        both.sort_by(|a, b| size(&b.0).total_cmp(&size(&a.0)));
    }
    (comparison.rows, comparison.time_lines) = both.into_iter().unzip();
    let rows = &comparison.rows;
    comparison.areas.retain(|area| rows.iter().any(|row| row.area() == area.area));
}

/// The choices above a comparison.
fn toolbar(words: &Words, choice: &Choice<'_>, comparison: &Comparison) -> Markup {
    let link = |format: &str, chart: &str| {
        format!("download?format={format}&chart={chart}&{}", choice.query())
    };
    html! {
        form .bar method="get" action="compare" {
            a href={ "./?lang=" (choice.language.code) } { (words.say("view-back")) }
            @for file in &choice.files { input type="hidden" name="file" value=(visible(file)); }
            label { (words.say("view-reference")) " " select name="reference" {
                @for label in &comparison.columns {
                    option value=(label) selected[*label == comparison.reference] { (label) }
                }
            } }
            label { (words.say("view-margin")) " "
                input type="number" name="margin" min="0" step="any" value=(choice.margin); }
            label { (words.say("view-rows")) " "
                input type="search" name="filter" value=(choice.filter); }
            label { (words.say("view-sort")) " " select name="sort" {
                option value="" { (words.say("view-sort-area")) }
                option value=(BY_TAX) selected[choice.sort == BY_TAX] {
                    (words.say("view-sort-tax"))
                }
            } }
            (language_choice(words, choice.language))
            button { (words.say("view-apply")) }
        }
        p { a href={ "compare?" (Choice { sort: BY_TAX, ..choice.clone() }.query()) "#matrix" } {
            (words.say("view-worst"))
        } }
        p .bar { (words.say("view-download"))
            @for (format, ..) in DOWNLOADS.iter().filter(|kept| is_built(kept.0)) {
                " " a href=(link(format, choice.chart)) { (format) }
            }
        }
        details { summary { (words.say("view-pictures")) }
            ul { @for chart in CHARTS.iter().filter(|chart| chart.name != "layout") { li {
                (chart.name) ": "
                a href=(link("svg", chart.name)) { "svg" } " "
                @if is_built("png") { a href=(link("png", chart.name)) { "png" } }
            } } }
        }
    }
}

fn history((files, taxes): (&Files, &Taxes), request: &Request, words: &Words) -> Result<Response> {
    let row = request.value("row").context("choose a row, such as syscall.getppid")?;
    let listing = files.list()?;
    let chosen = Part::of(request)?.choose(&listing.files);
    let body = history::body((files, taxes), &chosen, row, words);
    let back =
        html! { p { a href={ "./?lang=" (words.language.code) } { (words.say("view-back")) } } };
    Ok(shell(words, &visible(row), html! { (back) (body) }))
}
