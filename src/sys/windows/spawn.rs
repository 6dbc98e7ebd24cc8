//! Starts a program: on Windows never by a copy of this process.

use std::io;

use super::not_here;
use super::process::{Executable, Pid, fork_exec};

/// No program is carried that executes itself: Windows has no such call.
pub const REPLACING_EXECUTABLE: &[u8] = &[];

/// None, for the same reason.
pub fn dynamic_replacing_executable() -> Option<Vec<u8>> {
    None
}

pub struct Spawner;

impl Spawner {
    pub fn new() -> Spawner {
        Spawner
    }

    pub fn vfork_exec(&mut self, _program: &Executable) -> io::Result<Pid> {
        not_here("Windows has no vfork")
    }
}

/// One `CreateProcessW`.
#[inline]
pub fn posix_spawn(program: &Executable) -> io::Result<Pid> {
    fork_exec(program)
}
