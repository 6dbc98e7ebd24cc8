//! Environments: the user's specification, their facts, and whether they can start.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::visible;

/// Whether the text can name an environment or a target directory: letters and digits of any
/// script, signs beyond ASCII, and `_-.`. Other ASCII signs have a meaning on command lines, in
/// globs or in the names of rows.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || "_-.".contains(c) || !c.is_ascii() && !c.is_whitespace()
    };
    !text.trim_matches('.').is_empty() && text.chars().all(plain) && visible(text) == text
}

/// An environment as the user named it: `NAME=KIND:ARGUMENT`, or a table of `environments.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EnvSpec {
    pub name: String,
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
    /// Paths of target directories in this environment, by name, if they differ from the common
    /// ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dirs: BTreeMap<String, String>,
    /// Shell commands on this machine, run before each start of the environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// Shell commands on this machine, run after each end of the environment, however it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cleanup: Vec<String>,
    /// The command that is timed there; `{}`, `{out}` and `{NAME}` are still to be replaced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
}

impl EnvSpec {
    /// An environment of that kind with nothing else specified.
    pub fn new(name: &str, kind: &str, argument: &str) -> EnvSpec {
        let [name, kind, argument] = [name, kind, argument].map(str::to_owned);
        EnvSpec { name, kind, argument, ..EnvSpec::default() }
    }

    /// `KIND` or `KIND:ARGUMENT`, as it is given on the command line.
    pub fn spec(&self) -> String {
        match self.argument.as_str() {
            "" => self.kind.clone(),
            argument => format!("{}:{argument}", self.kind),
        }
    }
}

/// A folder whose filesystem the file probes measure, as seen inside every environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TargetDir {
    pub name: String,
    /// Empty: each environment's own folder for temporary files.
    pub path: String,
    /// The filesystem that envtax makes there for the run, such as `loop:ext4`; empty if it exists
    /// already; [`DATA_DIR`] for the data of workloads. Environments with a kernel of their own
    /// make it themselves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made: String,
}

/// Whether something can be used here; if not, the reason and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    Available,
    Unavailable { reason: String, remedy: String },
}

/// The clock of an environment, as the agent measured it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ClockFacts {
    pub name: String,
    /// Cost of one reading in ns: median over batches of back-to-back readings.
    pub cost_ns: f64,
    /// Smallest step greater than zero between two readings, in ns.
    pub granularity_ns: u64,
    /// Number of readings that were earlier than the one before, of [`ClockFacts::readings`].
    pub backward_steps: u64,
    pub readings: u64,
}

/// What an environment tells of itself: facts by name, absent where unknown. The names are in
/// [`super::FACTS`].
pub type Facts = BTreeMap<String, String>;

/// The capabilities that podman gives a container by default. Docker gives three more; of these,
/// only `CAP_AUDIT_WRITE` changes the rules of its seccomp profile.
pub const CONTAINER_CAPABILITIES: [&str; 11] = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_NET_BIND_SERVICE",
    "CAP_SETFCAP",
    "CAP_SETGID",
    "CAP_SETPCAP",
    "CAP_SETUID",
    "CAP_SYS_CHROOT",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_of_any_script() {
        for name in ["native", "a_b-c.1", "日本語", "größe", "हिन्दी", "🙂"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", ".", "..", "a b", "a=b", "a:b", "a/b", "a\u{1b}", "a\u{202e}b", "a*"] {
            assert!(!is_name(other), "{other:?}");
        }
    }
}
