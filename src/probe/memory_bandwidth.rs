//! Copies, reads and writes memory buffer by buffer.

use std::hint::black_box;
use std::ops::Range;

use anyhow::{Context, Result, bail};

use super::{Param, Probe, ProbeInfo, Setup, WHOLE, held};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct MemoryBandwidth;

static INFO: ProbeInfo = ProbeInfo {
    id: "memory.bandwidth",
    summary: "copy, read or write a MiB of memory",
    timed: "A MiB of memory, buffer after buffer of `size` bytes and again from the start. `copy` \
            copies one buffer of that size to another with the C library's memcpy and counts \
            each byte once; `read` adds up 8-byte words; `write` stores such words.",
    excluded: "Mapping the memory and its first touch. Pages are base pages by advice. The \
             binary is built for any x86-64: reads and writes are of 16 bytes, memcpy is the rep \
             movs of musl. In the first-level cache wider ones are faster; in the outer levels \
             and in memory, those are the limit.",
    unit: "MiB",
    source: "lmbench bw_mem cp, rd, wr (which count bytes as here); STREAM counts a copy twice",
    phases: WHOLE,
    params: &[
        Param::one_of("op", &["copy", "read", "write"]),
        Param::bytes("size", 4096..=super::MOST_MEMORY),
    ],
    cases: &[
        "op=copy size=16KiB",
        "op=copy size=16MiB",
        "op=read size=16MiB",
        "op=write size=16MiB",
    ],
    on_files: false,
};

/// Words of eight bytes in a MiB.
const MIB: usize = (1 << 20) / 8;

enum Buffers {
    Copy { from: sys::Region, to: sys::Region },
    Read(sys::Region),
    Write(sys::Region),
}

struct Stream {
    buffers: Buffers,
    /// Words of one buffer, and the index of the next word.
    words: usize,
    at: usize,
}

impl Probe for MemoryBandwidth {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let words = setup.bytes("size")? as usize / 8;
        let buffers = if setup.param("op")? == "copy" { 2 } else { 1 };
        held::fits_in_memory(buffers * words as u64 * 8, "ask for a smaller `size`")?;
        let buffer = || -> Result<sys::Region> {
            let mut region = sys::Region::map(words * 8).context("mapping the memory to move")?;
            // Untouched pages would all be read from the kernel's one page of zeros.
            region.words().fill(1);
            Ok(region)
        };
        let buffers = match setup.param("op")? {
            "copy" => Buffers::Copy { from: buffer()?, to: buffer()? },
            "read" => Buffers::Read(buffer()?),
            "write" => Buffers::Write(buffer()?),
            other => bail!("`memory.bandwidth` has no operation `{other}`"),
        };
        Ok(Box::new(Stream { buffers, words, at: 0 }))
    }
}

impl Stream {
    /// Copies, reads or writes these words.
    fn part(&mut self, range: Range<usize>) {
        match &mut self.buffers {
            Buffers::Copy { from, to } => {
                let to = &mut to.words()[range.clone()];
                to.copy_from_slice(&from.words()[range]);
                black_box(to);
            }
            Buffers::Read(from) => {
                let sum =
                    from.words()[range].iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
                black_box(sum);
            }
            Buffers::Write(to) => {
                let to = &mut to.words()[range];
                to.fill(black_box(WRITTEN));
                black_box(to);
            }
        }
    }
}

/// Not eight times the same byte: the compiler would call the C library's memset.
const WRITTEN: u64 = 0x0123_4567_89ab_cdef;

impl Workload for Stream {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let mut left = MIB;
            while left > 0 {
                let count = left.min(self.words - self.at);
                self.part(self.at..self.at + count);
                self.at = (self.at + count) % self.words;
                left -= count;
            }
        }
        Ok(iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The buffers after this number of iterations on `bytes` of them.
    fn after(op: &str, bytes: usize, iterations: u64) -> Stream {
        let words = bytes / 8;
        let region = || sys::Region::map(bytes).unwrap();
        let mut from = region();
        from.words().iter_mut().zip(1..).for_each(|(word, value)| *word = value);
        let buffers = match op {
            "copy" => Buffers::Copy { from, to: region() },
            _ => Buffers::Write(region()),
        };
        let mut stream = Stream { buffers, words, at: 0 };
        assert_eq!(stream.run(iterations, &mut Stopwatch::default()).unwrap(), iterations);
        stream
    }

    #[test]
    fn every_iteration_moves_a_mebibyte() {
        // Two MiB are half moved by one; two MiB end 128 KiB into the fourth buffer of 640 KiB.
        for (bytes, iterations, end) in [(2 << 20, 1, 1 << 20), (640 << 10, 2, 128 << 10)] {
            let mut stream = after("copy", bytes, iterations);
            assert_eq!(stream.at * 8, end);
            let Buffers::Copy { to, .. } = &mut stream.buffers else { panic!() };
            let moved = if iterations == 1 { end } else { bytes } / 8;
            let right =
                |(at, word): (usize, &u64)| *word == if at < moved { at as u64 + 1 } else { 0 };
            assert!(to.words().iter().enumerate().all(right));
        }
        let mut stream = after("write", 4096, 1);
        let Buffers::Write(to) = &mut stream.buffers else { panic!() };
        assert!(to.words().iter().all(|word| *word == WRITTEN));
    }
}
