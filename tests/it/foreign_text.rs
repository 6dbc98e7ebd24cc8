//! Text from environments and files is shown without effect: no escape sequence reaches the
//! terminal, from any field of any record.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::support::Place;

/// Clears the screen, sets the clipboard, reverses the following text, and rings the bell.
const EVIL: &str = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{202e}\u{9b}31m";

/// A formula for spreadsheets, and HTML, code, links, cells and blocks for Markdown.
const MARKUP: &str =
    "=1+1|2<img src=x onerror=a()>\" onload=\"b()\"`c`[d](http://e)<!--\n# f\n| g |\n";

/// For each place of a string: a copy of the file's lines with the evil text before and behind it.
fn with_evil_text(lines: &[Value], evil: [&str; 2]) -> Vec<(String, Vec<Value>)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, line) in lines.iter().enumerate() {
        for pointer in strings(line) {
            let kind = line["record"].as_str().unwrap_or_default();
            // One of each kind of place is enough, so numbers of lists are left out.
            let place: String = pointer
                .split('/')
                .filter(|word| word.parse::<usize>().is_err())
                .map(|word| format!("/{word}"))
                .collect();
            if pointer == "/record" || !seen.insert(format!("{kind}{place}")) {
                continue;
            }
            let mut copy = lines.to_vec();
            let text = copy[number].pointer_mut(&pointer).unwrap();
            *text = Value::String(format!("{}{}{}", evil[0], text.as_str().unwrap(), evil[1]));
            found.push((format!("{kind} {pointer}"), copy));
        }
    }
    found
}

/// JSON pointers of all strings below the value.
fn strings(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        strings(value).into_iter().map(move |rest| format!("/{key}{rest}")).collect::<Vec<_>>()
    };
    match value {
        Value::String(_) => vec![String::new()],
        Value::Array(values) => {
            values.iter().enumerate().flat_map(|(at, it)| below(&at.to_string(), it)).collect()
        }
        Value::Object(fields) => fields.iter().flat_map(|(key, it)| below(key, it)).collect(),
        _ => Vec::new(),
    }
}

#[track_caller]
fn is_harmless(what: &str, text: &str) {
    let bad = |c: &char| {
        let control = c.is_control() && !"\n\t".contains(*c);
        control || ('\u{202a}'..='\u{202e}').contains(c)
    };
    let found = text.chars().find(bad);
    assert!(found.is_none(), "{what}: {found:?} reaches the reader in\n{text:?}");
}

/// Every unescaped character with a meaning is one that the report itself writes.
#[track_caller]
fn is_plain_markdown(what: &str, text: &str) {
    let mut columns = None;
    for line in text.lines() {
        // What stands between backticks has no meaning but that of a cell's end.
        let own = line.replace("<br>", "").replace("&emsp;", "").replace("**", "");
        let (mut cells, mut code, mut escaped) = (0, false, false);
        for char in own.chars() {
            let meant = !std::mem::take(&mut escaped);
            match char {
                '\\' if meant && !code => escaped = true,
                '`' if meant => code = !code,
                '|' if code && own.starts_with('|') => {
                    assert!(own.contains("\\|"), "{what}: a cell ends in code in\n{line}")
                }
                '|' if meant && !code => cells += 1,
                '<' | '[' | '&' | '*' => {
                    assert!(code || !meant, "{what}: `{char}` has a meaning in\n{line}")
                }
                _ => {}
            }
        }
        assert!(!code, "{what}: code has no end in\n{line}");
        columns = own.starts_with('|').then_some(cells);
        let begins = ["| ", "- ", "**", ""].iter().any(|begin| line.starts_with(begin));
        assert!(begins && !line.starts_with('#'), "{what}: {line}");
        if let Some(columns) = columns {
            assert_eq!(columns, cells, "{what}: {line}");
        }
    }
    assert!(columns.is_none() || text.ends_with('\n'));
}

