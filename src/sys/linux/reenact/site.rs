//! What a stand-in process was started with, and its instructions.

use std::ffi::CStr;

use crate::recording::script::{HEADER, INSTRUCTION, Instruction};

/// What a process was started with.
pub struct Site {
    pub program: &'static CStr,
    pub tree: &'static CStr,
    pub out: &'static CStr,
    /// Header, offsets and instructions.
    pub bytes: &'static [u8],
    pub texts: &'static [u8],
    /// Descriptors of the script and of the report.
    pub script: u64,
    pub report: u64,
    /// Inode number of the script, and the ns of the second of its last change.
    pub identity: (u64, u64),
}

impl Site {
    /// Where the instructions of a stream begin.
    pub fn start_of(&self, stream: usize) -> Option<usize> {
        let number = |at: usize| {
            self.bytes.get(at..at + 8).map(|it| it.try_into().map_or(0, u64::from_le_bytes))
        };
        let start = number(HEADER + 8 * stream)?;
        ((stream as u64) < number(8)?).then_some(start as usize)
    }
}

/// The instruction in the first of these bytes; none if there are not enough.
#[inline]
pub fn read(bytes: &[u8]) -> Option<Instruction> {
    let bytes: &[u8; INSTRUCTION] = bytes.get(..INSTRUCTION)?.try_into().ok()?;
    let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let eight = |at: usize| {
        let (low, high) = (u32::from_le_bytes(four(at)), u32::from_le_bytes(four(at + 4)));
        u64::from(low) | u64::from(high) << 32
    };
    Some(Instruction {
        code: bytes[0],
        class: bytes[1],
        bits: bytes[2],
        group: bytes[3],
        fd: i32::from_le_bytes(four(4)),
        first: u32::from_le_bytes(four(8)),
        second: u32::from_le_bytes(four(12)),
        flags: eight(16),
        size: eight(24),
        at: eight(32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::script::bits;

    #[test]
    fn instructions_survive_their_bytes() {
        let one = Instruction {
            code: 33,
            class: 2,
            bits: bits::FAILED,
            group: 5,
            fd: -100,
            first: 7,
            second: u32::MAX,
            flags: 1 << 40,
            size: u64::MAX,
            at: 9,
        };
        assert_eq!(read(&one.to_bytes()), Some(one));
        assert_eq!(read(&one.to_bytes()[1..]), None);
    }
}
