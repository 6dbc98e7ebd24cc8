//! One system call of a script. Paths begin in the folders of the process's site, and descriptors
//! are below those that the process uses for itself.

use std::cell::UnsafeCell;

use super::machine::call;
use super::memory;
use super::site::Site;
use crate::recording::script::{
    BY_EMPTY_PATH, BY_STATX, HANDLED, Instruction, MOST_FDS, SOCKET_FLAGS, bits,
};
use crate::recording::{ATTRIBUTES, Kind};

/// The most bytes that one call reads or writes at a time; a larger one is done in pieces.
const BUFFER: usize = 1 << 18;
/// The longest path with the folder that it begins in.
const PATH: usize = 4096;
/// Marks at the beginning of a text that say where the path begins.
const IN_TREE: u8 = b'T';
const IN_OWN: u8 = b'O';

#[repr(align(4096))]
struct Buffer(UnsafeCell<[u8; BUFFER]>);

// SAFETY: only the kernel reads and writes it, and nobody looks at what is in it.
unsafe impl Sync for Buffer {}

static BUFFER_OF_ALL: Buffer = Buffer(UnsafeCell::new([0; BUFFER]));

/// The address of a socket that does not exist, in the working directory.
static NOBODY: libc::sockaddr_un = {
    let mut address = libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
    let mut at = 0;
    let name = b"no-such-socket";
    while at < name.len() {
        address.sun_path[at] = name[at] as libc::c_char;
        at += 1;
    }
    address
};

const BAD: i64 = -(libc::EBADF as i64);
const HERE: u64 = libc::AT_FDCWD as u64;

/// A path in memory, for one call.
struct PathBuffer([u8; PATH]);

impl PathBuffer {
    /// The address of a text's path; none if it does not fit or does not exist.
    fn fill(&mut self, site: &Site, text: u32) -> Option<u64> {
        let text = site.texts.get(text as usize..)?;
        let length = text.iter().position(|byte| *byte == 0)?;
        let (mark, path) = text.get(..length)?.split_first()?;
        let folder = match *mark {
            IN_TREE => site.tree.to_bytes(),
            IN_OWN => site.out.to_bytes(),
            _ => {
                // As it stands: relative, or of a file of the system.
                return Some(path.as_ptr() as u64);
            }
        };
        let whole = folder.len() + path.len();
        self.0.get_mut(..folder.len())?.copy_from_slice(folder);
        self.0.get_mut(folder.len()..whole)?.copy_from_slice(path);
        *self.0.get_mut(whole)? = 0;
        Some(self.0.as_ptr() as u64)
    }
}

fn buffer() -> u64 {
    BUFFER_OF_ALL.0.get() as u64
}

/// The name of an extended attribute by its number.
fn attribute(number: u64) -> u64 {
    ATTRIBUTES.get(number as usize).unwrap_or(&ATTRIBUTES[0]).as_ptr() as u64
}

/// Makes the call. Negative for an error.
pub fn perform(kind: Kind, it: &Instruction, site: &Site) -> i64 {
    if it.fd >= MOST_FDS {
        return BAD;
    }
    match kind {
        Kind::Map => memory::map(it),
        Kind::Unmap => memory::unmap(it),
        Kind::Protect => memory::protect(it),
        Kind::MemoryAdvice => memory::advise(it),
        Kind::Remap => memory::remap(it),
        Kind::Break => memory::set_break(it),
        Kind::Pipe | Kind::SocketPair => make_pair(kind, it),
        Kind::Socket => make_socket(it),
        _ if (kind as u8) >= Kind::Sigaction as u8 && kind != Kind::FailedExec => small(kind, it),
        _ if it.first != u32::MAX => with_path(kind, it, site),
        _ => with_descriptor(kind, it),
    }
}

