//! The agent's input, read by a thread so that others can ask whether there is something to read.
//!
//! The starter of the agent decides what standard input is. Some kinds cannot be asked whether they
//! have data: sockets, and under Wine every pipe of the system below. The thread that reads sleeps
//! while blocks are measured.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// What was read of standard input so far. All clones share it.
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
    /// Starts to read the source.
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

    /// Whether there is something to read within that time; the end counts too.
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
