//! A dynamic program of some dozen instructions that needs exactly the libraries it is told to.
//!
//! `deps` needs a program with no start-up of its own, whose libraries the system's loader maps,
//! binds and initialises as those of any program. It is made here as a file, so that no compiler is
//! needed. At its start the C library's `__libc_start_main` calls its `main`, if a C library is
//! there; `main` writes the clock to a pipe and returns, so that all destructors run. Without a C
//! library nothing runs them, as in any program without one.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::super::shared::types::Needs;

/// The entry, from where the others are called.
#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[
    0x49, 0x89, 0xd1, // mov r9, rdx: the loader's destructors
    0x48, 0x8b, 0x05, 0, 0, 0, 0, // mov rax, [rip+START_MAIN]
    0x48, 0x85, 0xc0, // test rax, rax
    0x74, 0x1e, // je alone
    0x48, 0x8d, 0x3d, 0x25, 0x00, 0x00, 0x00, // lea rdi, main
    0x48, 0x8b, 0x34, 0x24, // mov rsi, [rsp]: argument count
    0x48, 0x8d, 0x54, 0x24, 0x08, // lea rdx, [rsp+8]: arguments
    0x48, 0x83, 0xe4, 0xf0, // and rsp, -16
    0x50, // push rax
    0x54, // push rsp: end of the stack
    0x31, 0xc9, // xor ecx, ecx: no constructors of its own
    0x45, 0x31, 0xc0, // xor r8d, r8d: no destructors
    0xff, 0xd0, // call rax
    0xf4, // hlt: it does not return
    // alone, without a C library:
    0xe8, 0x11, 0x00, 0x00, 0x00, // call report
    0x31, 0xff, // xor edi, edi
    0xb8, 0xe7, 0x00, 0x00, 0x00, // mov eax, 231 (exit_group)
    0x0f, 0x05, // syscall
    // main:
    0xe8, 0x03, 0x00, 0x00, 0x00, // call report
    0x31, 0xc0, // xor eax, eax
    0xc3, // ret
    // report:
    0x48, 0x83, 0xec, 0x18, // sub rsp, 24
    0xbf, 0x01, 0x00, 0x00, 0x00, // mov edi, 1 (CLOCK_MONOTONIC)
    0x48, 0x89, 0xe6, // mov rsi, rsp
    0xb8, 0xe4, 0x00, 0x00, 0x00, // mov eax, 228 (clock_gettime)
    0x0f, 0x05, // syscall
    0xbf, 0x03, 0x00, 0x00, 0x00, // mov edi, 3: REPORT
    0xba, 0x10, 0x00, 0x00, 0x00, // mov edx, 16
    0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1 (write)
    0x0f, 0x05, // syscall
    0x48, 0x83, 0xc4, 0x18, // add rsp, 24
    0xc3, // ret
];

