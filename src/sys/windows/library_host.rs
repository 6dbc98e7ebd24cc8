//! Processes that only load libraries, timed from their creation to their end: this binary once
//! more, in a role that calls `LoadLibraryEx`.

use std::env;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::ptr::null_mut;
use std::time::Duration;

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::LibraryLoader::{LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExW};
use windows_sys::Win32::System::SystemInformation::{GetSystemDirectoryW, GetWindowsDirectoryW};
use windows_sys::Win32::System::Threading::WaitForSingleObject;

use super::super::shared::types::{HostTimes, Needs};
use super::agent::bind_children;
use super::console::no_window;
use super::process::PEER_VERB;
use super::{narrow, now_ns, wide};

/// What the first word of the work of such a process is.
pub(super) const ROLE: &str = "libraries";
/// Between the paths of libraries: no path has it.
const BETWEEN: &str = "|";
/// The longest message of a process that could not load a library.
const LONGEST: u64 = 4096;

/// The folders in which the system looks for the libraries of the program, in its order.
pub fn library_folders(program: &Path) -> Option<Vec<PathBuf>> {
    let folder = |get: unsafe extern "system" fn(*mut u16, u32) -> u32| {
        let mut text = [0; 1024];
        // SAFETY: the buffer has the size given.
        unsafe { get(text.as_mut_ptr(), text.len() as u32) };
        PathBuf::from(narrow(&text))
    };
    let own = program.parent().map(Path::to_owned);
    let system = [folder(GetSystemDirectoryW), folder(GetWindowsDirectoryW)];
    let path = env::var_os("PATH").unwrap_or_default();
    Some(own.into_iter().chain(system).chain(env::split_paths(&path)).collect())
}

/// A process that loads exactly some libraries beside those of this binary.
pub struct LibraryHost {
    program: PathBuf,
    work: String,
}

impl LibraryHost {
    /// No file is written: the program is this binary.
    pub fn write(_: &Path, _: Option<&Path>, needs: &Needs, _: &str) -> io::Result<LibraryHost> {
        bind_children();
        let work = format!("{ROLE}:{}", needs.names.join(BETWEEN));
        Ok(LibraryHost { program: env::current_exe()?, work })
    }

    /// The program's path.
    pub fn path(&self) -> &Path {
        &self.program
    }

    /// A command that starts the process as well, to see what it prints.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args([PEER_VERB, &self.work, "-"]).stdin(Stdio::null());
        command.creation_flags(no_window());
        command
    }

    /// Starts one process and waits until its handle is signalled. It dies with this one. An error
    /// of the kind `TimedOut` when it took longer than the limit and was killed; other errors when
    /// it could not load a library.
    pub fn run(&self, limit: Duration) -> io::Result<HostTimes> {
        let mut command = self.command();
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let start = now_ns();
        let mut child = command.spawn()?;
        let limit = limit.as_millis().min(1 << 30) as u32;
        // SAFETY: takes no pointer; the handle is open.
        let waited = unsafe { WaitForSingleObject(child.as_raw_handle(), limit) };
        let end = now_ns();
        if waited != WAIT_OBJECT_0 {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::ErrorKind::TimedOut.into());
        }
        let status = child.wait()?;
        let mut said = Vec::new();
        if let Some(output) = child.stdout.take() {
            output.take(LONGEST).read_to_end(&mut said)?;
        }
        match <[u8; 8]>::try_from(said.as_slice()) {
            Ok(clock) if status.success() => {
                let ready = u64::from_le_bytes(clock);
                Ok(HostTimes {
                    start_ns: ready.saturating_sub(start),
                    exit_ns: end.saturating_sub(ready),
                })
            }
            _ if said.is_empty() => Err(io::Error::other(format!("it ended with {status}"))),
            _ => Err(io::Error::other(String::from_utf8_lossy(&said).into_owned())),
        }
    }
}

/// The work of such a process: loads the libraries, writes the clock to `output`, and returns to
/// end as every program does.
pub(super) fn load(words: &str, mut output: &File) -> io::Result<()> {
    for path in words.split(BETWEEN).filter(|path| !path.is_empty()) {
        let name = wide(OsStr::new(path))?;
        let how = LOAD_WITH_ALTERED_SEARCH_PATH;
        // SAFETY: the name is zero-terminated. The library's own code runs, as it is to.
        let library = unsafe { LoadLibraryExW(name.as_ptr(), null_mut(), how) };
        if library.is_null() {
            let error = io::Error::last_os_error();
            output.write_all(format!("loading `{path}`: {error}").as_bytes())?;
            return Err(error);
        }
    }
    output.write_all(&now_ns().to_le_bytes())
}
