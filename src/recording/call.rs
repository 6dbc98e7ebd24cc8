//! System calls that can be re-enacted. A reader refuses every other name.

use std::ffi::CStr;

use serde::{Deserialize, Serialize};

/// Stands for no path.
pub const NO_PATH: u32 = u32::MAX;

/// One system call. Which fields count depends on its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "CallRecord", into = "CallRecord")]
pub struct Call {
    pub kind: Kind,
    /// As the kernel gave it: negative for an error.
    pub result: i64,
    /// Descriptor, or -1.
    pub fd: i32,
    /// A second descriptor, or the slot of a memory mapping.
    pub other: i32,
    pub path: u32,
    pub second_path: u32,
    pub flags: u64,
    /// Size in bytes, or mode.
    pub size: u64,
    /// Offset in a file or mapping.
    pub at: u64,
}

/// [`Call`] as it is written.
#[derive(Serialize, Deserialize)]
struct CallRecord(Kind, i64, i32, i32, i64, i64, u64, u64, u64);

impl From<CallRecord> for Call {
    fn from(record: CallRecord) -> Call {
        let path = |path: i64| u32::try_from(path).unwrap_or(NO_PATH);
        let CallRecord(kind, result, fd, other, first, second, flags, size, at) = record;
        let (path, second_path) = (path(first), path(second));
        Call { kind, result, fd, other, path, second_path, flags, size, at }
    }
}

impl From<Call> for CallRecord {
    fn from(call: Call) -> CallRecord {
        let path = |path: u32| if path == NO_PATH { -1 } else { i64::from(path) };
        let Call { kind, result, fd, other, flags, size, at, .. } = call;
        let (first, second) = (path(call.path), path(call.second_path));
        CallRecord(kind, result, fd, other, first, second, flags, size, at)
    }
}

impl Call {
    /// A call of that kind without arguments.
    pub fn new(kind: Kind, result: i64) -> Call {
        Call {
            kind,
            result,
            fd: -1,
            other: -1,
            path: NO_PATH,
            second_path: NO_PATH,
            flags: 0,
            size: 0,
            at: 0,
        }
    }
}

/// What a class of operations is called in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    Open,
    Stat,
    Access,
    Link,
    List,
    Read,
    Write,
    Pipe,
    Socket,
    Descriptor,
    Change,
    Sync,
    Folder,
    Memory,
    Faults,
    Fork,
    Thread,
    Exec,
    Signal,
    Small,
    Compute,
    Wait,
    Start,
}

impl Class {
    /// All of them, in the order of their numbers.
    pub const ALL: [(Class, &'static str, &'static str); 23] = [
        (Class::Open, "open", "opening files"),
        (Class::Stat, "stat", "asking for the state of files"),
        (Class::Access, "access", "asking whether files may be used"),
        (Class::Link, "readlink", "reading links"),
        (Class::List, "list", "listing folders"),
        (Class::Read, "read", "reading files"),
        (Class::Write, "write", "writing files"),
        (Class::Pipe, "pipe", "making pipes"),
        (Class::Socket, "socket", "making sockets"),
        (Class::Descriptor, "descriptor", "closing, copying and setting descriptors"),
        (Class::Change, "change", "making, renaming and removing files"),
        (Class::Sync, "sync", "making files durable"),
        (Class::Folder, "cwd", "changing and asking for the working directory"),
        (Class::Memory, "memory", "mapping memory and files"),
        (Class::Faults, "faults", "touching pages for the first time"),
        (Class::Fork, "fork", "making processes"),
        (Class::Thread, "thread", "making threads"),
        (Class::Exec, "exec", "executing programs"),
        (Class::Signal, "signal", "setting up signals"),
        (Class::Small, "small", "calls that the kernel answers from memory"),
        (Class::Compute, "compute", "computing"),
        (Class::Wait, "wait", "waiting for others"),
        (Class::Start, "start", "the start and the end of the whole program"),
    ];

    pub fn name(self) -> &'static str {
        Class::ALL[self as usize].1
    }

    /// The class in a sentence, such as `reading files`.
    pub fn words(self) -> &'static str {
        Class::ALL[self as usize].2
    }
}

