//! Arguments as the user types them, without look-ups and side effects. Help, completions and the
//! manual page are made from these definitions.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures what an execution environment costs.
///
/// envtax starts an agent of itself inside each environment and measures processes, system calls,
/// IPC, files and memory in interleaved rounds. For each operation it prints how many times more it
/// costs than in the reference environment, with a 95 % interval and a verdict.
#[derive(Debug, Parser)]
#[command(name = "envtax", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Measure environments side by side and print the comparison
    Run(RunArgs),
    /// Time whole commands, in environments or against each other
    Time(TimeArgs),
    /// Compare the environments of run files, also of several runs
    Compare(CompareArgs),
    /// Gather sessions before and after a change, and compare them
    Session(SessionArgs),
    /// Copy a run file without host names, paths, arguments and boot ids, to publish it
    Redact(RedactArgs),
    /// List probes, environments, filesystems, suites, workloads, formats, layouts or flags
    List(ListArgs),
    /// Show which environments start here, and why others do not
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page (roff)
    Man,
    /// The process that runs inside an environment
    #[command(hide = true)]
    Agent(AgentArgs),
    /// The process that measures one block
    #[command(hide = true)]
    Worker,
    /// The process that ends the sessions of a killed controller
    #[command(hide = true)]
    Guard,
    /// One process of the load beside a run
    #[command(hide = true)]
    Busy,
}

#[derive(Debug, Args)]
pub struct RedactArgs {
    /// Run file to copy
    #[arg(value_name = "FILE", value_parser = path)]
    pub file: PathBuf,
    /// Name of the copy
    #[arg(short, long, value_name = "FILE", value_parser = path)]
    pub output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("cmd/text/run.md").trim_end())]