/// An article is Markdown with its own headings, pictures and commands.
#[track_caller]
fn is_plain_article(what: &str, text: &str) {
    let mut plain = String::new();
    for line in text.lines() {
        // A line of four spaces is code up to its end.
        if line.starts_with("    ") {
            assert!(line.contains("envtax compare"), "{what}: {line}");
            continue;
        }
        let heading = line.trim_start_matches('#');
        assert!(line.len() - heading.len() <= 2, "{what}: {line}");
        let own = heading.trim_start().trim_start_matches('!');
        let picture = own.strip_suffix(".svg)").and_then(|own| own.rsplit_once("]("));
        match picture {
            Some((alt, name)) => {
                assert!(["forest", "layout"].contains(&name), "{what}: {line}");
                plain.push_str(alt.trim_start_matches('['));
            }
            None => plain.push_str(own),
        }
        plain.push('\n');
    }
    is_plain_markdown(what, &plain);
}

/// The page's own data, as a link that is a download.
const OWN_DATA: &str = "data:application/gzip;base64,";

/// Every element and attribute is one that the program itself writes, and nothing is loaded.
#[track_caller]
fn is_own_markup(what: &str, text: &str) {
    let (mut rest, mut tags) = (text, 0);
    while let Some((_, after)) = rest.split_once('<') {
        let end = after.find('>').unwrap_or_else(|| panic!("{what}: an element has no end"));
        let tag = &after[..end];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        assert!(ELEMENTS.contains(&name), "{what}: <{tag}>");
        for (attribute, value) in attributes(tag) {
            let own = ATTRIBUTES.contains(&attribute) || attribute.starts_with("data-");
            assert!(own || attribute.starts_with("aria-"), "{what}: {attribute} in <{tag}>");
            let inside = value.starts_with('#') || value.starts_with(OWN_DATA);
            assert!(attribute != "href" || inside, "{what}: loads {value}");
        }
        tags += 1;
        rest = &after[end + 1..];
        // What stands in these is no markup up to their end.
        if name == "style" && !tag.starts_with('/') {
            let (inner, after) = rest.split_once(&format!("</{name}>")).expect("an end");
            let loads = inner.contains("url(") || inner.contains("@import");
            assert!(!loads, "{what}: the style loads something");
            rest = after;
        }
    }
    assert!(tags > 10, "{what}: {tags} elements");
}

/// The attributes of an element with their values.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = tag.split_once(' ').map_or("", |it| it.1);
    while let Some((name, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"').unwrap_or((after, ""));
        found.push((name.trim().rsplit(' ').next().unwrap(), value));
        rest = after;
    }
    found
}

const ELEMENTS: &[&str] = &[
    "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "header", "main", "section",
    "nav", "h1", "h2", "h3", "p", "ul", "li", "a", "br", "code", "pre", "strong", "span", "div",
    "figure", "details", "summary", "table", "caption", "thead", "tbody", "tr", "th", "td",
    "button", "svg", "desc", "g", "text", "line", "rect", "circle", "path", "dl", "dt", "dd",
    "abbr",
];

const ATTRIBUTES: &[&str] = &[
    "lang",
    "charset",
    "name",
    "content",
    "http-equiv",
    "class",
    "id",
    "href",
    "download",
    "tabindex",
    "role",
    "scope",
    "colspan",
    "type",
    "xmlns",
    "viewBox",
    "width",
    "height",
    "x",
    "y",
    "x1",
    "x2",
    "y1",
    "y2",
    "r",
    "cx",
    "cy",
    "d",
    "text-anchor",
    "transform",
    "title",
];

/// Cells are numbers or begin with nothing that a spreadsheet takes for a formula.
#[track_caller]
fn is_no_formula(what: &str, text: &str) {
    for record in csv::Reader::from_reader(text.as_bytes()).records() {
        for cell in record.unwrap_or_else(|error| panic!("{what}: {error}")).iter() {
            let formula = cell.trim_start().starts_with(['=', '+', '-', '@']);
            assert!(!formula || cell.parse::<f64>().is_ok(), "{what}: `{cell}` is a formula");
        }
    }
}

