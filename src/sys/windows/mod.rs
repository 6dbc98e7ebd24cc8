//! Windows, and with it Wine, one file a subject; all functions are safe to call.
//!
//! Exports the same names as `linux`. May use `shared` and `model`. Must not use `linux`, nor know
//! probes or environments. What Windows does not have, or what is not built for it, is an error of
//! the kind `Unsupported` whose text is the reason; a row that meets one is skipped with it.

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
mod due_timer;
mod elsewhere;
mod exclusive_file;
mod facts;
mod file;
mod folder;
mod guest;
mod hold_processes;
mod hold_threads;
mod input;
mod job;
mod library_host;
mod limits;
mod mapping;
mod memory;
mod names;
mod page_cache;
mod peer;
mod pipe;
mod private_folder;
mod process;
mod process_tree;
mod shell;
mod spawn;
mod stdio;
mod thread;
mod times;
mod tiny_program;
mod volume;
mod window;

pub use agent::{
    AgentImage, ask_group_to_end, die_with_parent, end_group, enter_chroot, enter_namespace,
    group_exists, has_ended, new_session, wait_for_answer,
};
pub use ballast::{Ballast, huge_page_size};
pub use bystander::{Bystander, MOST_DUE, Operation};
pub use call::{FileMask, IdleDescriptor, SignalHandler, own_ids};
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
pub use elsewhere::{
    cgroup_folders, check_seccomp, clock_by_call_ns, emulator, end_with_starter, enter_ptrace,
    enter_seccomp, has_vdso, header_of, is_root, leave_first_place, leaves_emulator, let_through,
    let_write, memory_of, no_input, own_user_and_group, page_counts, private_mounts, raises_rights,
    root_is_mount, spin_rate, trace,
};
pub use exclusive_file::{is_device, open_exclusively};
pub use facts::facts;
pub use file::{FilePath, ReadFile, WriteFile, map_residency, stat_size, write_executable};
pub use folder::{Entries, Folder};
pub use guest::{leave_first_process, load_module, mount, raise_loopback, use_console};
pub use hold_processes::hold_processes;
pub use hold_threads::{HELD_THREAD_BYTES, hold_threads};
pub use input::input;
pub use library_host::{LibraryHost, library_folders};
pub use limits::{memory_room, process_room};
pub use mapping::MappedFile;
pub use memory::{MapPlace, Region, page_size};
pub use page_cache::{CacheView, DROP_CACHES, drop_caches, evict, may_drop_caches};
pub use peer::{EchoPeer, FutexPeer, PolledPeer, TcpPair, WriterPeer, run_as_peer};
pub use pipe::OwnPipe;
pub use private_folder::{
    append_private, create_private, is_at, is_private_folder, make_link, make_private_folder,
    make_private_folders, mode_of, set_mode, unmount_below,
};
pub use process::{
    DYNAMIC_PROGRAM, Executable, HAS_UNIX_SHELL, SHELL_PROGRAM, create_suspended, fork_exec,
    fork_exec_group, fork_exec_with, fork_exiting, reap,
};
pub use process_tree::{ProcessTree, TREE_PROCESS_BYTES};
pub use shell::{command_of, quoted_backslashes, shell};
pub use spawn::{REPLACING_EXECUTABLE, Spawner, dynamic_replacing_executable, posix_spawn};
pub use thread::start_thread;
pub use tiny_program::TINY_EXECUTABLE;
pub use volume::{fail_beyond_file_size_limit, file_size_limit, volume, volume_facts};

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};

/// Turns a call's zero into the error it left behind.
fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Turns the handle that means failure into the error it left behind.
fn check_handle(handle: HANDLE) -> io::Result<HANDLE> {
    match handle {
        INVALID_HANDLE_VALUE => Err(io::Error::last_os_error()),
        handle if handle.is_null() => Err(io::Error::last_os_error()),
        handle => Ok(handle),
    }
}

/// The error for what does not exist on Windows, with the reason.
fn not_here<T>(reason: &str) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

/// Text in the form that Windows takes: UTF-16 with a zero at its end.
fn wide(text: &OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = text.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a zero in a name"));
    }
    wide.push(0);
    Ok(wide)
}

/// Text of the system up to its first zero.
fn narrow(text: &[u16]) -> String {
    let end = text.iter().position(|unit| *unit == 0).unwrap_or(text.len());
    String::from_utf16_lossy(&text[..end])
}