pub struct RunArgs {
    /// Environment to measure: [NAME=]KIND[:ARGUMENT] (see `envtax list environments`) or a name
    /// from environments.toml; `auto` is native and every kind that starts here without an
    /// argument; `all` is every environment of environments.toml. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Target directory of file probes, as seen inside every environment: NAME=PATH, or
    /// NAME=KIND[:OPTIONS] for a filesystem made for the run (see `envtax list filesystems`).
    /// Repeatable
    #[arg(long = "dir", value_name = "NAME=PATH|KIND")]
    pub dirs: Vec<String>,
    /// Set of cases to measure [default: quick; with --probe: every case]
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Measure only cases that match, by probe or by probe and parameters: 'file.*',
    /// 'process.exec target=tiny'. Without a pattern, parameters may have any value: 'file.read
    /// size=64KiB'. Repeatable
    #[arg(long = "probe", value_name = "GLOB")]
    pub probes: Vec<String>,
    /// Numbers of processes that do the operation at the same time; N is the number of CPUs: 1,2,N
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub copies: String,
    /// Environment that the others are compared with [default: the first]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// A case is done when the 95 % intervals of its taxes are within ± PCT per cent; with 0, the
    /// run uses the whole budget
    #[arg(long, value_name = "PCT", default_value_t = 2.0)]
    pub precision: f64,
    /// Longest time to measure, without the set-up before it [default: the suite's, 60s for quick]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Start each environment exactly N times, spread over the budget [default: again after every
    /// four rounds; less often where starting takes more than 15 % of the budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub launches: Option<u32>,
    /// Empty the page caches before every second start; needs root and slows down other programs
    #[arg(long)]
    pub cold_launches: bool,
    /// Run N busy processes beside the measurement, to measure the environments under load; the
    /// system places them, and a run without them is the comparison
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub load: u32,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Longest time to wait for one answer of an agent
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub answer_timeout: Duration,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct RepeatArgs {
    /// Carry out the same plan N times, each time with another seed and its own run file
    /// (NAME-1.jsonl and so on), and compare all of them in the end
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Begin each run this long after the one before began [default: as soon as that has ended]
    #[arg(long, value_name = "DURATION", requires = "repeat", value_parser = duration)]
    pub every: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Run file to write [default: envtax-DATE-TIME.jsonl]
    #[arg(short, long, value_name = "FILE", value_parser = path)]
    pub output: Option<PathBuf>,
    /// Replace the run file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("cmd/text/time.md").trim_end())]
pub struct TimeArgs {
    /// Command lines to compare; the first is the reference
    #[arg(value_name = "COMMAND LINE", conflicts_with = "command")]
    pub lines: Vec<String>,
    /// Program to time, with its arguments
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
    /// Command with data that envtax makes for it (see `envtax list workloads`). Repeatable
    #[arg(long = "workload", value_name = "NAME")]
    #[arg(conflicts_with_all = ["lines", "command", "inputs", "stdin", "cold"])]
    pub workloads: Vec<String>,
    /// Environment to run the commands in, as for `envtax run`. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    /// Name of this session's column when run files are compared
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// File that `{}` stands for; each file has its own rows. Repeatable
    #[arg(long = "input", value_name = "FILE")]
    pub inputs: Vec<String>,
    /// Values that `{NAME}` stands for; each value has its own rows. Repeatable
    #[arg(long = "parameter", value_name = "NAME=VALUE,...")]
    pub parameters: Vec<String>,
    /// Run the command lines by a shell; the time of an empty shell stands beside them
    #[arg(long)]
    pub shell: bool,
    /// File to read as standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<String>,
    /// Command to run before each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub prepare: Vec<String>,
    /// Command to run after each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub conclude: Vec<String>,
    /// Shell command to run once on this machine, before the environments start
    #[arg(long, value_name = "COMMAND LINE")]
    pub setup: Vec<String>,
    /// Shell command to run once on this machine, after all environments have ended,
    /// also after a failure
    #[arg(long, value_name = "COMMAND LINE")]
    pub cleanup: Vec<String>,
    /// Copy the inputs into the environments' folders for temporary files first
    #[arg(long)]
    pub stage: bool,
    /// Evict the inputs from the page cache before each run; fail where that is not possible
    #[arg(long)]
    pub cold: bool,
    /// Also time how long it takes after each run until its output is durable
    #[arg(long)]
    pub settle: bool,
    /// Fail runs whose standard output or {out} differs from the reference's
    #[arg(long)]
    pub verify_output: bool,
    /// Keep standard output, standard error and {out} of the first run of each command, in this new
    /// folder
    #[arg(long, value_name = "FOLDER", value_parser = path)]
    pub keep_output: Option<PathBuf>,
    /// Longest time of a run; a longer one is killed
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Count failed runs like all others
    #[arg(long)]
    pub ignore_failure: bool,
    /// Exact number of counted runs of each command; a first run comes before them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub runs: Option<u32>,
    /// Number of further runs at the beginning that do not count
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u32,
    /// A row is done when the 95 % interval of its tax of wall time is within ± PCT per cent; with
    /// 0, the run uses the whole budget
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    pub precision: f64,
    /// Longest time to measure [default: 60s; with --runs: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub repeat: RepeatArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("cmd/text/compare.md").trim_end())]
pub struct CompareArgs {
    /// Run files; with an environment's name, only that environment of the file. Results of other
    /// programs are read as well: hyperfine's --export-json, the output of `time`, and tables with
    /// the header input,metric,value
    #[arg(value_name = "FILE[:ENV]", required = true)]
    pub sources: Vec<String>,
    /// Run files of the other side: all files before this option are one side, all files after it
    /// are the other
    #[arg(long, value_name = "FILE[:ENV]", num_args = 1..)]
    pub versus: Vec<String>,
    /// Environment that the others are compared with [default: the reference of the run]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(subcommand)]
    pub verb: SessionVerb,
}

#[derive(Debug, Subcommand)]
pub enum SessionVerb {
    /// Measure one more session of a label
    Add(SessionAddArgs),
    /// Compare the sessions of two labels, and say how many more are needed
    Compare(SessionCompareArgs),
}

#[derive(Debug, Args)]
pub struct SessionAddArgs {
    /// What the sessions have in common, such as before
    pub label: String,
    /// Arguments of `envtax run` or `time` with that word first; later sessions measure the same
    #[arg(value_name = "run|time ...", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Measure N sessions
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sessions: u32,
    /// Begin each session this long after the one before began [default: as soon as that has ended]
    #[arg(long, value_name = "DURATION", requires = "sessions", value_parser = duration)]
    pub every: Option<Duration>,
    /// Folder of all sessions, with a folder for each label
    #[arg(long, value_name = "FOLDER", default_value = "sessions", value_parser = path)]
    pub folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("cmd/text/compare.md").trim_end())]
pub struct SessionCompareArgs {
    /// Label of the sessions that the others are compared with
    #[arg(value_name = "BEFORE")]
    pub before: String,
    /// Label of the other sessions
    #[arg(value_name = "AFTER")]
    pub after: String,
    /// Environment that is compared, where sessions have several [default: their reference]
    #[arg(long, value_name = "NAME")]
    pub env: Option<String>,
    /// Folder of all sessions
    #[arg(long, value_name = "FOLDER", default_value = "sessions", value_parser = path)]
    pub folder: PathBuf,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct GateArgs {
    /// Gate: end with exit code 1 if a tax is above LIMIT, such as `1.5x` or `50%`, or could not be
    /// judged. With PROBE=, a glob as in --probe, for those rows only: 'file.*=1.5x'. A number
    /// alone is per cent, but a factor after PROBE=. Repeatable
    #[arg(long, value_name = "[PROBE=]LIMIT")]
    pub fail_above: Vec<String>,
    /// What the gate holds against the limit
    #[arg(long, value_name = "WHAT", default_value = "bound", requires = "fail_above")]
    pub fail_on: FailOn,
    /// Let the gate pass figures that could not be judged: skipped, failed, with too few rounds
    #[arg(long, requires = "fail_above")]
    pub allow_unjudged: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FailOn {
    /// The lower end of the 95 % interval of what is slower: certainly above the limit
    Bound,
    /// The tax itself: above the limit as far as is known
    Estimate,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Differences of up to PCT per cent count as the same
    #[arg(long, value_name = "PCT", default_value_t = 3.0)]
    pub margin: f64,
    /// Format of the output
    // The names are those of the registry, which `main.rs` adds: nothing is looked up here.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Print the tables of a published comparison (see `envtax list layouts`)
    #[arg(long, value_name = "NAME")]
    pub layout: Option<String>,
    /// Print everything: all rows, every table beside them, and all notes
    #[arg(long)]
    pub long: bool,
    /// Print only this part of the whole output (see `envtax list sections`). Repeatable
    #[arg(long = "section", value_name = "NAME", conflicts_with = "long")]
    pub sections: Vec<String>,
}

#[derive(Debug, Args)]
pub struct FileArgs {
    /// File that names environments [default: environments.toml in the working directory, if any]
    #[arg(id = "environment_file", long = "environments", value_name = "FILE", value_parser = path)]
    pub path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    pub what: Listed,
    /// Print the whole description of each probe, environment, filesystem or workload
    #[arg(long)]
    pub long: bool,
    #[command(flatten)]
    pub file: FileArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listed {
    Probes,
    Environments,
    Filesystems,
    Suites,
    Workloads,
    Formats,
    Layouts,
    Sections,
    Flags,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Only remove what killed runs left behind: in the environments given (native if none is), in
    /// their folders for temporary files and in --dir
    #[arg(long)]
    pub clean: bool,
    /// Folder that --clean looks into. Repeatable
    #[arg(long = "dir", value_name = "PATH", requires = "clean")]
    pub dirs: Vec<String>,
    /// Environment to try, with all details; otherwise one environment of each kind and those of
    /// environments.toml, in short. Repeatable
    #[arg(long = "env", value_name = "[NAME=]SPEC")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Longest time to wait for an environment to start
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub answer_timeout: Duration,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell to print completions for
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Path of this binary, for environments whose system does not know it
    #[arg(long = "self", value_name = "PATH")]
    pub own_path: Option<PathBuf>,
    /// Place to enter first: namespace, chroot:DIR, guest:ORDERS
    #[arg(long, value_name = "PLACE")]
    pub enter: Option<String>,
    /// One word of the emulator's command that starts every worker. Repeatable
    #[arg(
        long = "via",
        value_name = "WORD",
        allow_hyphen_values = true,
        requires = "own_path",
        conflicts_with_all = ["enter", "staged"]
    )]
    pub via: Vec<String>,
    /// The binary was copied here for this run: remove the file once it is open
    #[arg(long)]
    pub staged: bool,
    /// Share of work to do in addition to the reported work
    #[cfg(feature = "planted")]
    #[arg(long, default_value_t = 0.0)]
    pub extra_work: f64,
}

/// A path as text: one that is no UTF-8 is refused, for writing as for reading.
fn path(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(text))
}

/// Longest time that an option takes; sums of longer times with the clock could overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Reads a number of seconds, or numbers with units.
fn duration(text: &str) -> Result<Duration, String> {
    let hint = "write `90s`, `2m` or `1h 30m`";
    let too_long = || String::from("longer than 365 days");
    let found = match text.parse::<f64>() {
        Ok(seconds) if seconds > LONGEST.as_secs_f64() => return Err(too_long()),
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            Some(humantime::parse_duration(text).map_err(|error| format!("{error}; {hint}"))?)
        }
    };
    match found {
        Some(found) if found > LONGEST => Err(too_long()),
        Some(found) if !found.is_zero() => Ok(found),
        _ => Err(format!("a time must be more than zero; {hint}")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_are_read() {
        assert_eq!(duration("90").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("0.5").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        assert_eq!(duration("365d").unwrap(), LONGEST);
        for none in ["-1", "0", "0s", "NaN", "-inf", "1e-300"] {
            assert!(duration(none).unwrap_err().contains("more than zero"), "{none}");
        }
        for long in ["1e300", "inf", "31536001", "366d"] {
            assert!(duration(long).unwrap_err().contains("365 days"), "{long}");
        }
        assert!(duration("soon").unwrap_err().contains("90s"));
    }
}
