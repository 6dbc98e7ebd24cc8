//! What a probe can do with held processes or threads: many that live at the same time and wait.

use std::io;

/// Memory at one moment, in bytes; none where the environment does not show it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Proportional set size of this process and of all that it holds: a shared page is split among
    /// those who share it, so the sum counts each page once.
    pub pss: Option<u64>,
    /// Page tables of this process and of all that it holds.
    pub tables: Option<u64>,
    /// Kernel stacks, slab that cannot be reclaimed and per-CPU memory of the whole system.
    pub kernel: Option<u64>,
    /// Memory that the whole system could still hand out without swapping, including free pages in
    /// the lists of single CPUs.
    pub available: Option<u64>,
    /// What the command `free` calls used.
    pub used: Option<u64>,
    /// Pages in memory and open handles of all that it holds: on Windows, of processes.
    pub working_set: Option<u64>,
    pub handles: Option<u64>,
}

/// Things that all live and wait at the same time. They end when this is dropped, and also when
/// this process is killed.
pub trait Held {
    /// Reserves memory for `most` of them, so that adding them allocates nothing.
    fn make_room(&mut self, most: usize) -> io::Result<()>;

    /// Starts one more.
    fn add(&mut self) -> io::Result<()>;

    /// Returns when all of them wait.
    fn all_wait(&mut self) -> io::Result<()>;

    /// Ends all but the first `count`; returns when nothing of the others is left.
    fn keep(&mut self, count: usize) -> io::Result<()>;

    /// The memory that can be seen while they wait. Allocates nothing.
    fn footprint(&mut self) -> Footprint;
}