fn with_path(kind: Kind, it: &Instruction, site: &Site) -> i64 {
    let mut first = PathBuffer([0; PATH]);
    let Some(path) = first.fill(site, it.first) else { return -i64::from(libc::ENAMETOOLONG) };
    let fd = it.fd as u64;
    let (flags, size) = (it.flags, it.size);
    let (number, arguments) = match kind {
        Kind::Open => (libc::SYS_openat, [fd, path, flags, size, 0, 0]),
        Kind::Stat => (libc::SYS_newfstatat, [fd, path, buffer(), flags, 0, 0]),
        Kind::Statx => (libc::SYS_statx, [fd, path, flags, size, buffer(), 0]),
        Kind::Statfs => (libc::SYS_statfs, [path, buffer(), 0, 0, 0, 0]),
        Kind::Getxattr => {
            let follows = flags & libc::AT_SYMLINK_NOFOLLOW as u64 == 0;
            let number = if follows { libc::SYS_getxattr } else { libc::SYS_lgetxattr };
            (number, [path, attribute(size), buffer(), 256, 0, 0])
        }
        Kind::Listxattr => {
            let follows = flags & libc::AT_SYMLINK_NOFOLLOW as u64 == 0;
            let number = if follows { libc::SYS_listxattr } else { libc::SYS_llistxattr };
            (number, [path, buffer(), 256, 0, 0, 0])
        }
        Kind::Access => (libc::SYS_faccessat, [fd, path, flags, 0, 0, 0]),
        Kind::Readlink => (libc::SYS_readlinkat, [fd, path, buffer(), PATH as u64, 0, 0]),
        Kind::Mkdir => (libc::SYS_mkdirat, [fd, path, 0o777, 0, 0, 0]),
        Kind::Unlink => (libc::SYS_unlinkat, [fd, path, flags, 0, 0, 0]),
        Kind::Chmod => (libc::SYS_fchmodat, [fd, path, flags & 0o777 | 0o700, 0, 0, 0]),
        Kind::Times => (libc::SYS_utimensat, [fd, path, 0, flags, 0, 0]),
        Kind::Chdir => (libc::SYS_chdir, [path, 0, 0, 0, 0, 0]),
        // A link to nothing: a target from a recording could lead anywhere.
        Kind::Symlink => (libc::SYS_symlinkat, [c"stand-in".as_ptr() as u64, fd, path, 0, 0, 0]),
        Kind::FailedExec => {
            // Not executed: what stands there in place of a program is none.
            (libc::SYS_faccessat, [HERE, path, libc::X_OK as u64, 0, 0, 0])
        }
        Kind::Rename | Kind::HardLink => return two_paths(kind, it, site, path),
        _ => return BAD,
    };
    // SAFETY: paths end with a zero byte and outlive the call; the buffer is larger than what any
    // of these calls writes.
    let result = unsafe { call(number, arguments) };
    if kind == Kind::Open { placed(result, it) } else { result }
}

fn two_paths(kind: Kind, it: &Instruction, site: &Site, from: u64) -> i64 {
    let mut second = PathBuffer([0; PATH]);
    let Some(to) = second.fill(site, it.second) else { return -i64::from(libc::ENAMETOOLONG) };
    let number = match kind {
        Kind::Rename => libc::SYS_renameat2,
        _ => libc::SYS_linkat,
    };
    let other = it.at as u32 as i32;
    if other >= MOST_FDS {
        return BAD;
    }
    // SAFETY: both paths end with a zero byte and outlive the call.
    unsafe { call(number, [it.fd as u64, from, other as u64, to, 0, 0]) }
}

