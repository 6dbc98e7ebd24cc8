//! Results of other programs, turned into run files: hyperfine's, those of `time`, and tables. One
//! file a format; the content of a file shows its format. Notes say what the results lack. May use
//! `model` and `runfile`. Must not invent a figure: what a file lacks stays unknown.

mod hyperfine;
mod table;
mod time;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::model::{
    COMMAND, Case, CommandCase, CommandPhase, EnvSpec, Extras, LaunchCount, Params, Plan,
    PlannedCase, SampleSet, Stop, Usage, Work, visible, visible_json,
};
use crate::runfile::{self, Block, End, EndReason, Environment, FORMAT, Header, RunFile};

/// The beginning of every run file.
const RUN_FILE: &[u8] = b"{\"record\"";
/// Number of figures that a run can have: the first ones of [`CommandPhase::ALL`].
const FIGURES: usize = 6;
/// The longest plausible run, in seconds.
const LONGEST_S: f64 = 1e9;

/// One run: wall, user and system time in ns, peak memory in bytes, page faults, context switches.
type Run = [Option<u64>; FIGURES];

/// The runs of one command with one input.
#[derive(Debug, Default, PartialEq)]
struct Series {
    /// Name of the environment, which is the column.
    column: String,
    case: CommandCase,
    runs: Vec<Run>,
    /// Notes for the report.
    notes: Vec<String>,
}

/// The content of a file.
#[derive(Debug, PartialEq)]
struct Found {
    series: Vec<Series>,
    /// Whether the columns are commands, which then name them.
    by_command: bool,
    /// A sentence about what results of this kind lack.
    lacks: String,
}

/// Reads the results of another program from that file. None for a run file, and for a file that is
/// too damaged to recognise: the reader of run files gives the better error.
pub fn read(path: &Path) -> Result<Option<RunFile>> {
    let bytes = runfile::contents(path)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&bytes, &stem).with_context(|| format!("`{}`", path.display()))
}

pub fn parse(bytes: &[u8], stem: &str) -> Result<Option<RunFile>> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    // Programs on Windows like to begin with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    if bytes.starts_with(RUN_FILE) {
        return Ok(None);
    }
    let text = &visible_text(text);
    for read in [hyperfine::read, table::read, time::read] {
        if let Some(found) = read(text, stem)? {
            return Ok(Some(run_file(found, text)?));
        }
    }
    // If the text begins like a run file, the reader of run files gives the error.
    ensure!(
        text.is_empty() || text.starts_with('{'),
        "is not an envtax run file, nor hyperfine's `--export-json`, the output of `time`, or a \
         table with the header `{}`",
        table::HEADER
    );
    Ok(None)
}

/// The text with nothing in it that a terminal would act on. JSON has such characters as escapes;
/// a text that only begins like JSON is read as the output of `time`.
fn visible_text(text: &str) -> String {
    let text = match text.starts_with('{') {
        // Between values of JSON, any end of a line is white space.
        true => String::from_utf8_lossy(&visible_json(text.as_bytes())).replace('\r', "\n"),
        false => text.replace("\r\n", "\n"),
    };
    visible(&text).into_owned()
}

/// Seconds as ns.
fn nanoseconds(seconds: f64) -> Result<u64> {
    let sound = seconds.is_finite() && (0.0..=LONGEST_S).contains(&seconds);
    ensure!(sound, "{seconds} s is not a valid time");
    Ok((seconds * 1e9).round() as u64)
}

fn run_file(found: Found, text: &str) -> Result<RunFile> {
    let mut names: Vec<&str> = Vec::new();
    let mut cases: Vec<&CommandCase> = Vec::new();
    for series in &found.series {
        if !names.contains(&series.column.as_str()) {
            names.push(&series.column);
        }
        if !cases.contains(&&series.case) {
            cases.push(&series.case);
        }
    }
    let runs = found.series.iter().flat_map(|series| &series.runs);
    let known = runs.filter_map(|run| run.iter().rposition(Option::is_some)).max().unwrap_or(0) + 1;
    let mut blocks = Vec::new();
    for series in &found.series {
        let case = cases.iter().position(|case| **case == series.case).unwrap_or(0);
        for (index, run) in series.runs.iter().enumerate() {
            blocks.push(block(series, case, index, &run[..known])?);
        }
    }
    let environment = |name: &&str| Environment {
        name: name.to_string(),
        error: None,
        details: Default::default(),
        facts: Default::default(),
        clock: Default::default(),
        cpus: Vec::new(),
        started_in_ms: 0.0,
        dirs: Default::default(),
    };
    Ok(RunFile {
        environments: names.iter().map(environment).collect(),
        header: header(&names, &cases, found.by_command, known, text),
        inspected: Vec::new(),
        launches: Vec::new(),
        blocks,
        hosts: Vec::new(),
        outcomes: Vec::new(),
        end: Some(End { reason: EndReason::Precision, elapsed_s: 0.0 }),
        remarks: vec![found.lacks],
        imported: true,
    })
}

fn block(series: &Series, case: usize, index: usize, run: &[Option<u64>]) -> Result<Block> {
    let of = || match &series.case.input {
        Some(input) => format!("run {} of `{input}`", index + 1),
        None => format!("run {}", index + 1),
    };
    let wall = run[0].with_context(|| format!("{} has no elapsed time", of()))?;
    ensure!(wall > 0, "{} took no time: it was too short for the digits of this file", of());
    Ok(Block {
        env: series.column.clone(),
        case,
        round: index as u32 + 1,
        place: 0,
        cpu: None,
        asked_ns: 0,
        outer_ns: wall,
        runnable: None,
        launch: 0,
        outside_cpu_ns: None,
        set: SampleSet {
            iterations: 1,
            // Zero stands for a figure that is not shown, and so for an unknown one.
            samples: run.iter().map(|figure| vec![figure.unwrap_or(0)]).collect(),
            start_ns: 0,
            end_ns: wall,
            pinned: false,
            usage: Usage::default(),
            extras: Extras { notes: series.notes.clone(), ..Extras::default() },
        },
    })
}

