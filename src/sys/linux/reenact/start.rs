//! The beginning of a stand-in process.
//!
//!     envtax reenact SCRIPT TREE OUT      the first process
//!     envtax reenact @STREAM TIME TREE OUT   a process that another one executes
//!
//! This runs before the runtime library is set up, so that a process starts with hardly a call of
//! its own.

use std::ffi::{CStr, c_char};

use super::machine::call;
use super::play::{Player, fail};
use super::site::Site;
use crate::recording::script::{HEADER, MAGIC, MOST_STREAMS};

/// The first descriptor that a stand-in process uses for itself.
const OWN: u64 = 600;
/// The verb.
const VERB: &[u8] = b"reenact";

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

/// Becomes a stand-in process if the arguments say so.
extern "C" fn before_main() {
    // SAFETY: the loader's stack: the arguments end with a null pointer right before the variables,
    // and their number stands before them.
    unsafe {
        let variables = environ;
        if variables.is_null() {
            return;
        }
        let mut place = variables.sub(2);
        let mut count = 0_usize;
        while *place as usize != count {
            // More than this are no arguments of a stand-in process.
            if count > 16 {
                return;
            }
            count += 1;
            place = place.sub(1);
        }
        let arguments = std::slice::from_raw_parts(place.add(1).cast::<*const c_char>(), count);
        if count < 5 || CStr::from_ptr(arguments[1]).to_bytes() != VERB {
            return;
        }
        begin(arguments);
    }
}

/// Carries out the stream that the arguments name, and exits.
///
/// # Safety
/// Each argument is a text that ends with a zero byte and lives as long as the process.
unsafe fn begin(arguments: &[*const c_char]) -> ! {
    // SAFETY: as above.
    let text = |at: usize| unsafe { CStr::from_ptr(arguments[at]) };
    let second = text(2).to_bytes();
    if let Some(stream) = second.strip_prefix(b"@") {
        if arguments.len() < 6 {
            fail(b"too few arguments");
        }
        let begun = number(text(3).to_bytes());
        let site = site(text(0), text(4), text(5), OWN, OWN + 1);
        Player::new(&site).go_on(number(stream) as usize, begun)
    }
    let script = open(text(2), libc::O_RDONLY, OWN);
    let report = open(text(4), libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND, OWN + 1);
    enter(text(3));
    // SAFETY: sets no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let site = site(text(0), text(3), text(4), script, report);
    Player::new(&site).play(0)
}

/// Goes into the tree, and closes what it was given beside input and outputs: relative paths and
/// descriptors of a script must not reach anything else.
fn enter(tree: &CStr) {
    // SAFETY: the path outlives the call.
    if unsafe { call(libc::SYS_chdir, [tree.as_ptr() as u64, 0, 0, 0, 0, 0]) } < 0 {
        fail(b"the stand-in files are not there");
    }
    // SAFETY: nothing here uses these descriptors.
    let closed = unsafe { call(libc::SYS_close_range, [3, OWN - 1, 0, 0, 0, 0]) };
    if closed < 0 {
        for fd in 3..OWN {
            // SAFETY: as above.
            unsafe { call(libc::SYS_close, [fd, 0, 0, 0, 0, 0]) };
        }
    }
}

/// Opens a file as exactly that descriptor.
fn open(path: &CStr, flags: libc::c_int, wanted: u64) -> u64 {
    let here = libc::AT_FDCWD as u64;
    let arguments = [here, path.as_ptr() as u64, flags as u64, 0o600, 0, 0];
    // SAFETY: the path outlives the call.
    let fd = unsafe { call(libc::SYS_openat, arguments) };
    if fd < 0 {
        fail(b"the script or the report cannot be opened");
    }
    // SAFETY: descriptors of this process only.
    let moved = unsafe { call(libc::SYS_dup3, [fd as u64, wanted, 0, 0, 0, 0]) };
    if moved < 0 {
        fail(b"more than 600 descriptors are not allowed here (`ulimit -n`)");
    }
    // SAFETY: the descriptor that was just opened.
    unsafe { call(libc::SYS_close, [fd as u64, 0, 0, 0, 0, 0]) };
    wanted
}

/// Maps the script and checks its header.
fn site(
    program: &'static CStr,
    tree: &'static CStr,
    out: &'static CStr,
    script: u64,
    report: u64,
) -> Site {
    let mut about = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the buffer is whole.
    let result = unsafe { call(libc::SYS_fstat, [script, about.as_mut_ptr() as u64, 0, 0, 0, 0]) };
    // SAFETY: all zeroes is a valid stat.
    let about = unsafe { about.assume_init() };
    let (length, identity) = (about.st_size as u64, (about.st_ino, about.st_mtime_nsec as u64));
    if result < 0 || length < HEADER as u64 {
        fail(b"the script is empty");
    }
    let arguments = [0, length, libc::PROT_READ as u64, libc::MAP_PRIVATE as u64, script, 0];
    // SAFETY: a new mapping where the kernel chooses.
    let base = unsafe { call(libc::SYS_mmap, arguments) };
    if base <= 0 {
        fail(b"the script cannot be mapped");
    }
    // SAFETY: the mapping is never unmapped, and envtax's controller does not change the file.
    let bytes = unsafe { std::slice::from_raw_parts(base as *const u8, length as usize) };
    let head = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
    let (streams, texts_at, texts) = (head(8), head(16), head(24));
    let starts = HEADER as u64 + streams.saturating_mul(8);
    let fits = texts_at.checked_add(texts).is_some_and(|end| end <= length);
    if head(0) != MAGIC || streams > MOST_STREAMS as u64 || starts > texts_at || !fits {
        fail(b"the script is damaged");
    }
    let texts = &bytes[texts_at as usize..(texts_at + texts) as usize];
    Site { program, tree, out, bytes: &bytes[..texts_at as usize], texts, script, report, identity }
}

fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0_u64, |sum, digit| {
        sum.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')))
    })
}
