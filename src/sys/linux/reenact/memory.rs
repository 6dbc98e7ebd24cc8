//! The mappings of a stand-in process. A script names them by slots, and nothing else can be
//! unmapped, replaced or protected.

use std::cell::UnsafeCell;

use super::machine::call;
use crate::recording::script::{Instruction, MOST_SLOTS, bits};

const PAGE: u64 = 4096;
/// Pages that the kernel maps around one of a file that is touched.
const AROUND: u64 = 16 * PAGE;
/// Regions of touched pages that a process remembers.
const REGIONS: usize = 32;
/// The farthest that the heap may grow, in bytes.
const MOST_HEAP: u64 = 1 << 36;

#[derive(Clone, Copy)]
struct Slot {
    base: u64,
    length: u64,
}

/// What all threads of a process share.
struct Space {
    slots: [Slot; MOST_SLOTS],
    regions: [Slot; REGIONS],
    count: usize,
    first_break: u64,
}

#[repr(align(4096))]
struct Aligned(UnsafeCell<[u8; PAGE as usize]>);

struct Shared(UnsafeCell<Space>);

// SAFETY: threads of a script that use one slot at a time do so in the order of the recording; the
// values are addresses that only the kernel interprets, and a wrong one makes a call fail.
unsafe impl Sync for Shared {}
// SAFETY: only its address is used.
unsafe impl Sync for Aligned {}

static SPACE: Shared = Shared(UnsafeCell::new(Space {
    slots: [Slot { base: 0, length: 0 }; MOST_SLOTS],
    regions: [Slot { base: 0, length: 0 }; REGIONS],
    count: 0,
    first_break: 0,
}));
static DUMMY: Aligned = Aligned(UnsafeCell::new([0; PAGE as usize]));

fn space() -> &'static mut Space {
    // SAFETY: see `Sync`; no reference is kept across two instructions.
    unsafe { &mut *SPACE.0.get() }
}

fn rounded(length: u64) -> u64 {
    length.div_ceil(PAGE).max(1) * PAGE
}

/// The address of a part of a slot; none if the slot does not have all of it.
fn part(slot: u32, offset: u64, length: u64) -> Option<u64> {
    let slot = space().slots.get(slot as usize)?;
    let end = offset.checked_add(rounded(length))?;
    (slot.base != 0 && end <= slot.length).then(|| slot.base + offset)
}

pub fn map(it: &Instruction) -> i64 {
    let (protection, flags) = (it.flags >> 32 & 7, it.flags & 0xffff_ffff);
    let offset = u64::from(it.second) * PAGE;
    let inside = it.bits & bits::INSIDE != 0;
    let address = match inside {
        true => match part(it.first, offset, it.size) {
            Some(address) => address,
            None => return -i64::from(libc::ENOMEM),
        },
        false => 0,
    };
    let fixed = if inside { libc::MAP_FIXED as u64 } else { 0 };
    let fd = if it.bits & bits::OF_FILE != 0 { it.fd as u64 } else { u64::MAX };
    let arguments = [address, it.size, protection, flags | fixed, fd, it.at];
    // SAFETY: a new mapping where the kernel chooses, or over a mapping of the script.
    let result = unsafe { call(libc::SYS_mmap, arguments) };
    if !inside && let Some(slot) = space().slots.get_mut(it.first as usize) {
        let base = if result > 0 { result as u64 } else { 0 };
        *slot = Slot { base, length: rounded(it.size) };
    }
    result
}

pub fn unmap(it: &Instruction) -> i64 {
    let Some(address) = part(it.first, it.at, it.size) else { return 0 };
    if let Some(slot) = space().slots.get_mut(it.first as usize)
        && it.at == 0
        && rounded(it.size) >= slot.length
    {
        slot.base = 0;
    }
    // SAFETY: a mapping of the script, to which nothing refers.
    unsafe { call(libc::SYS_munmap, [address, it.size, 0, 0, 0, 0]) }
}

/// `mprotect`, of a page of this program if the slot is unknown.
pub fn protect(it: &Instruction) -> i64 {
    let both = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let arguments = match part(it.first, it.at, it.size) {
        Some(address) => [address, it.size, it.flags & 7, 0, 0, 0],
        None => [DUMMY.0.get() as u64, PAGE, both, 0, 0, 0],
    };
    // SAFETY: a mapping of the script, or a page that stays readable and writable.
    unsafe { call(libc::SYS_mprotect, arguments) }
}