/// Records of a short run with a few of its blocks: they are read hundreds of times.
fn records(place: &Place) -> Vec<Value> {
    let run = place.run(&["native", "b=namespace"], &["syscall.getppid", "file.stat"]);
    run.args(["--budget", "1s"]).run();
    let text = place.read("run.jsonl");
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut blocks = 0;
    lines.retain(|line| {
        blocks += usize::from(line["record"] == "block");
        line["record"] != "block" || blocks <= 24
    });
    lines
}

/// Shows every variant of the run file in every format; those in which the mark was seen.
fn shown_in(
    place: &Place,
    evil: [&str; 2],
    mark: &str,
    check: impl Fn(&str, &str, &str),
) -> BTreeSet<String> {
    let variants = with_evil_text(&records(place), evil);
    assert!(variants.len() > 40, "{}", variants.len());
    let file = place.path("evil.jsonl");
    let (formats, mut shown) = (place.formats(), BTreeSet::new());
    for (what, lines) in variants {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, text).unwrap();
        for format in &formats {
            let done = place.envtax(["compare", "evil.jsonl", "--format", format]).run();
            let what = format!("{what} as {format}");
            is_harmless(&what, &done.out);
            is_harmless(&what, &done.err);
            check(&what, format, &done.out);
            if done.out.contains(mark) {
                shown.insert(format.clone());
            }
        }
    }
    shown
}

#[test]
fn no_field_of_a_run_file_reaches_the_terminal_as_it_is() {
    let place = Place::new();
    let shown = shown_in(&place, ["", EVIL], "u{1b}", |_, _, _| {});
    // Otherwise the text was not shown, and nothing was tested.
    assert_eq!(shown.len(), place.formats().len(), "{shown:?}");
}

#[test]
fn no_field_of_a_run_file_becomes_markup_or_a_formula() {
    let place = Place::new();
    let shown = shown_in(&place, [MARKUP, MARKUP], "onerror", |what, format, text| match format {
        "markdown" => is_plain_markdown(what, text),
        "article" => is_plain_article(what, text),
        "csv" => is_no_formula(what, text),
        "html" | "svg" if !text.is_empty() => is_own_markup(what, text),
        _ => {}
    });
    assert_eq!(shown.len(), place.formats().len(), "{shown:?}");
}

#[test]
fn no_field_of_an_import_reaches_the_terminal_as_it_is() {
    let place = Place::new();
    let table = format!("input,metric,value\na{EVIL},real,1.0\na{EVIL},real,1.1\n");
    fs::write(place.path("t.csv"), table).unwrap();
    let command = serde_json::to_string(&format!("ls {EVIL}")).unwrap();
    let json = format!(
        r#"{{"results":[{{"command":{command},"mean":1.0,"times":[1.0,1.1,1.2],
        "exit_codes":[0,0,0],"parameters":{{"n":{command}}}}}]}}"#
    );
    fs::write(place.path("h.json"), json).unwrap();
    for file in ["t.csv", "h.json"] {
        let done = place.envtax(["compare", file]).run();
        is_harmless(file, &done.out);
        is_harmless(file, &done.err);
    }
}

#[test]
fn what_an_environment_prints_does_not_reach_the_terminal_as_it_is() {
    let place = Place::new();
    let script = format!("#!/bin/sh\nprintf '%s\\n' '{EVIL}' >&2\nexit 7\n");
    let path = place.path("bad.sh");
    fs::write(&path, script).unwrap();
    let run = place.run(&["native", &format!("b=cmd:sh {path}")], &["syscall.getppid"]);
    let done = run.args(["--budget", "1s"]).run();
    is_harmless("stderr of a launcher", &done.out);
    is_harmless("stderr of a launcher", &done.err);
    done.exits(3);
}
