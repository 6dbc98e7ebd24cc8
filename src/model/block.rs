//! The measurements of one block.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Resources that one block used, by the worker and its reaped children. Zero if the environment
/// does not count them (gVisor's faults), so only differences between environments mean anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Usage {
    pub user_ns: u64,
    pub system_ns: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// Time in ns in which it could have run but waited for a CPU (`/proc/self/schedstat`); none if
    /// hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_queue_wait_ns: Option<u64>,
}

impl Usage {
    /// What was used between `before` and `self`.
    pub fn since(&self, before: &Usage) -> Usage {
        let wait = self.run_queue_wait_ns.zip(before.run_queue_wait_ns);
        Usage {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
            minor_faults: self.minor_faults.saturating_sub(before.minor_faults),
            major_faults: self.major_faults.saturating_sub(before.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(before.involuntary_switches),
            run_queue_wait_ns: wait.map(|(after, before)| after.saturating_sub(before)),
        }
    }
}

/// What a block reports in addition to its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Extras {
    /// Conditions that a reader must know, one sentence each. The sentence is the same in every
    /// block to which it applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Events that the probe counted, by name; `compare` adds them up over the blocks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, u64>,
    /// Distributions of single operations, by name: pairs of a latency in ns and its number of
    /// occurrences, at the resolution of an HdrHistogram of three digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Vec<(u64, u64)>>,
    /// Names of a command's phases whose figures the environment does not show. In all other
    /// phases, zero is a fact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Hash of a command's standard output, followed by that of the file at `{out}` if there is
    /// one; only if they are asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Operations of a re-enactment by class: how many, and the time in ns that they took, all
    /// processes together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, (u64, u64)>,
    /// Time in ns of the re-enactment's groups of operations, by their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<u64>,
    /// Inode number of a file that the re-enactment reads, and the ns of the second of its last
    /// change, as they are seen there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<(u64, u64)>,
    /// Calls of a re-enactment, by kind, that failed and had not, or had failed and did not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unlike: BTreeMap<String, u64>,
    /// Largest resident set in bytes of the process that started the command. The command's peak as
    /// counted is never below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_bytes: Option<u64>,
}

impl Extras {
    /// Whether there is nothing to report, which is usual.
    pub fn is_empty(&self) -> bool {
        *self == Extras::default()
    }
}

/// What one worker measured in one block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SampleSet {
    /// Iterations in each sample.
    pub iterations: u64,
    /// For each phase, the figure of each sample for all of its iterations: ns if the phase is
    /// timed.
    pub samples: Vec<Vec<u64>>,
    /// The environment's clock at the block's start and end, in ns of an arbitrary zero.
    pub start_ns: u64,
    pub end_ns: u64,
    /// The worker ran on the CPU it was told to.
    pub pinned: bool,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Extras::is_empty")]
    pub extras: Extras,
}
