//! The messages between controller and agent, and between agent and worker. `docs/PROTOCOL.md`
//! describes them for authors of other agents and controllers.
//!
//! Each line has one JSON object after [`PREFIX`]; other output of an environment is noise. The
//! agent speaks first. After that, the controller asks and the agent answers, one question at a
//! time. Input that comes while the agent works cancels the question.
//!
//! May use `cleanup` and `model`. Must not start processes or measure.

pub mod guest;
pub mod transfer;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use self::transfer::Piece;
use crate::model::{Case, ClockFacts, Facts, Failure, SampleSet};

/// Both sides refuse to talk to a side with another version.
pub const VERSION: u32 = 4;

/// Every message begins with this.
pub const PREFIX: &str = "@envtax ";

/// The most bytes of a line, in either direction. A longer line is an error and not a message.
pub const MAX_LINE: usize = 1 << 20;

/// How an agent's sentence about a program that it does not have begins.
pub const NO_PROGRAM: &str = "there is no program `";

/// What an agent says of a program that its environment does not have.
pub fn no_program(program: &str) -> String {
    format!("{NO_PROGRAM}{program}` in this environment")
}

/// Controller to agent.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The answer has the same id, which shows answers to questions that were given up.
    pub id: u64,
    pub ask: Ask,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Measure the clock. If it is much slower than `known_ns`, or slow while nothing is known,
    /// this may last only for the first second of its system; then wait for its end.
    Clock {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known_ns: Option<f64>,
    },
    /// Tell the environment's facts. They are not in the greeting: where system calls are slow,
    /// reading the many files takes several times as long as the rest of a start.
    Facts,
    /// Examine the folders, and try whether files can be made there. An empty path is the
    /// environment's own folder for temporary files. Leftovers of killed runs are removed.
    Dirs { paths: Vec<String>, token: String },
    /// Find the number of iterations of a sample for this task, in a worker. A sample must last at
    /// least `sample_ns`, and at least as long as every clock needs.
    Tune {
        task: Task,
        #[serde(default)]
        sample_ns: f64,
    },
    /// Measure one block, in a fresh worker.
    Block { task: Task, size: BlockSize },
    /// Run a whole command once.
    Run { task: Box<CommandTask> },
    /// Tell facts about these programs and files as the environment has them.
    Inspect { programs: Vec<String>, files: Vec<String> },
    /// Keep a piece of a file until the agent, and with it the launch, ends. Number and name
    /// identify the file; each piece is appended to those before. The answer gives the file's path.
    Put {
        launch: u32,
        number: usize,
        name: String,
        token: String,
        #[serde(flatten)]
        piece: Piece,
    },
    /// Send a piece of the kept output of the last run: of `stdout`, `stderr` or `out`, from byte
    /// `offset` on.
    Take { name: String, offset: u64 },
    /// Remove what a killed agent of this run left in these folders and in the folder of its own
    /// choice.
    Clean { paths: Vec<String>, token: String },
    /// End. Closing the agent's input means the same.
    Quit,
}

/// What to measure, with everything that matters for it: no state is kept between requests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub case: Case,
    /// The folder in which the block's scratch folder is made. None or empty: the environment's own
    /// folder for temporary files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir_path: Option<String>,
    /// The token of the run, by which everything that it leaves behind can be found and removed.
    pub token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cpu: Option<usize>,
    /// Time after which the agent ends the worker.
    pub time_limit_ms: u64,
}

/// One run of a whole command. The agent itself starts it, because a worker would become its
/// parent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CommandTask {
    /// Program and arguments; `{out}` in them is a file in the run's own folder.
    pub words: Vec<String>,
    /// Programs that it needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conclude: Vec<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// Files that must exist, and that the command must not change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Keep standard error, to quote it if the command fails.
    #[serde(default)]
    pub keep_errors: bool,
    /// Keep the run's folder with its files until it is cleaned, so that they can be fetched.
    #[serde(default)]
    pub keep_output: bool,
    /// Files whose pages must not be in memory before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cold: Vec<String>,
    pub check_output: bool,
    pub ignore_failure: bool,
    pub settle: bool,
    /// The file at `{out}` is the report of a re-enactment: answer with its sums.
    #[serde(default)]
    pub reports: bool,
    pub token: String,
    /// Time after which the command is killed.
    pub time_limit_ms: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockSize {
    pub iterations: u64,
    pub samples: usize,
    /// Take one more sample first and discard it.
    pub discard: bool,
    /// Time in ns after which no further sample starts.
    pub limit_ns: u64,
}

