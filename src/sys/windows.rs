//! Windows, not built yet: the same names as the other systems, each saying so when called.
//!
//! It type-checks so that no other layer can grow a dependency on one system. None of it has ever
//! measured anything.

mod bystander;
mod call;
mod command;
mod crew;
mod crowd;
mod device;
mod family;
mod page_cache;
mod peer;
mod volume;

pub use bystander::{Bystander, MOST_DUE, Operation};
pub use call::{Clock, FileMask, IdleDescriptor, SignalHandler, own_ids};
pub use command::{CommandEnd, CommandOrder, Killed, run_command, sync_all};
pub use crew::Crew;
pub use crowd::{Crowd, Shape};
pub use device::{Device, Written};
pub use family::{adopt_orphans, cpu_ns, family, memory_bytes, reap_orphans};
pub use page_cache::{CacheView, DROP_CACHES, drop_caches, evict, may_drop_caches};
pub use peer::{EchoPeer, FutexPeer, OwnPipe, PolledPeer, TcpPair, WriterPeer};
pub use volume::{file_size_limit, volume};
mod ballast;
mod folder;
mod guest;
mod held;
mod limits;
mod mapping;
mod names;
mod spawn;
mod stream;

use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::time::Instant;

use crate::model::Usage;

pub use ballast::{Ballast, huge_page_size};
pub use folder::{Entries, Folder};
pub use guest::{leave_first_process, load_module, mount, raise_loopback, use_console};
pub use held::{hold_processes, hold_threads};
pub use limits::{Room, memory_room, process_room};
pub use mapping::MappedFile;
pub use spawn::{REPLACING_EXECUTABLE, Spawner, posix_spawn};

/// Name of the clock in facts and documents.
pub const CLOCK_NAME: &str = "QueryPerformanceCounter";

/// No program of a few instructions is carried for Windows yet.
pub const TINY_EXECUTABLE: &[u8] = &[];

fn not_yet<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "not implemented on Windows yet"))
}

/// Nanoseconds since the first call.
#[inline]
pub fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    not_yet()
}

pub fn pin_to(_cpus: &[usize]) -> io::Result<()> {
    not_yet()
}

pub fn pin_process(_id: u32, _cpus: &[usize]) -> io::Result<()> {
    not_yet()
}

/// Always -1: Windows has no such call.
pub fn getppid() -> i64 {
    -1
}

/// Nothing is counted yet.
pub fn usage() -> Usage {
    Usage::default()
}

pub fn enter_namespace() -> Result<(), String> {
    Err("namespaces exist on Linux only".into())
}

pub fn enter_chroot(_dir: &Path) -> Result<(), String> {
    Err("chroot exists on Unix only".into())
}

pub fn enter_ptrace() -> Result<(), String> {
    Err("ptrace exists on Linux only".into())
}

pub fn enter_seccomp(profile: &str) -> Result<(), String> {
    check_seccomp(profile)
}

pub fn check_seccomp(_profile: &str) -> Result<(), String> {
    Err("seccomp exists on Linux only".into())
}

/// No process has duties to others here.
pub fn leave_first_place() -> Result<(), String> {
    Ok(())
}

/// A folder for temporary files is the user's own already.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Nobody is root.
pub fn own_user_and_group() -> (u32, u32) {
    (u32::MAX, u32::MAX)
}

pub fn is_private_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Nothing is ever mounted there.
pub fn unmount_below(_path: &Path) -> io::Result<()> {
    Ok(())
}

pub fn private_mounts() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "mount namespaces exist on Linux only"))
}

pub fn is_root() -> bool {
    false
}

pub fn end_with_starter(_command: &mut Command) {}

