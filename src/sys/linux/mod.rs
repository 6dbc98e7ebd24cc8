//! Linux, one file a subject; all functions are safe to call.
//!
//! Exports the same names as `windows`. May use `shared` and `model`. Must not use `windows`, nor
//! know probes or environments.

mod agent;
mod ballast;
mod bystander;
mod call;
mod clock;
mod command;
mod console;
mod copies;
mod cpu;
mod descendants;
mod device;
mod emulator;
mod enter;
mod epoll;
mod exclusive_file;
mod facts;
mod file;
mod folder;
mod footprint;
mod futex;
mod guest;
mod hold_processes;
mod hold_threads;
mod library_host;
mod library_program;
mod limits;
mod mapping;
mod memory;
mod mount;
mod names;
mod page_cache;
mod peer;
mod pipe;
mod pipe_peer;
mod private_folder;
mod process;
mod process_tree;
mod ptrace;
mod raw;
mod reenact;
mod seccomp;
mod seccomp_profile;
mod seccomp_program;
mod self_exec_program;
mod shared_memory;
mod shell;
mod signal;
mod socket;
mod spawn;
mod stdio;
mod thread;
mod tiny_program;
mod touched;
mod trace;
mod volume;

pub use agent::{
    AgentImage, ask_group_to_end, die_with_parent, end_group, group_exists, has_ended, new_session,
    wait_for_answer,
};
pub use ballast::{Ballast, huge_page_size};
pub use bystander::{Bystander, MOST_DUE, Operation};
pub use call::{FileMask, IdleDescriptor, own_ids};
pub use clock::{CLOCK_NAME, Clock, now_ns};
pub use command::{find_program, is_no_program, run_command, sync_all};
pub use console::{end_in_order_when_closed, takes_escapes};
pub use copies::Copies;
pub use cpu::{allowed_cpus, getppid, pin_process, pin_to, usage};
pub use descendants::{
    LAUNCH_VARIABLE, adopt_orphans, cpu_ns, descendants, end_launched, is_wine_helper, living,
    memory_bytes, pin_traced, reap_orphans,
};
pub use device::Device;
pub use emulator::{emulator, header_of, leaves_emulator};
pub use enter::{enter_chroot, enter_namespace, leave_first_place};
pub use epoll::PolledPeer;
pub use exclusive_file::{is_device, open_exclusively};
pub use facts::{clock_by_call_ns, facts, has_vdso, root_is_mount, volume_facts};
pub use file::{FilePath, ReadFile, WriteFile, map_residency, stat_size, write_executable};
pub use folder::{Entries, Folder};
pub use futex::FutexPeer;
pub use guest::{leave_first_process, load_module, mount, raise_loopback, use_console};
pub use hold_processes::hold_processes;
pub use hold_threads::{HELD_THREAD_BYTES, hold_threads};
pub use library_host::{LibraryHost, library_folders};
pub use limits::{cgroup_folders, memory_room, process_room};
pub use mapping::MappedFile;
pub use memory::{MapPlace, Region, page_size};
pub use mount::{end_with_starter, let_through, let_write, private_mounts};
pub use page_cache::{CacheView, DROP_CACHES, drop_caches, evict, may_drop_caches};
pub use pipe::OwnPipe;
pub use pipe_peer::{EchoPeer, WriterPeer};
pub use private_folder::{
    append_private, create_private, is_at, is_private_folder, is_root, make_link,
    make_private_folder, make_private_folders, mode_of, own_user_and_group, set_mode,
    unmount_below,
};
pub use process::{
    DYNAMIC_PROGRAM, Executable, HAS_UNIX_SHELL, SHELL_PROGRAM, create_suspended, fork_exec,
    fork_exec_group, fork_exec_with, fork_exiting, reap,
};
pub use process_tree::{ProcessTree, TREE_PROCESS_BYTES};
pub use ptrace::enter_ptrace;
pub use reenact::spin_rate;
pub use seccomp::{check_seccomp, enter_seccomp};
pub use self_exec_program::{REPLACING_EXECUTABLE, dynamic_replacing_executable};
pub use shell::{command_of, quoted_backslashes, shell};
pub use signal::SignalHandler;
pub use socket::TcpPair;
pub use spawn::{Spawner, posix_spawn};
pub use thread::start_thread;
pub use tiny_program::TINY_EXECUTABLE;
pub use touched::page_counts;
pub use trace::{memory_of, raises_rights, trace};
pub use volume::{fail_beyond_file_size_limit, file_size_limit, volume};

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The agent's input; [`wait_for_answer`] tells whether there is something to read.
pub fn input() -> io::Stdin {
    io::stdin()
}

/// An input in which nothing ever comes and that never closes.
pub struct NoInput(io::PipeReader, #[allow(dead_code)] io::PipeWriter);

impl AsFd for NoInput {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub fn no_input() -> io::Result<NoInput> {
    io::pipe().map(|(reader, writer)| NoInput(reader, writer))
}

/// The exit status of a process that was started as a peer: none, because peers are forked here.
pub fn run_as_peer() -> Option<u8> {
    None
}

/// Turns the -1 of a system call into the error it left behind.
fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}