fn header(
    names: &[&str],
    cases: &[&CommandCase],
    by_command: bool,
    known: usize,
    text: &str,
) -> Header {
    let environment = |name: &&str| EnvSpec {
        command: by_command.then(|| name.to_string()).into_iter().collect(),
        ..EnvSpec::new(name, "imported", "")
    };
    let planned = |case: &&CommandCase| PlannedCase {
        case: Case { probe: COMMAND.into(), params: params(case), dir: None },
        phases: CommandPhase::ALL[..known].iter().map(|phase| phase.phase()).collect(),
        unit: "run".into(),
        work: Work::Command((*case).clone()),
    };
    // Sessions are recognised by start and seed. These have neither, so the content makes the seed.
    let mut content = DefaultHasher::new();
    text.hash(&mut content);
    Header {
        format: FORMAT,
        envtax: String::new(),
        started: String::new(),
        host: BTreeMap::new(),
        plan: Plan {
            environments: names.iter().map(environment).collect(),
            reference: names.first().copied().unwrap_or_default().to_owned(),
            cases: cases.iter().map(planned).collect(),
            named: Default::default(),
            dirs: Vec::new(),
            seed: content.finish(),
            // Whoever measured decided when to stop.
            stop: Stop::Rounds { rounds: 0, budget_s: None },
            launches: LaunchCount::Exactly(1),
            cold_launches: false,
            fixed_order: false,
            load: 0,
            commands: None,
        },
    }
}

/// Input and parameters as `envtax time` names its cases.
fn params(case: &CommandCase) -> Params {
    let input = case.input.iter().map(|input| ("input", input));
    let values = case.values.iter().map(|(name, value)| (name.as_str(), value));
    let pair = |(name, value): (&str, &String)| format!("{name}={}", value.replace(' ', "_"));
    Params::new(&input.chain(values).map(pair).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_is_refused_and_run_files_are_left_to_their_reader() {
        let error = parse(b"hello\n", "x").unwrap_err().to_string();
        assert!(error.contains("not an envtax run file") && error.contains("hyperfine"), "{error}");
        for own in ["", "{\"record\":\"header\"", "{", "{\"record\":\"end\"}\nreal 1\n"] {
            assert_eq!(parse(own.as_bytes(), "x").unwrap(), None, "{own}");
        }
        assert_eq!(parse(&[0xff, 0xfe], "x").unwrap(), None);
    }

    /// Found by `fuzz/targets/imports.rs`.
    #[test]
    fn no_text_is_taken_for_json_by_its_first_letter() {
        for begin in ["", "{\n", "{\"a\": 1}\n", "{\"a\": \"\u{1b}\"\n"] {
            let text = format!("{begin}# a\u{1b}[2J\nreal\t0m1.000s\n");
            let run = parse(text.as_bytes(), "x").unwrap().unwrap();
            let cases = format!("{}", run.header.plan.cases[0].case);
            assert!(cases.contains("a\\u{1b}[2J") && !cases.contains('\u{1b}'), "{cases}");
            let text = format!("{begin}real\t\u{1b}0m1.x00s\n");
            let error = parse(text.as_bytes(), "x").map(|found| format!("{found:?}"));
            let error = error.unwrap_or_else(|error| format!("{error:#}"));
            assert!(!error.contains('\u{1b}'), "{error}");
        }
        let json = "{\r\n\"results\":[{\"command\":\"a\\u001b\",\"times\":[1.0]}]}\r";
        let run = parse(json.as_bytes(), "x").unwrap().unwrap();
        assert_eq!(run.header.plan.environments[0].name, "a\\u{1b}");
    }

    #[test]
    fn runs_become_rounds_and_unknown_figures_are_not_shown() {
        let series = |column: &str, input: &str, runs: &[Run]| Series {
            column: column.into(),
            case: CommandCase { input: Some(input.into()), ..CommandCase::default() },
            runs: runs.to_vec(),
            notes: Vec::new(),
        };
        let run = [Some(5), None, Some(2), None, None, None];
        let series = vec![series("a", "x y", &[run, run]), series("b", "z", &[run])];
        let run =
            run_file(Found { series, by_command: false, lacks: "all".into() }, "text").unwrap();
        let cases: Vec<&str> =
            run.header.plan.cases.iter().map(|it| it.case.params.as_str()).collect();
        assert_eq!(cases, ["input=x_y", "input=z"]);
        let places: Vec<(&str, usize, u32)> =
            run.blocks.iter().map(|it| (it.env.as_str(), it.case, it.round)).collect();
        assert_eq!(places, [("a", 0, 1), ("a", 0, 2), ("b", 1, 1)]);
        assert_eq!(run.blocks[0].set.samples, [[5], [0], [2]]);
        assert!(run.imported && run.remarks == ["all"]);
    }

    #[test]
    fn a_run_without_its_time_is_no_run() {
        let of = |wall| {
            let runs = vec![[wall, Some(1), None, None, None, None]];
            let series = vec![Series { runs, ..Series::default() }];
            run_file(Found { series, by_command: false, lacks: String::new() }, "")
                .unwrap_err()
                .to_string()
        };
        assert!(of(None).contains("run 1 has no elapsed time"));
        assert!(of(Some(0)).contains("too short for the digits"));
        for wrong in [f64::NAN, -1.0, f64::INFINITY, 1e300] {
            assert!(nanoseconds(wrong).is_err());
        }
    }
}
