//! The costs as text for a terminal. Pure.

use unicode_width::UnicodeWidthStr;

use super::costs::{Added, Cost, Costs, Drop};
use crate::model::visible_line;
use crate::units;

/// Columns of a figure with its interval, and the most of a name.
const FIGURE: usize = 17;
const NAME: usize = 26;
/// Columns of the page.
const WIDTH: usize = 80;

/// The tables: what each library adds, and what dropping one gains.
pub fn text(costs: &Costs) -> String {
    let loaders = usize::from(costs.loader.is_some());
    let libraries = costs.added.len().saturating_sub(loaders);
    let plural = if libraries == 1 { "library" } else { "libraries" };
    let mut text = format!(
        "{} loads {libraries} {plural}; {} rounds\neach row adds to those above it\n",
        visible_line(&costs.program),
        costs.rounds
    );
    text.push_str(&format!("\n{}", line("", &["start", "exit", "both"].map(str::to_owned))));
    let nothing = costs.nothing.map(figure);
    let (first, last) = match costs.loader {
        Some(_) => ("a static program", "loader and libraries"),
        None => ("a process of envtax", "all libraries"),
    };
    text.push_str(&line(first, &nothing));
    costs.added.iter().for_each(|added| text.push_str(&row(added)));
    text.push_str(&line(last, &costs.all.map(figure)));
    if costs.added.iter().any(|added| added.alone.is_some()) {
        text.push_str("\nalone: added to a program without libraries, with what it needs\n");
        for added in costs.added.iter().filter(|added| added.alone.is_some()) {
            let asked: Vec<&str> = added.asked_by.iter().map(String::as_str).collect();
            let asked = match asked.as_slice() {
                [one] => format!("asked for by {one} only"),
                few if few.len() <= 3 => format!("asked for by {}", few.join(", ")),
                many => format!("asked for by {} others", many.len()),
            };
            let first = line(&added.name, &[figure(added.alone)]);
            text.push_str(&beside(first.trim_end(), &visible_line(&asked)));
        }
    }
    if !costs.imports.is_empty() {
        text.push_str("\nwhen the program does not ask for one of these, it gains per start\n");
        costs.imports.iter().for_each(|import| text.push_str(&gain(import)));
    }
    let note = |text: &str| units::wrapped(text, WIDTH).join("\n") + "\n";
    if !costs.kept_by_others.is_empty() {
        let names = costs.kept_by_others.join(", ");
        let others = format!("gains nothing alone, as others ask for it, too: {names}");
        text.push_str(&format!("\n{}", note(&visible_line(&others))));
    }
    if !costs.delayed.is_empty() {
        let names = costs.delayed.join(", ");
        let delayed = format!("loaded at first use only, and not measured: {names}");
        text.push_str(&format!("\n{}", note(&visible_line(&delayed))));
    }
    if !costs.present.is_empty() {
        let names = costs.present.join(", ");
        let present = format!("in every process of envtax, and not measured: {names}");
        text.push_str(&format!("\n{}", note(&visible_line(&present))));
    }
    for added in &costs.added {
        if let Some(failure) = &added.failure {
            let failed = format!("without a figure: {}: {failure}", added.name);
            text.push_str(&format!("\n{}", note(&visible_line(&failed))));
        }
    }
    text
}

fn row(added: &Added) -> String {
    if let Some(other) = &added.together_with {
        return line(&added.name, &[format!("  in {}", visible_line(other))]);
    }
    line(&added.name, &[added.start, added.exit, added.whole].map(figure))
}

/// What dropping an import gains, and what goes with it.
fn gain(drop: &Drop) -> String {
    let thousand = drop.gain.map(|gain| units::time(gain.ns * 1e3));
    let thousand = thousand.map(|gain| format!("{gain} per 1000 starts")).unwrap_or_default();
    let first = line(&drop.import, &[figure(drop.gain)]);
    let with = match drop.goes_with.is_empty() {
        true => thousand,
        false if drop.goes_with.len() > 6 => {
            format!("{thousand}, with {} others", drop.goes_with.len())
        }
        false => format!("{thousand}, with {}", drop.goes_with.join(", ")),
    };
    beside(first.trim_end(), &visible_line(&with))
}

/// A text beside the line, broken where the page ends.
fn beside(line: &str, text: &str) -> String {
    let start = NAME + FIGURE + 2;
    let mut lines = units::wrapped(text, WIDTH - start).into_iter();
    let first = format!("{line}  {}\n", lines.next().unwrap_or_default());
    lines.fold(first, |all, rest| format!("{all}{:start$}{rest}\n", ""))
}

fn figure(cost: Option<Cost>) -> String {
    match cost {
        None => "–".to_owned(),
        Some(Cost { ns, half_width: None }) => units::time(ns),
        Some(Cost { ns, half_width: Some(half) }) => {
            format!("{} ±{}", units::time(ns), units::time(half))
        }
    }
}

/// A name and figures at the right of their columns.
fn line(name: &str, figures: &[String]) -> String {
    let mut name = visible_line(name).into_owned();
    while name.width() > NAME {
        name.pop();
        if name.width() < NAME {
            name.push('…');
            break;
        }
    }
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()));
    let mut line = format!("{name}{}", pad(&name, NAME));
    for figure in figures {
        line.push_str(&format!("{}{figure}", pad(figure, FIGURE + 1)));
    }
    line.trim_end().to_owned() + "\n"
}