fn with_descriptor(kind: Kind, it: &Instruction) -> i64 {
    let (fd, size, at) = (it.fd as u64, it.size, it.at);
    let other = it.second as i32;
    if other >= MOST_FDS {
        return BAD;
    }
    let other = other as u64;
    let (number, arguments) = match kind {
        Kind::Read | Kind::Write | Kind::Pread | Kind::Pwrite => return in_pieces(kind, it),
        Kind::ReadPipe | Kind::WritePipe => return through_pipe(kind, it),
        Kind::Fstat => by_descriptor(it.flags, fd),
        Kind::Getxattr => (libc::SYS_fgetxattr, [fd, attribute(size), buffer(), 256, 0, 0]),
        Kind::Listxattr => (libc::SYS_flistxattr, [fd, buffer(), 256, 0, 0, 0]),
        Kind::Connect => {
            let address = &raw const NOBODY as u64;
            (libc::SYS_connect, [fd, address, size_of::<libc::sockaddr_un>() as u64, 0, 0, 0])
        }
        Kind::Shutdown => (libc::SYS_shutdown, [fd, it.flags & 3, 0, 0, 0, 0]),
        Kind::Getdents => (libc::SYS_getdents64, [fd, buffer(), size.min(BUFFER as u64), 0, 0, 0]),
        Kind::Seek => (libc::SYS_lseek, [fd, at, it.flags, 0, 0, 0]),
        Kind::Close => (libc::SYS_close, [fd, 0, 0, 0, 0, 0]),
        Kind::Dup => {
            let flag = if it.flags != 0 { libc::F_DUPFD_CLOEXEC } else { libc::F_DUPFD };
            let least = if it.second == u32::MAX { 0 } else { other };
            // SAFETY: takes numbers only.
            let result = unsafe { call(libc::SYS_fcntl, [fd, flag as u64, least, 0, 0, 0]) };
            return placed(result, it);
        }
        Kind::DupTo => (libc::SYS_dup3, [fd, other, it.flags, 0, 0, 0]),
        Kind::Fcntl => (libc::SYS_fcntl, [fd, it.flags, size, 0, 0, 0]),
        Kind::Terminal => (libc::SYS_ioctl, [fd, libc::TCGETS as u64, buffer(), 0, 0, 0]),
        Kind::Advise => (libc::SYS_fadvise64, [fd, 0, 0, 0, 0, 0]),
        Kind::Lock => (libc::SYS_flock, [fd, libc::LOCK_UN as u64, 0, 0, 0, 0]),
        Kind::Fchmod => (libc::SYS_fchmod, [fd, it.flags & 0o777 | 0o600, 0, 0, 0, 0]),
        Kind::Times => (libc::SYS_utimensat, [fd, 0, 0, 0, 0, 0]),
        Kind::Truncate => (libc::SYS_ftruncate, [fd, size, 0, 0, 0, 0]),
        Kind::Allocate => (libc::SYS_fallocate, [fd, it.flags & 1, at, size, 0, 0]),
        Kind::Fsync => (libc::SYS_fsync, [fd, 0, 0, 0, 0, 0]),
        Kind::Fdatasync => (libc::SYS_fdatasync, [fd, 0, 0, 0, 0, 0]),
        Kind::Fchdir => (libc::SYS_fchdir, [fd, 0, 0, 0, 0, 0]),
        Kind::Getcwd => (libc::SYS_getcwd, [buffer(), PATH as u64, 0, 0, 0, 0]),
        Kind::CopyRange => (libc::SYS_copy_file_range, [fd, 0, other, 0, size, 0]),
        Kind::Sendfile => (libc::SYS_sendfile, [fd, other, 0, size, 0, 0]),
        _ => return BAD,
    };
    // SAFETY: descriptors are the script's own; the buffer is larger than what any of these calls
    // writes.
    unsafe { call(number, arguments) }
}

/// Asks for the state of an open file, in the way that the program did.
fn by_descriptor(way: u64, fd: u64) -> (libc::c_long, [u64; 6]) {
    let (empty, flag) = (c"".as_ptr() as u64, libc::AT_EMPTY_PATH as u64);
    match way {
        BY_EMPTY_PATH => (libc::SYS_newfstatat, [fd, empty, buffer(), flag, 0, 0]),
        BY_STATX => {
            let all = u64::from(libc::STATX_BASIC_STATS);
            (libc::SYS_statx, [fd, empty, flag, all, buffer(), 0])
        }
        _ => (libc::SYS_fstat, [fd, buffer(), 0, 0, 0, 0]),
    }
}

