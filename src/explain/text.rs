//! An explanation in words first, then in tables.

use super::attribute::{OfClass, OfPart, Parts};
use super::predict::{Explanation, NativeSource, OfEnvironment, Tried};
use super::rounds::Figure;
use crate::model::visible;
use crate::recording::Recording;
use crate::units;

/// Parts with a smaller share of the extra time have no row.
const LEAST_SHARE: f64 = 0.01;
/// Places and programs that are shown, unless all are asked for.
const MOST_ROWS: usize = 6;
/// Columns of sentences and tables.
const WIDTH: usize = 80;
/// Columns of a name in a table.
const NAME: usize = 34;

/// The whole output of `envtax explain`. `long`: every part of the extra time. `dropped`: calls
/// that are recorded and not re-enacted, by name.
pub fn text(
    recording: &Recording,
    it: &Explanation,
    dropped: &[(&str, u64)],
    long: bool,
) -> String {
    let mut text = heading(it);
    for environment in &it.environments {
        text += "\n";
        text += &sentences(environment, it);
        if long || ["slower", "faster"].contains(&environment.verdict) {
            text += &tables(&environment.parts, long);
        }
        text += &tried(&environment.tried);
    }
    let left_out = super::show::left_out(recording, dropped);
    if left_out.is_empty() { text } else { format!("{text}{left_out}\n") }
}

/// Which of the native times is which, and what else the machine did.
fn heading(it: &Explanation) -> String {
    let mut text = format!("{}, natively\n", visible(&it.name));
    let mut row = |what: &str, figure: &Figure, note: &str| {
        text += &format!("  {what:15}{:18}  {note}\n", time(figure));
    };
    if let Some(recorded) = &it.recorded_native
        && matches!(it.real_native_from, NativeSource::Recorded | NativeSource::Scaled)
    {
        row("when recorded", recorded, "the program itself, without a recorder");
    }
    row("re-enacted", &it.reenacted_native, "here and now");
    text += &wrapped(&format!(
        "Native time used for predictions: {} ({}).",
        time(&it.real_native),
        source(it.real_native_from)
    ));
    text + &wrapped(&it.state)
}

fn source(of: NativeSource) -> &'static str {
    match of {
        NativeSource::SameRounds => "the program's, measured in the same rounds",
        NativeSource::Recorded => "the program's when it was recorded",
        NativeSource::Scaled => {
            "the program's when it was recorded, times how much longer its re-enactment takes now"
        }
        NativeSource::Reenactment => "the re-enactment's",
        NativeSource::NotEnded => {
            "the re-enactment's, as the program did not end in time when it was recorded"
        }
    }
}

fn time(figure: &Figure) -> String {
    match figure.interval {
        Some((low, high)) => {
            let width = units::time((high - low) / 2.0);
            format!("{} ± {width}", units::time(figure.value))
        }
        None => units::time(figure.value),
    }
}

/// `2.41 times (2.30 to 2.52)`.
pub fn factor(figure: &Figure) -> String {
    let two = |value: f64| format!("{:.2}", value.max(0.0));
    match figure.interval {
        Some((low, high)) => {
            format!("{} times ({} to {})", two(figure.value), two(low), two(high))
        }
        None => format!("{} times", two(figure.value)),
    }
}

fn sentences(it: &OfEnvironment, all: &Explanation) -> String {
    let name = visible(&it.name);
    if let Some(failure) = &it.failure {
        let why = visible(failure);
        return wrapped(&format!("{name}: cannot be predicted, because {why}"));
    }
    let (Some(slowdown), Some(wall)) = (&it.slowdown, &it.wall) else {
        return wrapped(&format!("{name}: cannot be predicted, because there are too few rounds"));
    };
    let mut text =
        format!("{name}: {}, {} the time: {}.", it.verdict, factor(slowdown), time(wall));
    if let Some(cpu) = &it.cpu_slowdown {
        text += &format!(" CPU time: {}.", factor(cpu));
    }
    if let Some(real) = &it.real_slowdown {
        let error = slowdown.value / real.value - 1.0;
        text += &format!(
            " The real program takes {}: the prediction is {:+.0} % off.",
            factor(real),
            error * 100.0
        );
    }
    let mut lines = wrapped(&text);
    if wall.value > all.real_native.value && it.verdict == "slower" {
        lines += &wrapped(&because(&it.parts));
    }
    if it.verdict == "inconclusive" {
        let more = it.rounds * 3;
        lines += &wrapped(&format!("More rounds may tell: give `--rounds {more}`."));
    }
    for sentence in &it.differs {
        lines += &wrapped(&format!("{sentence}."));
    }
    if !it.unlike.is_empty() {
        lines += &wrapped(&unlike(it));
    }
    lines
}

/// The largest shares in words.
fn because(parts: &Parts) -> String {
    let large = parts.classes.iter().filter(|class| class.share.value >= 0.05).take(3);
    let all: Vec<String> = large.map(in_words).collect();
    if all.is_empty() {
        return "No class of operations has a large share of the extra time.".into();
    }
    let mut text = format!("Of the extra time, {}.", all.join("; "));
    if let [first, _, ..] = parts.programs.as_slice()
        && first.share.value >= 0.05
    {
        text += &format!(" {} is in `{}`.", per_cent(&first.share), visible(&first.names[0]));
    }
    text
}

/// One class with its share, and where most of it is.
fn in_words(class: &OfClass) -> String {
    let place = class.place.as_ref().map_or(String::new(), |place| {
        let place = visible(place);
        match place.strip_suffix("/…") {
            Some(folder) => format!(", mostly below `{folder}`"),
            None => format!(", mostly `{place}`"),
        }
    });
    let times = if class.count == 1 { "once".into() } else { format!("{} times", class.count) };
    format!("{} is {} ({times}){place}", per_cent(&class.share), class.words)
}

