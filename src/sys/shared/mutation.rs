//! Damages inputs at random, for tests of readers. The same seed gives the same damage.

use rand::RngCore;

/// Numbers at which readers go wrong: limits of types, and signs.
const EDGES: [u64; 8] = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff];

/// Changes the bytes in one to eight places: a bit, a byte, a number of two to eight bytes, the end
/// cut off, or a piece repeated.
pub fn mutate(bytes: &mut Vec<u8>, random: &mut impl RngCore) {
    let mut below = |limit: usize| (random.next_u64() % limit.max(1) as u64) as usize;
    for _ in 0..=below(8) {
        if bytes.is_empty() {
            return;
        }
        let at = below(bytes.len());
        match below(8) {
            0 => bytes[at] ^= 1 << below(8),
            1 => bytes[at] = below(256) as u8,
            2 => bytes.truncate(at),
            3 => {
                let piece = bytes[at..].iter().take(below(64)).copied().collect::<Vec<_>>();
                let to = below(bytes.len());
                bytes.splice(to..to, piece);
            }
            width => {
                let number = match below(EDGES.len() + 1) {
                    0 => u64::MAX,
                    index => EDGES[index - 1],
                };
                let width = 1 << (width % 4);
                let end = (at + width).min(bytes.len());
                bytes[at..end].copy_from_slice(&number.to_le_bytes()[..end - at]);
            }
        }
    }
}