/// Names of extended attributes that a call may ask for, by the number in [`Call::size`]. Which
/// one it is decides who answers: the kernel itself or the filesystem.
pub const ATTRIBUTES: [&CStr; 7] = [
    c"user.envtax",
    c"security.selinux",
    c"security.capability",
    c"security.ima",
    c"system.posix_acl_access",
    c"system.posix_acl_default",
    c"trusted.envtax",
];

macro_rules! kinds {
    ($($kind:ident $name:literal $class:ident),* $(,)?) => {
        /// The calls, by the names that they have in a recording.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Kind {
            $(#[serde(rename = $name)] $kind,)*
        }

        impl Kind {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [(Kind, &'static str, Class)] =
                &[$((Kind::$kind, $name, Class::$class),)*];
        }
    };
}

kinds! {
    Open "open" Open,
    Stat "stat" Stat,
    Fstat "fstat" Stat,
    Statx "statx" Stat,
    Statfs "statfs" Stat,
    Getxattr "getxattr" Stat,
    Listxattr "listxattr" Stat,
    Access "access" Access,
    Readlink "readlink" Link,
    Getdents "getdents" List,
    Read "read" Read,
    ReadPipe "read_pipe" Wait,
    Pread "pread" Read,
    Write "write" Write,
    WritePipe "write_pipe" Pipe,
    Pwrite "pwrite" Write,
    Seek "lseek" Descriptor,
    CopyRange "copy_file_range" Write,
    Sendfile "sendfile" Write,
    Close "close" Descriptor,
    Dup "dup" Descriptor,
    DupTo "dup3" Descriptor,
    Fcntl "fcntl" Descriptor,
    Terminal "ioctl" Descriptor,
    Advise "fadvise" Descriptor,
    Lock "flock" Descriptor,
    Pipe "pipe" Pipe,
    Socket "socket" Socket,
    SocketPair "socketpair" Socket,
    Connect "connect" Socket,
    Shutdown "shutdown" Socket,
    Mkdir "mkdir" Change,
    Unlink "unlink" Change,
    Rename "rename" Change,
    HardLink "link" Change,
    Symlink "symlink" Change,
    Chmod "chmod" Change,
    Fchmod "fchmod" Change,
    Times "utimens" Change,
    Truncate "ftruncate" Change,
    Allocate "fallocate" Change,
    Fsync "fsync" Sync,
    Fdatasync "fdatasync" Sync,
    Chdir "chdir" Folder,
    Fchdir "fchdir" Folder,
    Getcwd "getcwd" Folder,
    Map "mmap" Memory,
    Unmap "munmap" Memory,
    Protect "mprotect" Memory,
    Break "brk" Memory,
    MemoryAdvice "madvise" Memory,
    Remap "mremap" Memory,
    Sigaction "sigaction" Signal,
    Sigmask "sigmask" Signal,
    AlternateStack "sigaltstack" Signal,
    Ids "getpid" Small,
    Random "getrandom" Small,
    Limits "prlimit" Small,
    Clock "clock_gettime" Small,
    Affinity "sched_getaffinity" Small,
    Yield "sched_yield" Small,
    System "uname" Small,
    Robust "set_robust_list" Small,
    Umask "umask" Small,
    Wake "futex_wake" Small,
    Poll "poll" Small,
    FailedExec "failed_exec" Exec,
}

impl Kind {
    pub fn class(self) -> Class {
        Kind::ALL[self as usize].2
    }

    pub fn name(self) -> &'static str {
        Kind::ALL[self as usize].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_name_what_stands_there() {
        for (number, (class, ..)) in Class::ALL.iter().enumerate() {
            assert_eq!(*class as usize, number);
        }
        for (number, (kind, name, _)) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, number);
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{name}\""));
        }
    }

    #[test]
    fn a_call_is_an_array() {
        let call = Call { path: 3, fd: -100, ..Call::new(Kind::Open, 5) };
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(text, r#"["open",5,-100,-1,3,-1,0,0,0]"#);
        assert_eq!(serde_json::from_str::<Call>(&text).unwrap(), call);
        assert!(serde_json::from_str::<Call>(&text.replace("open", "reboot")).is_err());
    }
}
