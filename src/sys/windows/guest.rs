//! What the first process of a virtual machine does: no kernel starts a Windows program as its
//! first.

use std::io;
use std::path::Path;

use super::not_here;

pub fn leave_first_process() -> io::Result<()> {
    not_here("no kernel starts Windows programs as its first")
}

pub fn load_module(_path: &Path) -> io::Result<()> {
    not_here("no kernel starts Windows programs as its first")
}

pub fn mount(
    _source: &str,
    _point: &Path,
    _kind: &str,
    _options: &str,
    _read_only: bool,
) -> io::Result<()> {
    not_here("no kernel starts Windows programs as its first")
}

pub fn raise_loopback() -> io::Result<()> {
    not_here("no kernel starts Windows programs as its first")
}

pub fn use_console(_path: &Path) -> io::Result<()> {
    not_here("no kernel starts Windows programs as its first")
}
