//! Which pages of a file are in the page cache, as far as the system tells, and their eviction.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use super::{check, map_residency, page_size};

/// A way to ask which pages of a file are in the cache. Before one is believed, it has to tell a
/// file that was just read from one that was just evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheView {
    /// `cachestat`, since Linux 6.5: counts, in microseconds.
    Cachestat,
    /// `mincore` on a mapping of the file, which some filesystems do not support.
    Mincore,
    /// Reads of some pages that fail instead of waiting (`RWF_NOWAIT`).
    Nowait,
}

/// The number of `cachestat`, the same on every architecture; C libraries do not have it yet.
const SYS_CACHESTAT: libc::c_long = 451;
/// Pages that [`CacheView::Nowait`] reads.
const LOOKED_AT: u64 = 16;

impl CacheView {
    /// The cheapest and most exact first.
    pub const ALL: [CacheView; 3] = [CacheView::Cachestat, CacheView::Mincore, CacheView::Nowait];

    pub fn name(self) -> &'static str {
        match self {
            CacheView::Cachestat => "cachestat",
            CacheView::Mincore => "mincore",
            CacheView::Nowait => "preadv2 with RWF_NOWAIT",
        }
    }

    /// Whether asking may bring pages into the cache: then evict again afterwards.
    pub fn brings_in(self) -> bool {
        self == CacheView::Nowait
    }

    /// Pages in the cache, and pages that were looked at.
    pub fn resident(self, file: &File) -> io::Result<(u64, u64)> {
        let pages = file.metadata()?.len().div_ceil(page_size() as u64);
        match self {
            CacheView::Cachestat => cachestat(file).map(|resident| (resident.min(pages), pages)),
            CacheView::Mincore => map_residency(file).map(|(in_it, of)| (in_it as u64, of as u64)),
            CacheView::Nowait => nowait(file, pages),
        }
    }
}

/// Pages of the whole file that are in the cache.
fn cachestat(file: &File) -> io::Result<u64> {
    // Offset and length; a length of zero means up to the end.
    let range = [0u64; 2];
    // Pages in the cache, dirty, under write-back, evicted, recently evicted.
    let mut counts = [0u64; 5];
    let (range, counted) = (range.as_ptr(), counts.as_mut_ptr());
    // SAFETY: both arrays have the size and layout of the structures that the call expects.
    check(unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), range, counted, 0) })?;
    Ok(counts[0])
}

/// Asks for one byte of pages spread over the file.
fn nowait(file: &File, pages: u64) -> io::Result<(u64, u64)> {
    // Otherwise the read would start read-ahead.
    advise(file, libc::POSIX_FADV_RANDOM)?;
    let looked_at = pages.min(LOOKED_AT);
    let mut resident = 0;
    for part in 0..looked_at {
        // At different places within their parts, because read-ahead and huge pages come in powers
        // of two.
        let page = (part * pages + part * part % pages) / looked_at;
        resident += u64::from(is_in_cache(file, page * page_size() as u64)?);
    }
    advise(file, libc::POSIX_FADV_NORMAL)?;
    Ok((resident, looked_at))
}

fn is_in_cache(file: &File, offset: u64) -> io::Result<bool> {
    const RWF_NOWAIT: libc::c_int = 8;
    let mut byte = 0u8;
    let part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let (low, high) = (offset as libc::c_long, 0 as libc::c_long);
    let fd = file.as_raw_fd();
    // SAFETY: the vector has one part, of one byte that lives through the call.
    let read = check(unsafe {
        libc::syscall(libc::SYS_preadv2, fd, &raw const part, 1, low, high, RWF_NOWAIT)
    });
    match read {
        Ok(bytes) => Ok(bytes == 1),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the file to its device and asks the system to forget it.
pub fn evict(file: &File) -> io::Result<()> {
    file.sync_data()?;
    advise(file, libc::POSIX_FADV_DONTNEED)
}

fn advise(file: &File, advice: libc::c_int) -> io::Result<()> {
    // SAFETY: takes no pointer. The call answers with the error itself.
    match unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// The file through which the caches of the whole system are dropped.
pub const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// An error unless this process may drop the caches of the whole system. Does not drop them.
pub fn may_drop_caches() -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(DROP_CACHES).map(drop)
}

/// Makes the system forget all clean pages, names and attributes of every file.
pub fn drop_caches() -> io::Result<()> {
    fs::write(DROP_CACHES, "3")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a filesystem that keeps its files in memory, nothing can be evicted.
    #[test]
    fn what_was_read_is_told_from_what_was_evicted() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, vec![1; 1 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let mut told = 0;
        for view in CacheView::ALL {
            fs::read(&path).unwrap();
            let hot = view.resident(&file);
            evict(&file).unwrap();
            let cold = view.resident(&file);
            let (Ok((hot, of)), Ok((cold, _))) = (hot, cold) else {
                println!("there is no {} here", view.name());
                continue;
            };
            println!("{}: {hot} and {cold} of {of}", view.name());
            told += usize::from(hot == of && cold == 0);
        }
        assert!(told >= 1 || crate::sys::volume(dir.path()).unwrap().in_memory.is_some());
    }
}