fn per_cent(share: &Figure) -> String {
    let percent = |share: f64| (share * 100.0).round();
    match share.interval {
        Some((low, high)) if percent(low) != percent(high) => {
            format!("{} to {} %", percent(low).max(0.0), percent(high))
        }
        _ => format!("{} %", percent(share.value)),
    }
}

/// Calls that went otherwise than recorded.
fn unlike(it: &OfEnvironment) -> String {
    let mut calls: Vec<_> = it.unlike.iter().collect();
    calls.sort_by(|a, b| b.1.total_cmp(a.1));
    let calls: Vec<String> = calls
        .into_iter()
        .take(5)
        .map(|(name, count)| format!("{} × {}", visible(name), count.round()))
        .collect();
    format!(
        "Some calls fail there that did not, or the other way round ({}): the program may take \
         another path.",
        calls.join(", ")
    )
}

pub(super) fn wrapped(text: &str) -> String {
    units::wrapped(text, WIDTH).join("\n") + "\n"
}

/// One line of a table.
fn row(name: &str, count: u64, extra: &Figure, share: &Figure) -> String {
    // Not `-0`.
    let percent = |share: f64| format!("{:.0}", (share * 100.0).round() + 0.0);
    let interval = match share.interval {
        Some((low, high)) => format!(" ({} to {})", percent(low), percent(high)),
        None => String::new(),
    };
    let (name, extra) = (cut(name), units::time(extra.value));
    format!("  {name}{count:>9}{extra:>11}{:>5} %{interval}\n", percent(share.value))
}

/// A name in its columns; of one that is too long, the end.
fn cut(name: &str) -> String {
    let name = visible(name);
    let mut rest: &str = &name;
    while units::columns(rest) > NAME - 1 && !rest.is_empty() {
        let first = rest.chars().next().map_or(1, char::len_utf8);
        rest = &rest[first..];
    }
    let shown = if rest.len() < name.len() { format!("…{rest}") } else { rest.to_owned() };
    let room = NAME.saturating_sub(units::columns(&shown));
    format!("{shown}{}", " ".repeat(room))
}

fn tables(parts: &Parts, long: bool) -> String {
    let large = |share: &Figure| share.value.abs() >= LEAST_SHARE;
    let classes = parts.classes.iter().filter(|it| large(&it.share));
    let rows: String = classes.map(|it| row(it.class, it.count, &it.extra, &it.share)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let heading = |what: &str| {
        format!("\n  {what:NAME$}{:>9}{:>11}  share of extra time\n", "count", "extra")
    };
    let mut text = heading("by class") + &rows;
    match parts.side_by_side {
        true => text += "  Processes run side by side: shares are of the sum of all classes.\n",
        false => {
            let rest = format!("{:.0}", (1.0 - parts.attributed) * 100.0);
            text += &format!("  {:width$}{rest:>5} %\n", "in no class", width = NAME + 20);
        }
    }
    for (what, list) in [("by place", &parts.places), ("by program", &parts.programs)] {
        let most = if long { usize::MAX } else { MOST_ROWS };
        let rows = list.iter().filter(|it| large(&it.share)).take(most);
        let line = |it: &OfPart| row(&it.names.concat(), it.count, &it.extra, &it.share);
        let rows: Vec<String> = rows.map(line).collect();
        // One program is the whole.
        if rows.len() > usize::from(what == "by program") {
            text += &heading(what);
            text += &rows.concat();
        }
    }
    if long {
        text += &heading("by program, class and place");
        text += &tree(&parts.all);
    }
    text
}

/// What the flame graph shows, as indented lines.
fn tree(parts: &[OfPart]) -> String {
    let mut text = String::new();
    let positive = |it: &&OfPart| it.share.value >= LEAST_SHARE;
    let mut sorted: Vec<&OfPart> = parts.iter().filter(positive).collect();
    sorted.sort_by(|a, b| a.names.cmp(&b.names));
    let mut before: &[String] = &[];
    for part in sorted {
        let (last, above) = part.names.split_last().map_or(("", &[][..]), |(a, b)| (a.as_str(), b));
        let same = above.iter().zip(before).take_while(|(one, other)| one == other).count();
        for (depth, name) in above.iter().enumerate().skip(same) {
            text += &format!("  {}{}\n", "  ".repeat(depth), visible(name));
        }
        let name = format!("{}{last}", "  ".repeat(above.len()));
        text += &row(&name, part.count, &part.extra, &part.share);
        before = &part.names;
    }
    text
}

/// What each change gains.
fn tried(all: &[Tried]) -> String {
    let mut text = String::new();
    for it in all {
        let change = visible(&it.change);
        let Some((gain, share)) = it.gain.zip(it.share) else {
            let why = it.failure.as_deref().unwrap_or_default();
            text += &wrapped(&format!("With `{change}`: unknown, because {}.", visible(why)));
            continue;
        };
        let shares = match share.interval {
            Some((low, high)) if low > 0.0 || high < 0.0 => {
                format!("{:.0} to {:.0} %", low * 100.0, high * 100.0)
            }
            Some((low, high)) => {
                let ends = format!("{:.0} to {:.0} %", low * 100.0, high * 100.0);
                text += &wrapped(&format!("With `{change}`: no gain is shown ({ends})."));
                continue;
            }
            None => units::percent(share.value),
        };
        text += &wrapped(&format!(
            "With `{change}`: {} less of the time there, {} ({shares}).",
            units::percent(share.value),
            units::time(gain.value)
        ));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}
