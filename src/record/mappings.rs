//! Calls that map memory, as events: mappings have slots in place of addresses.

use super::small::{MAP_ANONYMOUS, MAP_FIXED};
use super::translate::{Scene, What};
use crate::recording::{Call, Event, Kind};

impl Scene<'_> {
    pub(super) fn memory_call(&mut self, name: &str, a: &[u64; 6]) -> Option<What> {
        let slot = |it: Option<(u32, u64)>| it.map_or((-1, 0), |(slot, at)| (slot as i32, at));
        Some(match name {
            "mmap" => {
                let fd = if a[3] & MAP_ANONYMOUS != 0 { -1 } else { a[4] as i32 };
                if let Some(path) = self.descriptors.borrow().path(fd) {
                    self.paths.reads(path);
                }
                let flags = a[2] << 32 | a[3] & 0xffff_ffff;
                let call = Call { fd, flags, size: a[1], at: a[5], ..Call::new(Kind::Map, 0) };
                What::Call(call)
            }
            "munmap" => {
                let (other, at) = slot(self.memory.borrow().find(a[0]));
                self.memory.borrow_mut().remove(a[0], a[1]);
                let call = Call { other, at, size: a[1], ..Call::new(Kind::Unmap, 0) };
                What::Now(Event::Call(call))
            }
            "mprotect" | "madvise" => {
                let kind = if name == "madvise" { Kind::MemoryAdvice } else { Kind::Protect };
                let (other, at) = slot(self.memory.borrow().find(a[0]));
                let call = Call { other, at, size: a[1], flags: a[2], ..Call::new(kind, 0) };
                What::Now(Event::Call(call))
            }
            "brk" => What::Call(Call { at: a[0], ..Call::new(Kind::Break, 0) }),
            "mremap" => {
                let (other, at) = slot(self.memory.borrow().find(a[0]));
                let call =
                    Call { other, at, size: a[2], flags: a[3] & 1, ..Call::new(Kind::Remap, 0) };
                What::Call(call)
            }
            _ => return None,
        })
    }

    pub(super) fn mapped(&mut self, call: &mut Call, a: &[u64; 6], result: i64) -> Result<(), ()> {
        if (-4095..0).contains(&result) {
            return Ok(());
        }
        let mut memory = self.memory.borrow_mut();
        let within = memory.covered_by(a[0], a[1]).filter(|_| a[3] & MAP_FIXED != 0);
        let (slot, at) = match within {
            Some((slot, at)) => (slot, at),
            None => (memory.add(result as u64, a[1]).ok_or(())?, 0),
        };
        if within.is_none() {
            call.flags &= !(MAP_FIXED | 0x10_0000);
        }
        (call.other, call.result) = (slot as i32, at as i64);
        Ok(())
    }
}
