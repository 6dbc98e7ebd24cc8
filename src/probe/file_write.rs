//! Writes a new file from start to end and makes it durable.

use std::fs::File;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::file_blocks::{self as blocks, Extent, Source};
use super::file_durable::Durable;
use super::{Param, Probe, ProbeInfo, Setup};
use crate::measure::{Stopwatch, Workload};
use crate::model::{Extras, Phase};
use crate::sys::{self, Access};

pub struct FileWrite;

static INFO: ProbeInfo = ProbeInfo {
    id: "file.write",
    summary: "write a new file block by block, then have it durable",
    timed: "Two phases over a file of `total` bytes. `write`: open with O_CREAT|O_EXCL, one write \
            call a block, close; at its end, before the close, mode=fdatasync and mode=fsync make \
            that call once; mode=direct opens with O_DIRECT. `settle`: from the close until the \
            file is durable, by opening it again and fsync: what the write left for later.",
    excluded: "Removing the file, and having that on disk. The data does not compress \
               (`data=random`: each block begins a page further in a ring of 1 MiB, so it comes \
               from memory as a program's would; dd repeats one block from the first cache); \
               `data=zero` repeats one block of zeros as dd does from /dev/zero, without reading \
               that device; `data=text` repeats one line: `A` throughout, then CR LF. \
               `by=stdio` writes through the C library: fopen, one fwrite a block, fclose, with \
               the buffer that the library takes by itself (musl on Linux: 1 KiB; msvcrt on \
               Windows: 4 KiB), for mode=buffered only. `claimed_bytes` counts what was said \
               to be durable, `device_bytes` what the device under the folder, whoever asked, \
               wrote in that time \
               (`durable_ns`): for fdatasync and fsync until the write's end, otherwise until \
               the settle's.",
    unit: "block",
    source: "\"On the performance of virtualised applications, writing and reading files\" \
             (2012), which never flushes; \"A rough comparison of the performance of WSL and \
             guest and native Ubuntu\" (2017) and Shioda, \"A look at the performance of WSL 2\" \
             (2020): dd, with oflag=direct and conv=fdatasync",
    phases: &[Phase::timed("write"), Phase::timed("settle")],
    params: &[
        Param::bytes("size", blocks::BLOCK),
        Param::bytes("total", blocks::TOTAL),
        Param::one_of("mode", &["buffered", "direct", "fdatasync", "fsync"]),
        Param::one_of("data", blocks::DATA),
        Param::one_of("by", blocks::BY).silent("call"),
    ],
    cases: &[
        "size=1MiB total=16MiB mode=buffered data=random",
        "size=4KiB total=16MiB mode=buffered data=random",
        "size=1MiB total=16MiB mode=direct data=random",
        "size=1MiB total=16MiB mode=fdatasync data=random",
        "size=1MiB total=16MiB mode=fsync data=random",
    ],
    on_files: true,
};

/// The call that makes the file durable before it is closed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    Nothing,
    Data,
    All,
}

struct Write {
    folder: PathBuf,
    path: sys::FilePath,
    source: Source,
    extent: Extent,
    access: Access,
    flush: Flush,
    by_stdio: bool,
    durable: Durable,
    notes: Vec<String>,
}

impl Probe for FileWrite {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let extent = Extent::of(setup)?;
        let (access, flush) = match setup.param("mode")? {
            "buffered" => (Access::Buffered, Flush::Nothing),
            "direct" => (Access::Direct, Flush::Nothing),
            "fdatasync" => (Access::Buffered, Flush::Data),
            "fsync" => (Access::Buffered, Flush::All),
            other => bail!("`file.write` has no mode `{other}`"),
        };
        let mut notes = Vec::new();
        if access == Access::Direct && !blocks::try_direct(setup, extent.block)? {
            notes.push(blocks::COPIED.into());
        }
        let by_stdio = setup.option("by", "call") == "stdio";
        if by_stdio && (access, flush) != (Access::Buffered, Flush::Nothing) {
            return blocks::cannot(
                "the C library (`by=stdio`) has no calls for direct access and for durable data; \
                 give `mode=buffered`"
                    .into(),
            );
        }
        let folder = setup.scratch.folder()?;
        let source = Source::of(setup.param("data")?, extent.block);
        let write = Write {
            path: sys::FilePath::new(&folder.join("file"))?,
            source,
            extent,
            access,
            flush,
            by_stdio,
            durable: Durable::under(folder)?,
            notes,
            folder: folder.to_owned(),
        };
        write.have_folder_on_disk();
        Ok(Box::new(write))
    }
}

