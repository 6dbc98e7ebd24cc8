//! What the first process of a virtual machine has to do itself: drivers, mounts, loopback,
//! console.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::check;

/// How long a device may take to appear after its driver was loaded.
const TIME_LIMIT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Forks, and returns in the child. The first process of the machine remains: it reaps orphans, and
/// turns the machine off when the child has ended.
pub fn leave_first_process() -> io::Result<()> {
    if std::process::id() != 1 {
        return Err(io::Error::other("only the first process of a machine does that"));
    }
    // SAFETY: the process has one thread, so the child may go on as it is.
    let pid = unsafe { libc::fork() };
    check(pid.into())?;
    if pid == 0 {
        // SAFETY: makes a session for this process, which leads none yet.
        return check(unsafe { libc::setsid() }.into()).map(drop);
    }
    loop {
        let mut status = 0;
        // SAFETY: waits for any child; the status is ours.
        let ended = unsafe { libc::wait(&mut status) };
        if ended == pid || (ended < 0 && !interrupted()) {
            break;
        }
    }
    loop {
        // SAFETY: writes what is not written yet, and ends the machine with this process.
        unsafe {
            libc::sync();
            libc::reboot(libc::RB_POWER_OFF);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

fn interrupted() -> bool {
    io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
}

/// Loads a kernel module from its file in a package, possibly compressed. A module that is loaded
/// already is no error.
pub fn load_module(path: &Path) -> io::Result<()> {
    const COMPRESSED: libc::c_int = 4; // MODULE_INIT_COMPRESSED_FILE of linux/module.h
    let file = File::open(path)?;
    let flags = if path.extension().is_some_and(|end| end == "ko") { 0 } else { COMPRESSED };
    // SAFETY: the file is open and the parameters are an empty, zero-terminated string.
    let result =
        unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), flags) };
    match check(result) {
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
        other => other.map(drop),
    }
}

/// Mounts a filesystem. Waits for a device that does not exist yet. A filesystem that the kernel
/// has mounted there already, as `/dev` may be, stays.
pub fn mount(
    source: &str,
    point: &Path,
    kind: &str,
    options: &str,
    read_only: bool,
) -> io::Result<()> {
    let flags = if read_only { libc::MS_RDONLY } else { 0 };
    let text = |bytes: &[u8]| CString::new(bytes).map_err(io::Error::other);
    let (source, kind) = (text(source.as_bytes())?, text(kind.as_bytes())?);
    let (point, options) = (text(point.as_os_str().as_bytes())?, text(options.as_bytes())?);
    retry(&[libc::ENOENT, libc::ENXIO, libc::EINVAL], || {
        // SAFETY: all strings are zero-terminated and outlive the call.
        let result = unsafe {
            libc::mount(
                source.as_ptr(),
                point.as_ptr(),
                kind.as_ptr(),
                flags,
                options.as_ptr().cast(),
            )
        };
        match check(result.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(()),
            other => other.map(drop),
        }
    })
}

/// Activates `lo`, through which sockets of this machine reach each other.
pub fn raise_loopback() -> io::Result<()> {
    // SAFETY: an interface request of zeroes is a valid one.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: the request is a whole one and names a device; the address follows from its flags.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request) };
    check(result.into()).map(drop)
}

/// Makes that terminal this process's input and output, as a plain channel of bytes. Error messages
/// go to the kernel's own console.
pub fn use_console(path: &Path) -> io::Result<()> {
    let open = |path: &Path| {
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(path)
    };
    let console = retry(&[libc::ENOENT, libc::ENXIO, libc::ENODEV], || open(path))?;
    let mut mode = MaybeUninit::<libc::termios>::zeroed();
    // SAFETY: the mode is a whole termios, filled in by the first call; zeroes are a valid one.
    unsafe {
        check(libc::tcgetattr(console.as_raw_fd(), mode.as_mut_ptr()).into())?;
        libc::cfmakeraw(mode.as_mut_ptr());
        check(libc::tcsetattr(console.as_raw_fd(), libc::TCSANOW, mode.as_ptr()).into())?;
    }
    let errors = open(Path::new("/dev/console"))?;
    for (from, to) in [(&console, 0), (&console, 1), (&errors, 2)] {
        // SAFETY: replaces a standard descriptor by an open one.
        check(unsafe { libc::dup2(from.as_raw_fd(), to) }.into())?;
    }
    Ok(())
}

/// Tries until it works, fails with an error that is not in `passing`, or the time limit is over.
fn retry<T>(passing: &[i32], mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + TIME_LIMIT;
    loop {
        match attempt() {
            Err(error)
                if error.raw_os_error().is_some_and(|code| passing.contains(&code))
                    && Instant::now() < until =>
            {
                thread::sleep(POLL_INTERVAL);
            }
            other => return other,
        }
    }
}