#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[
    0xe5, 0x03, 0x00, 0xaa, // mov x5, x0: the loader's destructors
    0x09, 0x00, 0x00, 0x58, // ldr x9, START_MAIN
    0x09, 0x01, 0x00, 0xb4, // cbz x9, alone
    0x60, 0x01, 0x00, 0x10, // adr x0, main
    0xe1, 0x03, 0x40, 0xf9, // ldr x1, [sp]: argument count
    0xe2, 0x23, 0x00, 0x91, // add x2, sp, 8: arguments
    0x03, 0x00, 0x80, 0xd2, // mov x3, 0: no constructors of its own
    0x04, 0x00, 0x80, 0xd2, // mov x4, 0: no destructors
    0xe6, 0x03, 0x00, 0x91, // mov x6, sp: end of the stack
    0x20, 0x01, 0x3f, 0xd6, // blr x9: it does not return
    // alone, without a C library:
    0x09, 0x00, 0x00, 0x94, // bl report
    0x00, 0x00, 0x80, 0xd2, // mov x0, 0
    0xc8, 0x0b, 0x80, 0xd2, // mov x8, 94 (exit_group)
    0x01, 0x00, 0x00, 0xd4, // svc 0
    // main:
    0xfd, 0x7b, 0xbf, 0xa9, // stp x29, x30, [sp, -16]!
    0x04, 0x00, 0x00, 0x94, // bl report
    0x00, 0x00, 0x80, 0xd2, // mov x0, 0
    0xfd, 0x7b, 0xc1, 0xa8, // ldp x29, x30, [sp], 16
    0xc0, 0x03, 0x5f, 0xd6, // ret
    // report:
    0xff, 0x43, 0x00, 0xd1, // sub sp, sp, 16
    0x20, 0x00, 0x80, 0xd2, // mov x0, 1 (CLOCK_MONOTONIC)
    0xe1, 0x03, 0x00, 0x91, // mov x1, sp
    0x28, 0x0e, 0x80, 0xd2, // mov x8, 113 (clock_gettime)
    0x01, 0x00, 0x00, 0xd4, // svc 0
    0x60, 0x00, 0x80, 0xd2, // mov x0, 3: REPORT
    0xe1, 0x03, 0x00, 0x91, // mov x1, sp
    0x02, 0x02, 0x80, 0xd2, // mov x2, 16
    0x08, 0x08, 0x80, 0xd2, // mov x8, 64 (write)
    0x01, 0x00, 0x00, 0xd4, // svc 0
    0xff, 0x43, 0x00, 0x91, // add sp, sp, 16
    0xc0, 0x03, 0x5f, 0xd6, // ret
];

/// Puts the distance to the address of `__libc_start_main` into the instruction that reads it.
#[cfg(target_arch = "x86_64")]
fn point_at(code: &mut [u8], distance: u32) {
    // Counted from the end of the instruction.
    code[6..10].copy_from_slice(&(distance - 10).to_le_bytes());
}

#[cfg(target_arch = "aarch64")]
fn point_at(code: &mut [u8], distance: u32) {
    // In words, from bit 5 on; counted from the instruction itself.
    let word = 0x5800_0009 | ((distance - 4) / 4) << 5;
    code[4..8].copy_from_slice(&word.to_le_bytes());
}

#[cfg(target_arch = "x86_64")]
const MACHINE: (u16, u64) = (62, 6); // EM_X86_64, R_X86_64_GLOB_DAT
#[cfg(target_arch = "aarch64")]
const MACHINE: (u16, u64) = (183, 1025); // EM_AARCH64, R_AARCH64_GLOB_DAT

const HEADER: u64 = 64;
const SEGMENT: u64 = 56;
/// Of segments: the largest page of these machines.
const ALIGNMENT: u64 = 0x1_0000;
/// The descriptor that a process writes its clock to.
pub(super) const REPORT: libc::c_int = 3;
const START_MAIN: &str = "__libc_start_main";

/// Bytes with what stands where. Offsets are those in the file.
#[derive(Default)]
struct Image(Vec<u8>);

impl Image {
    /// Appends the bytes at the next multiple of 16; returns their offset.
    fn add(&mut self, bytes: &[u8]) -> u64 {
        self.0.resize(self.0.len().next_multiple_of(16), 0);
        self.0.extend_from_slice(bytes);
        (self.0.len() - bytes.len()) as u64
    }
}

