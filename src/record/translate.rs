//! System calls as events: which arguments count, what descriptors and mappings become, and what
//! is left out.

use std::cell::RefCell;
use std::collections::HashMap;

use super::descriptors::{Descriptors, Target};
use super::memory::Memory;
use super::paths::Paths;
use super::small::*;
use crate::recording::script::{BY_EMPTY_PATH, BY_STATX, MOST_FDS};
use crate::recording::{Call, Event, Kind, NO_PATH};
use crate::sys;

const AT_FDCWD: i32 = -100;
/// Bytes that one call copies at most.
const MOST_COPIED: u64 = 1 << 40;
/// A wait that was shorter did not wait.
const SHORT_NS: u64 = 50_000;
/// Families of sockets that are re-enacted: of this machine, and of the internet.
const FAMILIES: [u64; 3] = [1, 2, 10];
/// Streams and datagrams.
const SORTS: [u64; 2] = [1, 2];
/// Calls that are re-enacted on a socket.
const OF_SOCKETS: [Kind; 6] =
    [Kind::Close, Kind::Dup, Kind::DupTo, Kind::Fcntl, Kind::Fstat, Kind::Connect];

/// A call whose result is awaited, or that needs none.
pub struct Pending {
    pub name: &'static str,
    pub gap: u64,
    pub clone_flags: u64,
    /// The address that a new thread clears when it ends.
    pub clear_address: u64,
    arguments: [u64; 6],
    what: What,
    /// The absolute path of the file that a call opens or executes.
    absolute: Option<String>,
}

/// What becomes of a call.
pub(super) enum What {
    /// Nothing: it is told by another event.
    Nothing,
    /// It is not re-enacted.
    LeftOut,
    /// An event, whatever the result.
    Now(Event),
    /// A call with the result.
    Call(Call),
    Exec(u32),
    Wait,
    WaitId,
    /// A question about that many descriptors, and whether it waits for an answer.
    Poll(u64, bool),
    /// A wait on that address.
    Futex(u64),
    Sleep,
}

impl Pending {
    pub fn event_now(&self) -> Option<Event> {
        match &self.what {
            What::Now(event) => Some(event.clone()),
            _ => None,
        }
    }

    pub fn wants_result(&self) -> bool {
        !matches!(self.what, What::Nothing)
    }

    /// The path of the program that is executed.
    pub fn path(&self) -> u32 {
        match self.what {
            What::Exec(path) => path,
            _ => 0,
        }
    }

    /// Whether the program gets rights that its caller has not. A recorded one does not get them.
    pub fn raises_rights(&self) -> bool {
        self.absolute.as_deref().is_some_and(|path| sys::raises_rights(path.as_ref()))
    }

    /// The name of the program that is executed.
    pub fn program(&self) -> String {
        let path = self.absolute.as_deref().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// A process with what a call of it may change.
pub struct Scene<'a> {
    pub pid: u32,
    pub paths: &'a mut Paths,
    pub descriptors: &'a RefCell<Descriptors>,
    pub folder: &'a RefCell<Option<String>>,
    pub memory: &'a RefCell<Memory>,
    pub stream_of: &'a HashMap<u32, u32>,
    pub threads: &'a mut HashMap<u64, u32>,
}

impl Scene<'_> {
    pub fn enters(&mut self, name: &'static str, a: &[u64; 6], gap: u64) -> Pending {
        let mut pending = Pending {
            name,
            gap,
            clone_flags: 0,
            clear_address: 0,
            arguments: *a,
            what: What::LeftOut,
            absolute: None,
        };
        pending.what = match name {
            "fork" | "vfork" => What::Nothing,
            "clone" => {
                (pending.clone_flags, pending.clear_address) = (a[0], a[3]);
                What::Nothing
            }
            "clone3" => {
                let bytes = sys::memory_of(self.pid, a[0], 32);
                let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
                let number = |at: usize| word(at).map_or(0, u64::from_le_bytes);
                (pending.clone_flags, pending.clear_address) = (number(0), number(16));
                What::Nothing
            }
            "exit" | "exit_group" | "rt_sigreturn" | "restart_syscall" => What::Nothing,
            "execve" | "execveat" => {
                let (fd, at) =
                    if name == "execve" { (AT_FDCWD, a[0]) } else { (a[0] as i32, a[1]) };
                let path = self.path(fd, at, &mut pending);
                if path == NO_PATH { What::LeftOut } else { What::Exec(path) }
            }
            "wait4" => What::Wait,
            "waitid" if a[3] & WNOWAIT == 0 => What::WaitId,
            "waitid" => What::Now(plain(Kind::Ids)),
            "nanosleep" | "clock_nanosleep" => What::Sleep,
            "poll" => What::Poll(a[1], a[2] != 0),
            "ppoll" => What::Poll(a[1], self.is_time(a[2])),
            "select" | "pselect6" => What::Poll(a[0], self.is_time(a[4])),
            "rt_sigaction" => What::Now(self.signal_call(a)),
            "futex" => match a[1] & 0x7f {
                0 | 9 => What::Futex(a[0]),
                _ => What::Now(plain(Kind::Wake)),
            },
            _ => self.call(name, a, &mut pending),
        };
        pending
    }

