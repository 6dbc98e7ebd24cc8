//! The instructions that a re-enactment carries out: fixed records behind a header, then texts.
//!
//! A stand-in process maps the script and reads it in place: nothing is parsed while it runs.

/// Begins every script.
pub const MAGIC: u64 = 0x3174_7069_7263_7365;
/// Bytes of one instruction.
pub const INSTRUCTION: usize = 40;
/// Bytes of the header: the magic, the number of streams, the offset and length of the texts.
pub const HEADER: usize = 32;

/// The most streams, mappings and descriptors that a script names.
pub const MOST_STREAMS: usize = 32_768;
pub const MOST_SLOTS: usize = 2048;
pub const MOST_FDS: i32 = 500;

/// Flags of sockets that are kept: close-on-exec and non-blocking.
pub const SOCKET_FLAGS: u64 = 0o2_004_000;
/// In the flags of a call that sets up a signal: it is ignored or has its default, or a handler.
pub const UNHANDLED: u64 = 1;
pub const HANDLED: u64 = 2;

/// In the flags of a call that asks for the state of an open file: by `newfstatat` or `statx` with
/// an empty path. Tracers that translate paths stop at these.
pub const BY_EMPTY_PATH: u64 = 1;
pub const BY_STATX: u64 = 2;

/// What an instruction does. Numbers from [`FIRST_CALL`] on are calls: of a
/// [`super::Kind`] by its number.
pub mod code {
    pub const SPIN: u8 = 0;
    pub const FORK: u8 = 1;
    pub const THREAD: u8 = 2;
    pub const EXEC: u8 = 3;
    pub const WAIT: u8 = 4;
    pub const JOIN: u8 = 5;
    pub const PAGES: u8 = 6;
    pub const SLEEP: u8 = 7;
    pub const EXIT: u8 = 8;
    pub const FIRST_CALL: u8 = 32;
}

/// One instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    pub code: u8,
    pub class: u8,
    /// Bits that depend on the code.
    pub bits: u8,
    /// Whose time it is, of [`super::groups::Groups`].
    pub group: u8,
    pub fd: i32,
    /// Offsets of texts, or numbers of streams and slots.
    pub first: u32,
    pub second: u32,
    pub flags: u64,
    pub size: u64,
    pub at: u64,
}

/// Bits of an instruction.
pub mod bits {
    /// The call failed when it was recorded.
    pub const FAILED: u8 = 1;
    /// The parent waits until the child executes another program.
    pub const VFORK: u8 = 2;
    /// The result is a descriptor, in [`super::Instruction::second`].
    pub const GIVES: u8 = 4;
    /// The mapping replaces a part of another one.
    pub const INSIDE: u8 = 8;
    /// The mapping is of a file.
    pub const OF_FILE: u8 = 16;
}

impl Instruction {
    pub fn to_bytes(self) -> [u8; INSTRUCTION] {
        let mut bytes = [0; INSTRUCTION];
        bytes[..4].copy_from_slice(&[self.code, self.class, self.bits, self.group]);
        bytes[4..8].copy_from_slice(&self.fd.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.first.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.second.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.flags.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.size.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.at.to_le_bytes());
        bytes
    }
}

/// A whole script: the streams' instructions and the texts they name.
#[derive(Default)]
pub struct Script {
    pub streams: Vec<Vec<Instruction>>,
    /// Texts that end with a zero byte.
    pub texts: Vec<u8>,
}

impl Script {
    pub fn to_bytes(&self) -> Vec<u8> {
        let starts = HEADER + 8 * self.streams.len();
        let count: usize = self.streams.iter().map(Vec::len).sum();
        let texts_at = starts + count * INSTRUCTION;
        let head = [MAGIC, self.streams.len() as u64, texts_at as u64, self.texts.len() as u64];
        let mut bytes: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
        let mut at = starts;
        for stream in &self.streams {
            bytes.extend((at as u64).to_le_bytes());
            at += stream.len() * INSTRUCTION;
        }
        bytes.extend(self.streams.iter().flatten().flat_map(|it| it.to_bytes()));
        bytes.extend(&self.texts);
        bytes
    }
}
