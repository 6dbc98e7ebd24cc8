//! Arguments of calls that lie in the memory of the recorded process.

use super::translate::Scene;
use crate::recording::script::{HANDLED, UNHANDLED};
use crate::recording::{ATTRIBUTES, Call, Event, Kind};
use crate::sys;

/// The longest path.
const LONGEST_PATH: usize = 4096;

impl Scene<'_> {
    /// The text at an address: UTF-8 and not empty.
    pub(super) fn text(&self, address: u64) -> Option<String> {
        let mut bytes = Vec::new();
        while bytes.len() < LONGEST_PATH {
            let at = address + bytes.len() as u64;
            // Not beyond the page: the next one may not be mapped.
            let length = (256 - at % 256) as usize;
            let more = sys::memory_of(self.pid, at, length);
            if more.is_empty() {
                return None;
            }
            if let Some(end) = more.iter().position(|byte| *byte == 0) {
                bytes.extend(&more[..end]);
                return String::from_utf8(bytes).ok().filter(|text| !text.is_empty());
            }
            bytes.extend(more);
        }
        None
    }

    /// The number of the extended attribute with the name at that address.
    pub(super) fn attribute(&self, address: u64) -> u64 {
        let name = self.text(address).unwrap_or_default();
        let found = ATTRIBUTES.iter().position(|it| it.to_bytes() == name.as_bytes());
        let trusted = || ATTRIBUTES.len() - 1;
        let other = || if name.starts_with("trusted.") { trusted() } else { 0 };
        found.unwrap_or_else(other) as u64
    }

    /// Whether the address is that of a socket of this machine with a name.
    pub(super) fn is_local(&self, address: u64) -> bool {
        sys::memory_of(self.pid, address, 2) == [1, 0]
    }

    /// What is done when a signal comes: the first word of the action is its handler.
    pub(super) fn signal_call(&self, a: &[u64; 6]) -> Event {
        let word = sys::memory_of(self.pid, a[1], 8);
        let flags = match word.try_into().map(u64::from_le_bytes) {
            Ok(0 | 1) => UNHANDLED,
            Ok(_) => HANDLED,
            Err(_) => 0,
        };
        let fd = a[0].min(64) as i32;
        Event::Call(Call { fd, flags, ..Call::new(Kind::Sigaction, 0) })
    }
}
