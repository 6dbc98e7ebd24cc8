//! What probes of whole files share: blocks in memory, files made of them, and checks of whether
//! the target directory has room for them.

use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::aligned::Aligned;
use super::{CannotMeasure, Setup, held, incompressible};
use crate::sys::{self, Access};
use crate::units;

/// Sizes of a block that a user may ask for.
pub const BLOCK: std::ops::RangeInclusive<u64> = 512..=64 << 20;
/// Sizes of a file that a user may ask for.
pub const TOTAL: std::ops::RangeInclusive<u64> = 512..=64 << 30;

/// Kinds of data, for the parameter `data`.
pub const DATA: &[&str] = &["random", "zero", "text"];
/// Who calls the system, for the parameter `by`: the probe, or the C library for the probe.
pub const BY: &[&str] = &["call", "stdio"];

/// Blocks to write, one after the other.
pub struct Source {
    memory: Aligned,
    block: usize,
    /// Offset of the next block in `ring`.
    at: usize,
    ring: usize,
    step: usize,
}

/// Bytes after which blocks repeat: more than any filesystem searches for repetitions when it
/// compresses.
const RING: usize = 1 << 20;

impl Source {
    /// Blocks that do not compress, each unlike the one before.
    pub fn incompressible(block: usize) -> Source {
        let mut memory = Aligned::new(block + RING);
        let bytes = memory.len();
        memory.copy_from_slice(&incompressible(bytes));
        Source { memory, block, at: 0, ring: RING, step: sys::page_size() }
    }

    /// The same block of zeros every time.
    pub fn zeros(block: usize) -> Source {
        Source { memory: Aligned::new(block), block, at: 0, ring: 1, step: 1 }
    }

    /// The same line every time: a block of `A` that ends in a carriage return and a line feed.
    fn text(block: usize) -> Source {
        let mut source = Source::zeros(block);
        source.memory.fill(b'A');
        source.memory[block - 2..].copy_from_slice(b"\r\n");
        source
    }

    /// Blocks of the kind that the parameter `data` names; [`DATA`] has them.
    pub fn of(data: &str, block: usize) -> Source {
        match data {
            "zero" => Source::zeros(block),
            "text" => Source::text(block),
            _ => Source::incompressible(block),
        }
    }

    #[inline]
    pub fn next(&mut self) -> &[u8] {
        let at = self.at;
        self.at += self.step;
        if self.at >= self.ring {
            self.at = 0;
        }
        &self.memory[at..at + self.block]
    }
}

/// The block size and the length of a file.
#[derive(Clone, Copy)]
pub struct Extent {
    pub block: usize,
    pub total: u64,
}

impl Extent {
    /// Reads the parameters `size` and `total`, and checks that the target directory has room.
    pub fn of(setup: &Setup<'_>) -> Result<Extent> {
        let (block, total) = (setup.bytes("size")?, setup.bytes("total")?);
        if total % block != 0 {
            let (size, total) = (units::bytes_exact(block), units::bytes_exact(total));
            return cannot(format!("`total={total}` is not a multiple of `size={size}`"));
        }
        Extent::with_room(setup, block, total, "total")
    }

    /// A file of these bytes, after a check that the target directory has room. `param` is the
    /// parameter that makes the file smaller, for the message.
    pub fn with_room(setup: &Setup<'_>, block: u64, total: u64, param: &str) -> Result<Extent> {
        has_room(setup, total, param)?;
        Ok(Extent { block: block as usize, total })
    }

    pub fn blocks(&self) -> u64 {
        self.total / self.block as u64
    }

    /// Makes the file out of data that does not compress, and makes it durable.
    pub fn make_file(&self, path: &Path) -> Result<()> {
        let piece = self.total.min(1 << 20) as usize;
        self.make_file_of(path, Source::incompressible(piece))
    }

    /// As [`Extent::make_file`], out of the blocks of `source`.
    pub fn make_file_of(&self, path: &Path, mut source: Source) -> Result<()> {
        let mut write = || -> io::Result<()> {
            let mut file = std::fs::File::create_new(path)?;
            let mut left = self.total as usize;
            while left > 0 {
                let now = left.min(source.block);
                file.write_all(&source.next()[..now])?;
                left -= now;
            }
            file.sync_all()
        };
        write().with_context(|| format!("creating `{}`", path.display()))
    }
}

/// An error that makes the row skipped, not failed.
pub fn cannot<T>(why: String) -> Result<T> {
    Err(CannotMeasure(why).into())
}

/// The target directory: the folder that holds the block's own folder.
pub fn target(setup: &Setup<'_>) -> Result<PathBuf> {
    let folder = setup.scratch.folder()?;
    Ok(folder.parent().unwrap_or(folder).to_owned())
}

/// An error where the bytes would not fit into the target directory, or would leave others without
/// room. `param` is the parameter that lowers them, for the message.
pub fn has_room(setup: &Setup<'_>, total: u64, param: &str) -> Result<()> {
    room_in(&target(setup)?, total, param)
}

