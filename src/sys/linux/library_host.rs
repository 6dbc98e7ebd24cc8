//! Processes that only load libraries, timed from their creation to their end.

use std::env;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::shared::types::{HostTimes, Needs};
use super::library_program::{REPORT, file};
use super::process::Pid;
use super::{LAUNCH_VARIABLE, check, now_ns, reap, write_executable};

/// A program that needs exactly some libraries, as a file.
pub struct LibraryHost {
    path: CString,
    environment: Vec<CString>,
    launch: String,
}

/// None: a program's own loader says where it finds libraries.
pub fn library_folders(_: &Path) -> Option<Vec<PathBuf>> {
    None
}

impl LibraryHost {
    /// Writes the program to `path`. Without a loader it is a static program, which has no
    /// libraries. `launch` marks its processes, as everything that a launch starts.
    pub fn write(
        path: &Path,
        loader: Option<&Path>,
        needs: &Needs,
        launch: &str,
    ) -> io::Result<LibraryHost> {
        write_executable(path, &file(loader, needs))?;
        let own = env::vars_os().filter(|(name, _)| name != LAUNCH_VARIABLE);
        let variables = own.chain([(LAUNCH_VARIABLE.into(), launch.into())]);
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            let mut text = name.into_vec();
            text.push(b'=');
            text.extend_from_slice(value.as_bytes());
            CString::new(text)
        };
        Ok(LibraryHost {
            path: CString::new(path.as_os_str().as_bytes())?,
            environment: variables.map(text).collect::<Result<_, _>>()?,
            launch: launch.to_owned(),
        })
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.path.as_bytes()))
    }

    /// A command that starts the program as well, to see what it prints.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.path());
        command.stdin(Stdio::null()).env(LAUNCH_VARIABLE, &self.launch);
        command
    }

    /// Starts one process in a group of its own and waits for its end. What its libraries print is
    /// discarded. An error of the kind `TimedOut` when it took longer than the limit and was
    /// killed; other errors when it could not be started, or ended before its libraries were
    /// loaded.
    pub fn run(&self, limit: Duration) -> io::Result<HostTimes> {
        let (mut reader, writer) = pipe()?;
        let start = now_ns();
        let pid = self.spawn(&writer)?;
        drop(writer);
        let ended = wait_for_clock(&mut reader, Instant::now() + limit);
        if ended.is_err() {
            Pid::from_raw(pid).kill();
        }
        let status = reap(Pid::from_raw(pid));
        let end = now_ns();
        // SAFETY: the group was made for this process: what it has left behind is ended.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
        let (ready, status) = (ended?, status?);
        match ready {
            Some(ready) if status == 0 => Ok(HostTimes {
                start_ns: ready.saturating_sub(start),
                exit_ns: end.saturating_sub(ready),
            }),
            _ => Err(io::Error::other(format!("it ended with status {status}"))),
        }
    }

    fn spawn(&self, report: &File) -> io::Result<libc::pid_t> {
        let actions = Actions::new(report.as_raw_fd())?;
        let words = [self.path.as_ptr().cast_mut(), std::ptr::null_mut()];
        let texts = self.environment.iter().map(|text| text.as_ptr().cast_mut());
        let texts: Vec<*mut libc::c_char> = texts.chain([std::ptr::null_mut()]).collect();
        let mut pid = 0;
        // SAFETY: path, words and environment are valid, end with a null, and outlive the call, as
        // do the actions and attributes, which were initialised.
        let error = unsafe {
            libc::posix_spawn(
                &mut pid,
                self.path.as_ptr(),
                &actions.files,
                &actions.attributes,
                words.as_ptr(),
                texts.as_ptr(),
            )
        };
        if error == 0 { Ok(pid) } else { Err(io::Error::from_raw_os_error(error)) }
    }
}

/// Standard streams go nowhere, and the report to a pipe; the process has its own group.
struct Actions {
    files: libc::posix_spawn_file_actions_t,
    attributes: libc::posix_spawnattr_t,
}

