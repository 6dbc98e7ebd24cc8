//! Whether an emulator runs this process, such as QEMU's user mode. Emulators hide themselves from
//! the programs that they run, and what these execute may run without the emulator.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Beginnings of emulators' file names.
const NAMES: &[&str] = &["qemu-"];
/// Offset of the machine in an ELF file's header, two bytes (gABI chapter 4).
const MACHINE_AT: usize = 18;

/// The path of the emulator that runs this process.
///
/// QEMU answers `/proc/self/exe`, and since version 8 `/proc/thread-self/exe` too, as the emulated
/// kernel would. The link of the one thread under its number still is the kernel's own.
pub fn emulator() -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/self/task/{}/exe", std::process::id())).ok()?;
    let name = path.file_name()?.to_str()?;
    NAMES.iter().any(|start| name.starts_with(start)).then_some(path)
}

/// Whether the kernel itself would run a program with that header, and not the emulator that runs
/// this process.
///
/// The kernel runs every program of its own machine. It gives other programs to an emulator if it
/// was told to.
pub fn leaves_emulator(header: &[u8]) -> bool {
    let Some(emulator) = emulator() else { return false };
    machine_of(header) == machine_of(&header_of(&emulator))
}

/// The beginning of a file, long enough to name its machine; shorter if it cannot be read.
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
