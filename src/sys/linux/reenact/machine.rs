//! System calls with six arguments, the clock, and computing.

use std::arch::asm;
use std::hint::black_box;

use super::super::clock::now_ns;

/// The result of a call: negative for an error.
///
/// # Safety
/// The arguments must be what the call expects, with pointers that are valid for it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn call(number: libc::c_long, args: [u64; 6]) -> i64 {
    let result: i64;
    // SAFETY: the caller answers for the arguments; the instruction changes what is named here.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") args[0],
            in("rsi") args[1],
            in("rdx") args[2],
            in("r10") args[3],
            in("r8") args[4],
            in("r9") args[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
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
