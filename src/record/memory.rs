//! Which mapping an address of a traced process belongs to. Mappings have numbers, their slots, by
//! which a re-enactment finds its own ones.

use crate::recording::script::MOST_SLOTS;

const PAGE: u64 = 4096;

/// The mappings of one address space.
#[derive(Clone, Default)]
pub struct Memory {
    /// Beginning, end, slot, and the beginning of the slot.
    ranges: Vec<(u64, u64, u32, u64)>,
    used: u32,
    free: Vec<u32>,
    /// The end of the heap when it was first asked for.
    pub first_break: Option<u64>,
}

impl Memory {
    /// The slot of an address, and the offset in it.
    pub fn find(&self, address: u64) -> Option<(u32, u64)> {
        let range = self.ranges.iter().find(|range| range.0 <= address && address < range.1)?;
        Some((range.2, address - range.3))
    }

    /// A new mapping; none if there are too many.
    pub fn add(&mut self, address: u64, length: u64) -> Option<u32> {
        self.remove(address, length);
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if (self.used as usize) < MOST_SLOTS => {
                self.used += 1;
                self.used - 1
            }
            None => return None,
        };
        self.ranges.push((address, address + rounded(length), slot, address));
        Some(slot)
    }

    /// A mapping that replaces a part of another one keeps its slot.
    pub fn covered_by(&self, address: u64, length: u64) -> Option<(u32, u64)> {
        let end = address + rounded(length);
        let range = self.ranges.iter().find(|range| range.0 <= address && end <= range.1)?;
        Some((range.2, address - range.3))
    }

    /// What is mapped there is no longer.
    pub fn remove(&mut self, address: u64, length: u64) {
        let (from, to) = (address, address + rounded(length));
        let mut kept = Vec::with_capacity(self.ranges.len() + 1);
        let mut touched = Vec::new();
        for range in self.ranges.drain(..) {
            if range.1 <= from || range.0 >= to {
                kept.push(range);
                continue;
            }
            touched.push(range.2);
            if range.0 < from {
                kept.push((range.0, from, range.2, range.3));
            }
            if range.1 > to {
                kept.push((to, range.1, range.2, range.3));
            }
        }
        touched.dedup();
        touched.retain(|slot| kept.iter().all(|range| range.2 != *slot));
        self.ranges = kept;
        self.free.extend(touched);
    }
}

fn rounded(length: u64) -> u64 {
    length.div_ceil(PAGE).max(1) * PAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_the_slot_until_the_last_is_gone() {
        let mut memory = Memory::default();
        let first = memory.add(0x10000, 0x3000).unwrap();
        assert_eq!(memory.find(0x12fff), Some((first, 0x2fff)));
        assert_eq!(memory.covered_by(0x11000, 0x1000), Some((first, 0x1000)));
        memory.remove(0x11000, 0x1000);
        assert_eq!(memory.find(0x11000), None);
        assert_eq!(memory.find(0x12000), Some((first, 0x2000)));
        let second = memory.add(0x20000, 10).unwrap();
        assert_ne!(first, second);
        memory.remove(0x10000, 0x3000);
        assert_eq!(memory.add(0x40000, 1), Some(first), "its number is free again");
    }
}
