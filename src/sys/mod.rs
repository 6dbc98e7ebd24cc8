//! The only place that knows which operating system this is, and the only place with `unsafe`.
//! Every system has a sibling module with the same names; nothing outside branches on the system.

mod shared;
pub use shared::command::{CommandEnd, CommandOrder, Killed};
#[cfg(test)]
pub use shared::counting::CountingAllocator;
pub use shared::held::{Footprint, Held};
pub use shared::hypervisor::{Hypervisor, hypervisor};
pub use shared::pe;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;
