//! A whole post in Markdown: question, environments, method, findings, tables, limits, and how to
//! repeat it. Its sentences follow from the verdicts.

use anyhow::Result;

use super::escape::{markdown_cell, markdown_item};
use super::page::title;
use super::{Report, ReportInfo, Style, chart, findings, markdown, notes, screen, sections, table};
use crate::compare::{Comparison, Row};
use crate::units;
use crate::words::{Words, text};

pub struct Article;

static INFO: ReportInfo = ReportInfo {
    name: "article",
    layouts: true,
    sections: false,
    summary: "a whole post in Markdown",
};

/// Facts that a reader asks for first.
const FACTS: [&str; 7] =
    ["environment", "distribution", "kernel", "cpu", "cpus", "memory", "launcher"];
/// Longest value in the table of environments, in characters.
const LONG: usize = 60;

impl Report for Article {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, style: &Style) -> Result<Vec<u8>> {
        let words = &style.words;
        let mut post = Post { text: String::new(), words };
        post.text = format!("# {}\n\n", markdown_item(&title(words, comparison)));
        post.paragraph(&question(words, comparison));
        post.picture(comparison, style, "forest");
        post.heading("article-findings");
        post.list(&findings::sentences(comparison, words));
        post.heading("article-environments");
        post.text.push_str(&environments(words, comparison));
        post.heading("article-method");
        let margin = units::percent(comparison.margin);
        post.paragraph(&words.with("article-method-text", &[("margin", text(&margin))]));
        post.paragraph(&screen::state(&comparison.conditions, words).1);
        post.heading("article-results");
        if let Some(layout) = style.layout {
            post.picture(comparison, style, "layout");
            let tables = layout.of(comparison, words)?;
            post.text.extend(tables.sheets.iter().map(markdown::sheet));
            post.list(&tables.notes);
        }
        post.text.push_str(&matrix(words, comparison));
        let legend = words.with("matrix-legend", &[("margin", text(&margin))]);
        post.paragraph(&legend);
        post.text.extend(sections::sheets(comparison, words).iter().map(markdown::sheet));
        post.heading("article-limits");
        post.list(&notes::notes(comparison, words));
        post.heading("article-repeat");
        post.repeat(style);
        Ok(post.text.into_bytes())
    }
}

struct Post<'a> {
    text: String,
    words: &'a Words,
}

impl Post<'_> {
    fn heading(&mut self, id: &str) {
        self.text.push_str(&format!("\n## {}\n\n", self.words.say(id)));
    }

    fn paragraph(&mut self, text: &str) {
        self.text.push_str(&format!("{}\n\n", markdown_item(text)));
    }

    fn list(&mut self, items: &[String]) {
        self.text.extend(items.iter().map(|item| format!("- {}\n", markdown_item(item))));
        self.text.push('\n');
    }

    /// A chart as a file beside the post, if there is anything in it.
    fn picture(&mut self, comparison: &Comparison, style: &Style, name: &str) {
        let scene = chart::Scene { comparison, words: self.words, layout: style.layout };
        let drawn = chart::find(name).and_then(|chart| chart.picture(&scene));
        if let Ok(picture) = drawn {
            let title = markdown_item(&picture.title);
            self.text.push_str(&format!("![{title}]({name}.svg)\n\n"));
        }
    }

    /// The commands that make this post and its pictures.
    fn repeat(&mut self, style: &Style) {
        let again = style.again.iter().map(|word| word.replace('\n', " "));
        let again = shell_words::join(again.collect::<Vec<_>>());
        let mut lines = vec![format!("{again} --format article > post.md")];
        let mut charts = vec!["forest"];
        charts.extend(style.layout.map(|_| "layout"));
        for name in charts.into_iter().filter(|name| self.text.contains(&format!("({name}.svg)"))) {
            let layout = style.layout.map(|it| format!(" --layout {}", it.name));
            let layout = layout.unwrap_or_default();
            lines.push(format!("{again}{layout} --format svg --chart {name} > {name}.svg"));
        }
        self.text.push_str(&format!("{}\n\n", self.words.say("article-repeat-text")));
        self.text.extend(lines.iter().map(|line| format!("    {line}\n")));
    }
}

fn question(words: &Words, comparison: &Comparison) -> String {
    let rows = comparison.rows.iter().filter(|row| table::has_lines(row)).count();
    words.with(
        "article-question",
        &[
            ("reference", text(&comparison.reference)),
            ("others", text(&words.listed(&comparison.columns[1..]))),
            ("rows", rows.into()),
        ],
    )
}

/// The facts of each environment that a reader asks for first.
fn environments(words: &Words, comparison: &Comparison) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let labels = comparison.columns.iter().map(|label| markdown_cell(label));
    let mut table = line(std::iter::once(String::new()).chain(labels).collect());
    table.push_str(&line(vec!["---".into(); comparison.columns.len() + 1]));
    for fact in FACTS {
        let value = |facts: &crate::model::Facts| {
            let value = facts.get(fact).map(String::as_str).unwrap_or_default();
            markdown_cell(&value.chars().take(LONG).collect::<String>())
        };
        let cells: Vec<String> = comparison.specs.iter().map(value).collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            let name = words.say(&format!("fact-{fact}"));
            table.push_str(&line(std::iter::once(name).chain(cells).collect()));
        }
    }
    table + "\n"
}

/// All verdicts as a table.
fn matrix(words: &Words, comparison: &Comparison) -> String {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| table::has_lines(row)).collect();
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let labels = comparison.columns.iter().map(|label| markdown_cell(label));
    let mut text = line(std::iter::once(words.say("column-row")).chain(labels).collect());
    let sides = vec!["---:".to_owned(); comparison.columns.len()];
    text.push_str(&line(std::iter::once("---".to_owned()).chain(sides).collect()));
    for row in rows {
        let cell = |column: usize| {
            let mark = chart::mark(words, row, column);
            markdown_cell(format!("{} {}", mark.text, mark.words).trim())
        };
        let cells = (0..comparison.columns.len()).map(cell);
        let name = markdown_cell(&table::title(words, row));
        text.push_str(&line(std::iter::once(name).chain(cells).collect()));
    }
    text + "\n"
}
