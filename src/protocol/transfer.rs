//! Transfers files between the controller and an agent, in pieces, as text.

use serde::{Deserialize, Serialize};

/// The outputs of a whole command in its folder, as far as they are asked for: standard output,
/// standard error, and the file at `{out}`.
pub const STDOUT: &str = "stdout";
pub const STDERR: &str = "stderr";
pub const WRITTEN: &str = "out";
/// All of it.
pub const OUTPUTS: [&str; 3] = [STDOUT, STDERR, WRITTEN];
/// Bytes of every piece of a file except the last. The hexadecimal digits, twice as many, are well
/// below the limit of a message.
pub const PIECE: usize = 128 << 10;
/// The most bytes that a command may write into its outputs.
pub const OUTPUT_LIMIT: u64 = 1 << 30;

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The bytes as hexadecimal digits.
    pub hex: String,
    /// The file's mode, as `chmod` takes it. None if the system has no modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u32>,
}

/// The bytes as hexadecimal digits.
pub fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of such a text; none if it is not one.
pub fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |letter: &u8| char::from(*letter).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4 | digit(low)?) as u8),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(byte).collect()
}
