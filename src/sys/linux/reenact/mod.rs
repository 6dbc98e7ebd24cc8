//! Re-enacts a recorded program: a process of envtax's own binary that carries out one stream of a
//! script, and forks and executes the others.
//!
//! It begins before the runtime library does, and allocates nothing: what a process of a script
//! costs is what the script says. May use what `sys` may. Must not touch a descriptor of its own by
//! a number from the script, a mapping that the script did not make, or a path outside the folders
//! that it was given.

mod calls;
mod machine;
mod memory;
mod play;
mod site;
mod start;

pub use machine::spin_rate;
