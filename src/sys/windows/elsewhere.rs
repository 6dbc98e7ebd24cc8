//! What other systems have and Windows does not: ways into environments, and private mounts.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::shared::trace::{Born, Listener, PageCounts, TraceEnd, TraceOrder};
use super::input::Input;
use super::not_here;

pub fn enter_ptrace() -> Result<(), String> {
    Err("ptrace exists on Linux only".into())
}

pub fn enter_seccomp(profile: &str) -> Result<(), String> {
    check_seccomp(profile)
}

pub fn check_seccomp(_profile: &str) -> Result<(), String> {
    Err("seccomp exists on Linux only".into())
}

/// Does nothing: no process on Windows has to reap orphans.
pub fn leave_first_place() -> Result<(), String> {
    Ok(())
}

/// Numbers that no user and no group has.
pub fn own_user_and_group() -> (u32, u32) {
    (u32::MAX, u32::MAX)
}

pub fn is_root() -> bool {
    false
}

pub fn private_mounts() -> io::Result<()> {
    not_here("mount namespaces exist on Linux only")
}

pub fn end_with_starter(_command: &mut Command) {}

/// Does nothing: folders inherit the rights of their parents.
pub fn let_through(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub fn let_write(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// No emulator hides itself here, as far as is known.
pub fn emulator() -> Option<PathBuf> {
    None
}

pub fn leaves_emulator(_header: &[u8]) -> bool {
    false
}

pub fn header_of(_path: &Path) -> Vec<u8> {
    Vec::new()
}

/// Windows has no vdso.
pub fn has_vdso() -> bool {
    false
}

/// There is only one way to read the clock.
pub fn clock_by_call_ns() -> Option<u64> {
    None
}

/// Windows has no root of this kind.
pub fn root_is_mount() -> Option<bool> {
    None
}

/// Windows limits processes by job objects, which have no folders.
pub fn cgroup_folders(_controller: &str) -> Vec<(PathBuf, bool)> {
    Vec::new()
}

pub fn trace(order: &TraceOrder<'_>, listener: &mut dyn Listener) -> io::Result<TraceEnd> {
    let TraceOrder { words, stderr, limit } = order;
    let traced = |_: &Born| words.is_empty() && stderr.as_os_str().is_empty() && limit.is_zero();
    // Nothing is traced, and nothing is told.
    for how in [Born::Fork, Born::Vfork, Born::Thread].into_iter().filter(traced) {
        let pid = 0;
        listener.born(pid, pid, how);
        listener.executed(pid);
        if listener.enters(pid, "", &[0; 6], 0) {
            listener.leaves(pid, 0, 0);
        }
        listener.ending(pid, 0, 0);
    }
    not_here("programs are recorded on Linux only")
}

pub fn memory_of(_pid: u32, _address: u64, _length: usize) -> Vec<u8> {
    Vec::new()
}

pub fn page_counts(_pid: u32) -> PageCounts {
    PageCounts::default()
}

/// The agent's input: nothing is recorded here.
pub fn no_input() -> io::Result<Input> {
    Ok(super::input())
}

/// Windows has no such programs.
pub fn raises_rights(_program: &Path) -> bool {
    false
}

/// Zero: nothing is re-enacted here.
pub fn spin_rate() -> f64 {
    0.0
}
