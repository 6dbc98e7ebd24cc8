//! Traces a program and everything that it starts, call by call, for a recording. It needs no
//! rights: a seccomp filter of the program itself makes each call stop for its tracer.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use syscalls::Sysno;

use super::super::shared::trace::{Born, Listener, TraceEnd, TraceOrder};
use super::ptrace::{Request, ptrace};
use super::seccomp::install;
use super::seccomp_program::trace_all;
use super::{check, now_ns};

const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACEEXIT
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;
/// Events of stops (ptrace(2)).
const EVENT_SECCOMP: libc::c_int = 7;
const EVENT_STOP: libc::c_int = 128;
const GET_SYSCALL_INFO: Request = 0x420e;
/// How long processes may live on after the program itself has ended.
const GRACE: Duration = Duration::from_secs(2);

/// `struct ptrace_syscall_info` of a call's beginning or end.
#[repr(C)]
#[derive(Default)]
struct SyscallInfo {
    op: u8,
    pad: [u8; 3],
    arch: u32,
    instruction: u64,
    stack: u64,
    /// Number and six arguments, or result and whether it is an error.
    values: [u64; 8],
}

/// What is known of a tracee between two stops.
#[derive(Default)]
struct Tracee {
    /// When it was last continued.
    resumed_ns: u64,
    /// When its present call began.
    entered_ns: u64,
    in_call: bool,
    /// The architecture of its last call is another one.
    foreign: bool,
}

/// Runs the command to its end and tells the listener everything. An error means that it was not
/// started, or cannot be traced.
pub fn trace(order: &TraceOrder<'_>, listener: &mut dyn Listener) -> io::Result<TraceEnd> {
    let (gate, mut opening) = io::pipe()?;
    let (mut failing, failed) = io::pipe()?;
    // SAFETY: the child only prepares itself and executes the command, or exits.
    let root = match unsafe { libc::fork() } {
        0 => {
            drop((opening, failing));
            let error = become_command(order, gate);
            let code = error.raw_os_error().unwrap_or(libc::EIO);
            let _ = { failed }.write_all(&code.to_le_bytes());
            // SAFETY: ends a child in which nothing else was begun.
            unsafe { libc::_exit(127) }
        }
        pid => check(pid.into())? as libc::pid_t,
    };
    drop((gate, failed));
    if let Err(error) = ptrace(libc::PTRACE_SEIZE, root, OPTIONS) {
        // SAFETY: our own child, which nobody reaped.
        unsafe { libc::kill(root, libc::SIGKILL) };
        // SAFETY: as above.
        unsafe { libc::waitpid(root, std::ptr::null_mut(), 0) };
        return Err(io::Error::new(
            error.kind(),
            format!(
                "tracing a process: {error}; another tracer has it (strace, a debugger), or this \
                 place does not allow tracing (`kernel.yama.ptrace_scope`, a sandbox)"
            ),
        ));
    }
    opening.write_all(b".")?;
    drop(opening);
    let living = Arc::new(Mutex::new(BTreeSet::from([root])));
    let late = Arc::new(AtomicBool::new(false));
    let (ended, watch) = channel();
    let watcher = {
        let (living, late, limit) = (living.clone(), late.clone(), order.limit);
        thread::spawn(move || {
            let mut grace = limit;
            loop {
                match watch.recv_timeout(grace) {
                    Ok(()) => grace = GRACE,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        late.store(true, Ordering::Relaxed);
                        for pid in living.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                            // SAFETY: tracees of ours, which nobody but the tracer reaps.
                            unsafe { libc::kill(*pid, libc::SIGKILL) };
                        }
                        grace = Duration::from_millis(100);
                    }
                }
            }
        })
    };
    let mut tracer = Tracer { root, listener, tracees: BTreeMap::new(), living: &living };
    let mut end = TraceEnd { status: None, ..TraceEnd::default() };
    tracer.follow(&mut end, &ended);
    drop(ended);
    let _ = watcher.join();
    end.late = late.load(Ordering::Relaxed);
    let mut code = [0; 4];
    if failing.read_exact(&mut code).is_ok() {
        return Err(io::Error::from_raw_os_error(i32::from_le_bytes(code)));
    }
    Ok(end)
}

/// Waits until it is traced, puts the filter on itself and becomes the command. Returns only an
/// error.
fn become_command(order: &TraceOrder<'_>, mut gate: PipeReader) -> io::Error {
    let prepared = || -> io::Result<Command> {
        gate.read_exact(&mut [0])?;
        drop(gate);
        let (program, arguments) = order.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(File::create(order.stderr)?);
        // SAFETY: a group of its own for this process takes no pointer.
        check(unsafe { libc::setpgid(0, 0) }.into())?;
        install(&trace_all())?;
        Ok(command)
    };
    match prepared() {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}

struct Tracer<'a> {
    root: libc::pid_t,
    listener: &'a mut dyn Listener,
    tracees: BTreeMap<libc::pid_t, Tracee>,
    living: &'a Mutex<BTreeSet<libc::pid_t>>,
}

