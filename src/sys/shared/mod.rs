//! What is the same on every system: types, and code over the calls that a system brings.
//!
//! May use `model`. Must not use `linux` or `windows`, nor ask which system this is: where code
//! needs calls of a system, it takes them as a trait that the system implements.

pub mod command;
#[cfg(test)]
pub mod counting;
pub mod file;
pub mod held;
pub mod hold_threads;
pub mod hypervisor;
#[cfg(test)]
pub mod mutation;
pub mod pe;
pub mod stdio;
pub mod trace;
pub mod types;
