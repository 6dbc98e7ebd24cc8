//! Linux. One file a subject; all of them safe to call.

mod agent;
mod clock;
mod cpu;
mod crew;
mod enter;
mod file;
mod memory;
mod pipe;
mod process;
mod raw;
mod thread;
mod tiny;

pub use agent::{
    AgentImage, Ready, ask_group_to_end, die_with_parent, end_group, group_exists, has_ended,
    new_session, wait_for_answer,
};
pub use clock::{CLOCK_NAME, now_ns};
pub use cpu::{allowed_cpus, getppid, pin_process, pin_to, usage};
pub use crew::Crew;
pub use enter::{enter_chroot, enter_namespace};
pub use file::{FilePath, ReadFile, WriteFile, map_residency, stat_size, write_executable};
pub use memory::{Region, page_size};
pub use pipe::EchoPeer;
pub use process::{Executable, fork_exec, fork_exiting, reap};
pub use thread::start_thread;
pub use tiny::TINY_EXECUTABLE;

use std::io;

/// Turns the -1 of a system call into the error it left behind.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
