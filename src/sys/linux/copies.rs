//! Several copies of a worker that do the same at the same time.

use std::io;
use std::mem::size_of;
use std::ptr::{null_mut, slice_from_raw_parts};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::process::{Pid, reap};
use super::{check, die_with_parent};

/// Waits between two checks of whether all copies are alive.
const LOOK_EVERY: u32 = 1024;

/// The beginning of the memory that all copies share; their figures follow it.
#[repr(C)]
struct Shared {
    arrived: AtomicU32,
    generation: AtomicU32,
    /// Set once a copy gave up: then no copy waits any more.
    broken: AtomicU32,
    stop: AtomicU32,
    /// Why a copy gave up: the copy's number (0 for none), the length of the reason and its bytes.
    who: AtomicU32,
    length: AtomicU32,
    text: [AtomicU8; TEXT],
}

/// Most bytes of a reason that are kept.
const TEXT: usize = 512;

/// One copy's view of all copies. The first copy is the leader; the others die with it.
pub struct Copies {
    shared: *const Shared,
    bytes: usize,
    count: usize,
    index: usize,
    slots: usize,
    children: Vec<Pid>,
}

impl Copies {
    /// Forks this process, which must have one thread, until there are `count` copies in all.
    /// Returns in each copy. Every copy has `slots` figures that the leader can read.
    pub fn start(count: usize, slots: usize) -> io::Result<Copies> {
        let bytes = size_of::<Shared>() + count * slots * size_of::<AtomicU64>();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let shared = start.cast();
        let mut copies = Copies { shared, bytes, count, index: 0, slots, children: Vec::new() };
        for index in 1..count {
            // SAFETY: the process has one thread, so the child may go on as the program it is.
            match unsafe { libc::fork() } {
                0 => {
                    die_with_parent();
                    copies.index = index;
                    copies.children.clear();
                    return Ok(copies);
                }
                pid => {
                    let checked = check(pid.into());
                    if checked.is_err() {
                        copies.shared().broken.store(1, Ordering::Release);
                    }
                    checked?;
                    copies.children.push(Pid::from_raw(pid));
                }
            }
        }
        Ok(copies)
    }

    /// 0 for the leader.
    pub fn index(&self) -> usize {
        self.index
    }

    fn shared(&self) -> &Shared {
        // SAFETY: the mapping is page-aligned, begins with this structure, is zero at first (a
        // valid value of it) and stays until the drop.
        unsafe { &*self.shared }
    }

    fn figures(&self) -> &[AtomicU64] {
        // SAFETY: the figures follow the structure in the same mapping, aligned as its size is a
        // multiple of theirs; atomics may be shared.
        unsafe { &*slice_from_raw_parts(self.shared.add(1).cast(), self.count * self.slots) }
    }

    /// Waits until every copy has called this. An error if a copy gave up.
    pub fn meet(&self) -> io::Result<()> {
        let shared = self.shared();
        let generation = shared.generation.load(Ordering::Acquire);
        if shared.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count as u32 {
            shared.arrived.store(0, Ordering::Relaxed);
            shared.generation.store(generation + 1, Ordering::Release);
            return Ok(());
        }
        let waiting = || shared.generation.load(Ordering::Acquire) == generation;
        for turn in 1_u32.. {
            // A killed copy says nothing, so the leader looks; only the leader can. A copy that has
            // passed its last meeting may have ended well, hence this order.
            let look = turn.is_multiple_of(LOOK_EVERY);
            let ended = look && self.children.iter().any(|child| child.has_ended());
            if !waiting() {
                break;
            }
            if ended {
                self.give_up();
            }
            if shared.broken.load(Ordering::Acquire) != 0 {
                return Err(io::Error::other("another copy gave up"));
            }
            // SAFETY: takes no argument.
            unsafe { libc::sched_yield() };
        }
        Ok(())
    }

    /// The leader's decision whether to go on; every copy gets the same answer.
    pub fn agree(&self, more: bool) -> io::Result<bool> {
        if self.index == 0 && !more {
            self.shared().stop.store(1, Ordering::Release);
        }
        self.meet()?;
        Ok(self.shared().stop.load(Ordering::Acquire) == 0)
    }

