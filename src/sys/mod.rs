//! The only place that knows which operating system this is, and the only place with `unsafe`.
//! Every system has a sibling module with the same names; nothing outside branches on the system.

#[cfg(test)]
mod counting;
#[cfg(test)]
pub use counting::CountingAllocator;

pub mod pe;

mod command;
pub use command::{CommandEnd, CommandOrder, Killed};

mod held;
pub use held::{Footprint, Held};

mod hypervisor;
pub use hypervisor::{Hypervisor, hypervisor};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;