/// `madvise`: only advice that keeps what is mapped or empties it.
pub fn advise(it: &Instruction) -> i64 {
    let Some(address) = part(it.first, it.at, it.size) else { return 0 };
    // SAFETY: a mapping of the script, whose contents nobody reads.
    unsafe { call(libc::SYS_madvise, [address, it.size, it.flags, 0, 0, 0]) }
}

/// `mremap` of a whole slot to another size, as another slot.
pub fn remap(it: &Instruction) -> i64 {
    let Some(old) = space().slots.get(it.first as usize).copied().filter(|it| it.base != 0) else {
        return -i64::from(libc::ENOMEM);
    };
    let may_move = 1;
    // SAFETY: a mapping of the script moves or grows to where the kernel finds room.
    let result = unsafe { call(libc::SYS_mremap, [old.base, old.length, it.size, may_move, 0, 0]) };
    if result > 0 {
        space().slots[it.first as usize].base = 0;
        if let Some(slot) = space().slots.get_mut(it.second as usize) {
            *slot = Slot { base: result as u64, length: rounded(it.size) };
        }
    }
    result
}

pub fn set_break(it: &Instruction) -> i64 {
    let space = space();
    if space.first_break == 0 {
        // SAFETY: asks only.
        space.first_break = unsafe { call(libc::SYS_brk, [0; 6]) } as u64;
        if it.at == 0 {
            return space.first_break as i64;
        }
    }
    let target = if it.at == 0 { 0 } else { space.first_break + it.at.min(MOST_HEAP) };
    // SAFETY: never below the first end, so nothing that is in use goes away.
    unsafe { call(libc::SYS_brk, [target, 0, 0, 0, 0, 0]) }
}

/// Touches new pages, stretches of a file, and pages that another process shares.
pub fn touch(it: &Instruction, file: u64) {
    let (fresh, stretches, copied) = (it.size, it.at, u64::from(it.first));
    let copied_now = touch_again(copied);
    touch_fresh(fresh + (copied - copied_now));
    if stretches > 0 {
        let length = stretches * AROUND;
        let (read, private) = (libc::PROT_READ as u64, libc::MAP_PRIVATE as u64);
        // SAFETY: a new mapping where the kernel chooses.
        let base = unsafe { call(libc::SYS_mmap, [0, length, read, private, file, 0]) };
        if base > 0 {
            for at in 0..stretches {
                let place = (base as u64 + at * AROUND) as *const u8;
                // SAFETY: inside the mapping; the script's file is as long as its largest one.
                unsafe { place.read_volatile() };
            }
        }
    }
}

fn touch_fresh(pages: u64) {
    if pages == 0 {
        return;
    }
    let length = pages * PAGE;
    let both = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    // SAFETY: a new mapping where the kernel chooses.
    let base = unsafe { call(libc::SYS_mmap, [0, length, both, flags, u64::MAX, 0]) };
    if base <= 0 {
        return;
    }
    if pages >= 512 {
        // A huge page would take the place of 512 faults.
        let advice = libc::MADV_NOHUGEPAGE as u64;
        // SAFETY: the mapping was just made.
        unsafe { call(libc::SYS_madvise, [base as u64, length, advice, 0, 0, 0]) };
    }
    write_each(base as u64, pages);
    let space = space();
    space.regions[space.count % REGIONS] = Slot { base: base as u64, length };
    space.count += 1;
}

/// Writes to pages that were touched before, and returns to how many.
fn touch_again(pages: u64) -> u64 {
    let space = space();
    let mut left = pages;
    for region in space.regions.iter().take(space.count.min(REGIONS)) {
        let here = left.min(region.length / PAGE);
        write_each(region.base, here);
        left -= here;
    }
    pages - left
}

fn write_each(base: u64, pages: u64) {
    for page in 0..pages {
        let place = (base + page * PAGE) as *mut u8;
        // SAFETY: inside a writable mapping that only this function uses.
        unsafe { place.write_volatile(1) };
    }
}