    /// Sets a figure that the leader can read.
    pub fn set(&self, slot: usize, figure: u64) {
        self.figures()[self.index * self.slots + slot].store(figure, Ordering::Release);
    }

    /// The mean of all copies' figures in this slot.
    pub fn mean(&self, slot: usize) -> u64 {
        let figures = self.figures();
        let of = |copy: usize| figures[copy * self.slots + slot].load(Ordering::Acquire);
        (0..self.count).map(of).sum::<u64>() / self.count as u64
    }

    /// Notes the reason for giving up, unless another copy gave up before.
    pub fn explain(&self, reason: &str) {
        let (shared, own) = (self.shared(), self.index as u32 + 1);
        if shared.broken.load(Ordering::Acquire) != 0 {
            return;
        }
        if shared.who.compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return;
        }
        let bytes = &reason.as_bytes()[..reason.len().min(TEXT)];
        for (place, byte) in shared.text.iter().zip(bytes) {
            place.store(*byte, Ordering::Relaxed);
        }
        shared.length.store(bytes.len() as u32, Ordering::Release);
    }

    /// The reason that another copy noted.
    pub fn explanation(&self) -> Option<String> {
        let shared = self.shared();
        let copy = shared.who.load(Ordering::Acquire);
        let length = shared.length.load(Ordering::Acquire) as usize;
        if copy == self.index as u32 + 1 || length == 0 {
            return None;
        }
        let bytes: Vec<u8> =
            shared.text[..length].iter().map(|byte| byte.load(Ordering::Relaxed)).collect();
        Some(format!("copy {copy}: {}", String::from_utf8_lossy(&bytes)))
    }

    /// Tells the other copies not to wait for this one any more.
    pub fn give_up(&self) {
        self.shared().broken.store(1, Ordering::Release);
    }

    /// Ends a copy that is not the leader, without running destructors of the leader's values.
    pub fn exit(self, well: bool) -> ! {
        // SAFETY: ends this process at once.
        unsafe { libc::_exit(i32::from(!well)) }
    }

    /// In the leader: waits for the other copies. An error when one ended badly; a copy that was
    /// killed is named rather than those that gave up because of it.
    pub fn finish(&mut self) -> io::Result<()> {
        let mut worst = (0, 0);
        for (index, child) in std::mem::take(&mut self.children).into_iter().enumerate() {
            worst = worst.max((reap(child)?, index + 2));
        }
        match worst {
            (0, _) => Ok(()),
            (status, copy) => {
                Err(io::Error::other(format!("copy {copy} ended with status {status}")))
            }
        }
    }
}

impl Drop for Copies {
    fn drop(&mut self) {
        if self.index == 0 {
            self.give_up();
            for child in self.children.drain(..) {
                let _ = reap(child);
            }
        }
        // SAFETY: exactly the range mapped in `start`; references to it end with `self`.
        unsafe { libc::munmap(self.shared.cast_mut().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_meet_and_leave_figures() {
        let mut copies = Copies::start(3, 2).unwrap();
        for round in 0..100 {
            copies.set(0, round + copies.index() as u64 * 3);
            copies.meet().unwrap();
            if copies.index() == 0 {
                assert_eq!(copies.mean(0), round + 3);
            }
            copies.meet().unwrap();
        }
        let go_on = copies.agree(copies.index() != 0).unwrap();
        if copies.index() > 0 {
            copies.exit(!go_on);
        }
        assert!(!go_on, "the leader decides");
        copies.finish().unwrap();
    }

    #[test]
    fn a_copy_that_dies_holds_nobody_up() {
        let mut copies = Copies::start(3, 1).unwrap();
        if copies.index() == 1 {
            copies.exit(false);
        }
        let met = copies.meet().is_ok();
        if copies.index() > 0 {
            copies.exit(!met);
        }
        assert!(!met);
        assert!(copies.finish().is_err());
    }

    #[test]
    fn a_copy_that_gives_up_holds_nobody_up() {
        let mut copies = Copies::start(2, 1).unwrap();
        if copies.index() > 0 {
            copies.explain("the disk is full");
            copies.give_up();
            copies.exit(false);
        }
        assert!(copies.meet().is_err());
        assert!(copies.finish().unwrap_err().to_string().contains("copy 2"));
        assert_eq!(copies.explanation().unwrap(), "copy 2: the disk is full");
    }
}
