//! The filesystem that a folder is on.

use std::ffi::{CString, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::shared::types::Volume;
use super::check;

/// The filesystem of the folder.
pub fn volume(folder: &Path) -> io::Result<Volume> {
    let path = CString::new(AsRef::<OsStr>::as_ref(folder).as_bytes())?;
    let mut facts = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the path is zero-terminated, and the buffer is the structure that the call fills.
    check(unsafe { libc::statfs(path.as_ptr(), facts.as_mut_ptr()) }.into())?;
    // SAFETY: success means that the buffer was filled.
    let facts = unsafe { facts.assume_init() };
    // Some filesystems give the unit of their counts in the first field only.
    let unit = if facts.f_frsize > 0 { facts.f_frsize } else { facts.f_bsize };
    // C libraries differ in whether the field has a sign.
    let unit = u64::try_from(i128::from(unit)).unwrap_or_default();
    let in_memory = match facts.f_type {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        _ => None,
    };
    let bytes = |blocks: u64| blocks.saturating_mul(unit);
    Ok(Volume { size: bytes(facts.f_blocks), free: bytes(facts.f_bavail), in_memory })
}

/// Makes a write beyond that limit an error, where it would end this process otherwise. By a
/// handler: programs that this one starts do not inherit it.
pub fn fail_beyond_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing, which is safe at any moment.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

/// Most bytes that a file of this process may have (`ulimit -f`), if there is a limit.
pub fn file_size_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: 0 };
    // SAFETY: the structure lives through the call, which leaves it as it is when it fails.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
