//! Facts that only system calls tell.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;

/// Facts that the system tells when it is asked directly, which works without `/proc`.
pub fn facts() -> Vec<(&'static str, String)> {
    let mut names = MaybeUninit::<libc::utsname>::uninit();
    // SAFETY: the buffer is the structure that the call fills.
    if unsafe { libc::uname(names.as_mut_ptr()) } != 0 {
        return Vec::new();
    }
    // SAFETY: success means that the buffer was filled.
    let names = unsafe { names.assume_init() };
    let text = |field: &[libc::c_char]| {
        // SAFETY: the system ends each of the fields with a zero, within the field.
        unsafe { CStr::from_ptr(field.as_ptr()) }.to_string_lossy().into_owned()
    };
    vec![
        ("kernel", text(&names.release)),
        ("kernel_version", text(&names.version)),
        ("architecture", text(&names.machine)),
    ]
}

/// Facts of the filesystem that a path is on: none, because files tell more.
pub fn volume_facts(_path: &Path) -> Vec<(&'static str, String)> {
    Vec::new()
}

/// Whether the kernel maps code into every process by which the process reads the clock (vdso(7)).
pub fn has_vdso() -> bool {
    // SAFETY: a look into what the kernel gave this process at its start.
    unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) != 0 }
}

/// The monotonic clock in ns, read by a system call even where there is a way without one.
pub fn clock_by_call_ns() -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let time_at = ptr::from_mut(&mut time);
    // SAFETY: the pointer is to a timespec that lives through the call.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, time_at) };
    (result == 0).then_some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Whether `/` is the root of a mount. After chroot(2) to some folder it is not. None if the kernel
/// does not tell (before 5.8, gVisor).
pub fn root_is_mount() -> Option<bool> {
    const IS_MOUNT_ROOT: u64 = 0x2000;
    // `struct statx` in numbers of eight bytes (statx(2)), and where in it the attributes are and
    // which of them the filesystem knows.
    let mut found = [0u64; 32];
    const ATTRIBUTES: usize = 1;
    const KNOWN: usize = 7;
    // SAFETY: the path ends with a zero, and the buffer is as large and as aligned as the structure
    // that the call writes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_statx,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            0,
            0,
            ptr::from_mut(&mut found),
        )
    };
    let told = result == 0 && found[KNOWN] & IS_MOUNT_ROOT != 0;
    told.then_some(found[ATTRIBUTES] & IS_MOUNT_ROOT != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_by_call_is_the_same_clock() {
        let before = super::super::now_ns();
        let by_call = clock_by_call_ns().unwrap();
        assert!(before <= by_call && by_call <= super::super::now_ns());
    }

    #[test]
    fn the_system_names_itself() {
        assert!(facts().iter().all(|(_, text)| !text.is_empty()) && facts().len() == 3);
    }

    #[test]
    fn the_root_of_this_process_is_looked_at() {
        // The answer is the same twice, whatever it is.
        assert_eq!(root_is_mount(), root_is_mount());
    }
}