impl Tracer<'_> {
    /// Continues tracees from stop to stop until none is left.
    fn follow(&mut self, end: &mut TraceEnd, ended: &std::sync::mpsc::Sender<()>) {
        loop {
            let mut status = 0;
            // SAFETY: waits for our own tracees; the status outlives the call.
            let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL) };
            let now = now_ns();
            if pid < 0 {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return;
            }
            if !libc::WIFSTOPPED(status) {
                self.tracees.remove(&pid);
                self.living.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
                if pid == self.root {
                    end.status = Some(status);
                    let _ = ended.send(());
                }
                continue;
            }
            if let Entry::Vacant(place) = self.tracees.entry(pid) {
                place.insert(Tracee::default());
                self.living.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
            }
            let (request, signal) = self.stop(pid, status, now, end);
            if let Some(tracee) = self.tracees.get_mut(&pid) {
                tracee.resumed_ns = now_ns();
            }
            // A tracee that was killed meanwhile cannot be continued; its end is reported next.
            let _ = ptrace(request, pid, signal);
        }
    }

    /// Tells of a stop, and returns how to go on.
    fn stop(
        &mut self,
        pid: libc::pid_t,
        status: libc::c_int,
        now: u64,
        end: &mut TraceEnd,
    ) -> (Request, libc::c_int) {
        let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
        let own = pid as u32;
        let go_on = match self.tracees.get(&pid) {
            Some(tracee) if tracee.in_call => libc::PTRACE_SYSCALL,
            _ => libc::PTRACE_CONT,
        };
        match event {
            EVENT_SECCOMP => return (self.enters(pid, now, end), 0),
            0 if signal == libc::SIGTRAP | 0x80 => {
                self.leaves(pid, now);
                return (libc::PTRACE_CONT, 0);
            }
            0 => {
                // The end of a child comes by itself when it is re-enacted.
                end.signals += u64::from(signal != libc::SIGCHLD);
                return (go_on, signal);
            }
            libc::PTRACE_EVENT_FORK => self.born(own, Born::Fork),
            libc::PTRACE_EVENT_VFORK => self.born(own, Born::Vfork),
            libc::PTRACE_EVENT_CLONE => self.born(own, Born::Thread),
            libc::PTRACE_EVENT_EXEC => {
                if message(pid).is_some_and(|former| former != u64::from(own)) {
                    end.exec_by_thread = true;
                }
                self.listener.executed(own);
            }
            libc::PTRACE_EVENT_EXIT => {
                let status = message(pid).unwrap_or_default() as i32;
                self.listener.ending(own, status, now);
            }
            EVENT_STOP => {
                let stops = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];
                if stops.contains(&signal) {
                    return (libc::PTRACE_LISTEN, 0);
                }
            }
            _ => {}
        }
        (go_on, 0)
    }

    fn born(&mut self, parent: u32, how: Born) {
        if let Some(child) = message(parent as libc::pid_t) {
            self.listener.born(parent, child as u32, how);
        }
    }

    fn enters(&mut self, pid: libc::pid_t, now: u64, end: &mut TraceEnd) -> Request {
        let Some(info) = syscall_info(pid) else { return libc::PTRACE_CONT };
        let Some(tracee) = self.tracees.get_mut(&pid) else { return libc::PTRACE_CONT };
        let gap = if tracee.resumed_ns == 0 { 0 } else { now.saturating_sub(tracee.resumed_ns) };
        tracee.foreign = info.arch != super::seccomp_program::HERE;
        if tracee.foreign {
            end.foreign_calls += 1;
            return libc::PTRACE_CONT;
        }
        let [number, arguments @ ..] = info.values;
        let arguments: [u64; 6] =
            [arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]];
        let name = Sysno::new(number as usize).map_or("unknown", |it| it.name());
        let wants_result = self.listener.enters(pid as u32, name, &arguments, gap);
        tracee.in_call = wants_result;
        tracee.entered_ns = now_ns();
        if wants_result { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT }
    }

    fn leaves(&mut self, pid: libc::pid_t, now: u64) {
        let Some(info) = syscall_info(pid) else { return };
        let Some(tracee) = self.tracees.get_mut(&pid) else { return };
        if std::mem::take(&mut tracee.in_call) {
            let took = now.saturating_sub(tracee.entered_ns);
            self.listener.leaves(pid as u32, info.values[0] as i64, took);
        }
    }
}

/// The message of the tracee's event.
fn message(pid: libc::pid_t) -> Option<u64> {
    let mut message: libc::c_ulong = 0;
    let none = std::ptr::null_mut::<libc::c_void>();
    // SAFETY: the buffer is what the request writes.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, none, &raw mut message) };
    (result >= 0).then_some(message as u64)
}

fn syscall_info(pid: libc::pid_t) -> Option<SyscallInfo> {
    let mut info = SyscallInfo::default();
    let size = size_of::<SyscallInfo>();
    // SAFETY: the kernel writes at most that many bytes into the buffer.
    let result = unsafe { libc::ptrace(GET_SYSCALL_INFO, pid, size, &raw mut info) };
    (result > 0 && info.op != 0).then_some(info)
}

/// Whether a program runs with the rights of its owner or group (set-uid, set-gid).
pub fn raises_rights(program: &Path) -> bool {
    fs::metadata(program).is_ok_and(|about| about.mode() & 0o6000 != 0)
}

/// Bytes of another process, which is stopped for this one; fewer where its memory ends.
pub fn memory_of(pid: u32, address: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0_u8; length];
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: length };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length };
    // SAFETY: the local buffer is whole; the remote one is only read, by the kernel.
    let read = unsafe { libc::process_vm_readv(pid as libc::pid_t, &local, 1, &remote, 1, 0) };
    bytes.truncate(usize::try_from(read).unwrap_or(0));
    bytes
}
