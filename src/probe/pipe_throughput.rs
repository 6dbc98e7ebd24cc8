//! Blocks through a pipe.

use anyhow::{Context, Result, bail, ensure};

use super::aligned::Aligned;
use super::{CannotMeasure, Param, Probe, ProbeInfo, Setup, WHOLE, incompressible, second_cpu};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Availability, Params};
use crate::sys;

pub struct PipeThroughput;

static INFO: ProbeInfo = ProbeInfo {
    id: "pipe.throughput",
    summary: "one block of bytes through a pipe",
    timed: "`reader=self`: one write and one read of the block, both by this process. \
            `reader=other`: another process writes without end and this one reads; the time is \
            that of the reads until all bytes have arrived, switches between the two included. \
            `cpu=same`: both on one CPU. `cpu=other`: each on its own.",
    excluded: "With `reader=other`, starting the writer, and four blocks or pipes full before each \
               sample, after which writer and reader are in step. Making the bytes: the same \
               block is sent again and again. Blocks begin where a page does.",
    unit: "block",
    source: "UnixBench pipe (512 bytes, self); lmbench bw_pipe (64 KiB, other)",
    phases: WHOLE,
    params: &[
        Param::bytes("size", 1..=MOST),
        Param::one_of("reader", &["self", "other"]),
        Param::one_of("cpu", &["same", "other"]),
    ],
    cases: &[
        "size=512B reader=self cpu=same",
        "size=64KiB reader=other cpu=same",
        "size=64KiB reader=other cpu=other",
    ],
    on_files: false,
};

const MOST: u64 = 16 << 20;
/// Read before each sample: this many blocks, or this many bytes if that is more. A pipe holds 64
/// KiB.
const IN_STEP_BLOCKS: u64 = 4;
const IN_STEP_BYTES: u64 = 256 << 10;

impl Probe for PipeThroughput {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn availability(&self, params: &Params) -> Availability {
        second_cpu(params)
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let buffer = Aligned::of(&incompressible(setup.bytes("size")? as usize));
        match (setup.param("reader")?, setup.param("cpu")?) {
            ("self", "same") => Ok(Box::new(Own::prepare(buffer)?)),
            ("self", _) => {
                let text = "a process that reads what it writes needs one CPU; use `cpu=same`";
                Err(CannotMeasure(text.into()).into())
            }
            ("other", _) => {
                let cpus = setup.peer_cpus()?;
                let writer = sys::WriterPeer::start(&cpus, &buffer);
                let writer = writer.context("starting the writing process")?;
                Ok(Box::new(Arrive { writer, buffer }))
            }
            (other, _) => bail!("`pipe.throughput` has no reader `{other}`"),
        }
    }
}

/// A pipe of which this process has both ends.
struct Own {
    pipe: sys::OwnPipe,
    buffer: Aligned,
}

impl Own {
    fn prepare(buffer: Aligned) -> Result<Own> {
        let mut own = Own { pipe: sys::OwnPipe::open()?, buffer };
        let written = own.pipe.write(&own.buffer)?;
        if written < own.buffer.len() {
            let text = format!("a pipe holds {written} bytes here; use `reader=other`");
            return Err(CannotMeasure(text).into());
        }
        own.read()?;
        Ok(own)
    }

    #[inline]
    fn read(&mut self) -> Result<()> {
        let read = self.pipe.read(&mut self.buffer)?;
        ensure!(read == self.buffer.len(), "read {read} bytes of a block of {}", self.buffer.len());
        Ok(())
    }
}

impl Workload for Own {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            let written = self.pipe.write(&self.buffer)?;
            ensure!(written == self.buffer.len(), "wrote {written} bytes of a block");
            self.read()?;
        }
        Ok(iterations)
    }
}

/// A pipe into which another process writes.
struct Arrive {
    writer: sys::WriterPeer,
    buffer: Aligned,
}

impl Arrive {
    /// Reads `bytes`, at most a block at a time.
    #[inline]
    fn read(&mut self, bytes: u64) -> Result<()> {
        let mut rest = bytes;
        while rest > 0 {
            let most = rest.min(self.buffer.len() as u64) as usize;
            let read = self.writer.read(&mut self.buffer[..most])?;
            ensure!(read > 0, "the writing process is gone");
            rest -= read as u64;
        }
        Ok(())
    }
}

impl Workload for Arrive {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        let size = self.buffer.len() as u64;
        self.read(size * IN_STEP_BLOCKS.max(IN_STEP_BYTES.div_ceil(size)))?;
        watch.skip();
        self.read(size * iterations)?;
        Ok(iterations)
    }

    fn iterations(&self) -> std::ops::RangeInclusive<u64> {
        1..=u64::MAX / MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_back_as_it_was_and_one_too_large_is_refused() {
        let bytes = incompressible(512);
        let mut own = Own::prepare(Aligned::of(&bytes)).unwrap();
        own.run(3, &mut Stopwatch::default()).unwrap();
        assert_eq!(*own.buffer, *bytes);
        let error = Own::prepare(Aligned::of(&[0; 2 << 20])).map(drop).unwrap_err();
        assert!(error.is::<CannotMeasure>() && error.to_string().contains("reader=other"));
    }
}
