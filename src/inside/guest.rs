//! The agent as the first process of a virtual machine. The kernel started it from an initramfs
//! that holds nothing else, so the agent itself loads modules and mounts filesystems.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::model::Facts;
use crate::protocol::guest::{Mount, Orders, ROOT};
use crate::sys;

/// Follows the orders in that file and returns the facts that they contain. It returns in a child
/// of the first process. The first process stays to reap orphans, and turns the machine off when
/// the child ends.
pub fn enter(orders: &Path) -> Result<Facts> {
    sys::leave_first_process().context("starting a second process")?;
    mount_system(Path::new("/"))?;
    let text = fs::read(orders).with_context(|| format!("reading `{}`", orders.display()))?;
    let orders: Orders = serde_json::from_slice(&text).context("the orders")?;
    for module in &orders.modules {
        sys::load_module(Path::new(module)).with_context(|| format!("loading `{module}`"))?;
    }
    // Only socket probes need the loopback device, so an error here is theirs.
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

/// Mounts the filesystems that every Linux system has.
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
