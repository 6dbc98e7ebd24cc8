//! The hot path: clock calibration, sample size, and the loop that times one block.
//!
//! Between two timestamps there is only the work: everything that allocates happens before the
//! first and after the last one, and a test with a counting allocator checks this for every probe.
//! May use `sys` and `model`. Must not know single probes, print, or write files.

mod block;
mod calibrate;
mod latency;
mod responses;
#[cfg(test)]
pub mod test_alloc;

#[cfg(test)]
pub use block::MAX_PHASES;
pub use block::{BlockSettings, Stopwatch, Workload, run_block};
pub use calibrate::{calibrate_clock, settled_clock, shortest_sample_ns, tune};
pub use latency::Latencies;
pub use responses::Responses;
