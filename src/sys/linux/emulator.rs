//! Whether an emulator runs this process, as QEMU's user mode does: it hides itself from what it
//! runs, and what that executes may leave it unseen.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// How the file names of emulators begin.
const NAMES: &[&str] = &["qemu-"];
/// Where an ELF file says what machine it is for, two bytes (gABI chapter 4).
const MACHINE_AT: usize = 18;

/// The emulator that runs this process.
///
/// QEMU answers for `/proc/self/exe`, and since version 8 for `/proc/thread-self/exe` too, as the
/// emulated kernel would. The same link of the one thread is still the kernel's own.
pub fn emulator() -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/task/{}/exe", std::process::id())).ok()?;
    let name = path.file_name()?.to_str()?;
    NAMES.iter().any(|start| name.starts_with(start)).then_some(path)
}

/// Whether a program of that header would be run by the kernel itself when it is executed here, and
/// not by the emulator that runs this process.
///
/// The kernel takes every program of its own machine; others it gives, if it has been told so, to
/// an emulator.
pub fn leaves_emulator(header: &[u8]) -> bool {
    let Some(emulator) = emulator() else { return false };
    machine_of(header) == machine_of(&header_of(&emulator))
}

/// As much of a file as says what machine it is for; less of one that cannot be read.
pub fn header_of(path: &Path) -> Vec<u8> {
    let mut header = Vec::new();
    if let Ok(file) = File::open(path) {
        let _ = file.take(64).read_to_end(&mut header);
    }
    header
}

/// The machine of an ELF file.
fn machine_of(header: &[u8]) -> Option<u16> {
    let bytes = header.get(MACHINE_AT..MACHINE_AT + 2)?;
    let machine = u16::from_le_bytes(bytes.try_into().ok()?);
    header.starts_with(b"\x7fELF").then_some(machine)
}
