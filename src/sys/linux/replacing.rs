//! A static program that replaces itself by itself until the count in its argument is zero.
//!
//! `process.replace` counts executions that no fork precedes, so the program must do all of them on
//! its own: it takes one from the ten digits of its first argument, where they stand, and executes
//! its own path with the arguments and the environment it was given. At zero it exits with 0, and
//! with 1 when it cannot be executed.

use super::tiny::{assemble, file_size};

#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[
    0x48, 0x8b, 0x7c, 0x24, 0x08, // mov rdi, [rsp+8]: path, the program's own name
    0x48, 0x8d, 0x74, 0x24, 0x08, // lea rsi, [rsp+8]: arguments
    0x48, 0x8d, 0x54, 0x24, 0x20, // lea rdx, [rsp+32]: environment, behind two and a null
    0x48, 0x8b, 0x5c, 0x24, 0x10, // mov rbx, [rsp+16]: the digits
    0xb9, 0x0a, 0x00, 0x00, 0x00, // mov ecx, 10
    // borrow:
    0xfe, 0x4c, 0x0b, 0xff, // dec byte [rbx+rcx-1]
    0x80, 0x7c, 0x0b, 0xff, 0x30, // cmp byte [rbx+rcx-1], '0'
    0x73, 0x10, // jae execute
    0xc6, 0x44, 0x0b, 0xff, 0x39, // mov byte [rbx+rcx-1], '9'
    0xe2, 0xee, // loop borrow
    0x31, 0xff, // xor edi, edi: it was zero
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60 (exit)
    0x0f, 0x05, // syscall
    // execute:
    0xb8, 0x3b, 0x00, 0x00, 0x00, // mov eax, 59 (execve)
    0x0f, 0x05, // syscall
    0xbf, 0x01, 0x00, 0x00, 0x00, // mov edi, 1: it returned
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60 (exit)
    0x0f, 0x05, // syscall
];

#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[];

/// The program as the bytes of an ELF file; empty where it was not written yet.
pub const REPLACING_EXECUTABLE: &[u8] = match CODE {
    [] => &[],
    code => &assemble::<{ file_size(CODE) }>(code),
};

#[cfg(test)]
mod tests {
    use super::super::{Executable, fork_exec, reap, write_executable};
    use super::*;

    #[test]
    fn it_ends_when_it_has_counted_down() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("replacing");
        write_executable(&path, REPLACING_EXECUTABLE).unwrap();
        let name = path.to_str().unwrap();
        let run = |count: &str| loop {
            let program = Executable::new(&[name, count]).unwrap();
            match reap(fork_exec(&program).unwrap()).unwrap() {
                // Another test may fork while the file is open for writing here: try again.
                127 => continue,
                status => break status,
            }
        };
        assert_eq!((run("0000000000"), run("0000000012"), run("0000000100")), (0, 0, 0));
        // By a name that leads nowhere it is executed once and not again.
        let shell = format!("exec -a /nowhere {name} 0000000005");
        let status = std::process::Command::new("bash").args(["-c", &shell]).status();
        if let Ok(status) = status {
            assert_eq!(status.code(), Some(1));
        }
    }
}