    fn call(&mut self, name: &str, a: &[u64; 6], pending: &mut Pending) -> What {
        if let Some(kind) = small_kind(name) {
            let fd = if kind == Kind::Clock { a[0] as i32 } else { -1 };
            let size = if kind == Kind::Random { a[1] } else { 0 };
            return What::Now(Event::Call(Call { fd, size, ..Call::new(kind, 0) }));
        }
        match self.file_call(name, a, pending) {
            Some(call) => What::Call(call),
            None => match self.memory_call(name, a) {
                Some(what) => what,
                None => What::LeftOut,
            },
        }
    }

    /// The path at that address; [`NO_PATH`] if there is none that can be re-enacted.
    fn path(&mut self, fd: i32, address: u64, pending: &mut Pending) -> u32 {
        let Some(given) = self.text(address) else { return NO_PATH };
        let folder = self.base(fd);
        pending.absolute = self.paths.absolute(&given, folder.as_deref());
        self.paths.number(&given, folder.as_deref())
    }

    fn base(&self, fd: i32) -> Option<String> {
        match fd {
            AT_FDCWD => self.folder.borrow().clone(),
            fd => self.descriptors.borrow().path(fd).map(str::to_owned),
        }
    }

    fn path_call(
        &mut self,
        kind: Kind,
        (fd, at): (i32, u64),
        flags: u64,
        pending: &mut Pending,
    ) -> Option<Call> {
        let path = self.path(fd, at, pending);
        (path != NO_PATH).then(|| Call { fd, path, flags, ..Call::new(kind, 0) })
    }

