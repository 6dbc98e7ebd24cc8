//! Ways for an agent to enter an environment by itself, without an installed program.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null;

use super::{check, own_user_and_group};

/// Moves this process into new user, mount, pid, ipc and uts namespaces.
///
/// Returns in the process that is inside, as pid 1 of the new pid namespace. The process that
/// called stays outside, waits for the one inside, and exits as that one does; if it is killed, the
/// kernel kills everything inside. Users keep their ids, so files belong to the same user on both
/// sides.
///
/// Errors say which step the system refused.
pub fn enter_namespace() -> Result<(), String> {
    let (user, group) = own_user_and_group();
    let spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    // SAFETY: this process has one thread, which is what a new user namespace asks for.
    step("new namespaces", unsafe { libc::unshare(spaces) })?;
    map_ids(user, group)?;
    // SAFETY: the process has one thread, so the child may go on as the program it is.
    match unsafe { libc::fork() } {
        0 => {}
        pid => {
            step("a process inside", pid)?;
            follow(pid);
        }
    }
    super::die_with_parent();
    mount_own_proc()
}

/// Where this is the first process of a pid namespace, lets this program go on in a child. Orphans
/// come to the first process, and those that nobody reaps would fill the namespace's process table.
/// Elsewhere it does nothing.
///
/// The first process exits as the child does; the kernel then kills everything else inside.
pub fn leave_first_place() -> Result<(), String> {
    // SAFETY: only reads the id of this process.
    if unsafe { libc::getpid() } != 1 {
        return Ok(());
    }
    // SAFETY: the process has one thread, so the child may go on as the program it is.
    match unsafe { libc::fork() } {
        0 => Ok(()),
        pid => {
            step("a process beside the first", pid)?;
            follow(pid);
        }
    }
}

fn map_ids(user: libc::uid_t, group: libc::gid_t) -> Result<(), String> {
    let write = |path: &str, text: String| {
        fs::write(path, text).map_err(|e| format!("writing {path}: {e}"))
    };
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Mounts a `/proc` that shows the new pid namespace. Where the system refuses (inside a container
/// whose own `/proc` is masked) the old one stays; it shows other processes and is only read.
fn mount_own_proc() -> Result<(), String> {
    let (root, none) = (c"/".as_ptr(), null());
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: all strings are constants that end with a zero; data is absent.
    step("private mounts", unsafe { libc::mount(none, root, none, private, null()) })?;
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    // SAFETY: as above.
    unsafe { libc::mount(none, c"/proc".as_ptr(), c"proc".as_ptr(), flags, null()) };
    Ok(())
}

/// Waits for the child and exits as it did; meanwhile reaps all other children.
fn follow(pid: libc::pid_t) -> ! {
    let mut status = 0;
    loop {
        // SAFETY: waits for our own children, of which nobody else here knows.
        let ended = unsafe { libc::waitpid(-1, &mut status, 0) };
        let interrupted = io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if ended == pid || (ended < 0 && !interrupted) {
            exit_as(status);
        }
    }
}

/// Ends this process with the same status or signal as the child.
pub(super) fn exit_as(status: libc::c_int) -> ! {
    let code = match libc::WIFEXITED(status) {
        true => libc::WEXITSTATUS(status),
        false => 128 + libc::WTERMSIG(status),
    };
    // SAFETY: ends the process without destructors, which belong to the other one.
    unsafe { libc::_exit(code) }
}

/// Makes `dir` the root of this process. A user namespace gives the privilege for it where this
/// process has none.
pub fn enter_chroot(dir: &Path) -> Result<(), String> {
    let path = CString::new(dir.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: the path is zero-terminated; a second try follows a refusal.
    let mut result = unsafe { libc::chroot(path.as_ptr()) };
    if result < 0 && io::Error::last_os_error().kind() == io::ErrorKind::PermissionDenied {
        let (user, group) = own_user_and_group();
        // SAFETY: this process has one thread.
        step("a user namespace for chroot", unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
        map_ids(user, group)?;
        // SAFETY: as above.
        result = unsafe { libc::chroot(path.as_ptr()) };
    }
    step(&format!("chroot to `{}`", dir.display()), result)?;
    std::env::set_current_dir("/").map_err(|e| format!("entering the new root: {e}"))
}

pub(super) fn step(what: &str, result: libc::c_int) -> Result<(), String> {
    check(result.into()).map(drop).map_err(|e| format!("{what}: {e}"))
}