impl Actions {
    fn new(report: libc::c_int) -> io::Result<Actions> {
        const NULL: &CStr = c"/dev/null";
        let no_error = |error: libc::c_int| match error {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        };
        let mut files = MaybeUninit::uninit();
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: both are initialised by these calls, whose buffers are whole.
        let mut actions = unsafe {
            no_error(libc::posix_spawn_file_actions_init(files.as_mut_ptr()))?;
            no_error(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Actions { files: files.assume_init(), attributes: attributes.assume_init() }
        };
        let (to, about) = (&mut actions.files, &mut actions.attributes);
        // SAFETY: all were initialised, and the path is a constant.
        unsafe {
            no_error(libc::posix_spawn_file_actions_adddup2(to, report, REPORT))?;
            for (descriptor, how) in [(0, libc::O_RDONLY), (1, libc::O_WRONLY), (2, libc::O_WRONLY)]
            {
                let path = NULL.as_ptr();
                no_error(libc::posix_spawn_file_actions_addopen(to, descriptor, path, how, 0))?;
            }
            no_error(libc::posix_spawnattr_setflags(
                about,
                libc::POSIX_SPAWN_SETPGROUP as libc::c_short,
            ))?;
            no_error(libc::posix_spawnattr_setpgroup(about, 0))?;
        }
        Ok(actions)
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: both were initialised and are not used again.
        unsafe {
            libc::posix_spawn_file_actions_destroy(&mut self.files);
            libc::posix_spawnattr_destroy(&mut self.attributes);
        }
    }
}

fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: two descriptors are written, which nobody else owns.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC).into())?;
        Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])))
    }
}

/// Reads the process's clock in ns, then waits until it has closed the pipe by its end. None if it
/// wrote something else.
fn wait_for_clock(reader: &mut File, until: Instant) -> io::Result<Option<u64>> {
    let (mut seen, mut chunk) = (Vec::new(), [0; 64]);
    loop {
        let rest = until.saturating_duration_since(Instant::now()).as_millis();
        let mut watched = libc::pollfd { fd: reader.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry, which lives through the call.
        let ready = unsafe { libc::poll(&mut watched, 1, rest.min(1 << 20) as libc::c_int) };
        match check(ready.into()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        match reader.read(&mut chunk)? {
            0 => break,
            count => seen.extend_from_slice(&chunk[..count]),
        }
        if seen.len() > 16 {
            return Ok(None);
        }
    }
    let Ok(time) = <[u8; 16]>::try_from(seen) else { return Ok(None) };
    let number = |at: usize| u64::from_le_bytes(time[at..at + 8].try_into().unwrap_or_default());
    Ok(number(0).checked_mul(1_000_000_000).and_then(|s| s.checked_add(number(8))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// The loader of a dynamic program of this machine, if there is one.
    fn loader() -> Option<PathBuf> {
        let places = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
        places.iter().map(PathBuf::from).find(|path| path.exists())
    }

    fn host(folder: &Path, loader: Option<&Path>, libraries: &[&str]) -> LibraryHost {
        let names = libraries.iter().map(|name| (*name).to_owned()).collect();
        let path = folder.join(format!("host{}", libraries.len()));
        let needs = Needs { names, folders: Vec::new() };
        LibraryHost::write(&path, loader, &needs, "test-0").unwrap()
    }

    /// Another test may fork while the file is open for writing here: try again.
    fn run(host: &LibraryHost) -> io::Result<HostTimes> {
        loop {
            match host.run(LIMIT) {
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => continue,
                other => return other,
            }
        }
    }

    #[test]
    fn a_process_with_and_without_libraries_tells_when_it_was_ready() {
        let dir = tempfile::tempdir().unwrap();
        let times = run(&host(dir.path(), None, &[])).unwrap();
        assert!(times.start_ns > 0 && times.exit_ns > 0, "{times:?}");
        let Some(loader) = loader() else { return };
        let dir = tempfile::tempdir().unwrap();
        assert!(run(&host(dir.path(), Some(&loader), &[])).unwrap().start_ns > 0);
        assert!(run(&host(dir.path(), Some(&loader), &["libc.so.6"])).unwrap().start_ns > 0);
        let failed = run(&host(dir.path(), Some(&loader), &["libc.so.6", "/no/such.so"]));
        let error = failed.unwrap_err().to_string();
        assert!(error.contains("status 127"), "{error}");
    }

    #[test]
    fn only_a_clock_is_read() {
        let read = |bytes: &[u8]| {
            let (mut reader, mut writer) = pipe().unwrap();
            io::Write::write_all(&mut writer, bytes).unwrap();
            drop(writer);
            wait_for_clock(&mut reader, Instant::now() + LIMIT).unwrap()
        };
        let clock = [3u64.to_le_bytes(), 7u64.to_le_bytes()].concat();
        assert_eq!(read(&clock), Some(3_000_000_007));
        assert_eq!((read(b"nothing"), read(&[1; 40])), (None, None));
        assert_eq!(read(&[0xff; 16]), None, "no time of any clock");
    }

    #[test]
    fn a_process_that_does_not_end_is_killed() {
        let (mut reader, _writer) = pipe().unwrap();
        let late = wait_for_clock(&mut reader, Instant::now() + Duration::from_millis(20));
        assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
