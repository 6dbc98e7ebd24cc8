//! The agent as the first process of a machine of its own: a kernel has started it from an
//! initramfs that holds nothing else, so that it makes the machine one to measure in by itself.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::model::Facts;
use crate::sys;

/// Path of the agent's binary in a guest.
pub const AGENT: &str = "/envtax";
/// Path of the orders in a guest.
pub const ORDERS: &str = "/orders.json";

/// What a guest is to be made of, written by its launcher.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// Paths of kernel modules, each after those that it needs.
    pub modules: Vec<String>,
    /// The terminal at whose other end the controller is.
    pub console: String,
    pub mounts: Vec<Mount>,
    /// What is known of the guest outside only.
    pub facts: Facts,
}

/// A filesystem to mount; the folder is made first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mount {
    pub source: String,
    pub kind: String,
    pub point: String,
    pub options: String,
}

impl Mount {
    pub fn new(source: &str, kind: &str, point: &str, options: &str) -> Mount {
        let [source, kind, point, options] = [source, kind, point, options].map(str::to_owned);
        Mount { source, kind, point, options }
    }
}

/// Follows the orders in that file. Returns in a child of the first process, which stays behind:
/// it reaps orphans, and turns the machine off when the child ends, whatever happened to it.
pub fn enter(orders: &Path) -> Result<Facts> {
    sys::leave_first_process().context("starting a second process")?;
    let system = [
        Mount::new("proc", "proc", "/proc", ""),
        Mount::new("sys", "sysfs", "/sys", ""),
        Mount::new("dev", "devtmpfs", "/dev", ""),
    ];
    system.iter().try_for_each(mount)?;
    let text = fs::read(orders).with_context(|| format!("reading `{}`", orders.display()))?;
    let orders: Orders = serde_json::from_slice(&text).context("the orders")?;
    for module in &orders.modules {
        sys::load_module(Path::new(module)).with_context(|| format!("loading `{module}`"))?;
    }
    // Without a loopback device, sockets cannot be measured; nothing else needs one.
    let _ = sys::raise_loopback();
    orders.mounts.iter().try_for_each(mount)?;
    let console = Path::new(&orders.console);
    sys::use_console(console).with_context(|| format!("opening `{}`", orders.console))?;
    Ok(orders.facts)
}

fn mount(what: &Mount) -> Result<()> {
    let Mount { source, kind, point, options } = what;
    fs::create_dir_all(point).with_context(|| format!("making `{point}`"))?;
    sys::mount(source, Path::new(point), kind, options)
        .with_context(|| format!("mounting `{source}` ({kind}) on `{point}`"))
}
