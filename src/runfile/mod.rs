//! The run file: JSON Lines, one record a line, appended and flushed record by record, so that a
//! killed run loses at most the block in flight. May use `model`. Must not compute: it keeps raw
//! samples.
//!
//! `docs/RUN-FILE.md` describes the format for other programs.

mod old_failure;

use std::collections::BTreeMap;
mod redact;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::model::{ClockFacts, Details, Facts, Failure, Plan, SampleSet, visible_json};

pub use redact::Redactor;

/// Version of the format. Readers take this one and every earlier one.
pub const FORMAT: u32 = 1;

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Header(Header),
    Environment(Environment),
    Launch(Launch),
    Tuned(Tuned),
    Inspected(Inspected),
    Block(Block),
    Host(Host),
    Outcome(Outcome),
    End(End),
}

/// The first record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub format: u32,
    pub envtax: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// Facts of the machine that the controller ran on.
    pub host: Facts,
    pub plan: Plan,
}

/// An environment that was started, or the reason why it was not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    pub name: String,
    /// Why it did not start, as a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What else is known of that.
    #[serde(flatten)]
    pub details: Details,
    #[serde(default)]
    pub facts: Facts,
    #[serde(default)]
    pub clock: ClockFacts,
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// From starting the command until the agent's greeting, in ms.
    #[serde(default)]
    pub started_in_ms: f64,
    /// Facts of each target directory as seen there, by its name.
    #[serde(default)]
    pub dirs: BTreeMap<String, Facts>,
}

/// One start of an environment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    pub env: String,
    /// Which of the starts it is, from 0; all environments are started as often. Blocks name it.
    pub launch: u32,
    /// Page caches were emptied before.
    #[serde(default)]
    pub cold: bool,
    /// From starting the command until the agent's greeting, in ms.
    pub started_in_ms: f64,
    /// What the environment's processes on this side had used and held at the greeting: the
    /// launcher, its helpers and the agent. Absent where they are not seen.
    #[serde(flatten)]
    pub outside: Outside,
}

/// What the processes of an environment take on the controller's side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outside {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// Sum of their proportional set sizes, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
}

/// The sample size that suits a case in an environment. What was used is in the blocks: where it
/// is near the reference's, that is taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    pub env: String,
    /// Index into the plan's cases, here and in the other records.
    pub case: usize,
    pub iterations: u64,
    pub each_ns: f64,
}

/// What the commands of an environment are made of, as found there after their first runs, which
/// would not be the first to read it otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inspected {
    pub env: String,
    /// Path, size, hash and headers of each program, by its name in the command.
    #[serde(default)]
    pub programs: BTreeMap<String, Facts>,
    /// Size and hash of each input, by its path.
    #[serde(default)]
    pub files: BTreeMap<String, Facts>,
}

/// One block as its worker measured it, and as the controller saw it from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub env: String,
    pub case: usize,
    /// Round of this case; round 0 is a warm-up and counts for nothing.
    pub round: u32,
    /// Place of the environment in the round, from 0.
    pub place: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// The controller's clock when it asked, in ns since the run began.
    pub asked_ns: u64,
    /// From asking until the answer was here, in ns, by the controller's clock.
    pub outer_ns: u64,
    /// Tasks of the machine that ran or waited for a CPU when it asked, without the controller's.
    /// Absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable: Option<u32>,
    /// Of which [`Launch`] of the environment it is.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub launch: u32,
    /// CPU time that the environment's processes took on the controller's side meanwhile, in ns, to
    /// the clock tick. Absent where they are not seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside_cpu_ns: Option<u64>,
    #[serde(flatten)]
    pub set: SampleSet,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// The machine between two laps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub at_ns: u64,
    /// CPU time taken by the hypervisor, by all that ran (the hypervisor included), and in all with
    /// the idle time, in clock ticks since boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_ticks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ticks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_ticks: Option<u64>,
    /// The system's own average of the load over a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_1min: Option<f64>,
}

/// A case that was not measured in an environment, or not to the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub env: String,
    pub case: usize,
    pub state: OutcomeState,
    #[serde(flatten)]
    pub why: Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeState {
    /// It cannot be measured there.
    Skipped,
    /// It was tried and went wrong.
    Failed,
}

/// The last record; a run that was killed has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    pub reason: EndReason,
    pub elapsed_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    Precision,
    Budget,
    Interrupted,
}

/// A run file being written.
pub struct Writer {
    file: File,
    path: PathBuf,
}

impl Writer {
    /// Creates the file. One that exists is an error unless `replace` is set.
    pub fn create(path: &Path, replace: bool) -> Result<Writer> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(replace).create_new(!replace);
        match options.open(path) {
            Ok(file) => Ok(Writer { file, path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(
                "`{}` exists; choose another name with `-o`, or replace it with `--force`",
                path.display()
            ),
            Err(error) => Err(error).with_context(|| format!("creating `{}`", path.display())),
        }
    }

    /// Appends one record in one write.
    pub fn write(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.with_context(|| format!("writing `{}`", self.path.display()))
    }
}

/// A run file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct RunFile {
    pub header: Header,
    pub environments: Vec<Environment>,
    pub launches: Vec<Launch>,
    pub inspected: Vec<Inspected>,
    pub blocks: Vec<Block>,
    pub hosts: Vec<Host>,
    pub outcomes: Vec<Outcome>,
    pub end: Option<End>,
    /// What a reader should know of the file's state: cut off, or without an end.
    pub remarks: Vec<String>,
    /// Results of another program, of which nothing was measured in turn; a remark says what they
    /// lack.
    pub imported: bool,
}

/// Reads a run file. A last line that was cut off is a remark; any other damage is an error that
/// names the file and the line.
pub fn read(path: &Path) -> Result<RunFile> {
    let bytes = std::fs::read(path).with_context(|| format!("reading `{}`", path.display()))?;
    parse(&bytes).with_context(|| format!("`{}`", path.display()))
}

fn parse(bytes: &[u8]) -> Result<RunFile> {
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
        take(&mut run, record).with_context(|| format!("line {}", index + 1))?;
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
    match serde_json::from_slice(line).context("line 1 is damaged")? {
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
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Case, EnvSpec, LaunchCount, Phase, PlannedCase, Stop, Work};

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
            dirs: Vec::new(),
            seed: 1,
            stop: Stop::at_precision(0.02, 15, 60.0),
            launches: LaunchCount::Affordable,
            cold_launches: false,
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

    #[test]
    fn an_existing_file_is_not_replaced_unasked() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.jsonl");
        Writer::create(&path, false).unwrap();
        let again = Writer::create(&path, false).map(drop).unwrap_err();
        assert!(again.to_string().contains("--force"));
        Writer::create(&path, true).unwrap();
    }
}
