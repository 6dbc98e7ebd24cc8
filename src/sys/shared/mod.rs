//! What is the same on every system. May use `model`; must not branch on the system itself.

pub mod command;
#[cfg(test)]
pub mod counting;
pub mod held;
pub mod hypervisor;
pub mod pe;
