//! A static program of a few instructions that ends at once with status 0.
//!
//! `process.exec target=tiny` needs a target with no start-up of its own: no dynamic linker, no C
//! library, one page. It is assembled here and not shipped as a file, so that the program that is
//! measured can be read in its source.

use super::super::shared::pe::put;

#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[
    0x31, 0xff, // xor edi, edi
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60 (exit)
    0x0f, 0x05, // syscall
];
#[cfg(target_arch = "x86_64")]
const MACHINE: u8 = 62;

#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[
    0x00, 0x00, 0x80, 0xd2, // mov x0, 0
    0xa8, 0x0b, 0x80, 0xd2, // mov x8, 93 (exit)
    0x01, 0x00, 0x00, 0xd4, // svc 0
];
#[cfg(target_arch = "aarch64")]
const MACHINE: u8 = 183;

const HEADER: usize = 64;
const SEGMENT: usize = 56;
const BASE: u64 = 0x40_0000;

/// The program as the bytes of an ELF file.
pub const TINY_EXECUTABLE: &[u8] = &assemble::<{ file_size(CODE) }>(CODE);

/// Bytes of the file that [`assemble`] makes of this code.
pub(super) const fn file_size(code: &[u8]) -> usize {
    HEADER + SEGMENT + code.len()
}

/// A static program as an ELF file of `SIZE` bytes (System V ABI, gABI chapters 4 and 5).
pub(super) const fn assemble<const SIZE: usize>(code: &[u8]) -> [u8; SIZE] {
    let mut file = [0; SIZE];
    put(&mut file, 0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]); // 64 bit, little endian, version 1
    put(&mut file, 16, &[2, 0, MACHINE, 0, 1]); // ET_EXEC, machine, version
    put(&mut file, 24, &(BASE + (HEADER + SEGMENT) as u64).to_le_bytes()); // entry
    put(&mut file, 32, &(HEADER as u64).to_le_bytes()); // program headers
    put(&mut file, 52, &[HEADER as u8, 0, SEGMENT as u8, 0, 1, 0, 64, 0]); // their sizes, one
    put(&mut file, HEADER, &[1, 0, 0, 0, 5]); // PT_LOAD, read and execute
    put(&mut file, HEADER + 16, &BASE.to_le_bytes()); // virtual address
    put(&mut file, HEADER + 24, &BASE.to_le_bytes()); // physical address
    put(&mut file, HEADER + 32, &(SIZE as u64).to_le_bytes()); // size in the file
    put(&mut file, HEADER + 40, &(SIZE as u64).to_le_bytes()); // size in memory
    put(&mut file, HEADER + 48, &0x1000_u64.to_le_bytes()); // alignment
    put(&mut file, HEADER + SEGMENT, code);
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_tiny_program_runs_and_ends_with_zero() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tiny");
        std::fs::write(&path, TINY_EXECUTABLE).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        // Another test may fork while the file is open for writing here: ETXTBSY, try again.
        let status = loop {
            match std::process::Command::new(&path).status() {
                Err(e) if e.kind() == std::io::ErrorKind::ExecutableFileBusy => continue,
                other => break other.unwrap(),
            }
        };
        assert!(status.success());
        assert!(TINY_EXECUTABLE.len() < 200);
    }
}
