//! Orders of a launcher for the agent of a virtual machine, in a file of the guest's initramfs.

use serde::{Deserialize, Serialize};

use crate::model::Facts;

/// Path of the agent's binary in a guest.
pub const AGENT: &str = "/envtax";
/// Path of the orders in a guest.
pub const ORDERS: &str = "/orders.json";

/// Path of the guest's new root before the agent enters it.
pub const ROOT: &str = "/root";

/// How the agent sets the guest up; written by the launcher.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// Paths of the kernel modules to load, each after those that it depends on.
    pub modules: Vec<String>,
    /// The terminal that connects the agent to the controller.
    pub console: String,
    pub mounts: Vec<Mount>,
    /// A root with programs and libraries for whole commands, in place of the initramfs. Paths of
    /// the mounts are relative to it.
    #[serde(default)]
    pub root: Option<Mount>,
    /// Facts of the guest that only the launcher knows.
    pub facts: Facts,
}

/// A filesystem to mount. The agent makes the folder first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mount {
    pub source: String,
    /// The filesystem's type.
    pub kind: String,
    /// The folder it is mounted on.
    pub point: String,
    pub options: String,
    #[serde(default)]
    pub read_only: bool,
}

impl Mount {
    pub fn new(source: &str, kind: &str, point: &str, options: &str) -> Mount {
        let [source, kind, point, options] = [source, kind, point, options].map(str::to_owned);
        Mount { source, kind, point, options, read_only: false }
    }

    /// A root for the guest, mounted read-only.
    pub fn root(source: &str, kind: &str, options: &str) -> Mount {
        Mount { read_only: true, ..Mount::new(source, kind, ROOT, options) }
    }
}
