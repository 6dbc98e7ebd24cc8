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

/// Where a root is mounted before it is one.
const ROOT: &str = "/root";

/// What a guest is to be made of, written by its launcher.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Orders {
    /// Paths of kernel modules, each after those that it needs.
    pub modules: Vec<String>,
    /// The terminal at whose other end the controller is.
    pub console: String,
    pub mounts: Vec<Mount>,
    /// What everything goes on in instead of the archive that the guest starts from: programs and
    /// libraries for whole commands. The mounts are in it.
    #[serde(default)]
    pub root: Option<Mount>,
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
    #[serde(default)]
    pub read_only: bool,
}

impl Mount {
    pub fn new(source: &str, kind: &str, point: &str, options: &str) -> Mount {
        let [source, kind, point, options] = [source, kind, point, options].map(str::to_owned);
        Mount { source, kind, point, options, read_only: false }
    }

    /// A root for the guest, which nothing in it changes.
    pub fn root(source: &str, kind: &str, options: &str) -> Mount {
        Mount { read_only: true, ..Mount::new(source, kind, ROOT, options) }
    }
}

/// Follows the orders in that file. Returns in a child of the first process, which stays behind:
/// it reaps orphans, and turns the machine off when the child ends, whatever happened to it.
pub fn enter(orders: &Path) -> Result<Facts> {
    sys::leave_first_process().context("starting a second process")?;
    mount_system(Path::new("/"))?;
    let text = fs::read(orders).with_context(|| format!("reading `{}`", orders.display()))?;
    let orders: Orders = serde_json::from_slice(&text).context("the orders")?;
    for module in &orders.modules {
        sys::load_module(Path::new(module)).with_context(|| format!("loading `{module}`"))?;
    }
    // Without a loopback device, sockets cannot be measured; nothing else needs one.
    let _ = sys::raise_loopback();
    let root = Path::new(if orders.root.is_some() { ROOT } else { "/" });
    if let Some(mount) = &orders.root {
        mount_in(Path::new("/"), mount)?;
        mount_system(root)?;
        mount_in(root, &Mount::new("tmpfs", "tmpfs", "/dev/shm", ""))?;
    }
    orders.mounts.iter().try_for_each(|mount| mount_in(root, mount))?;
    let console = Path::new(&orders.console);
    sys::use_console(console).with_context(|| format!("opening `{}`", orders.console))?;
    if orders.root.is_some() {
        sys::enter_chroot(root).map_err(anyhow::Error::msg)?;
    }
    Ok(orders.facts)
}

/// What every Linux system has at these paths.
fn mount_system(root: &Path) -> Result<()> {
    let system = [("proc", "proc"), ("sysfs", "sys"), ("devtmpfs", "dev")];
    let mount = |(kind, name)| Mount::new(name, kind, &format!("/{name}"), "");
    system.map(mount).iter().try_for_each(|mount| mount_in(root, mount))
}

fn mount_in(root: &Path, what: &Mount) -> Result<()> {
    let Mount { source, kind, point, options, read_only } = what;
    let place = root.join(point.trim_start_matches('/'));
    fs::create_dir_all(&place).with_context(|| match root.parent() {
        Some(_) => format!("the folder given as `root` has no `{point}` to mount something on"),
        None => format!("making `{point}`"),
    })?;
    sys::mount(source, &place, kind, options, *read_only)
        .with_context(|| format!("mounting `{source}` ({kind}) on `{point}`"))
}
