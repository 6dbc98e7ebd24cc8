//! Copying a file through a buffer.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::aligned::Aligned;
use super::file_blocks::has_room;
use super::{Param, Probe, ProbeInfo, Setup, WHOLE, incompressible};
use crate::measure::{Stopwatch, Workload};
use crate::sys;

pub struct FileCopy;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.copy",
    summary: "copy a cached file to another, buffer by buffer",
    timed: "read of one buffer from one open file and write of it to another, each from where \
             the last call ended. At the end of the file, one read that returns nothing and an \
             lseek of both files to the start. The file has `buffer` times `blocks` bytes.",
    excluded: "Creating both files and a first copy: the target exists already and is \
             overwritten in memory. Nothing is flushed. fstime runs for 30 s, in which the \
             system also writes to the disk; a block here ends before that.",
    unit: "buffer",
    source: "UnixBench fstime -c: fsbuffer (256 bytes, 500 KiB), fstime (1 KiB, 2000 KiB), fsdisk \
             (4 KiB, 8000 KiB); its KBps are buffer bytes / 1024 / seconds",
    phases: WHOLE,
    params: &[Param::bytes("buffer", 1..=64 << 10), Param::count("blocks", 1..=4096)],
    cases: &["buffer=256B blocks=2000", "buffer=1KiB blocks=2000", "buffer=4KiB blocks=2000"],
    on_files: true,
};

struct Copy {
    from: sys::ReadFile,
    to: sys::WriteFile,
    buffer: Aligned,
}

impl Probe for FileCopy {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let (bytes, blocks) = (setup.bytes("buffer")? as usize, setup.count("blocks")?);
        has_room(setup, 2 * bytes as u64 * blocks, "blocks")?;
        let folder = setup.scratch.folder()?;
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::write(&from, incompressible(bytes * blocks as usize))
            .with_context(|| format!("creating `{}`", from.display()))?;
        let mut copy = Copy {
            from: sys::ReadFile::open(&sys::FilePath::new(&from)?)?,
            to: sys::WriteFile::create(&sys::FilePath::new(&to)?)
                .with_context(|| format!("creating `{}`", to.display()))?,
            buffer: Aligned::new(bytes),
        };
        for _ in 0..blocks {
            copy.next().with_context(|| format!("writing `{}`", to.display()))?;
        }
        Ok(Box::new(copy))
    }
}

impl Copy {
    #[inline]
    fn next(&mut self) -> Result<()> {
        let buffer = &mut *self.buffer;
        let mut read = self.from.read(buffer)?;
        if read == 0 {
            self.from.rewind()?;
            self.to.rewind()?;
            read = self.from.read(buffer)?;
        }
        ensure!(read == buffer.len(), "read {read} of {} bytes", buffer.len());
        let written = self.to.write(buffer)?;
        ensure!(written == read, "wrote {written} of {read} bytes");
        Ok(())
    }
}

impl Workload for Copy {
    fn run(&mut self, iterations: u64, _: &mut Stopwatch) -> Result<u64> {
        for _ in 0..iterations {
            self.next()?;
        }
        Ok(iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Params;
    use crate::probe::Scratch;

    #[test]
    fn the_copy_is_the_file_over_and_over() {
        let dir = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(dir.path().join("block"));
        let params = Params::new("buffer=300B blocks=5");
        let mut workload = FileCopy.prepare(&Setup::of(&params, &scratch)).unwrap();
        let read = |name: &str| fs::read(dir.path().join("block").join(name)).unwrap();
        let from = read("from");
        assert_eq!((from.len(), &read("to")), (1500, &from));
        // The content shows how far the copy got: in the third round, three blocks.
        fs::write(dir.path().join("block/to"), [0; 1500]).unwrap();
        assert_eq!(workload.run(5 + 3, &mut Stopwatch::default()).unwrap(), 8);
        assert_eq!(read("to"), from);
        fs::write(dir.path().join("block/to"), [0; 1500]).unwrap();
        workload.run(1, &mut Stopwatch::default()).unwrap();
        let to = read("to");
        assert!(to[..900] == [0; 900] && to[900..1200] == from[900..1200]);
        assert!(to[1200..] == [0; 300]);
    }
}
