//! System calls with six arguments, the clock, and computing.

use std::arch::asm;
#[cfg(target_arch = "x86_64")]
use std::arch::global_asm;
use std::hint::black_box;

use super::super::clock::now_ns;

// One place for each call, with its number in the instruction before it, as in a C library. gVisor
// replaces such a pair by a jump: a call that reads its number from a variable took 11.6 µs there,
// and one of these 3.0 µs.
#[cfg(target_arch = "x86_64")]
global_asm!(
    ".pushsection .text.envtax_calls, \"ax\", @progbits",
    ".p2align 4",
    ".hidden envtax_calls",
    ".globl envtax_calls",
    "envtax_calls:",
    ".set envtax_number, 0",
    ".rept 512",
    ".p2align 4",
    // A C library clears the register for 0 (`read`), which gVisor does not replace.
    ".if envtax_number == 0",
    // `xor eax, eax`
    ".byte 0x31, 0xc0",
    ".else",
    // `mov eax, NUMBER`
    ".byte 0xb8",
    ".long envtax_number",
    ".endif",
    "syscall",
    "ret",
    ".set envtax_number, envtax_number + 1",
    ".endr",
    ".popsection",
);

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    static envtax_calls: [[u8; 16]; 512];
}

/// The result of a call: negative for an error.
///
/// # Safety
/// The arguments must be what the call expects, with pointers that are valid for it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn call(number: libc::c_long, args: [u64; 6]) -> i64 {
    let result: i64;
    // SAFETY: the caller answers for the arguments; the number is below that of the places, and the
    // instructions there change what is named here.
    unsafe {
        let place = (&raw const envtax_calls).cast::<[u8; 16]>().add(number as usize & 511);
        asm!(
            "call {place}",
            place = in(reg) place,
            lateout("rax") result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            out("rcx") _,
            out("r11") _,
        );
    }
    result
}

/// As on x86-64.
///
/// # Safety
/// The arguments must be what the call expects, with pointers that are valid for it.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub unsafe fn call(number: libc::c_long, args: [u64; 6]) -> i64 {
    let result: i64;
    // SAFETY: the caller answers for the arguments; the instruction changes what is named here.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => result,
            in("x1") args[1],
            in("x2") args[2],
            in("x3") args[3],
            in("x4") args[4],
            in("x5") args[5],
            options(nostack),
        );
    }
    result
}

/// A counter that goes on evenly. Where a kernel answers for the clock itself, as gVisor's does at
/// times, reading the clock costs a call, and every operation is timed.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has this instruction, and it changes no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The clock itself, in ns.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub fn ticks() -> u64 {
    now_ns()
}

/// Computes that many steps, each of which waits for the one before: what else runs on the core
/// hardly changes their time.
#[inline(never)]
pub fn spin(steps: u64) {
    let mut value = 3_u64;
    for _ in 0..steps {
        value = black_box(value.wrapping_mul(value).wrapping_add(1));
    }
    black_box(value);
}

/// Steps of [`spin`] in a ns: the fastest of several tries.
pub fn spin_rate() -> f64 {
    const STEPS: u64 = 200_000;
    let one = |_| {
        let begin = now_ns();
        spin(STEPS);
        (now_ns() - begin).max(1)
    };
    let shortest = (0..20).map(one).min().unwrap_or(1);
    STEPS as f64 / shortest as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_its_place() {
        // SAFETY: both ask only.
        let (own, parent) =
            unsafe { (call(libc::SYS_getpid, [0; 6]), call(libc::SYS_getppid, [0; 6])) };
        assert_eq!(own, i64::from(std::process::id()));
        assert_eq!(parent, i64::from(std::os::unix::process::parent_id()));
        // SAFETY: a descriptor that is not open.
        assert_eq!(unsafe { call(libc::SYS_close, [u64::from(u32::MAX), 0, 0, 0, 0, 0]) }, -9);
    }
}
