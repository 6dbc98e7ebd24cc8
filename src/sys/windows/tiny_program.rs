//! A program of a few instructions that ends at once with status 0, for `target=tiny`.

use super::super::shared::pe::{HEADERS, Image, SECTION, put};

/// The program as the bytes of a file: for 64-bit x86, which every Windows of today runs.
///
/// It ends by `ExitProcess` and does not return: a process whose first thread returns waits for
/// threads that the loader started.
pub const TINY_EXECUTABLE: &[u8] = &Image {
    section: &section(),
    library: false,
    entry: SECTION,
    directories: &[(IMPORTS, address(IMPORTED), 40), (ADDRESSES, address(TABLE), 16)],
}
.file::<{ 2 * HEADERS }>();

/// Indices of the data directories.
const IMPORTS: usize = 1;
const ADDRESSES: usize = 12;

// Offsets in the section.
const TABLE: usize = 16;
const NAME: usize = TABLE + 16;
const IMPORTED: usize = NAME + 16;
const LIBRARY: usize = IMPORTED + 40;

const fn address(place: usize) -> u32 {
    SECTION + place as u32
}

const fn section() -> [u8; LIBRARY + 13] {
    let mut section = [0; LIBRARY + 13];
    put(&mut section, 0, &[0x48, 0x83, 0xec, 0x28]); // sub rsp, 40
    put(&mut section, 4, &[0x31, 0xc9]); // xor ecx, ecx
    put(&mut section, 6, &[0xff, 0x15, 0x04, 0, 0, 0]); // call [TABLE]
    put(&mut section, TABLE, &address(NAME).to_le_bytes());
    put(&mut section, NAME + 2, b"ExitProcess");
    put(&mut section, IMPORTED + 12, &address(LIBRARY).to_le_bytes());
    put(&mut section, IMPORTED + 16, &address(TABLE).to_le_bytes());
    put(&mut section, LIBRARY, b"kernel32.dll");
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tiny_program_runs_and_ends_with_zero() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tiny.exe");
        std::fs::write(&path, TINY_EXECUTABLE).unwrap();
        assert!(std::process::Command::new(&path).status().unwrap().success());
    }
}
