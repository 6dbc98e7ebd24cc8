//! Reads a run file. Damage and impossible values are errors that name the file and the line.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{FORMAT, Header, Record, RunFile, limits, old_failure};
use crate::model::{SampleSet, visible_json};
use crate::sys;

/// Reads a run file. A last line that was cut off is a remark; any other damage is an error that
/// names the file and the line.
pub fn read(path: &Path) -> Result<RunFile> {
    parse(&contents(path)?).with_context(|| format!("`{}`", path.display()))
}

/// The bytes of a run file or of another program's results: of a file or of a pipe, within a limit.
pub fn contents(path: &Path) -> Result<Vec<u8>> {
    let most = limits::FILE;
    let read = || -> io::Result<Option<Vec<u8>>> {
        let about = fs::metadata(path)?;
        // A device may have no end.
        if !about.is_file() && sys::is_device(&about) {
            return Err(io::Error::other("is a device, and no file"));
        }
        let mut bytes = Vec::new();
        if about.len() <= most {
            File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
        }
        let fits = about.len() <= most && bytes.len() as u64 <= most;
        Ok(fits.then_some(bytes))
    };
    let bytes = read().with_context(|| format!("reading `{}`", path.display()))?;
    bytes.with_context(|| {
        format!("`{}` is larger than {} MiB: it is no run file", path.display(), most >> 20)
    })
}

pub fn parse(bytes: &[u8]) -> Result<RunFile> {
    let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let (whole, rest) = bytes.split_at(complete);
    let mut lines = whole.split_inclusive(|byte| *byte == b'\n').enumerate();
    let Some((_, first)) = lines.next() else {
        bail!("is not an envtax run file: it has no complete first line");
    };
    let mut run = RunFile {
        header: header_of(&visible_json(first))?,
        environments: Vec::new(),
        launches: Vec::new(),
        inspected: Vec::new(),
        blocks: Vec::new(),
        hosts: Vec::new(),
        outcomes: Vec::new(),
        end: None,
        remarks: Vec::new(),
        imported: false,
    };
    for (index, line) in lines {
        let record: Record = serde_json::from_slice(&visible_json(line))
            .with_context(|| format!("line {} is damaged", index + 1))?;
        let taken = limits::check(&record).and_then(|()| take(&mut run, record));
        taken.with_context(|| format!("line {}", index + 1))?;
    }
    if !rest.is_empty() {
        run.remarks.push("the last line is cut off and was left out".into());
    }
    if run.end.is_none() {
        run.remarks.push("the run was ended from outside before it was done".into());
    }
    Ok(run)
}

fn header_of(line: &[u8]) -> Result<Header> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
    }
    let version: Version =
        serde_json::from_slice(line).context("is not an envtax run file: line 1 is no header")?;
    if version.format > FORMAT {
        bail!(
            "has format {}, this envtax {} reads up to {FORMAT}; use a newer envtax",
            version.format,
            env!("CARGO_PKG_VERSION")
        );
    }
    let record = serde_json::from_slice(line).context("line 1 is damaged")?;
    limits::check(&record).context("line 1")?;
    match record {
        Record::Header(header) => Ok(header),
        _ => bail!("is not an envtax run file: line 1 is no header"),
    }
}

fn take(run: &mut RunFile, record: Record) -> Result<()> {
    let cases = run.header.plan.cases.len();
    let known = |case: usize| match case < cases {
        true => Ok(()),
        false => bail!("names case {case}, the plan has {cases}"),
    };
    match record {
        Record::Header(_) => bail!("is a second header"),
        Record::Environment(mut environment) => {
            if let Some(error) = &mut environment.error {
                old_failure::take_apart(error, &mut environment.details);
            }
            run.environments.push(environment);
        }
        Record::Launch(launch) => run.launches.push(launch),
        Record::Tuned(tuned) => known(tuned.case)?,
        Record::Inspected(inspected) => run.inspected.push(inspected),
        Record::Block(block) => {
            known(block.case)?;
            check(&block.set, run.header.plan.cases[block.case].phases.len())?;
            run.blocks.push(block);
        }
        Record::Host(host) => run.hosts.push(host),
        Record::Outcome(mut outcome) => {
            known(outcome.case)?;
            old_failure::take_apart(&mut outcome.why.what, &mut outcome.why.details);
            run.outcomes.push(outcome);
        }
        Record::End(end) => run.end = Some(end),
    }
    Ok(())
}

