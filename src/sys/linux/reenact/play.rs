//! Carries out the instructions of one stream, and times them by class.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicUsize, Ordering};

use super::super::clock::now_ns;
use super::calls;
use super::machine::{call, spin, ticks};
use super::memory;
use super::site::{Site, read};
use crate::recording::groups::MOST_GROUPS;
use crate::recording::report::{FIRST, FIRST_GROUP, NUMBERS};
use crate::recording::script::{INSTRUCTION, Instruction, MOST_STREAMS, bits, code};
use crate::recording::{Class, Kind};

/// Bytes of the stack of a thread, and of a child that shares the memory.
const STACK: usize = 48 << 10;
const STACKS: usize = 24;
const CLASSES: usize = Class::ALL.len();

const REPORT_MARK: u64 = crate::recording::script::MAGIC;

unsafe extern "C" {
    static environ: *const *const c_char;
}

#[repr(align(64))]
struct Stacks(UnsafeCell<[[u8; STACK]; STACKS]>);

// SAFETY: each stack is given to one thread or child at a time, by `TAKEN`.
unsafe impl Sync for Stacks {}

static POOL: Stacks = Stacks(UnsafeCell::new([[0; STACK]; STACKS]));
static TAKEN: AtomicUsize = AtomicUsize::new(0);
/// Processes by the streams they carry out.
static CHILDREN: [AtomicI32; MOST_STREAMS] = [const { AtomicI32::new(0) }; MOST_STREAMS];
/// Not zero while the thread of a stream runs.
static RUNNING: [AtomicU32; MOST_STREAMS] = [const { AtomicU32::new(0) }; MOST_STREAMS];

/// One stream at work.
pub struct Player<'a> {
    site: &'a Site,
    stream: usize,
    /// Its end is not that of the process.
    is_thread: bool,
    begun: u64,
    begun_ticks: u64,
    /// The end of the operation before, in ticks.
    last: u64,
    /// Group and time in ns of the execution of this program by another one.
    executed: Option<(u8, u64)>,
    numbers: [u64; NUMBERS],
}

/// What a thread or a child with a stack of its own is to do.
struct Errand {
    site: *const Site,
    stream: usize,
    is_thread: bool,
}

