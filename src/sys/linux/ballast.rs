//! Extra memory of a process that is forked (ballast), in small or huge pages.

use std::io;
use std::ptr::{null_mut, write_volatile};

use super::page_size;

/// Anonymous private memory. Unmapped when dropped.
pub struct Ballast {
    mapping: *mut libc::c_void,
    mapped: usize,
    /// The part that was asked for; it starts at the boundary of a huge page where huge pages are
    /// wanted.
    start: *mut u8,
    bytes: usize,
}

/// Bytes of a huge page; none where the system has no transparent ones.
pub fn huge_page_size() -> Option<usize> {
    let path = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
    std::fs::read_to_string(path).ok()?.trim().parse().ok().filter(|size| *size > 0)
}

impl Ballast {
    /// Maps `bytes` and asks for pages of `page` bytes, or for small ones only.
    pub fn map(bytes: usize, page: Option<usize>) -> io::Result<Ballast> {
        let mapped = (bytes + page.unwrap_or(0)).max(page_size());
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
        let mapping = unsafe { libc::mmap(null_mut(), mapped, access, flags, -1, 0) };
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let advice = if page.is_some() { libc::MADV_HUGEPAGE } else { libc::MADV_NOHUGEPAGE };
        // SAFETY: the range was mapped above. Refusal leaves small pages, which is checked where
        // huge ones are wanted.
        unsafe { libc::madvise(mapping, mapped, advice) };
        let start = (mapping as usize).next_multiple_of(page.unwrap_or(1));
        Ok(Ballast { mapping, mapped, start: start as *mut u8, bytes })
    }

    /// Writes to every page.
    pub fn write(&mut self) {
        for offset in (0..self.bytes).step_by(page_size()) {
            // SAFETY: the offset is inside the mapping, which is ours until the drop.
            unsafe { write_volatile(self.start.add(offset), 1) };
        }
    }

    /// How many of its bytes are in huge pages, by `/proc/self/smaps`.
    pub fn huge_bytes(&self) -> io::Result<u64> {
        Ok(huge_bytes_at(&std::fs::read_to_string("/proc/self/smaps")?, self.start as usize))
    }
}

fn huge_bytes_at(smaps: &str, address: usize) -> u64 {
    let starts_below = |line: &str| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let bound = |text| usize::from_str_radix(text, 16).ok();
        Some((bound(start)?..bound(end)?).contains(&address))
    };
    let mut inside = false;
    for line in smaps.lines() {
        inside = starts_below(line).unwrap_or(inside);
        if let Some(value) = line.strip_prefix("AnonHugePages:").filter(|_| inside) {
            let kib = value.trim().strip_suffix(" kB").and_then(|text| text.parse::<u64>().ok());
            return kib.unwrap_or(0) * 1024;
        }
    }
    0
}

impl Drop for Ballast {
    fn drop(&mut self) {
        // SAFETY: exactly the range mapped in `map`, to which no reference is ever given out.
        unsafe { libc::munmap(self.mapping, self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_are_counted_where_they_are() {
        let smaps = "1000-2000 rw-p 00000000 00:00 0 \nAnonHugePages:   8 kB\n\
                     2000-9000 rw-p 00000000 00:00 0 [x]\nRss: 3 kB\nAnonHugePages:  2048 kB\n";
        assert_eq!(huge_bytes_at(smaps, 0x1fff), 8 << 10);
        assert_eq!(huge_bytes_at(smaps, 0x2000), 2 << 20);
        assert_eq!(huge_bytes_at(smaps, 0x9000), 0);
    }

    #[test]
    fn small_pages_are_asked_for_and_none_is_huge() {
        let mut ballast = Ballast::map(4 << 20, None).unwrap();
        ballast.write();
        assert_eq!(ballast.huge_bytes().unwrap(), 0);
        Ballast::map(0, None).unwrap().write();
    }
}
