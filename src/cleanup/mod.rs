//! Leaves nothing behind, however a run ends: commands that undo a launch, locks on scratch
//! folders, the guard process, and time limits on waiting for a child.
//!
//! May use `sys` only. Must not know environments, probes or the protocol.

pub mod child;
pub mod guard;
pub mod held_stage;
pub mod leftovers;
pub mod shared_folder;
pub mod stage;
