//! A small table of published figures: `input,metric,value`, in seconds.

use anyhow::{Context, Result, bail, ensure};

use super::{FIGURES, Found, Run, Series, nanoseconds};
use crate::model::CommandCase;

/// The first line that is no comment.
pub(super) const HEADER: &str = "input,metric,value";

const LACKS: &str = "figures of a table, which does not say when, where and in which order they \
                     were measured, nor of which program";

pub(super) fn read(text: &str, stem: &str) -> Result<Option<Found>> {
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let header = lines.next().unwrap_or_default().replace([' ', '"'], "");
    if !header.eq_ignore_ascii_case(HEADER) {
        return Ok(None);
    }
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    // For each input, the values of each metric in the order of its runs.
    let mut inputs: Vec<(String, [Vec<u64>; 3])> = Vec::new();
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        let (Some(input), Some(metric), Some(value)) =
            (record.get(0), record.get(1), record.get(2))
        else {
            bail!("line {line}: has {} columns, and not three", record.len());
        };
        let figure = metric_of(metric).with_context(|| format!("line {line}"))?;
        let seconds = value.parse().with_context(|| format!("line {line}: `{value}`"))?;
        let ns = nanoseconds(seconds).with_context(|| format!("line {line}"))?;
        let at = inputs.iter().position(|(name, _)| name == input).unwrap_or_else(|| {
            inputs.push((input.to_owned(), Default::default()));
            inputs.len() - 1
        });
        inputs[at].1[figure].push(ns);
    }
    ensure!(!inputs.is_empty(), "has no values below `{HEADER}`");
    let series = inputs.into_iter().map(|(input, values)| {
        let [wall, user, system] = &values;
        ensure!(
            user.len().max(system.len()) <= wall.len(),
            "`{input}` has fewer values of `real` than of the other metrics"
        );
        let run = |index: usize| {
            let mut run: Run = [None; FIGURES];
            for (figure, values) in run.iter_mut().zip([wall, user, system]) {
                *figure = values.get(index).copied();
            }
            run
        };
        let runs = (0..wall.len()).map(run).collect();
        let input = Some(input).filter(|input| !input.is_empty());
        let case = CommandCase { input, ..CommandCase::default() };
        Ok(Series { column: stem.to_owned(), case, runs, notes: Vec::new() })
    });
    let series = series.collect::<Result<_>>()?;
    Ok(Some(Found { series, by_command: false, lacks: LACKS.into() }))
}

fn metric_of(name: &str) -> Result<usize> {
    Ok(match name {
        "real" | "wall" => 0,
        "user" => 1,
        "sys" | "system" => 2,
        _ => bail!("there is no metric `{name}`; there are real, user and sys"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_input_has_its_runs() {
        let text = "# who\ninput, metric, value\nA,real,2.672\nA,user,7.047\nB,real,1\nA,real,3\n";
        let found = read(text, "old").unwrap().unwrap();
        let inputs: Vec<_> = found.series.iter().map(|it| it.case.input.as_deref()).collect();
        assert_eq!(inputs, [Some("A"), Some("B")]);
        assert_eq!(found.series[0].column, "old");
        let runs = &found.series[0].runs;
        assert_eq!(runs[0][..3], [Some(2_672_000_000), Some(7_047_000_000), None]);
        assert_eq!(runs[1][..3], [Some(3_000_000_000), None, None]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_eq!(read("a,b\n1,2\n", "").unwrap(), None);
        let error =
            |rows: &str| format!("{:#}", read(&format!("{HEADER}\n{rows}"), "").unwrap_err());
        assert!(error("").contains("no values below"));
        assert!(error("A,real,1\nA,rea,1\n").contains("line 3: there is no metric `rea`"));
        assert!(error("A,real,fast\n").contains("line 2: `fast`"));
        assert!(error("A,real,-1\n").contains("line 2: -1 s is not a valid time"));
        assert!(error("A,real\n").contains("2 fields"), "{}", error("A,real\n"));
        assert!(error("A,user,1\n").contains("fewer values of `real`"));
        // One column whose name looks like three.
        let quoted = format!("{:#}", read(&format!("\"{HEADER}\"\nA\n"), "").unwrap_err());
        assert!(quoted.contains("line 2: has 1 columns, and not three"), "{quoted}");
    }
}
