//! The header of a recording: what was recorded, how, and what it cost without a recorder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{Facts, Usage};

/// Facts about a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// [`super::FORMAT`].
    pub recording: u32,
    pub envtax: String,
    /// Name of the recording, for tables.
    pub name: String,
    /// Random: two recordings of one command differ.
    pub id: u64,
    /// RFC 3339, UTC.
    pub recorded: String,
    /// Architecture as `std::env::consts::ARCH`.
    pub machine: String,
    /// The command, if the user wanted it kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Whether path components are the real ones.
    #[serde(default)]
    pub real_paths: bool,
    /// The working directory, an index into the paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<u32>,
    /// How the program was watched.
    pub method: String,
    /// Exit status.
    pub status: i32,
    /// It was ended at the time limit.
    #[serde(default)]
    pub partial: bool,
    /// Runs without a recorder.
    pub alone: Costs,
    /// Runs with it.
    pub recorded_runs: Costs,
    /// Re-enactments on the machine that it was recorded on.
    #[serde(default)]
    pub reenacted: Costs,
    /// Calls of each run that was recorded.
    pub calls_of_runs: Vec<u64>,
    /// System calls by their names, all processes together.
    pub calls: BTreeMap<String, u64>,
    /// What is not re-enacted, by name: how often, and the time in ns.
    #[serde(default)]
    pub left_out: BTreeMap<String, (u64, u64)>,
    /// Page faults, all processes together.
    pub faults: u64,
    /// Facts of the machine that a program may ask for.
    #[serde(default)]
    pub facts: Facts,
}

/// What runs of a command cost, in ns and page faults, one value a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    pub wall: Vec<u64>,
    pub user: Vec<u64>,
    pub system: Vec<u64>,
    #[serde(default)]
    pub faults: Vec<u64>,
}

impl Costs {
    /// Adds what one run cost; the wall time is in ns.
    pub fn add(&mut self, wall: u64, usage: &Usage) {
        self.wall.push(wall);
        self.user.push(usage.user_ns);
        self.system.push(usage.system_ns);
        self.faults.push(usage.minor_faults + usage.major_faults);
    }
}