impl Player<'_> {
    pub fn new(site: &Site) -> Player<'_> {
        let (begun, begun_ticks) = (now_ns(), ticks());
        let numbers = [0; NUMBERS];
        let last = begun_ticks;
        let executed = None;
        Player { site, stream: 0, is_thread: false, begun, begun_ticks, last, executed, numbers }
    }

    fn add_time(&mut self, class: Class, group: u8, ticks: u64) {
        self.numbers[FIRST + 2 * class as usize] += 1;
        self.numbers[FIRST + 1 + 2 * class as usize] += ticks;
        self.numbers[FIRST_GROUP + usize::from(group) % MOST_GROUPS] += ticks;
    }

    /// The time since the operation before belongs to this class and group.
    fn stamp(&mut self, class: u8, group: u8) {
        let now = ticks();
        if let Some((class, ..)) = Class::ALL.get(usize::from(class)) {
            self.add_time(*class, group, now.saturating_sub(self.last));
        }
        self.last = now;
    }

    /// Goes on with a stream whose process executed this program at that time (in ns).
    pub fn go_on(&mut self, place: usize, begun: u64) -> ! {
        let (stream, next) = (place & 0xffff_ffff, place >> 32);
        let start = self.site.start_of(stream).unwrap_or_default();
        let executed = (start + next * INSTRUCTION).saturating_sub(INSTRUCTION);
        let group = self.site.bytes.get(executed..).and_then(read).map_or(0, |it| it.group);
        self.executed = Some((group, now_ns().saturating_sub(begun)));
        self.play(place)
    }

    /// Carries out a stream from its beginning or, in a program that another one executed, from
    /// that instruction on. Never returns.
    pub fn play(&mut self, place: usize) -> ! {
        // The upper half is the number of the first instruction.
        let (stream, first) = (place & 0xffff_ffff, place >> 32);
        self.stream = stream;
        let Some(mut at) = self.site.start_of(stream) else { fail(b"the script is damaged") };
        at += first * INSTRUCTION;
        let mut index = first;
        loop {
            let Some(it) = self.site.bytes.get(at..).and_then(read) else {
                fail(b"the script ends too early")
            };
            (at, index) = (at + INSTRUCTION, index + 1);
            match it.code {
                code::SPIN => spin(it.size),
                code::FORK => self.fork(&it),
                code::THREAD => self.thread(it.first as usize),
                code::EXEC => self.execute(index),
                code::WAIT => wait(it.first as usize),
                code::JOIN => join(it.first as usize),
                code::PAGES => memory::touch(&it, self.site.script),
                code::SLEEP => sleep(it.size),
                code::EXIT => self.exit(it.fd),
                number => self.call(number, &it),
            }
            self.stamp(it.class, it.group);
        }
    }

    fn call(&mut self, number: u8, it: &Instruction) {
        let number = usize::from(number - code::FIRST_CALL);
        let Some((kind, ..)) = Kind::ALL.get(number).copied() else {
            fail(b"the script is damaged")
        };
        let result = calls::perform(kind, it, self.site);
        let compared = (kind.class() as u8) <= Class::Folder as u8;
        if compared && (result < 0) != (it.bits & bits::FAILED != 0) {
            self.numbers[FIRST + 2 * CLASSES + number] += 1;
        }
    }

    fn fork(&mut self, it: &Instruction) {
        let stream = it.first as usize;
        let Some(child) = CHILDREN.get(stream) else { return };
        if it.bits & bits::VFORK != 0 {
            let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
            let (pid, stack) = self.on_own_stack(stream, flags, false, None);
            child.store(pid, Ordering::Relaxed);
            if let Some(stack) = stack {
                TAKEN.fetch_and(!(1 << stack), Ordering::Relaxed);
            }
            return;
        }
        // SAFETY: the child goes on with this very code, and uses nothing of the runtime library.
        let pid = unsafe { call(libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0, 0, 0, 0]) };
        if pid == 0 {
            *self = Player::new(self.site);
            self.play(stream);
        }
        child.store(pid as i32, Ordering::Relaxed);
    }

    fn thread(&mut self, stream: usize) {
        let Some(running) = RUNNING.get(stream) else { return };
        running.store(1, Ordering::Relaxed);
        let flags = libc::CLONE_VM
            | libc::CLONE_FS
            | libc::CLONE_FILES
            | libc::CLONE_SIGHAND
            | libc::CLONE_THREAD
            | libc::CLONE_SYSVSEM
            | libc::CLONE_CHILD_CLEARTID;
        let (pid, _) = self.on_own_stack(stream, flags, true, Some(running));
        if pid < 0 {
            running.store(0, Ordering::Relaxed);
        }
    }

    /// Starts a thread or child on a stack of its own. Returns its number, and that of its stack if
    /// it is one of the pool.
    fn on_own_stack(
        &self,
        stream: usize,
        flags: libc::c_int,
        is_thread: bool,
        clears: Option<&AtomicU32>,
    ) -> (i32, Option<usize>) {
        // Another thread may take the same one first.
        let free = (0..STACKS).find(|stack| {
            let bit = 1 << stack;
            TAKEN.load(Ordering::Relaxed) & bit == 0
                && TAKEN.fetch_or(bit, Ordering::AcqRel) & bit == 0
        });
        let bottom = match free {
            Some(stack) => {
                // SAFETY: only the address of the stack is made.
                unsafe { POOL.0.get().cast::<u8>().add(stack * STACK) as u64 }
            }
            None => {
                let both = (libc::PROT_READ | libc::PROT_WRITE) as u64;
                let kind = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
                let arguments = [0, STACK as u64, both, kind, u64::MAX, 0];
                // SAFETY: a new mapping where the kernel chooses.
                let base = unsafe { call(libc::SYS_mmap, arguments) };
                if base <= 0 {
                    return (-1, None);
                }
                base as u64
            }
        };
        // The errand lies at the bottom of the stack, which nothing else reaches.
        let errand = bottom as *mut Errand;
        let top = (bottom + STACK as u64) as *mut c_void;
        let clears = clears.map_or(std::ptr::null_mut(), |word| word.as_ptr());
        // SAFETY: the stack is ours alone; the site lives as long as the process, and a child that
        // shares the memory has ended with it before this function returns.
        let pid = unsafe {
            errand.write(Errand { site: self.site, stream, is_thread });
            let none = std::ptr::null_mut::<c_void>();
            libc::clone(run_errand, top, flags, errand.cast(), none, none, clears)
        };
        (pid, free)
    }

    /// Executes the program itself, which goes on with the instruction of that number.
    fn execute(&mut self, index: usize) {
        self.report();
        let mut place = [0; 24];
        place[0] = b'@';
        digits(&mut place[1..], (index as u64) << 32 | self.stream as u64);
        let mut time = [0; 24];
        digits(&mut time, now_ns());
        let site = self.site;
        let arguments = [
            site.program.as_ptr(),
            c"reenact".as_ptr(),
            place.as_ptr().cast(),
            time.as_ptr().cast(),
            site.tree.as_ptr(),
            site.out.as_ptr(),
            std::ptr::null(),
        ];
        // SAFETY: all texts end with a zero byte and outlive the call, the lists with a null.
        unsafe {
            let path = site.program.as_ptr() as u64;
            let words = arguments.as_ptr() as u64;
            call(libc::SYS_execve, [path, words, environ as u64, 0, 0, 0]);
        }
        fail(b"the stand-in program cannot be executed here")
    }

    /// Appends the times of this process to the report.
    fn report(&mut self) {
        self.numbers[0] = REPORT_MARK;
        self.numbers[1] = self.stream as u64;
        let (now, passed) = (now_ns(), ticks().wrapping_sub(self.begun_ticks));
        let ns_of_tick = now.saturating_sub(self.begun) as f64 / passed.max(1) as f64;
        let of_classes = (0..CLASSES).map(|class| FIRST + 1 + 2 * class);
        for place in of_classes.chain(FIRST_GROUP..FIRST_GROUP + MOST_GROUPS) {
            self.numbers[place] = (self.numbers[place] as f64 * ns_of_tick) as u64;
        }
        if let Some((group, ns)) = self.executed.take() {
            self.add_time(Class::Exec, group, ns);
        }
        (self.numbers[2], self.numbers[3]) = (self.begun, now);
        (self.numbers[4], self.numbers[5]) = self.site.identity;
        let bytes = self.numbers.as_ptr() as u64;
        let length = size_of_val(&self.numbers) as u64;
        // SAFETY: the numbers outlive the call.
        unsafe { call(libc::SYS_write, [self.site.report, bytes, length, 0, 0, 0]) };
        self.numbers = [0; NUMBERS];
    }

    fn exit(&mut self, status: i32) -> ! {
        self.report();
        let number = if self.is_thread { libc::SYS_exit } else { libc::SYS_exit_group };
        loop {
            // SAFETY: ends the process, or only this thread.
            unsafe { call(number, [status as u64, 0, 0, 0, 0, 0]) };
        }
    }
}

