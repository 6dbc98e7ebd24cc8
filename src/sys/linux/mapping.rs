//! Files mapped into memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{null_mut, read_volatile};

use super::check;

/// A whole file mapped for reading and shared. Unmapped by [`MappedFile::unmap`] or, unchecked,
/// when dropped.
pub struct MappedFile {
    start: *const u8,
    bytes: usize,
}

/// Error numbers of the kernel for a filesystem without mappings, or without this kind.
const NOT_MAPPABLE: [i32; 5] =
    [libc::ENODEV, libc::ENOEXEC, libc::ENOSYS, libc::EOPNOTSUPP, libc::EINVAL];

impl MappedFile {
    /// Maps all of the file, which must not be empty. `Unsupported` when its filesystem cannot be
    /// mapped.
    pub fn map(file: &File) -> io::Result<MappedFile> {
        let bytes = file.metadata()?.len() as usize;
        if bytes == 0 {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let fd = file.as_raw_fd();
        // SAFETY: a new read-only mapping at a place the kernel chooses touches nothing of ours.
        let start =
            unsafe { libc::mmap(null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                Some(code) if NOT_MAPPABLE.contains(&code) => {
                    Err(io::Error::new(io::ErrorKind::Unsupported, error))
                }
                _ => Err(error),
            };
        }
        Ok(MappedFile { start: start.cast(), bytes })
    }

    /// Reads one byte at each of the offsets; returns how many.
    #[inline]
    pub fn touch(&self, offsets: &[usize]) -> u64 {
        for offset in offsets {
            assert!(*offset < self.bytes, "beyond the mapping");
            // SAFETY: the byte is inside the mapping, which is ours until the drop.
            unsafe { read_volatile(self.start.add(*offset)) };
        }
        offsets.len() as u64
    }

    #[inline]
    pub fn unmap(self) -> io::Result<()> {
        let (start, bytes) = (self.start, self.bytes);
        std::mem::forget(self);
        // SAFETY: exactly the range mapped in `map`, to which no reference is ever given out.
        check(unsafe { libc::munmap(start.cast_mut().cast(), bytes) }.into()).map(drop)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: as in `unmap`, which forgets the value.
        unsafe { libc::munmap(self.start.cast_mut().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::{page_size, usage};

    #[test]
    fn touching_a_fresh_mapping_faults() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let empty = MappedFile::map(file.as_file()).map(drop).unwrap_err();
        assert_eq!(empty.kind(), io::ErrorKind::InvalidInput);
        io::Write::write_all(&mut file, &vec![1; 4 * page_size()]).unwrap();
        let offsets: Vec<usize> = (0..4).map(|page| page * page_size()).collect();
        let mapping = MappedFile::map(file.as_file()).unwrap();
        let before = usage();
        assert_eq!(mapping.touch(&offsets), 4);
        assert!(usage().since(&before).minor_faults > 0);
        mapping.unmap().unwrap();
    }

    #[test]
    fn what_cannot_be_mapped_is_told_from_failure() {
        // sysfs has no mappings.
        let Ok(file) = File::open("/sys/kernel/mm/transparent_hugepage/enabled") else { return };
        let error = MappedFile::map(&file).map(drop).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
    }
}