fn words(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The program as an ELF file that this loader loads, with these needs; a static program without a
/// loader.
pub(super) fn file(loader: Option<&Path>, needs: &Needs) -> Vec<u8> {
    file_of(loader, needs, |distance| {
        let mut code = CODE.to_vec();
        point_at(&mut code, distance);
        code
    })
}

/// A program with other instructions as an ELF file (System V ABI, gABI chapters 4 and 5).
/// `entry` gives them, from their distance to the address of `__libc_start_main`.
pub(super) fn file_of(
    loader: Option<&Path>,
    needs: &Needs,
    entry: impl Fn(u32) -> Vec<u8>,
) -> Vec<u8> {
    let mut image = Image::default();
    // Header and segments' headers are put in at the end.
    image.add(&vec![0; (HEADER + 6 * SEGMENT) as usize]);
    let mut names = format!("\0{START_MAIN}\0").into_bytes();
    let mut name = |text: &str| {
        let at = names.len() as u64;
        names.extend_from_slice(text.as_bytes());
        names.push(0);
        at
    };
    let mut tags: Vec<u64> = needs.names.iter().flat_map(|text| [1, name(text)]).collect();
    if !needs.folders.is_empty() {
        tags.extend([15, name(&needs.folders.join(":"))]); // DT_RPATH
    }
    let interpreter = loader.map(|path| {
        let mut bytes = path.as_os_str().as_bytes().to_vec();
        bytes.push(0);
        (image.add(&bytes), bytes.len() as u64)
    });
    let texts = image.add(&names);
    // One bucket, which is empty: nobody finds a symbol here.
    let hash = image.add(&[1u32, 2, 0, 0, 0].map(u32::to_le_bytes).concat());
    // Symbol 1: an undefined, weak function of that name.
    let symbol = [&words(&[0, 0, 0])[..], &1u32.to_le_bytes(), &[0x22, 0, 0, 0], &words(&[0, 0])];
    let symbols = image.add(&symbol.concat());
    let relocation = image.add(&words(&[0, 1 << 32 | MACHINE.1, 0]));
    let code = image.add(&entry(ALIGNMENT as u32));
    let end = image.0.len() as u64;
    // What is written to lies on pages of its own.
    let slot = image.add(&words(&[0]));
    let address = |offset: u64| offset + ALIGNMENT;
    let rest = [
        [4, hash],
        [5, texts],
        [6, symbols],
        [10, names.len() as u64],
        [11, 24],
        [7, relocation],
        [8, 24],
        [9, 24],
        [21, 0], // DT_DEBUG
        [0, 0],
    ];
    let dynamic = image.add(&words(&[tags, rest.concat()].concat()));
    let whole = image.0.len() as u64;
    let mut put = |at: u64, bytes: &[u8]| {
        image.0[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    put(relocation, &words(&[address(slot)]));
    put(code, &entry((address(slot) - code) as u32));
    let mut segments = vec![
        Segment(1, 5, 0, 0, end, ALIGNMENT),
        Segment(1, 6, slot, address(slot), whole - slot, ALIGNMENT),
        Segment(0x6474_e551, 6, 0, 0, 0, 16), // the stack is no code
    ];
    if let Some((name, bytes)) = interpreter {
        let headers = Segment(6, 4, HEADER, HEADER, 6 * SEGMENT, 8);
        segments.splice(0..0, [headers, Segment(3, 4, name, name, bytes, 1)]);
        segments.push(Segment(2, 6, dynamic, address(dynamic), whole - dynamic, 8));
    }
    put_headers(&mut image.0, code, &segments);
    image.0
}

/// A part of the file, and where it is in memory: kind, flags, offset, address, bytes, alignment.
struct Segment(u32, u32, u64, u64, u64, u64);

/// Puts the file's header and those of the segments at its begin.
fn put_headers(image: &mut [u8], entry: u64, segments: &[Segment]) {
    let mut put = |at: u64, bytes: &[u8]| {
        image[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    };
    put(0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    put(16, &[3, 0]); // ET_DYN
    put(18, &MACHINE.0.to_le_bytes());
    put(20, &[1]);
    put(24, &words(&[entry, HEADER]));
    put(52, &[HEADER as u8, 0, SEGMENT as u8, 0, segments.len() as u8, 0, 64, 0]);
    for (index, part) in segments.iter().enumerate() {
        let Segment(kind, flags, offset, address, bytes, align) = *part;
        let header = HEADER + index as u64 * SEGMENT;
        put(header, &[kind.to_le_bytes(), flags.to_le_bytes()].concat());
        put(header + 8, &words(&[offset, address, address, bytes, bytes, align]));
    }
}
