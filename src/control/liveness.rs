//! Notices that an environment is dead although its pipe stays open. A launcher can outlive its
//! environment (podman without its monitor, the rest of a killed user-mode kernel). Without this
//! check, the controller would wait for its time limit.

use std::time::{Duration, Instant};

use crate::sys;

/// How often to look for the processes. Most samples are shorter, so they cost no look.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
/// How long an answer may still take after a process is missing: others may end in order.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The processes of a launch that were there at its start.
pub(super) struct LivenessCheck {
    living: Vec<u32>,
    looked: Instant,
    /// When a process was missing for the first time since the last answer.
    missed: Option<Instant>,
}

impl LivenessCheck {
    pub(super) fn over(pids: &[u32]) -> LivenessCheck {
        // Helpers of Wine end by themselves when nobody has asked them for a while.
        let needed = pids.iter().copied().filter(|pid| !sys::is_wine_helper(*pid));
        LivenessCheck { living: needed.collect(), looked: Instant::now(), missed: None }
    }

    /// Tells that an answer came. Processes that ended before it were not needed.
    pub(super) fn answered(&mut self) {
        self.missed = None;
        if self.looked.elapsed() >= LOOK_INTERVAL {
            self.living = sys::living(&self.living);
            self.looked = Instant::now();
        }
    }

    /// Whether a process ended after the last answer and nothing came for a while since then.
    pub(super) fn is_lost(&mut self) -> bool {
        if self.looked.elapsed() >= LOOK_INTERVAL {
            self.looked = Instant::now();
            if sys::living(&self.living).len() < self.living.len() {
                self.missed.get_or_insert(self.looked);
            }
        }
        self.missed.is_some_and(|missed| missed.elapsed() >= ANSWER_LIMIT)
    }
}
