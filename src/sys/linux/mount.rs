//! Mounts that only one run of envtax sees, and folders that other users may enter.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::ptr::null;

use super::check;

/// Moves the calling thread, and with it all processes that it starts later, into a mount namespace
/// of its own. What is mounted there is seen by nobody else and vanishes with the last process
/// inside; mounts of others remain visible.
pub fn private_mounts() -> io::Result<()> {
    // SAFETY: gives this thread a mount table and a working directory of its own.
    check(unsafe { libc::unshare(libc::CLONE_NEWNS) }.into())?;
    let (root, none) = (c"/".as_ptr(), null());
    let flags = libc::MS_REC | libc::MS_SLAVE;
    // SAFETY: the path is a constant that ends with a zero; the other strings are absent.
    check(unsafe { libc::mount(none, root, none, flags, null()) }.into()).map(drop)
}

/// Makes the command receive SIGTERM when the thread that starts it ends.
pub fn end_with_starter(command: &mut Command) {
    let starter = std::process::id();
    // SAFETY: both calls are async-signal-safe, and concern the new process only.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM).into())?;
            // The thread may have ended just before.
            match libc::getppid() as u32 == starter {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
}

/// Lets every user of the machine enter a folder, without showing what is in it.
pub fn let_through(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o711))
}

/// Lets every user of the machine make files in a folder, as in `/tmp`.
pub fn let_write(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o1777))
}
