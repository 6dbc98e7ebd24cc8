//! Which pages of its memory a process has touched, from `/proc/PID/maps` and `pagemap`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use super::super::shared::trace::PageCounts;

/// Bits of an entry of `pagemap` (Documentation/admin-guide/mm/pagemap.rst).
const PRESENT: u64 = 1 << 63;
const OF_FILE: u64 = 1 << 61;
const PAGE: u64 = 4096;
/// Pages that the kernel maps around one that was touched, at most.
const AROUND: u64 = 16;
/// Larger mappings are not looked through: 4 GiB.
const MOST_PAGES: u64 = 1 << 20;

/// What a process has touched so far; zeroes where the system does not tell.
pub fn page_counts(pid: u32) -> PageCounts {
    let mut counts = PageCounts { faults: faults(pid), ..PageCounts::default() };
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let Ok(pagemap) = File::open(format!("/proc/{pid}/pagemap")) else { return counts };
    for line in maps.lines() {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let Some((Some(from), Some(to))) = range.map(|(from, to)| (number(from), number(to)))
        else {
            continue;
        };
        if from >= 1 << 47 {
            continue;
        }
        count(&pagemap, from / PAGE, to / PAGE, &mut counts);
    }
    counts
}

fn count(pagemap: &File, from: u64, to: u64, counts: &mut PageCounts) {
    let pages = (to - from).min(MOST_PAGES);
    let mut entries = vec![0; pages as usize * 8];
    let read = pagemap.read_at(&mut entries, from * 8).unwrap_or(0);
    let mut last = u64::MAX;
    for (at, entry) in entries[..read].chunks_exact(8).enumerate() {
        let entry = entry.try_into().map_or(0, u64::from_le_bytes);
        if entry & PRESENT == 0 {
            continue;
        }
        if entry & OF_FILE == 0 {
            counts.present += 1;
            continue;
        }
        let stretch = (from + at as u64) / AROUND;
        counts.file_stretches += u64::from(stretch != last);
        last = stretch;
    }
}

/// Minor faults of the whole process, field 10 of `/proc/PID/stat`.
fn faults(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    after_name.split_whitespace().nth(7).and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_pages_are_counted() {
        let own = std::process::id();
        let before = page_counts(own);
        let memory = vec![1_u8; 400 * PAGE as usize];
        let after = page_counts(own);
        assert!(memory.iter().all(|byte| *byte == 1));
        assert!(after.faults >= before.faults + 100, "{before:?} {after:?}");
        assert!(after.present >= before.present + 300, "{before:?} {after:?}");
        assert!(after.file_stretches > 0);
    }
}