    /// Calls about files, folders and descriptors.
    fn file_call(&mut self, name: &str, a: &[u64; 6], pending: &mut Pending) -> Option<Call> {
        let here = |at: u64| (AT_FDCWD, at);
        let there = (a[0] as i32, a[1]);
        match name {
            "open" => self.opening(here(a[0]), a[1], a[2], pending),
            "creat" => self.opening(here(a[0]), O_CREAT | 0o1001, a[1], pending),
            "openat" => self.opening(there, a[2], a[3], pending),
            "stat" => self.path_call(Kind::Stat, here(a[0]), 0, pending),
            "lstat" => self.path_call(Kind::Stat, here(a[0]), AT_SYMLINK_NOFOLLOW, pending),
            "newfstatat" if a[3] & AT_EMPTY_PATH != 0 && self.text(a[1]).is_none() => {
                let call = self.descriptor_call(Kind::Fstat, a[0] as i32)?;
                Some(Call { flags: BY_EMPTY_PATH, ..call })
            }
            "newfstatat" => self.path_call(Kind::Stat, there, a[3] & AT_SYMLINK_NOFOLLOW, pending),
            "statx" if a[2] & AT_EMPTY_PATH != 0 && self.text(a[1]).is_none() => {
                let call = self.descriptor_call(Kind::Fstat, a[0] as i32)?;
                Some(Call { flags: BY_STATX, ..call })
            }
            "statx" => {
                let flags = a[2] & (AT_SYMLINK_NOFOLLOW | 0x6000);
                let call = self.path_call(Kind::Statx, there, flags, pending)?;
                Some(Call { size: a[3] & 0xfff, ..call })
            }
            "statfs" => self.path_call(Kind::Statfs, here(a[0]), 0, pending),
            "getxattr" | "lgetxattr" => {
                let flags = if name == "getxattr" { 0 } else { AT_SYMLINK_NOFOLLOW };
                let size = self.attribute(a[1]);
                let call = self.path_call(Kind::Getxattr, here(a[0]), flags, pending)?;
                Some(Call { size, ..call })
            }
            "listxattr" => self.path_call(Kind::Listxattr, here(a[0]), 0, pending),
            "llistxattr" => {
                self.path_call(Kind::Listxattr, here(a[0]), AT_SYMLINK_NOFOLLOW, pending)
            }
            "access" => self.path_call(Kind::Access, here(a[0]), a[1] & 7, pending),
            "faccessat" | "faccessat2" => self.path_call(Kind::Access, there, a[2] & 7, pending),
            "readlink" => self.path_call(Kind::Readlink, here(a[0]), 0, pending),
            "readlinkat" => self.path_call(Kind::Readlink, there, 0, pending),
            "mkdir" => self.path_call(Kind::Mkdir, here(a[0]), 0, pending),
            "mkdirat" => self.path_call(Kind::Mkdir, there, 0, pending),
            "unlink" => self.path_call(Kind::Unlink, here(a[0]), 0, pending),
            "rmdir" => self.path_call(Kind::Unlink, here(a[0]), AT_REMOVEDIR, pending),
            "unlinkat" => self.path_call(Kind::Unlink, there, a[2] & AT_REMOVEDIR, pending),
            "chmod" => self.path_call(Kind::Chmod, here(a[0]), a[1], pending),
            "fchmodat" | "fchmodat2" => self.path_call(Kind::Chmod, there, a[2], pending),
            "utimensat" if a[1] == 0 => None,
            "utimensat" => self.path_call(Kind::Times, there, a[3] & AT_SYMLINK_NOFOLLOW, pending),
            "rename" | "link" => self.two_paths(name, here(a[0]), here(a[1]), pending),
            "renameat" | "renameat2" | "linkat" => {
                self.two_paths(name, there, (a[2] as i32, a[3]), pending)
            }
            "symlink" => self.path_call(Kind::Symlink, here(a[1]), 0, pending),
            "symlinkat" => self.path_call(Kind::Symlink, (a[1] as i32, a[2]), 0, pending),
            "chdir" => self.path_call(Kind::Chdir, here(a[0]), 0, pending),
            "getcwd" => Some(Call::new(Kind::Getcwd, 0)),
            "pipe" | "pipe2" => {
                let flags = if name == "pipe2" { a[1] & O_CLOEXEC } else { 0 };
                Some(Call { flags, ..Call::new(Kind::Pipe, 0) })
            }
            "socket" | "socketpair" => {
                let kind = if name == "socket" { Kind::Socket } else { Kind::SocketPair };
                let known = FAMILIES.contains(&a[0]) && SORTS.contains(&(a[1] & 15));
                let local = kind == Kind::Socket || a[1] & 15 == 1;
                (known && local).then(|| Call { flags: a[1], size: a[0], ..Call::new(kind, 0) })
            }
            _ => self.by_descriptor(name, a),
        }
    }

    fn opening(
        &mut self,
        place: (i32, u64),
        flags: u64,
        mode: u64,
        pending: &mut Pending,
    ) -> Option<Call> {
        let call = self.path_call(Kind::Open, place, flags, pending)?;
        Some(Call { size: mode & 0o777, ..call })
    }

    fn two_paths(
        &mut self,
        name: &str,
        from: (i32, u64),
        to: (i32, u64),
        pending: &mut Pending,
    ) -> Option<Call> {
        let kind = if name.starts_with("link") { Kind::HardLink } else { Kind::Rename };
        let call = self.path_call(kind, from, 0, pending)?;
        let second_path = self.path(to.0, to.1, pending);
        (second_path != NO_PATH).then_some(Call { other: to.0, second_path, ..call })
    }

    /// A call about a descriptor that has something behind it in a re-enactment.
    fn descriptor_call(&mut self, kind: Kind, fd: i32) -> Option<Call> {
        let known = match self.descriptors.borrow().get(fd) {
            Some(Target::Other) => false,
            Some(Target::Socket) => OF_SOCKETS.contains(&kind),
            _ => true,
        };
        (known && fd < MOST_FDS).then(|| Call { fd, ..Call::new(kind, 0) })
    }

