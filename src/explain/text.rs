//! An explanation in words first, then in tables.

use super::predict::{Explanation, Figure, OfClass, OfEnvironment};
use crate::model::visible;
use crate::recording::Recording;
use crate::units;

/// Classes with a smaller share of the extra time have no row.
const LEAST_SHARE: f64 = 0.01;
/// Columns of sentences.
const WIDTH: usize = 80;

/// The whole output of `envtax explain`.
pub fn text(recording: &Recording, it: &Explanation) -> String {
    let mut text = format!(
        "{}: {} natively ({}), {} re-enacted\n",
        visible(&it.name),
        time(&it.real_native),
        it.real_native_from,
        time(&it.reenacted_native)
    );
    for environment in &it.environments {
        text += "\n";
        text += &sentences(environment, it);
        if ["slower", "faster"].contains(&environment.verdict) {
            text += &table(environment);
        }
    }
    text + &left_out(recording)
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

fn factor(figure: &Figure) -> String {
    match figure.interval {
        Some((low, high)) => {
            format!("{:.2} times [{:.2}, {:.2}]", figure.value, low.max(0.0), high)
        }
        None => format!("{:.2} times", figure.value),
    }
}

fn sentences(it: &OfEnvironment, all: &Explanation) -> String {
    let name = visible(&it.name);
    if let Some(failure) = &it.failure {
        let why = visible(failure);
        return wrapped(&format!("{name}: cannot be predicted, because {why}"));
    }
    let (Some(slowdown), Some(wall)) = (&it.slowdown, &it.wall) else {
        return wrapped(&format!("{name}: too few rounds"));
    };
    let mut text = format!(
        "{name}: {}; it takes {} the time there, {}.",
        it.verdict,
        factor(slowdown),
        time(wall)
    );
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
    let extra = wall.value - all.real_native.value;
    if extra > 0.0 && it.verdict == "slower" {
        lines += &wrapped(&because(it));
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
fn because(it: &OfEnvironment) -> String {
    let of = |class: &OfClass| {
        let percent = |share: f64| (share * 100.0).round();
        let share = match class.share.interval {
            Some((low, high)) if percent(low) != percent(high) => {
                format!("{} to {} %", percent(low).max(0.0), percent(high))
            }
            _ => format!("{} %", percent(class.share.value)),
        };
        format!("{share} is {} ({} times)", class.words, class.count)
    };
    let large = it.classes.iter().filter(|class| class.share.value >= 0.05).take(3);
    let all: Vec<String> = large.map(of).collect();
    match all.is_empty() {
        true => "No class of operations has a large share of the extra time.".into(),
        false => format!("Of the extra time, {}.", all.join("; ")),
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

fn wrapped(text: &str) -> String {
    units::wrapped(text, WIDTH).join("\n") + "\n"
}

fn table(it: &OfEnvironment) -> String {
    let rows: Vec<&OfClass> =
        it.classes.iter().filter(|class| class.share.value.abs() >= LEAST_SHARE).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut text =
        format!("\n  {:11}{:>9}{:>12}  share of the extra time\n", "class", "count", "extra");
    for row in rows {
        let percent = |share: f64| format!("{:.0}", share * 100.0);
        let interval = match row.share.interval {
            Some((low, high)) => format!(" [{}, {}]", percent(low), percent(high)),
            None => String::new(),
        };
        text += &format!(
            "  {:11}{:>9}{:>12}  {} %{interval}\n",
            row.class,
            row.count,
            units::time(row.extra.value),
            percent(row.share.value)
        );
    }
    let rest = 1.0 - it.attributed;
    if it.side_by_side {
        return text + "  Processes run side by side: shares are of the sum of all classes.\n";
    }
    text += &format!("  {:32}  {:.0} %\n", "in no class", rest * 100.0);
    text
}

fn left_out(recording: &Recording) -> String {
    let text = super::show::left_out(recording);
    if text.is_empty() { text } else { text + "\n" }
}
