//! What makes sure that nothing is left behind, whatever ended: commands that undo a launch, locks
//! on scratch folders, a guard process, and time limits on waiting for a child.
//!
//! May use `sys` only. Must not know environments, probes or the protocol.

pub mod child;
pub mod guard;
pub mod held_stage;
pub mod leftovers;
pub mod stage;