/// Reads or writes all of the size, at most a buffer at a time.
fn in_pieces(kind: Kind, it: &Instruction) -> i64 {
    let number = match kind {
        Kind::Read => libc::SYS_read,
        Kind::Write => libc::SYS_write,
        Kind::Pread => libc::SYS_pread64,
        _ => libc::SYS_pwrite64,
    };
    let mut done = 0;
    loop {
        let size = (it.size - done).min(BUFFER as u64);
        let arguments = [it.fd as u64, buffer(), size, it.at + done, 0, 0];
        // SAFETY: the buffer has that size.
        let result = unsafe { call(number, arguments) };
        if result < 0 {
            return result;
        }
        done += result as u64;
        if done >= it.size || (result as u64) < size {
            return done as i64;
        }
    }
}

/// Reads or writes as many bytes of a pipe as were recorded, however they come.
fn through_pipe(kind: Kind, it: &Instruction) -> i64 {
    let number = if kind == Kind::ReadPipe { libc::SYS_read } else { libc::SYS_write };
    let (mut left, mut last) = (it.at, 0);
    loop {
        let wanted = if kind == Kind::ReadPipe { it.size.max(left) } else { left };
        // No more than was recorded: the rest is for the next read.
        let wanted = if left > 0 { wanted.min(left) } else { wanted };
        let arguments = [it.fd as u64, buffer(), wanted.min(BUFFER as u64), 0, 0, 0];
        // SAFETY: the buffer has that size.
        let result = unsafe { call(number, arguments) };
        if result <= 0 {
            return result;
        }
        last += result;
        left = left.saturating_sub(result as u64);
        if left == 0 {
            return last;
        }
    }
}

/// Gives a new descriptor the number that it had when it was recorded.
fn placed(result: i64, it: &Instruction) -> i64 {
    let wanted = it.at as u32 as i32;
    if result < 0 || it.bits & bits::GIVES == 0 || result == i64::from(wanted) {
        return result;
    }
    if !(0..MOST_FDS).contains(&wanted) {
        return BAD;
    }
    let flags = it.flags & libc::O_CLOEXEC as u64;
    // SAFETY: takes numbers only, none of which is one of this process's own descriptors.
    unsafe {
        call(libc::SYS_dup3, [result as u64, wanted as u64, flags, 0, 0, 0]);
        call(libc::SYS_close, [result as u64, 0, 0, 0, 0, 0]);
    }
    wanted.into()
}

/// A socket of this machine: bound to nothing, and connected to nobody.
fn make_socket(it: &Instruction) -> i64 {
    let families = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6].map(|family| family as u64);
    let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM].map(|kind| kind as u64);
    if !families.contains(&it.size) || !kinds.contains(&(it.flags & 15)) {
        return -i64::from(libc::EAFNOSUPPORT);
    }
    let flags = it.flags & (15 | SOCKET_FLAGS);
    // SAFETY: takes numbers only.
    placed(unsafe { call(libc::SYS_socket, [it.size, flags, 0, 0, 0, 0]) }, it)
}

/// A pipe, or two sockets that are connected with each other.
fn make_pair(kind: Kind, it: &Instruction) -> i64 {
    let (read, write) = (it.at as u32 as i32, it.second as i32);
    let fits = |fd: i32| (0..MOST_FDS).contains(&fd);
    if !fits(read) || !fits(write) {
        return BAD;
    }
    let mut made = [0_i32; 2];
    // SAFETY: the buffer is what the call writes.
    let result = unsafe {
        let room = made.as_mut_ptr() as u64;
        match kind {
            Kind::Pipe => call(libc::SYS_pipe2, [room, it.flags, 0, 0, 0, 0]),
            _ => {
                let sort = libc::SOCK_STREAM as u64 | it.flags;
                call(libc::SYS_socketpair, [libc::AF_UNIX as u64, sort, 0, room, 0, 0])
            }
        }
    };
    if result < 0 || made == [read, write] {
        return result;
    }
    let high = MOST_FDS as u64;
    let copy = libc::F_DUPFD as u64;
    // SAFETY: takes numbers only; the copies lie between those of scripts and the own ones.
    unsafe {
        for fd in &mut made {
            let moved = call(libc::SYS_fcntl, [*fd as u64, copy, high, 0, 0, 0]);
            call(libc::SYS_close, [*fd as u64, 0, 0, 0, 0, 0]);
            *fd = moved as i32;
        }
        for (from, to) in made.into_iter().zip([read, write]) {
            call(libc::SYS_dup3, [from as u64, to as u64, it.flags, 0, 0, 0]);
            call(libc::SYS_close, [from as u64, 0, 0, 0, 0, 0]);
        }
    }
    0
}

