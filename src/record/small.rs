//! Calls without arguments that matter, and the flags of others (fcntl.h, mman.h, wait.h).

use crate::recording::{Call, Event, Kind};

pub const AT_EMPTY_PATH: u64 = 0x1000;
pub const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
pub const AT_REMOVEDIR: u64 = 0x200;
pub const O_CREAT: u64 = 0o100;
pub const O_CLOEXEC: u64 = 0o2_000_000;
pub const MAP_FIXED: u64 = 0x10;
pub const MAP_ANONYMOUS: u64 = 0x20;
pub const F_DUPFD: u64 = 0;
pub const F_SETFD: u64 = 2;
pub const F_DUPFD_CLOEXEC: u64 = 1030;
pub const WNOWAIT: u64 = 0x0100_0000;

/// The event of a call of which only the kind counts.
pub fn plain(kind: Kind) -> Event {
    Event::Call(Call::new(kind, 0))
}

/// Calls of which only the kind counts.
pub fn small_kind(name: &str) -> Option<Kind> {
    Some(match name {
        "rt_sigprocmask" | "rt_sigpending" => Kind::Sigmask,
        "sigaltstack" => Kind::AlternateStack,
        "getpid" | "getppid" | "gettid" | "getuid" | "geteuid" | "getgid" | "getegid"
        | "getpgrp" | "getpgid" | "getsid" | "arch_prctl" | "set_tid_address" | "getgroups"
        | "getresuid" | "getresgid" | "times" | "time" | "gettimeofday" | "getrusage" | "prctl"
        | "setpgid" | "setsid" | "alarm" | "setitimer" | "getpriority" | "capget" | "getcpu"
        | "membarrier" => Kind::Ids,
        "getrandom" => Kind::Random,
        "prlimit64" | "getrlimit" | "setrlimit" => Kind::Limits,
        "clock_gettime" | "clock_getres" => Kind::Clock,
        "sched_getaffinity" | "sched_setaffinity" | "sched_getparam" | "sched_getscheduler" => {
            Kind::Affinity
        }
        "sched_yield" => Kind::Yield,
        "uname" | "sysinfo" => Kind::System,
        "set_robust_list" | "get_robust_list" | "rseq" => Kind::Robust,
        "umask" => Kind::Umask,
        _ => return None,
    })
}
