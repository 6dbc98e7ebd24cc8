//! Notices that an environment is dead although its pipe stays open. A launcher can outlive its
//! environment (podman without its monitor, the rest of a killed user-mode kernel); without this
//! check, the controller would wait for its time limit.

use std::time::{Duration, Instant};

use crate::sys;

/// How often the processes are looked for. Most samples are shorter, and cost no look.
const LOOK: Duration = Duration::from_secs(2);
/// How long an answer may still take when a process is missing. Helpers of Wine end by themselves,
/// and a block there can take seconds on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// The processes that a launch consists of, as long as they are there.
pub(super) struct LivenessCheck {
    living: Vec<u32>,
    looked: Instant,
    /// When one was missing for the first time since the last answer.
    missed: Option<Instant>,
}

impl LivenessCheck {
    pub(super) fn over(pids: &[u32]) -> LivenessCheck {
        LivenessCheck { living: pids.to_vec(), looked: Instant::now(), missed: None }
    }

    /// An answer came: whatever ended before it was not needed.
    pub(super) fn answered(&mut self) {
        self.missed = None;
        if self.looked.elapsed() >= LOOK {
            self.living = sys::living(&self.living);
            self.looked = Instant::now();
        }
    }

    /// Whether a process ended since the last answer, and nothing came for a while after that.
    pub(super) fn is_lost(&mut self) -> bool {
        if self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            if sys::living(&self.living).len() < self.living.len() {
                self.missed.get_or_insert(self.looked);
            }
        }
        self.missed.is_some_and(|missed| missed.elapsed() >= PATIENCE)
    }
}