    /// The kind of a call about a descriptor.
    fn kind_by_descriptor(&self, name: &str, a: &[u64; 6]) -> Option<Kind> {
        let fd = a[0] as i32;
        let is_pipe = matches!(self.descriptors.borrow().get(fd), Some(Target::Pipe));
        Some(match name {
            "read" | "readv" | "recvfrom" | "recvmsg" if is_pipe => Kind::ReadPipe,
            "write" | "writev" | "sendto" | "sendmsg" if is_pipe => Kind::WritePipe,
            "read" | "readv" => Kind::Read,
            "write" | "writev" => Kind::Write,
            "pread64" | "preadv" => Kind::Pread,
            "pwrite64" | "pwritev" => Kind::Pwrite,
            "lseek" => Kind::Seek,
            "fstat" => Kind::Fstat,
            "fstatfs" => Kind::Fstat,
            "fgetxattr" => Kind::Getxattr,
            "flistxattr" => Kind::Listxattr,
            "connect" if self.is_local(a[1]) => Kind::Connect,
            "shutdown" if is_pipe => Kind::Shutdown,
            "getdents64" | "getdents" => Kind::Getdents,
            "close" => Kind::Close,
            "dup" => Kind::Dup,
            "dup2" | "dup3" => Kind::DupTo,
            "fcntl" if [F_DUPFD, F_DUPFD_CLOEXEC].contains(&a[1]) => Kind::Dup,
            "fcntl" => Kind::Fcntl,
            "ioctl" => Kind::Terminal,
            "fadvise64" => Kind::Advise,
            "flock" => Kind::Lock,
            "fchmod" => Kind::Fchmod,
            "utimensat" => Kind::Times,
            "ftruncate" => Kind::Truncate,
            "fallocate" => Kind::Allocate,
            "fsync" => Kind::Fsync,
            "fdatasync" => Kind::Fdatasync,
            "fchdir" => Kind::Fchdir,
            "copy_file_range" => Kind::CopyRange,
            "sendfile" => Kind::Sendfile,
            _ => return None,
        })
    }

    fn by_descriptor(&mut self, name: &str, a: &[u64; 6]) -> Option<Call> {
        let fd = a[0] as i32;
        let kind = self.kind_by_descriptor(name, a)?;
        let call = self.descriptor_call(kind, fd)?;
        let read = match kind {
            Kind::Read | Kind::Pread | Kind::CopyRange => Some(fd),
            Kind::Sendfile => Some(a[1] as i32),
            _ => None,
        };
        if let Some(read) = read
            && let Some(path) = self.descriptors.borrow().path(read)
        {
            self.paths.reads(path);
        }
        if kind == Kind::Getdents
            && let Some(path) = self.descriptors.borrow().path(fd)
        {
            self.paths.list(path);
        }
        let vector = name.ends_with('v') || name.ends_with("msg");
        Some(match kind {
            // Sizes of vectors are not known; what was done is in the result.
            Kind::Read | Kind::Write | Kind::ReadPipe | Kind::WritePipe if vector => call,
            Kind::Read | Kind::ReadPipe | Kind::Write | Kind::WritePipe | Kind::Getdents => {
                Call { size: a[2], ..call }
            }
            Kind::Pread | Kind::Pwrite => Call { size: a[2], at: a[3], ..call },
            Kind::Seek => Call { at: a[1], flags: a[2], ..call },
            Kind::DupTo => {
                let flags = if name == "dup3" { a[2] & O_CLOEXEC } else { 0 };
                Call { other: a[1] as i32, flags, ..call }
            }
            Kind::Dup if name == "fcntl" => {
                Call { other: a[2] as i32, flags: u64::from(a[1] == F_DUPFD_CLOEXEC), ..call }
            }
            Kind::Fcntl => Call { flags: a[1], size: a[2] & 1, ..call },
            Kind::Getxattr => Call { size: self.attribute(a[1]), ..call },
            Kind::Shutdown => Call { flags: a[1], ..call },
            Kind::Fchmod => Call { flags: a[1], ..call },
            Kind::Truncate => Call { size: a[1], ..call },
            Kind::Allocate => Call { flags: a[1], at: a[2], size: a[3], ..call },
            // `cat` and `cp` ask for as much as a number holds; what was copied is the result.
            Kind::CopyRange => Call { other: a[2] as i32, size: a[4].min(MOST_COPIED), ..call },
            Kind::Sendfile => Call { other: a[1] as i32, size: a[3], ..call },
            _ => call,
        })
    }