impl Write {
    #[inline]
    fn write(&mut self, iterations: u64) -> Result<()> {
        let file = sys::WriteFile::create_as(&self.path, self.access)?;
        for done in 0..iterations {
            let mut rest = self.source.next();
            // A full filesystem takes a part of the block; the next write says that it is full.
            while !rest.is_empty() {
                let taken = file.write(rest).with_context(|| format!("writing block {done}"))?;
                ensure!(taken > 0, "nothing of block {done} was taken");
                rest = &rest[taken..];
            }
        }
        match self.flush {
            Flush::Nothing => {}
            Flush::Data => file.sync_data().context("fdatasync")?,
            Flush::All => file.sync_all().context("fsync")?,
        }
        Ok(file.close()?)
    }

    #[inline]
    fn write_by_stdio(&mut self, iterations: u64) -> Result<()> {
        let mut file = sys::StdioFile::create(&self.path)?;
        for done in 0..iterations {
            file.write(self.source.next()).with_context(|| format!("writing block {done}"))?;
        }
        file.close().context("closing the written file")
    }

    #[inline]
    fn settle(&mut self) -> Result<()> {
        let file = sys::WriteFile::open_as(&self.path, Access::Buffered)?;
        file.sync_all().context("fsync of the written file")?;
        Ok(file.close()?)
    }

    /// Makes the folder's own changes durable, so that the next sample does not have to write them.
    /// Filesystems that have no such call for folders have nothing to write either.
    fn have_folder_on_disk(&self) {
        let _ = File::open(&self.folder).and_then(|folder| folder.sync_all());
    }
}

impl Workload for Write {
    fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
        let bytes = iterations * self.extent.block as u64;
        // Without a flush, nothing was called durable yet, whether it went past the page cache or
        // not.
        let claims_at_once = self.flush != Flush::Nothing;
        self.durable.begin()?;
        watch.skip();
        match self.by_stdio {
            true => self.write_by_stdio(iterations)?,
            false => self.write(iterations)?,
        }
        watch.lap(0);
        if claims_at_once {
            self.durable.end(bytes)?;
            watch.skip();
        }
        self.settle()?;
        watch.lap(1);
        if !claims_at_once {
            self.durable.end(bytes)?;
            watch.skip();
        }
        Ok(iterations)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.path.unlink()?;
        self.have_folder_on_disk();
        Ok(())
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.extent.blocks()..=self.extent.blocks()
    }

    fn extras(&mut self) -> Result<Extras> {
        let mut extras = Extras { notes: self.notes.clone(), ..Extras::default() };
        self.durable.report(&mut extras);
        Ok(extras)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_claimed_is_what_the_device_wrote() {
        for mode in ["buffered", "direct", "fdatasync", "fsync"] {
            let params = format!("size=4KiB total=256KiB mode={mode} data=random");
            let block = match blocks::measure(&FileWrite, &params) {
                Err(error) if error.is::<super::super::CannotMeasure>() => continue,
                other => other.unwrap(),
            };
            assert_eq!(block.iterations, 64);
            let count = |name: &str| block.extras.counters.get(name).copied();
            // The discarded sample is made durable like the others.
            assert_eq!(count("claimed_bytes"), Some(3 * (256 << 10)), "{mode}");
            assert!(count("durable_ns").unwrap() > 0);
            match count("device_bytes") {
                Some(bytes) => assert!(bytes >= 3 * (256 << 10), "{mode}: {bytes}"),
                None => assert!(!block.extras.notes.is_empty(), "it says why"),
            }
        }
    }

    #[test]
    fn the_c_library_writes_the_same() {
        let of = |params| blocks::measure(&FileWrite, params);
        let text = "size=4KiB total=256KiB mode=buffered data=text by=stdio";
        assert_eq!(of(text).unwrap().iterations, 64);
        let error = of("size=4KiB total=256KiB mode=direct data=text by=stdio").unwrap_err();
        assert!(error.is::<super::super::CannotMeasure>());
    }

    #[test]
    fn a_part_of_a_block_is_no_block() {
        let params = "size=4KiB total=5KiB mode=buffered data=zero";
        let error = blocks::measure(&FileWrite, params).unwrap_err();
        assert!(error.is::<super::super::CannotMeasure>());
        assert_eq!(error.to_string(), "`total=5KiB` is not a multiple of `size=4KiB`");
    }
}