extern "C" fn run_errand(errand: *mut c_void) -> libc::c_int {
    // SAFETY: written by `on_own_stack` for this thread or child alone.
    let errand = unsafe { errand.cast::<Errand>().read() };
    // SAFETY: the site lives as long as the process.
    let site = unsafe { &*errand.site };
    let mut player = Player::new(site);
    player.is_thread = errand.is_thread;
    player.play(errand.stream)
}

fn wait(stream: usize) {
    let Some(pid) = CHILDREN.get(stream).map(|child| child.load(Ordering::Relaxed)) else { return };
    if pid <= 0 {
        return;
    }
    let mut status = MaybeUninit::<i32>::uninit();
    loop {
        let arguments = [pid as u64, status.as_mut_ptr() as u64, 0, 0, 0, 0];
        // SAFETY: the buffer outlives the call.
        let result = unsafe { call(libc::SYS_wait4, arguments) };
        if result != -i64::from(libc::EINTR) {
            return;
        }
    }
}

fn join(stream: usize) {
    let Some(running) = RUNNING.get(stream) else { return };
    while running.load(Ordering::Acquire) != 0 {
        let arguments = [running.as_ptr() as u64, libc::FUTEX_WAIT as u64, 1, 0, 0, 0];
        // SAFETY: the word lives as long as the process.
        unsafe { call(libc::SYS_futex, arguments) };
    }
}

fn sleep(ns: u64) {
    let mut time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as _,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    let place = &raw mut time as u64;
    // The rest of the time is written over it where a signal interrupts the call.
    // SAFETY: the time outlives the call.
    while unsafe { call(libc::SYS_nanosleep, [place, place, 0, 0, 0, 0]) }
        == -i64::from(libc::EINTR)
    {}
}

/// Writes a number as digits that end with a zero byte.
fn digits(buffer: &mut [u8], mut number: u64) {
    let mut length = 1;
    let mut rest = number / 10;
    while rest > 0 {
        (rest, length) = (rest / 10, length + 1);
    }
    for at in (0..length).rev() {
        if let Some(byte) = buffer.get_mut(at) {
            *byte = b'0' + (number % 10) as u8;
        }
        number /= 10;
    }
}

/// Ends the process with a sentence on standard error.
pub fn fail(why: &[u8]) -> ! {
    for text in [b"envtax reenact: ".as_slice(), why, b"\n"] {
        let arguments = [2, text.as_ptr() as u64, text.len() as u64, 0, 0, 0];
        // SAFETY: the text outlives the call.
        unsafe { call(libc::SYS_write, arguments) };
    }
    loop {
        // SAFETY: ends the process.
        unsafe { call(libc::SYS_exit_group, [98, 0, 0, 0, 0, 0]) };
    }
}
