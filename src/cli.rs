//! Arguments as the user types them; no look-ups, no side effects. Help, completions and the man
//! page are made from these definitions.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Measures what an execution environment costs.
///
/// envtax starts an agent of itself inside each environment, measures processes, system calls, IPC,
/// files and memory in interleaved rounds, and says how many times more each costs than in the
/// reference environment, with a 95 % interval and a verdict.
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
    /// Compare what run files hold
    Compare(CompareArgs),
    /// Copy a run file without host names, paths, arguments and boot ids, to publish it
    Redact(RedactArgs),
    /// List what there is
    List(ListArgs),
    /// Tell what can be started and measured here, and why not
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page (roff)
    Man,
    /// What runs inside an environment
    #[command(hide = true)]
    Agent(AgentArgs),
    /// What measures one block
    #[command(hide = true)]
    Worker,
    /// What ends the sessions of a killed controller
    #[command(hide = true)]
    Guard,
    /// One process of the load beside a run
    #[command(hide = true)]
    Busy,
}

#[derive(Debug, Args)]
pub struct RedactArgs {
    /// Run file to copy
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Name of the copy
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Ctrl-C ends the run in order: what was measured is written and compared. A \
    second Ctrl-C ends it at once: the run file stays, without an end.\n\n\
    Exit codes: 0 done; 2 usage or set-up error; 3 the run file was written, but something failed \
    or was not reached, or the run was interrupted; 130 ended at once by a second Ctrl-C."
)]
pub struct RunArgs {
    /// Environment to measure: KIND[:ARGUMENT] or NAME=KIND[:ARGUMENT] (`envtax list
    /// environments`), or a name of environments.toml; `auto`: native and whatever else starts
    /// here by itself; `all`: all of environments.toml
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Folder that file probes measure, as seen inside every environment: NAME=PATH, or
    /// NAME=KIND[:OPTIONS] for a filesystem made for the run (`envtax list filesystems`)
    #[arg(long = "dir", value_name = "NAME=PATH|KIND")]
    pub dirs: Vec<String>,
    /// Set of cases to measure [default: quick; with --probe, all there are]
    #[arg(long, value_name = "NAME")]
    pub suite: Option<String>,
    /// Only what fits, by id or with parameters: 'file.*', 'process.exec target=tiny'; spelled out,
    /// parameters may have any value: 'file.read size=64KiB'
    #[arg(long = "probe", value_name = "GLOB")]
    pub probes: Vec<String>,
    /// Measure with so many processes doing it at a time, N for one on each CPU: 1,2,N
    #[arg(long, value_name = "LIST", default_value = "1")]
    pub copies: String,
    /// Environment by which the others are divided [default: the first]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// A case is done when the 95 % intervals of its taxes are within ± this many per cent; at 0
    /// the whole budget is used
    #[arg(long, value_name = "PCT", default_value_t = 2.0)]
    pub precision: f64,
    /// Measure for at most this long, precise or not; what is set up before is not counted
    /// [default: the suite's, 60s for quick]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Start each environment exactly N times, spread over the budget [default: again after every
    /// four rounds; less often where starting takes more than 15 % of the budget]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub launches: Option<u32>,
    /// Empty the page caches before every second start; as root, and others on this machine feel it
    #[arg(long)]
    pub cold_launches: bool,
    /// Measure beside N busy processes, which envtax starts for the run and does not pin: the
    /// environments under load, to be compared with a run without
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub load: u32,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Longest wait for one answer of an agent
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub answer_timeout: Duration,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Run file to write [default: envtax-DATE-TIME.jsonl]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the run file if it exists
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Either one command behind `--`, or command lines, each quoted as a whole, which \
    are compared with each other. In them `{}` stands for each `--input`, `{NAME}` for each value \
    of `--parameter NAME=...`, `{out}` for a file of the run's own, removed afterwards.\n\n\
    Exit codes: as of `envtax run`."
)]
pub struct TimeArgs {
    /// Command lines to compare, the first being the reference
    #[arg(value_name = "COMMAND LINE", conflicts_with = "command")]
    pub lines: Vec<String>,
    /// Program and arguments to time
    #[arg(value_name = "COMMAND", last = true)]
    pub command: Vec<String>,
    /// Command with data that envtax makes for it, a row of its own (`envtax list workloads`)
    #[arg(long = "workload", value_name = "NAME")]
    #[arg(conflicts_with_all = ["lines", "command", "inputs", "stdin", "cold"])]
    pub workloads: Vec<String>,
    /// Environment to run it in: NAME=KIND[:ARGUMENT] or KIND[:ARGUMENT]
    #[arg(long = "env", value_name = "[NAME=]SPEC", default_value = "native")]
    pub environments: Vec<String>,
    /// Name of this session's column when files are compared
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// File that `{}` stands for, each a row of its own
    #[arg(long = "input", value_name = "FILE")]
    pub inputs: Vec<String>,
    /// Values that `{NAME}` stands for, each a row of its own
    #[arg(long = "parameter", value_name = "NAME=VALUE,...")]
    pub parameters: Vec<String>,
    /// Have a shell run the command lines; what a shell with nothing to do takes is timed beside
    #[arg(long)]
    pub shell: bool,
    /// File to read as standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<String>,
    /// Command before each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub prepare: Vec<String>,
    /// Command after each run, not timed
    #[arg(long, value_name = "COMMAND LINE")]
    pub conclude: Vec<String>,
    /// Shell command on this side, once before the environments start
    #[arg(long, value_name = "COMMAND LINE")]
    pub setup: Vec<String>,
    /// Shell command on this side, once after they ended, however they did
    #[arg(long, value_name = "COMMAND LINE")]
    pub cleanup: Vec<String>,
    /// Send the inputs into the environments first, to where their temporary files are
    #[arg(long)]
    pub stage: bool,
    /// Have the inputs out of memory before each run, or fail
    #[arg(long)]
    pub cold: bool,
    /// Also time until what was written is durable
    #[arg(long)]
    pub settle: bool,
    /// Hold what is written, to standard output and to {out}, against the reference's
    #[arg(long)]
    pub verify_output: bool,
    /// Keep what the first run of each writes, to standard output, to standard error and to {out},
    /// in this new folder
    #[arg(long, value_name = "FOLDER")]
    pub keep_output: Option<PathBuf>,
    /// Kill a run after so long
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    pub timeout: Duration,
    /// Time runs that fail like all others
    #[arg(long)]
    pub ignore_failure: bool,
    /// Exactly so many runs of each, after the first, which is kept apart
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub runs: Option<u32>,
    /// So many more runs at the beginning that do not count
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub warmup: u32,
    /// Done when the 95 % interval of each tax of the wall time is within ± this many per cent; at
    /// 0 when the budget ends
    #[arg(long, value_name = "PCT", default_value_t = 1.0)]
    pub precision: f64,
    /// Measure for at most this long, precise or not [default: 60s; with --runs, as long as it
    /// takes]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Seed of the random order [default: drawn, and recorded in the run file]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub file: FileArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 done; 1 the gate of --fail-above tripped; 2 usage \
    error, or no verdict that --fail-above could judge.")]
pub struct CompareArgs {
    /// Run files; with an environment's name, only that environment of the file. Also hyperfine's
    /// --export-json, the output of `time`, and tables with the header input,metric,value
    #[arg(value_name = "FILE[:ENV]", required = true)]
    pub sources: Vec<String>,
    /// More sessions of the other side: all before it are one side, all after it the other
    #[arg(long, value_name = "FILE[:ENV]", num_args = 1..)]
    pub versus: Vec<String>,
    /// Environment by which the others are divided [default: as in the run]
    #[arg(long, value_name = "NAME")]
    pub reference: Option<String>,
    /// End with exit code 1 if an environment is shown to be slower by more than this
    #[arg(long, value_name = "PCT")]
    pub fail_above: Option<f64>,
    #[command(flatten)]
    pub show: ShowArgs,
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Differences up to this many per cent count as the same
    #[arg(long, value_name = "PCT", default_value_t = 3.0)]
    pub margin: f64,
    /// How the comparison is printed
    // The names are those of the registry, which `main.rs` adds: nothing is looked up here.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub format: String,
    /// Print the table as a published comparison laid it out
    #[arg(long, value_name = "NAME")]
    pub layout: Option<String>,
}

#[derive(Debug, Args)]
pub struct FileArgs {
    /// File that names environments [default: environments.toml, if there is one here]
    #[arg(id = "environment_file", long = "environments", value_name = "FILE")]
    pub path: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list
    pub what: Listed,
    /// Everything there is to know of each probe, environment, filesystem or workload
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
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Remove what killed runs left in the environments given (native without any), in --dir and in
    /// their folders for temporary files; nothing else is done
    #[arg(long)]
    pub clean: bool,
    /// Folder that --clean looks into
    #[arg(long = "dir", value_name = "PATH", requires = "clean")]
    pub dirs: Vec<String>,
    /// Environment to try, with everything that it says [default: one of every kind and those of
    /// environments.toml, in short]
    #[arg(long = "env", value_name = "[NAME=]SPEC")]
    pub environments: Vec<String>,
    #[command(flatten)]
    pub file: FileArgs,
    /// Longest wait for an environment to start
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub answer_timeout: Duration,
}

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that they are for
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Path of this binary, for environments whose system does not tell
    #[arg(long = "self", value_name = "PATH")]
    pub own_path: Option<PathBuf>,
    /// Enter this place first: namespace, chroot:DIR, guest:ORDERS
    #[arg(long, value_name = "PLACE")]
    pub enter: Option<String>,
    /// A word of the emulator's command, which every worker is started by; given once for each
    #[arg(
        long = "via",
        value_name = "WORD",
        allow_hyphen_values = true,
        requires = "own_path",
        conflicts_with_all = ["enter", "staged"]
    )]
    pub via: Vec<String>,
    /// The binary was copied here for this run: remove it once it is open
    #[arg(long)]
    pub staged: bool,
    /// Share of work to do beyond what is reported
    #[cfg(feature = "planted")]
    #[arg(long, default_value_t = 0.0)]
    pub extra_work: f64,
}

/// Longest time that can be asked for; beyond it, sums with the clock could overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A bare number of seconds, or a number with its unit.
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
