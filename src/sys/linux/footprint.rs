//! Reads memory figures from `/proc` without allocating: a reader that grows would measure itself.

use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use super::{check, page_size};

/// While the kernel's memory falls by more than this in this time, it has not settled. The number
/// of attempts is limited, because other processes may be giving back memory as well.
const SETTLED: u64 = 64 << 10;
const SETTLING: Duration = Duration::from_millis(20);
const SETTLING_STEPS: usize = 10;

/// Reads `NAME:   123 kB` lines of files in `/proc`.
pub struct ProcReader {
    path: [u8; 64],
    text: Vec<u8>,
    length: usize,
}

impl ProcReader {
    pub fn new() -> ProcReader {
        // A meminfo has 1.6 KiB; a status with hundreds of groups is longer. Written now, so that
        // the buffer's pages exist before anything is measured.
        ProcReader { path: [1; 64], text: vec![1; 16 << 10], length: 0 }
    }

    /// Loads a file of `/proc`, as far as the buffer reaches: `meminfo`, or `status` of a process.
    pub fn load(&mut self, owner: Option<libc::pid_t>, name: &str) -> io::Result<()> {
        let file = self.open(owner, name)?;
        self.length = 0;
        while self.fill(&file)? > 0 {}
        Ok(())
    }

    fn open(&mut self, owner: Option<libc::pid_t>, name: &str) -> io::Result<OwnedFd> {
        let mut path = &mut self.path[..];
        match owner {
            Some(pid) => write!(path, "/proc/{pid}/{name}\0")?,
            None => write!(path, "/proc/{name}\0")?,
        }
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: the path was just written with its zero.
        let fd = check(unsafe { libc::open(self.path.as_ptr().cast(), flags) }.into())?;
        // SAFETY: the descriptor is new and owned by nobody else.
        Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
    }

    /// Reads more, behind what was read before; returns how many bytes came.
    fn fill(&mut self, file: &OwnedFd) -> io::Result<usize> {
        let rest = &mut self.text[self.length..];
        let fd = file.as_raw_fd();
        // SAFETY: the buffer is as long as it says.
        let bytes = check(unsafe { libc::read(fd, rest.as_mut_ptr().cast(), rest.len()) } as _)?;
        self.length += bytes as usize;
        Ok(bytes as usize)
    }

    /// Bytes of free pages in the lists of single CPUs. Linux counts them neither as free nor as
    /// available, and since 6.7 up to an eighth of all memory can be in them. Without them, memory
    /// that is given back would not show, nor memory that is taken next.
    fn free_in_lists(&mut self) -> io::Result<u64> {
        // The zoneinfo of a large machine is longer than the buffer, so it is read in pieces.
        let file = self.open(None, "zoneinfo")?;
        self.length = 0;
        let mut pages = 0;
        while self.fill(&file)? > 0 {
            let text = &self.text[..self.length];
            let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else { break };
            pages += text[..end].split(|byte| *byte == b'\n').filter_map(list_length).sum::<u64>();
            self.text.copy_within(end + 1..self.length, 0);
            self.length -= end + 1;
        }
        Ok(pages * page_size() as u64)
    }

    /// The bytes of the line of that name; none when there is no such line.
    pub fn bytes(&self, name: &str) -> Option<u64> {
        let mut lines = self.text[..self.length].split(|byte| *byte == b'\n');
        let value =
            lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?;
        leading_number(value).map(|kib| kib * 1024)
    }

    /// The sum of the lines of those names; none when the first is missing. Kernels before 4.14 and
    /// 5.2 have fewer of them.
    fn sum(&self, names: &[&str]) -> Option<u64> {
        let rest: u64 = names[1..].iter().filter_map(|name| self.bytes(name)).sum();
        self.bytes(names[0]).map(|first| first + rest)
    }

    /// Proportional set size and page tables of a process.
    pub fn process(&mut self, pid: libc::pid_t) -> (Option<u64>, Option<u64>) {
        let mut read = |file: &str, name: &str| {
            self.load(Some(pid), file).ok()?;
            self.bytes(name)
        };
        (read("smaps_rollup", "Pss"), read("status", "VmPTE"))
    }

    /// Kernel stacks, slab that cannot be reclaimed and per-CPU memory of the whole system.
    fn kernel(&mut self) -> Option<u64> {
        self.load(None, "meminfo").ok()?;
        self.sum(&["KernelStack", "SUnreclaim", "Percpu"])
    }

    /// Figures of the whole system by `meminfo`: kernel, available and used. The kernel gives back
    /// stacks and page tables of ended processes some milliseconds later (RCU); this waits for
    /// that.
    pub fn system(&mut self) -> (Option<u64>, Option<u64>, Option<u64>) {
        let mut kernel = self.kernel();
        for _ in 0..SETTLING_STEPS {
            std::thread::sleep(SETTLING);
            let before = kernel;
            kernel = self.kernel();
            let fallen = before.zip(kernel).map_or(0, |(before, now)| before.saturating_sub(now));
            if fallen < SETTLED {
                break;
            }
        }
        let unused = self.sum(&["MemFree", "Buffers", "Cached", "SReclaimable"]);
        let used = self.bytes("MemTotal").zip(unused);
        let used = used.map(|(total, unused)| total.saturating_sub(unused));
        let available = self.bytes("MemAvailable");
        // Systems other than Linux have no such lists and no such file.
        let in_lists = self.free_in_lists().unwrap_or(0);
        (kernel, available.map(|bytes| bytes + in_lists), used)
    }
}

/// The number after blanks; none when there is none.
fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.trim_ascii_start().iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(None, |sum: Option<u64>, digit| {
        sum.unwrap_or(0).checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// Pages in one CPU's list, from a line of zoneinfo: `              count:    68427`.
fn list_length(line: &[u8]) -> Option<u64> {
    leading_number(line.trim_ascii_start().strip_prefix(b"count:")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_lines() {
        let mut reader = ProcReader::new();
        let text = b"KernelStack:    16 kB\nSUnreclaim:\t 4 kB\nPss: x kB\nPss_Dirty: 1 kB\n";
        reader.text[..text.len()].copy_from_slice(text);
        reader.length = text.len();
        assert_eq!(reader.bytes("KernelStack"), Some(16 << 10));
        assert_eq!(reader.bytes("Pss"), None, "no number");
        assert_eq!(reader.sum(&["KernelStack", "SUnreclaim", "Percpu"]), Some(20 << 10));
        assert_eq!(reader.sum(&["Percpu", "SUnreclaim"]), None);
    }

    #[test]
    fn lists_of_free_pages_are_found() {
        assert_eq!(list_length(b"              count:    68427"), Some(68427));
        assert_eq!(list_length(b"              high_max: 48307"), None);
    }

    #[test]
    fn this_process_and_system_are_seen() {
        let mut reader = ProcReader::new();
        let pid = std::process::id() as libc::pid_t;
        let seen = (reader.process(pid), reader.system());
        assert!(seen.0.1.unwrap() >= 4096);
        assert!(seen.1.2.unwrap() > 1 << 20);
        assert!(reader.free_in_lists().is_ok());
        assert!(reader.load(Some(pid), "no_such_file").is_err());
    }
}