/// A handler that does nothing, or none: the end of a child then interrupts its parent, or not.
fn handle_ends_of_children(handles: bool) -> i64 {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = if handles { nothing as *const () as usize } else { libc::SIG_DFL };
    // SAFETY: all zeroes is a valid action; the handler touches nothing.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (action.sa_sigaction, action.sa_flags) = (handler, libc::SA_RESTART);
        libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut())
    };
    result.into()
}

/// Asks without waiting.
///
/// # Safety
/// There are that many entries, and more are not asked for.
#[cfg(target_arch = "x86_64")]
unsafe fn poll(asked: &mut [libc::pollfd], entries: u64) -> i64 {
    // SAFETY: the caller answers for the number of entries.
    unsafe { call(libc::SYS_poll, [asked.as_mut_ptr() as u64, entries, 0, 0, 0, 0]) }
}

/// As on x86-64; ARM kernels have the newer call only.
///
/// # Safety
/// There are that many entries, and more are not asked for.
#[cfg(target_arch = "aarch64")]
unsafe fn poll(asked: &mut [libc::pollfd], entries: u64) -> i64 {
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let limit = &raw const at_once as u64;
    // SAFETY: the caller answers for the number of entries; the time limit outlives the call.
    unsafe { call(libc::SYS_ppoll, [asked.as_mut_ptr() as u64, entries, limit, 0, 0, 0]) }
}

/// Calls that change nothing.
fn small(kind: Kind, it: &Instruction) -> i64 {
    let signal = libc::SIGUSR1 as u64;
    let (number, arguments) = match kind {
        Kind::Sigaction if it.fd == libc::SIGCHLD && it.flags != 0 => {
            return handle_ends_of_children(it.flags == HANDLED);
        }
        Kind::Sigaction => (libc::SYS_rt_sigaction, [signal, 0, buffer(), 8, 0, 0]),
        Kind::Poll => {
            // Of the input, as often as the recorded call had descriptors.
            let entries = it.size.min(64);
            let mut asked = [libc::pollfd { fd: 0, events: libc::POLLOUT, revents: 0 }; 64];
            // SAFETY: the array has that many entries and outlives the call, which does not wait.
            return unsafe { poll(&mut asked, entries) };
        }
        Kind::Sigmask => (libc::SYS_rt_sigprocmask, [0, 0, buffer(), 8, 0, 0]),
        Kind::AlternateStack => (libc::SYS_sigaltstack, [0, buffer(), 0, 0, 0, 0]),
        Kind::Random => (libc::SYS_getrandom, [buffer(), it.size.min(256), 0, 0, 0, 0]),
        Kind::Limits => (libc::SYS_prlimit64, [0, 7, 0, buffer(), 0, 0]),
        Kind::Clock => (libc::SYS_clock_gettime, [1, buffer(), 0, 0, 0, 0]),
        Kind::Affinity => (libc::SYS_sched_getaffinity, [0, 128, buffer(), 0, 0, 0]),
        Kind::Yield => (libc::SYS_sched_yield, [0; 6]),
        Kind::System => (libc::SYS_uname, [buffer(), 0, 0, 0, 0, 0]),
        Kind::Robust => (libc::SYS_set_robust_list, [0; 6]),
        Kind::Umask => (libc::SYS_umask, [0o22, 0, 0, 0, 0, 0]),
        Kind::Wake => {
            let wake = libc::FUTEX_WAKE as u64 | libc::FUTEX_PRIVATE_FLAG as u64;
            (libc::SYS_futex, [buffer(), wake, 1, 0, 0, 0])
        }
        _ => (libc::SYS_getppid, [0; 6]),
    };
    // SAFETY: each call asks only, and writes less than the buffer has.
    unsafe { call(number, arguments) }
}
