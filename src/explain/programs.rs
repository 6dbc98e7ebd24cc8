//! What an environment costs several recorded programs, on one screen: the worst first.

use super::predict::{Explanation, OfEnvironment};
use super::text::wrapped;
use crate::model::visible;
use crate::units;

/// Columns of a table.
const WIDTH: usize = 80;
/// Columns of a program's name.
const NAME: usize = 14;

/// A table for each environment.
pub fn programs(all: &[Explanation]) -> String {
    let Some(first) = all.first() else { return "nothing was re-enacted\n".into() };
    let mut text = String::new();
    for (at, environment) in first.environments.iter().enumerate() {
        text += &format!("What {} costs recorded programs\n", visible(&environment.name));
        text += &format!(
            "  {:NAME$}{:>10}  {:24}verdict  most of it\n",
            "program", "natively", "times as long"
        );
        let mut rows: Vec<_> =
            all.iter().filter_map(|it| Some((it, it.environments.get(at)?))).collect();
        let worst = |it: &OfEnvironment| it.slowdown.map_or(f64::INFINITY, |it| it.value);
        rows.sort_by(|a, b| worst(b.1).total_cmp(&worst(a.1)));
        for (program, there) in rows {
            text += &row(program, there);
        }
        text += "\n";
    }
    text += &wrapped(&first.state);
    text + &wrapped(
        "Times are those of re-enactments: the programs themselves are not needed. `envtax \
         explain NAME` tells about one of them, `envtax list recordings` what they are.",
    )
}

fn row(program: &Explanation, there: &OfEnvironment) -> String {
    let name = visible(&program.name);
    let native = units::time(program.reenacted_native.value);
    let start = format!("  {name:NAME$}{native:>10}  ");
    if let Some(failure) = &there.failure {
        let text = format!("cannot be predicted, because {}", visible(failure));
        return units::wrapped(&text, WIDTH - NAME - 14)
            .into_iter()
            .enumerate()
            .map(|(at, line)| match at {
                0 => format!("{start}{line}\n"),
                _ => format!("{:width$}{line}\n", "", width = NAME + 14),
            })
            .collect();
    }
    let slower = match there.slowdown {
        Some(it) => {
            let ends = it.interval.map_or(String::new(), |(low, high)| {
                format!(" ({} to {})", units::factor(low.max(0.0)), units::factor(high))
            });
            format!("{}{ends}", units::factor(it.value))
        }
        None => "too few rounds".into(),
    };
    let largest = there.parts.classes.first().filter(|_| there.verdict == "slower");
    let largest =
        largest.map_or(String::new(), |it| format!("{} {:.0} %", it.class, it.share.value * 100.0));
    let verdict = if there.verdict == "inconclusive" { "open" } else { there.verdict };
    format!("{start}{slower:24}{verdict:9}{largest}").trim_end().to_owned() + "\n"
}
