//! The processes of an environment, seen from outside: not built for Windows.

use std::collections::BTreeSet;

pub fn adopt_orphans() {}

pub fn descendants() -> BTreeSet<u32> {
    BTreeSet::new()
}

pub fn reap_orphans(_except: &BTreeSet<u32>) {}

pub const LAUNCH_VARIABLE: &str = "ENVTAX_LAUNCH";

pub fn end_launched(_is_meant: impl Fn(&str) -> bool) {}

pub fn cpu_ns(_pids: &[u32]) -> Option<u64> {
    None
}

pub fn living(pids: &[u32]) -> Vec<u32> {
    pids.to_vec()
}

/// Always false: from inside Wine, its helpers are processes of the system.
pub fn is_wine_helper(_pid: u32) -> bool {
    false
}

pub fn pin_traced(_pids: &[u32], _tracer: u32, _cpus: &[usize]) {}

pub fn memory_bytes(_pids: &[u32]) -> Option<u64> {
    None
}
