//! A static program that executes itself until the count in its argument is zero.
//!
//! `process.replace` counts executions without a fork before each, so the program must do all of
//! them itself: it subtracts one from the ten digits of its first argument, in place, and executes
//! its own path with the arguments and the environment that it was given. At zero it exits with 0.
//! When it cannot be executed it exits with 1.

use std::path::Path;

use super::super::shared::types::Needs;
use super::library_program::file_of;
use super::tiny_program::{assemble, file_size};

/// Where the loaders of the usual C libraries are, by their ABIs.
#[cfg(target_arch = "x86_64")]
const LOADERS: [&str; 2] = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"];
#[cfg(target_arch = "aarch64")]
const LOADERS: [&str; 2] = ["/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"];
/// The C library; musl's loader takes it for its own.
const C_LIBRARY: &str = "libc.so.6";

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
const CODE: &[u8] = &[
    0xe0, 0x07, 0x40, 0xf9, // ldr x0, [sp, 8]: path, the program's own name
    0xe1, 0x23, 0x00, 0x91, // add x1, sp, 8: arguments
    0xe2, 0x83, 0x00, 0x91, // add x2, sp, 32: environment, behind two and a null
    0xe3, 0x0b, 0x40, 0xf9, // ldr x3, [sp, 16]: the digits
    0x24, 0x01, 0x80, 0xd2, // mov x4, 9
    // borrow:
    0x65, 0x68, 0x64, 0x38, // ldrb w5, [x3, x4]
    0xa5, 0x04, 0x00, 0x51, // sub w5, w5, 1
    0x65, 0x68, 0x24, 0x38, // strb w5, [x3, x4]
    0xbf, 0xc0, 0x00, 0x71, // cmp w5, '0'
    0x02, 0x01, 0x00, 0x54, // b.hs execute
    0x25, 0x07, 0x80, 0x52, // mov w5, '9'
    0x65, 0x68, 0x24, 0x38, // strb w5, [x3, x4]
    0x84, 0x04, 0x00, 0xf1, // subs x4, x4, 1
    0x05, 0xff, 0xff, 0x54, // b.pl borrow
    0x00, 0x00, 0x80, 0xd2, // mov x0, 0: it was zero
    0xa8, 0x0b, 0x80, 0xd2, // mov x8, 93 (exit)
    0x01, 0x00, 0x00, 0xd4, // svc 0
    // execute:
    0xa8, 0x1b, 0x80, 0xd2, // mov x8, 221 (execve)
    0x01, 0x00, 0x00, 0xd4, // svc 0
    0x20, 0x00, 0x80, 0xd2, // mov x0, 1: it returned
    0xa8, 0x0b, 0x80, 0xd2, // mov x8, 93 (exit)
    0x01, 0x00, 0x00, 0xd4, // svc 0
];

/// The program as the bytes of an ELF file.
pub const REPLACING_EXECUTABLE: &[u8] = &assemble::<{ file_size(CODE) }>(CODE);

/// The same instructions in a program that is linked with the C library dynamically; none where no
/// loader is at its place.
pub fn dynamic_replacing_executable() -> Option<Vec<u8>> {
    let loader = LOADERS.into_iter().map(Path::new).find(|path| path.exists())?;
    let needs = Needs { names: vec![C_LIBRARY.into()], folders: Vec::new() };
    Some(file_of(Some(loader), &needs, |_| CODE.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::super::{Executable, fork_exec, reap, write_executable};
    use super::*;

    #[test]
    fn it_ends_when_it_has_counted_down() {
        counts_down(REPLACING_EXECUTABLE);
        if let Some(dynamic) = dynamic_replacing_executable() {
            counts_down(&dynamic);
        }
    }

    fn counts_down(file: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("replacing");
        write_executable(&path, file).unwrap();
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
        // With a name that leads nowhere, it is executed once and not again.
        let shell = format!("exec -a /nowhere {name} 0000000005");
        let status = std::process::Command::new("bash").args(["-c", &shell]).status();
        if let Ok(status) = status {
            assert_eq!(status.code(), Some(1));
        }
    }
}