fn room_in(target: &Path, total: u64, param: &str) -> Result<()> {
    let folder = target.display();
    let bytes = units::bytes_exact(total);
    if let Some(limit) = sys::file_size_limit().filter(|limit| *limit < total) {
        let limit = units::bytes(limit as f64);
        return cannot(format!(
            "a file may have {limit} here (`ulimit -f`) and this needs {bytes}; raise the limit, \
             or give a smaller `{param}=`"
        ));
    }
    let volume = sys::volume(target).with_context(|| format!("asking for room in `{folder}`"))?;
    let reserve = (volume.size / 20).min(1 << 30);
    // Some network filesystems do not tell their size.
    if volume.size > 0 && volume.free < total + reserve {
        let (free, reserve) = (units::bytes(volume.free as f64), units::bytes(reserve as f64));
        return cannot(format!(
            "`{folder}` has {free} free, and this needs {bytes} and leaves {reserve} to others; \
             make room, or give a smaller `{param}=`"
        ));
    }
    // In memory the filesystem's own limit does not promise that memory is free.
    if volume.in_memory.is_some() {
        held::fits_in_memory(total, &format!("give a smaller `{param}=`"))?;
    }
    Ok(())
}

/// Checks that blocks of this size can be written past the page cache. Returns whether they are not
/// copied on the way: a filesystem that takes them from any address does copy them.
pub fn try_direct(setup: &Setup<'_>, block: usize) -> Result<bool> {
    let folder = target(setup)?;
    let path = setup.scratch.folder()?.join("direct");
    let name = sys::FilePath::new(&path)?;
    let refused = |error: &io::Error| {
        matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported)
    };
    let file = match sys::WriteFile::create_as(&name, Access::Direct) {
        Err(error) if refused(&error) => {
            // The file may have been created all the same.
            let _ = name.unlink();
            return cannot(format!(
                "the filesystem of `{}` refuses direct access (O_DIRECT); name a directory on \
                 another one by `--dir`, or leave `direct` out",
                folder.display()
            ));
        }
        file => file.with_context(|| format!("creating `{}`", path.display()))?,
    };
    let memory = Aligned::new(2 * block);
    let odd = file.write_at(&memory[1..=block], 0).is_err();
    let written = file.write_at(&memory[..block], 0);
    file.close()?;
    name.unlink()?;
    match written {
        Err(error) if refused(&error) => cannot(format!(
            "the filesystem of `{}` takes no `size={}` directly (O_DIRECT); give a multiple of \
             its own block size, such as `size=4KiB`",
            folder.display(),
            units::bytes_exact(block as u64)
        )),
        Err(error) => Err(error).with_context(|| format!("writing `{}`", path.display())),
        Ok(_) => Ok(odd),
    }
}

/// The note of a row for which [`try_direct`] found a copy on the way.
pub const COPIED: &str = "direct access (O_DIRECT) is taken at any address here, so something on \
                          the way copies the data and may keep it";

/// Measures two samples of a probe's smallest size, in a folder on a disk if there is one, and
/// checks that nothing is left in it.
#[cfg(test)]
pub fn measure(probe: &dyn super::Probe, params: &str) -> Result<crate::model::SampleSet> {
    use crate::measure::{BlockSettings, run_block};
    let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
    let scratch = super::Scratch::at(here.path().join("block"));
    let params = crate::model::Params::new(params);
    let setup =
        Setup { params: &params, scratch: &scratch, cpu: None, other_cpu: None, allowed_cpus: &[] };
    let mut workload = probe.prepare(&setup)?;
    let iterations = *workload.iterations().start();
    let settings =
        BlockSettings { iterations, samples: 2, ..BlockSettings::of(probe.info().phases) };
    let block = run_block(workload.as_mut(), &settings, None)?;
    drop(workload);
    drop(scratch);
    assert_eq!(std::fs::read_dir(here.path())?.count(), 0);
    Ok(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_start_at_pages_and_differ() {
        let mut source = Source::incompressible(4096);
        let first = source.next().to_vec();
        assert!(source.next().as_ptr().cast::<u8>().align_offset(sys::page_size()) == 0);
        assert_ne!(first, source.next());
        for _ in 3..RING / sys::page_size() {
            assert_ne!(first, source.next());
        }
        assert_eq!(first, source.next(), "the ring is closed");
        let mut zeros = Source::zeros(512);
        assert_eq!(zeros.next().as_ptr(), zeros.next().as_ptr());
        assert_eq!(zeros.next(), [0; 512]);
        let mut text = Source::of("text", 512);
        assert!(text.next().ends_with(b"AA\r\n") && text.next().starts_with(b"AA"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        let dir = tempfile::tempdir().unwrap();
        room_in(dir.path(), 1 << 20, "total").unwrap();
        let error = room_in(dir.path(), 1 << 60, "total").unwrap_err();
        assert!(error.is::<CannotMeasure>());
        for words in ["free, and this needs 1073741824GiB", "`total=`"] {
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