/// A block must have what the estimators divide by. Errors say what is missing.
pub fn check(set: &SampleSet, phases: usize) -> Result<()> {
    if set.iterations == 0 {
        bail!("is a block without iterations");
    }
    if set.samples.len() != phases {
        bail!("is a block of {} phases, its case has {phases}", set.samples.len());
    }
    let count = set.samples.first().map_or(0, Vec::len);
    if count == 0 || set.samples.iter().any(|samples| samples.len() != count) {
        bail!("is a block whose phases have not the same number of samples");
    }
    limits::check_set(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, EnvSpec, Facts, LaunchCount, Phase, Plan, PlannedCase, Stop, Work};
    use crate::runfile::EndReason;

    fn header(format: u32) -> String {
        let plan = Plan {
            environments: vec![EnvSpec::new("native", "native", "")],
            reference: "native".into(),
            cases: vec![PlannedCase {
                case: Case { probe: "null".into(), params: Default::default(), dir: None },
                phases: vec![Phase::timed("")],
                unit: "iteration".into(),
                work: Work::Probe,
            }],
            named: Default::default(),
            dirs: Vec::new(),
            seed: 1,
            stop: Stop::at_precision(0.02, 15, 60.0),
            launches: LaunchCount::Affordable,
            cold_launches: false,
            fixed_order: false,
            load: 0,
            commands: None,
        };
        let header = Header {
            format,
            envtax: "0.1.0".into(),
            started: "2026-01-01T00:00:00Z".into(),
            host: Facts::new(),
            plan,
        };
        serde_json::to_string(&Record::Header(header)).unwrap() + "\n"
    }

    fn error(text: &str) -> String {
        format!("{:#}", parse(text.as_bytes()).unwrap_err())
    }

    const END: &str = "{\"record\":\"end\",\"reason\":\"budget\",\"elapsed_s\":1.0}\n";

    #[test]
    fn a_whole_file_is_read_without_remarks() {
        let run = parse((header(1) + END).as_bytes()).unwrap();
        assert_eq!(run.end.unwrap().reason, EndReason::Budget);
        assert!(run.remarks.is_empty());
    }

    #[test]
    fn a_cut_last_line_is_a_remark() {
        let whole = header(1) + END;
        for cut in header(1).len()..whole.len() {
            let run = parse(&whole.as_bytes()[..cut]).unwrap();
            assert_eq!(run.end, None);
            assert!(run.remarks.iter().any(|remark| remark.contains("ended from outside")));
            let said = run.remarks.iter().any(|remark| remark.contains("cut off"));
            assert_eq!(said, cut > header(1).len());
        }
    }

    #[test]
    fn damage_in_the_middle_names_its_line() {
        let text = header(1) + "{\"record\":\"blo\n" + END;
        assert!(error(&text).contains("line 2 is damaged"), "{}", error(&text));
        let text = header(1) + &header(1);
        assert!(error(&text).contains("line 2: is a second header"), "{}", error(&text));
        let outcome = r#"{"record":"outcome","env":"a","case":5,"state":"failed","reason":"x"}"#;
        let text = format!("{}{outcome}\n", header(1));
        assert!(error(&text).contains("line 2: names case 5, the plan has 1"));
    }

    #[test]
    fn other_files_and_newer_versions_are_refused() {
        assert!(error("").contains("not an envtax run file"));
        assert!(error("hello\n").contains("not an envtax run file"));
        assert!(error(END).contains("not an envtax run file"));
        assert!(error(&header(9)).contains("has format 9"));
        assert!(error(&header(9)).contains("newer envtax"));
    }
}
