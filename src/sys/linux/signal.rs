//! A signal with a handler that this process sends to itself.

use std::io;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{check, raw};

const SIGNAL: libc::c_int = libc::SIGUSR1;
/// If the handler has not run after this time, the signal is lost.
const LOST: Duration = Duration::from_secs(1);

/// How often the handler ran.
static HANDLED: AtomicU64 = AtomicU64::new(0);
/// Serialises handlers: the action of a signal belongs to the whole process.
static ONE: Mutex<()> = Mutex::new(());

extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// The kernel's own `sigaction` on x86-64 and AArch64: handler, flags, restorer and mask.
type KernelAction = [u64; 4];
/// Bytes of the mask in it.
const MASK_BYTES: usize = 8;

/// A handler for SIGUSR1 that only counts. The former action is restored when this is dropped.
pub struct SignalHandler {
    before: libc::sigaction,
    /// The action as the C library installed it, with the library's code for the way back.
    action: KernelAction,
    pid: usize,
    _one: MutexGuard<'static, ()>,
}

impl SignalHandler {
    pub fn install() -> io::Result<SignalHandler> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: an action of zeroes has no flags and an empty mask; the handler only changes an
        // atomic, and both actions live through the call.
        let before = unsafe {
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
            check(libc::sigaction(SIGNAL, &action, before.as_mut_ptr()).into())?;
            before.assume_init()
        };
        let pid = std::process::id() as usize;
        let mut handler = SignalHandler { before, action: [0; 4], pid, _one: one };
        handler.action = handler.exchange(None)?;
        Ok(handler)
    }

    /// Installs the handler again, and checks that the former action is the same.
    #[inline]
    pub fn install_again(&self) -> io::Result<()> {
        match self.exchange(Some(&self.action))? {
            before if before[0] == self.action[0] => Ok(()),
            _ => Err(io::Error::other("sigaction does not return the handler installed before")),
        }
    }

    #[inline]
    fn exchange(&self, action: Option<&KernelAction>) -> io::Result<KernelAction> {
        let action = action.map_or(0, |action| action.as_ptr() as usize);
        let mut before: KernelAction = [0; 4];
        let arguments = [SIGNAL as usize, action, before.as_mut_ptr() as usize, MASK_BYTES];
        // SAFETY: the new action is none or what the kernel itself gave; the old one has room.
        unsafe { raw::call(libc::SYS_rt_sigaction, arguments) }?;
        Ok(before)
    }

    /// Sends the signal to this process; returns when the handler has run.
    #[inline]
    pub fn deliver(&self) -> io::Result<()> {
        let before = HANDLED.load(Ordering::Relaxed);
        // SAFETY: the call takes numbers only; the signal has a handler.
        unsafe { raw::call(libc::SYS_kill, [self.pid, SIGNAL as usize, 0, 0]) }?;
        // In a process with one thread, the handler has run when the call returns.
        if HANDLED.load(Ordering::Relaxed) == before {
            return wait_for_handler(before);
        }
        Ok(())
    }
}

impl Drop for SignalHandler {
    fn drop(&mut self) {
        // SAFETY: what the system said was installed before.
        unsafe { libc::sigaction(SIGNAL, &self.before, null_mut()) };
    }
}

/// The system may deliver the signal to another thread, which takes a moment.
#[cold]
fn wait_for_handler(before: u64) -> io::Result<()> {
    let start = Instant::now();
    while HANDLED.load(Ordering::Relaxed) == before {
        if start.elapsed() > LOST {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the signal's handler did not run",
            ));
        }
        std::thread::yield_now();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handler_runs_and_is_gone_afterwards() {
        let handler = SignalHandler::install().unwrap();
        let before = HANDLED.load(Ordering::Relaxed);
        handler.install_again().unwrap();
        handler.deliver().unwrap();
        assert_eq!(HANDLED.load(Ordering::Relaxed), before + 1);
        assert_eq!(handler.action[0] as usize, handle as extern "C" fn(libc::c_int) as usize);
        assert_eq!(handler.before.sa_sigaction, libc::SIG_DFL);
    }
}