/// Agent to controller.
#[derive(Debug, Serialize, Deserialize)]
pub struct Response {
    /// The request's id; 0 for the greeting.
    pub id: u64,
    pub answer: Answer,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Hello(Box<Hello>),
    Clock {
        clock: ClockFacts,
        /// Shortest sample in ns that it can time.
        sample_ns: f64,
    },
    Facts(Facts),
    Dirs {
        dirs: Vec<DirAnswer>,
        /// Paths of leftovers of killed runs that were found and removed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
    Tuned(Tuning),
    Block(Box<SampleSet>),
    /// In the order of the question; facts that do not exist are left out.
    Inspected {
        programs: Vec<Facts>,
        files: Vec<Facts>,
    },
    /// Unsupported in this environment; not an error.
    CannotMeasure(Failure),
    Cleaned,
    /// The file's path in the environment.
    Put {
        path: String,
    },
    /// Shorter than [`transfer::PIECE`] at the end of the file. None if the file was not written.
    Piece(Option<Piece>),
    /// The task failed; the agent itself works.
    Failed(Failure),
}

/// The agent's first message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hello {
    pub version: u32,
    /// Version of the agent's binary.
    pub envtax: String,
    /// What the binary was built for, such as `x86_64-linux`.
    pub target: String,
    /// CPUs that the environment allows; empty if it does not tell.
    pub cpus: Vec<usize>,
    /// Cases that cannot be measured here, with the reason.
    pub unavailable: Vec<UnavailableCase>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnavailableCase {
    pub probe: String,
    pub params: crate::model::Params,
    pub reason: String,
    pub remedy: String,
}

/// The agent's answer about one folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DirAnswer {
    /// Filesystem and options; `path` is where the folder really is.
    pub facts: Facts,
    /// The reason why files cannot be made there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    pub iterations: u64,
    /// Ns of one iteration, all timed phases together, as tuning saw it.
    pub each_ns: f64,
    /// The most iterations that a sample can have there.
    pub most: u64,
}

/// Agent to worker, one line on its input; the worker answers with one [`Answer`] and exits.
#[derive(Debug, Serialize, Deserialize)]
pub struct WorkerOrder {
    pub task: Task,
    /// None for tuning.
    pub size: Option<BlockSize>,
    pub scratch: String,
    /// For tuning: the least time of a sample, in ns.
    pub sample_ns: f64,
    /// Share of work to do beyond what is reported (test builds only).
    pub extra_work: f64,
    /// The emulator that runs the agent, in which the worker is to be too.
    pub emulator: Option<PathBuf>,
}

/// The message as a line to send.
pub fn line_of<M: Serialize>(message: &M) -> serde_json::Result<String> {
    Ok(format!("{PREFIX}{}\n", serde_json::to_string(message)?))
}

/// The message in a line, if there is one. An environment that prints a prompt without a newline
/// puts it before the message; text-mode outputs add carriage returns.
pub fn message_in(line: &str) -> Option<&str> {
    line.rfind(PREFIX).map(|at| line[at + PREFIX.len()..].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_line() {
        let line = line_of(&Request { id: 7, ask: Ask::Quit }).unwrap();
        assert_eq!(line, "@envtax {\"id\":7,\"ask\":\"quit\"}\n");
        let request: Request = serde_json::from_str(message_in(&line).unwrap()).unwrap();
        assert_eq!(request.id, 7);
    }

    #[test]
    fn noise_before_a_message_and_line_ends_are_cut() {
        assert_eq!(message_in("login: @envtax {}\r\n"), Some("{}"));
        assert_eq!(message_in("Welcome to Linux"), None);
        assert_eq!(message_in("see @envtax"), None);
    }
}
