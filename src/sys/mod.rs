//! The operating system: the only code that knows which one this is, and the only `unsafe` code.
//!
//! `linux` and `windows` export the same names, so nothing outside asks which system it runs on;
//! `shared` is what both have in common. May use `model`, and the instructions of `recording`.
//! Must not know probes, environments or the protocol. What a system does not have answers with
//! an error of the kind `Unsupported`, whose text is the reason.

mod shared;
pub use shared::command::{CommandEnd, CommandOrder, Killed};
#[cfg(test)]
pub use shared::counting::CountingAllocator;
pub use shared::file::Access;
pub use shared::held::{Footprint, Held};
pub use shared::hypervisor::{Hypervisor, hypervisor};
#[cfg(test)]
pub use shared::mutation::mutate;
pub use shared::pe;
pub use shared::stdio::StdioFile;
pub use shared::trace::{Born, Listener, PageCounts, TraceOrder};
pub use shared::types::{Console, HostTimes, Needs, Ready, Room, Shape, Weight, Written};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;

#[cfg(test)]
mod tests;
