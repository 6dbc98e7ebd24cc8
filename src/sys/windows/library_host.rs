//! Processes that only load libraries: not built on Windows yet.

use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::super::shared::types::{HostTimes, Needs};
use super::not_here;

pub enum LibraryHost {}

impl LibraryHost {
    pub fn write(_: &Path, _: Option<&Path>, _: &Needs, _: &str) -> io::Result<LibraryHost> {
        not_here("`deps` is not built on Windows yet")
    }

    pub fn path(&self) -> &Path {
        match *self {}
    }

    pub fn command(&self) -> Command {
        match *self {}
    }

    pub fn run(&self, _: Duration) -> io::Result<HostTimes> {
        match *self {}
    }
}
