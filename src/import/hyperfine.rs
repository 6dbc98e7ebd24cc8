//! hyperfine's `--export-json`.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{FIGURES, Found, Run, Series, nanoseconds};
use crate::model::CommandCase;

const LACKS: &str = "hyperfine's results: the runs of each command came one after the other, not \
                     in turn with the others', so that a drift of the machine looks like a \
                     difference; user and system time are means over all runs, without spread; \
                     the file does not say when and where they ran, nor which program it was";

#[derive(Deserialize)]
struct Export {
    results: Vec<Outcome>,
}

/// One command; versions differ in what they tell beside its runs.
#[derive(Deserialize)]
struct Outcome {
    command: String,
    user: Option<f64>,
    system: Option<f64>,
    times: Vec<f64>,
    #[serde(default)]
    memory_usage_byte: Vec<u64>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

pub(super) fn read(text: &str, _: &str) -> Result<Option<Found>> {
    if !text.trim_start().starts_with('{') || !text.contains("\"results\"") {
        return Ok(None);
    }
    let export: Export =
        serde_json::from_str(text).context("is not the whole of hyperfine's JSON")?;
    ensure!(!export.results.is_empty(), "has no results");
    let columns = columns(&export.results);
    let varied = columns.is_some();
    let columns = columns
        .unwrap_or_else(|| numbered(export.results.iter().map(|it| it.command.clone()).collect()));
    let series = export.results.iter().zip(columns).map(|(outcome, column)| {
        let series = || series(outcome, column.clone(), varied);
        series().with_context(|| format!("the command `{}`", outcome.command))
    });
    let series = series.collect::<Result<_>>()?;
    Ok(Some(Found { series, by_command: true, lacks: LACKS.into() }))
}

fn series(outcome: &Outcome, column: String, varied: bool) -> Result<Series> {
    let mut runs = Vec::new();
    for (index, time) in outcome.times.iter().enumerate() {
        let mut run: Run = [None; FIGURES];
        run[0] = Some(nanoseconds(*time)?);
        // A mean of all runs is one figure, not one of each.
        if index == 0 {
            run[1] = outcome.user.map(nanoseconds).transpose()?;
            run[2] = outcome.system.map(nanoseconds).transpose()?;
        }
        run[3] = outcome.memory_usage_byte.get(index).copied();
        runs.push(run);
    }
    let failed = outcome.exit_codes.iter().filter(|code| **code != Some(0)).count();
    let mut notes = Vec::new();
    if failed > 0 {
        notes.push(format!("the command failed in {failed} of {} runs", outcome.times.len()));
    }
    ensure!(!runs.is_empty(), "has no runs");
    let values = if varied { outcome.parameters.clone() } else { BTreeMap::new() };
    Ok(Series { column, case: CommandCase { values, ..CommandCase::default() }, runs, notes })
}

/// The commands with `{NAME}` where a parameter was, if that gives each command the same set of
/// parameters: then they are columns, and the parameters rows. hyperfine keeps the commands as they
/// were run only.
fn columns(results: &[Outcome]) -> Option<Vec<String>> {
    let template = |outcome: &Outcome| {
        let fill = |command: String, (name, value): (&String, &String)| {
            if value.is_empty() { command } else { command.replace(value, &format!("{{{name}}}")) }
        };
        outcome.parameters.iter().fold(outcome.command.clone(), fill)
    };
    let columns: Vec<String> = results.iter().map(template).collect();
    let mut names: Vec<&String> = columns.iter().collect();
    names.sort();
    names.dedup();
    let mut cases: Vec<&BTreeMap<String, String>> =
        results.iter().map(|outcome| &outcome.parameters).collect();
    cases.sort();
    cases.dedup();
    let mut cells: Vec<_> = columns.iter().zip(results.iter().map(|it| &it.parameters)).collect();
    cells.sort();
    cells.dedup();
    let whole = cells.len() == results.len() && names.len() * cases.len() == results.len();
    whole.then_some(columns)
}

/// Names that are given several times with numbers behind them.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut number = |name: String| {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    names.into_iter().map(&mut number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#""times":[0.5]"#;

    fn result(command: &str, more: &str) -> String {
        format!(r#"{{"command":"{command}","mean":0.5,"user":0.2,"system":null,{more}}}"#)
    }

    fn found(results: &[String]) -> Vec<Series> {
        let text = format!(r#"{{"results":[{}]}}"#, results.join(","));
        read(&text, "").unwrap().unwrap().series
    }

    #[test]
    fn commands_are_columns_and_means_stand_once() {
        let more = r#""times":[0.4,0.6],"memory_usage_byte":[10,20],"exit_codes":[0,1]"#;
        let series = found(&[result("a", more), result("b", ONE), result("b", ONE)]);
        let columns: Vec<&str> = series.iter().map(|it| it.column.as_str()).collect();
        assert_eq!(columns, ["a", "b", "b (2)"]);
        let first = [Some(400_000_000), Some(200_000_000), None, Some(10), None, None];
        let second = [Some(600_000_000), None, None, Some(20), None, None];
        assert_eq!(series[0].runs, [first, second]);
        assert_eq!(series[0].notes, ["the command failed in 1 of 2 runs"]);
        assert_eq!((series[1].runs.len(), series[1].notes.len()), (1, 0));
    }

    #[test]
    fn parameters_are_rows_where_the_commands_allow_it() {
        let with = |command: &str, n: &str| {
            result(command, &format!(r#""times":[1],"parameters":{{"n":"{n}"}}"#))
        };
        let series =
            found(&[with("x -j3", "3"), with("x -j4", "4"), with("y 3", "3"), with("y 4", "4")]);
        let cells: Vec<(&str, &str)> =
            series.iter().map(|it| (it.column.as_str(), it.case.values["n"].as_str())).collect();
        assert_eq!(cells, [("x -j{n}", "3"), ("x -j{n}", "4"), ("y {n}", "3"), ("y {n}", "4")]);
        // The value is elsewhere in one of the commands too: no common command is found.
        let series = found(&[with("x3 3", "3"), with("x3 4", "4")]);
        assert_eq!(series[0].column, "x3 3");
        assert!(series[0].case.values.is_empty());
    }

    #[test]
    fn what_is_cut_off_says_whose_it_is() {
        assert_eq!(read("{\"a\":1}", "").unwrap(), None);
        let error = |text: &str| format!("{:#}", read(text, "").unwrap_err());
        assert!(error("{\"results\":[{\"comm").contains("not the whole of hyperfine's JSON"));
        assert!(error("{\"results\":[]}").contains("no results"));
        assert!(
            error(&format!("{{\"results\":[{}]}}", result("a", "\"x\":1"))).contains("`times`")
        );
        assert!(
            error(&format!("{{\"results\":[{}]}}", result("a", "\"times\":[]")))
                .contains("no runs")
        );
        let negative = format!("{{\"results\":[{}]}}", result("a", "\"times\":[-1]"));
        assert!(error(&negative).contains("the command `a`"), "{}", error(&negative));
    }
}
