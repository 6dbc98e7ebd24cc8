//! The agent's input, of which is to be known whether there is any.
//!
//! What standard input is, its starter decides, and of some kinds it cannot be asked whether they
//! have data: sockets, and under Wine every pipe of the system below. A thread that reads it finds
//! out; it sleeps while blocks are measured.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// What was read of standard input so far. All of this type are the same.
#[derive(Clone)]
pub struct Input(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    closed: bool,
}

/// The agent's input.
pub fn input() -> Input {
    static INPUT: OnceLock<Input> = OnceLock::new();
    INPUT.get_or_init(|| Input::from(io::stdin())).clone()
}

impl Input {
    /// Begins to read the source.
    pub(super) fn from(mut source: impl Read + Send + 'static) -> Input {
        let input = Input(Arc::default());
        let filled = input.clone();
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            loop {
                let read = source.read(&mut chunk).unwrap_or(0);
                let mut state = filled.state();
                state.bytes.extend(&chunk[..read]);
                state.closed = read == 0;
                filled.0.changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        input
    }

    /// Whether there is something to read, or will be within that time; the end is something too.
    pub(super) fn is_ready_within(&self, time: Duration) -> bool {
        let nothing = |state: &mut State| state.bytes.is_empty() && !state.closed;
        let waited = self.0.changed.wait_timeout_while(self.state(), time, nothing);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.is_ready_within(Duration::from_secs(3600)) {}
        self.state().bytes.read(buffer)
    }
}