    /// The event of a call that has ended. An error: it is left out.
    pub fn leaves(
        &mut self,
        pending: Pending,
        result: i64,
        took: u64,
    ) -> Result<Option<Event>, ()> {
        let child = |pid: i64| self.stream_of.get(&u32::try_from(pid).ok()?).copied();
        Ok(Some(match pending.what {
            What::Nothing | What::Now(_) => return Ok(None),
            What::LeftOut => return Err(()),
            What::Exec(path) => {
                Event::Call(Call { path, fd: AT_FDCWD, ..Call::new(Kind::FailedExec, result) })
            }
            What::Wait => child(result).map_or(plain(Kind::Ids), Event::Wait),
            What::WaitId => {
                let bytes = sys::memory_of(self.pid, pending.arguments[2], 16);
                let pid = bytes.get(12..16).and_then(|it| it.try_into().ok());
                let pid = pid.map_or(0, i32::from_le_bytes);
                child(pid.into()).map_or(plain(Kind::Ids), Event::Wait)
            }
            What::Futex(address) => match self.threads.remove(&address) {
                Some(stream) => Event::Join(stream),
                None => return Err(()),
            },
            What::Sleep => Event::Sleep(took),
            // Nothing came in time. Otherwise the next call takes what came, and waits for it.
            What::Poll(_, true) if result == 0 && took > SHORT_NS => Event::Sleep(took),
            What::Poll(count, _) => {
                Event::Call(Call { size: count.min(1024), ..Call::new(Kind::Poll, result) })
            }
            What::Call(ref call) => {
                Event::Call(self.with_result(call.clone(), &pending, result)?)
            }
        }))
    }

    /// Whether a time limit at that address is longer than none; no address is no limit.
    fn is_time(&self, address: u64) -> bool {
        address == 0 || sys::memory_of(self.pid, address, 16).iter().any(|byte| *byte != 0)
    }

    fn with_result(&mut self, mut call: Call, pending: &Pending, result: i64) -> Result<Call, ()> {
        call.result = result;
        if result < 0 && call.kind != Kind::Map {
            return Ok(call);
        }
        let mut descriptors = self.descriptors.borrow_mut();
        // Of something that is not re-enacted, such as a socket.
        if call.fd >= 0 && descriptors.get(call.fd).is_none() {
            return Err(());
        }
        let a = &pending.arguments;
        match call.kind {
            Kind::Open => {
                let target = pending.absolute.clone().map_or(Target::Other, Target::File);
                descriptors.set(result as i32, target, call.flags & O_CLOEXEC != 0);
            }
            Kind::Close => descriptors.close(call.fd),
            Kind::Dup | Kind::DupTo => {
                let target = descriptors.get(call.fd).cloned().unwrap_or(Target::Other);
                let closing = match call.kind {
                    Kind::Dup => call.flags != 0,
                    _ => call.flags & O_CLOEXEC != 0,
                };
                descriptors.set(result as i32, target, closing);
            }
            Kind::Fcntl if a[1] == F_SETFD => descriptors.set_closing(call.fd, a[2] & 1 != 0),
            Kind::Socket => {
                descriptors.set(result as i32, Target::Socket, call.flags & O_CLOEXEC != 0);
            }
            // Somebody answers who is not there in a re-enactment.
            Kind::Connect => return Err(()),
            Kind::Pipe | Kind::SocketPair => {
                let place = if call.kind == Kind::Pipe { a[0] } else { a[3] };
                let bytes = sys::memory_of(self.pid, place, 8);
                let fd = |at: usize| bytes.get(at..at + 4)?.try_into().ok();
                let (Some(read), Some(write)) = (fd(0), fd(4)) else { return Err(()) };
                let [read, write] = [read, write].map(i32::from_le_bytes);
                let closing = call.flags & O_CLOEXEC != 0;
                descriptors.set(read, Target::Pipe, closing);
                descriptors.set(write, Target::Pipe, closing);
                (call.result, call.other) = (read.into(), write);
            }
            Kind::Chdir => *self.folder.borrow_mut() = pending.absolute.clone(),
            Kind::Fchdir => {
                *self.folder.borrow_mut() = descriptors.path(call.fd).map(str::to_owned);
            }
            Kind::Map => self.mapped(&mut call, a, result)?,
            Kind::Break => {
                let mut memory = self.memory.borrow_mut();
                let first = *memory.first_break.get_or_insert(result as u64);
                call.at = call.at.saturating_sub(first);
                call.result = 0;
            }
            Kind::Remap => {
                let mut memory = self.memory.borrow_mut();
                let whole = call.other >= 0 && call.at == 0;
                memory.remove(a[0], a[1]);
                let slot = memory.add(result as u64, a[2]);
                let Some(slot) = slot.filter(|_| whole) else { return Err(()) };
                (call.result, call.at) = (slot.into(), a[1]);
            }
            _ => {}
        }
        Ok(call)
    }
}