/// Folders take the rights of the one above.
pub fn let_through(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub fn let_write(_folder: &Path) -> io::Result<()> {
    Ok(())
}

pub fn die_with_parent() {}

pub fn new_session(_command: &mut Command) {}

pub fn end_group(_leader: u32) {}

pub fn ask_group_to_end(_leader: u32) {}

pub fn group_exists(_leader: u32) -> bool {
    false
}

/// Not told without the child's handle; callers wait and then end it.
pub fn has_ended(_child: &Child) -> bool {
    false
}

/// The running binary, from which fresh workers are started.
pub enum AgentImage {
    Path(PathBuf),
}

impl AgentImage {
    pub fn hold_open(self) -> io::Result<AgentImage> {
        not_yet()
    }

    pub fn command(&self, verb: &str) -> io::Result<Command> {
        let AgentImage::Path(path) = self;
        let mut command = Command::new(path);
        command.arg(verb);
        Ok(command)
    }
}

// Constructed once waiting is built.
#[allow(dead_code)]
#[derive(Debug, PartialEq, Eq)]
pub enum Ready {
    Answer,
    Interrupted,
    TimedOut,
}

pub fn wait_for_answer<A, B>(_answer: &A, _interrupt: &B, _limit_ms: u64) -> io::Result<Ready> {
    not_yet()
}

pub struct FilePath(Infallible);

impl FilePath {
    pub fn new(_path: &Path) -> io::Result<FilePath> {
        not_yet()
    }

    pub fn unlink(&self) -> io::Result<()> {
        match self.0 {}
    }
}

pub fn stat_size(path: &FilePath) -> io::Result<u64> {
    match path.0 {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Buffered,
    Direct,
    Durable,
}

pub struct ReadFile(Infallible);

impl ReadFile {
    pub fn open(path: &FilePath) -> io::Result<ReadFile> {
        match path.0 {}
    }

    pub fn close(self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn read_byte(&self) -> io::Result<u8> {
        match self.0 {}
    }

    pub fn open_as(path: &FilePath, _access: Access) -> io::Result<ReadFile> {
        match path.0 {}
    }

    pub fn read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn read_at(&self, _buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
        match self.0 {}
    }
}

pub struct WriteFile(Infallible);

impl WriteFile {
    pub fn create(path: &FilePath) -> io::Result<WriteFile> {
        match path.0 {}
    }

    pub fn open(path: &FilePath) -> io::Result<WriteFile> {
        match path.0 {}
    }

    pub fn create_as(path: &FilePath, _access: Access) -> io::Result<WriteFile> {
        match path.0 {}
    }

    pub fn open_as(path: &FilePath, _access: Access) -> io::Result<WriteFile> {
        match path.0 {}
    }

    pub fn write(&self, _data: &[u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn write_at(&self, _data: &[u8], _offset: u64) -> io::Result<usize> {
        match self.0 {}
    }

    pub fn sync_data(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn sync_all(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn write_byte(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub fn close(self) -> io::Result<()> {
        match self.0 {}
    }
}

pub fn write_executable(_path: &Path, _bytes: &[u8]) -> io::Result<()> {
    not_yet()
}

pub fn map_residency(_file: &File) -> io::Result<(usize, usize)> {
    not_yet()
}

pub fn page_size() -> usize {
    4096
}

pub struct Region(Infallible);

impl Region {
    pub fn map(_bytes: usize) -> io::Result<Region> {
        not_yet()
    }

    pub fn touch(&mut self, _step: usize) -> u64 {
        match self.0 {}
    }

    pub fn words(&mut self) -> &mut [u64] {
        match self.0 {}
    }
}

pub struct MapPlace(Infallible);

impl MapPlace {
    pub fn find(_bytes: usize) -> io::Result<MapPlace> {
        not_yet()
    }

    pub fn map_and_unmap(&self) -> io::Result<()> {
        match self.0 {}
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Pid(Infallible);

pub struct Executable(Infallible);

impl Executable {
    pub fn new(_words: &[&str]) -> io::Result<Executable> {
        not_yet()
    }
}

impl Executable {
    pub fn words(&self) -> String {
        match self.0 {}
    }
}

impl Executable {
    pub fn with_environment(self, _variables: &[&str]) -> io::Result<Executable> {
        match self.0 {}
    }
}

pub fn fork_exec_group(program: &Executable) -> io::Result<Pid> {
    match program.0 {}
}

pub fn fork_exec(program: &Executable) -> io::Result<Pid> {
    match program.0 {}
}

pub fn fork_exiting() -> io::Result<Pid> {
    not_yet()
}

pub fn reap(pid: Pid) -> io::Result<i32> {
    match pid.0 {}
}

pub struct Thread(Infallible);

pub fn start_thread() -> io::Result<Thread> {
    not_yet()
}

impl Thread {
    pub fn join(self) -> io::Result<()> {
        match self.0 {}
    }
}
