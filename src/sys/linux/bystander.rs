//! A process that does a tiny operation at fixed due times and records how long each took.

use std::io;
use std::ptr::{null_mut, write_volatile};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::process::{Pid, fork_exiting, reap};
use super::process_tree::fork_tied;
use super::shared_memory::{Atomics, Shared, Word};
use super::{FilePath, ReadFile, check, getppid, now_ns, page_size, pin_to, raw};

/// What the bystander does at each due time.
pub enum Operation {
    /// Nothing beyond the wake-up from the timer.
    Wake,
    /// Forks a process that exits at once, and reaps it.
    Fork,
    /// Maps a page, writes to it, and unmaps it.
    Map,
    /// Opens and closes the file.
    Open(FilePath),
    /// Asks for a message of the desktop's window: Windows only.
    Peek,
}

/// Most due times of one watch.
pub const MOST_DUE: usize = 1 << 16;
/// Seconds after which a bystander that does not answer is given up.
const ANSWER_S: i64 = 60;
/// Seconds between checks of whether the parent is alive, for systems that do not signal its death.
const LOOK_S: i64 = 10;

/// Shared memory in which the bystander and this process exchange orders and results.
struct Board {
    /// Number of the watch that was ordered, and of the last one that ended.
    ordered: Word,
    ended: Word,
    /// 1 tells the bystander to exit.
    quit: AtomicU32,
    /// The watch, in ns of the clock: its first due time, the time between two due times, and its
    /// end. No operation that is due from the end on is begun.
    first: AtomicU64,
    period: AtomicU64,
    until: AtomicU64,
    /// Error number that stopped the watch before its end.
    errno: AtomicU32,
    done: AtomicU32,
    /// Response times: ns from the due time to the end of the operation.
    responses: [AtomicU64; MOST_DUE],
}

// SAFETY: atomic numbers only.
unsafe impl Atomics for Board {}

/// The bystander's process. It never allocates or prints, and dies with this process.
pub struct Bystander {
    board: Shared<Board>,
    pid: Pid,
}

impl Bystander {
    /// Starts it on `cpus`, at the priority of this process. It does nothing until it is asked.
    pub fn start(operation: &Operation, cpus: &[usize]) -> io::Result<Bystander> {
        if matches!(operation, Operation::Peek) {
            let text = "windows, of which messages could be asked for, exist on Windows only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let board = Shared::<Board>::new()?;
        board.ordered.reset(1);
        let pid = fork_tied(|parent| stand_by(&board, operation, cpus, parent))?;
        let bystander = Bystander { board, pid };
        bystander.wait()?;
        Ok(bystander)
    }

    /// Waits until it has finished the last order.
    fn wait(&self) -> io::Result<()> {
        let before = self.board.ordered.get() - 1;
        let mut seconds = 0;
        while !self.board.ended.wait_while(before, Some(1)) {
            seconds += 1;
            if self.pid.has_ended() {
                return Err(io::Error::other("the bystander was killed"));
            }
            if seconds >= ANSWER_S {
                let text = format!("the bystander did not end an operation within {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        match self.board.errno.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno as i32)),
        }
    }

    /// Starts a watch one period from now. Returns the first due time, in ns of the clock.
    pub fn begin(&mut self, period_ns: u64) -> u64 {
        let first = now_ns() + period_ns;
        let board = &self.board;
        for (number, value) in
            [(&board.first, first), (&board.period, period_ns), (&board.until, u64::MAX)]
        {
            number.store(value, Ordering::Release);
        }
        board.ordered.announce(board.ordered.get() + 1);
        first
    }

    /// Ends the watch at `until`, waits for the operations that were due before, and puts their
    /// response times into `responses`, in ns and in the order of the due times.
    pub fn finish(&mut self, until: u64, responses: &mut Vec<u64>) -> io::Result<()> {
        let board = &self.board;
        board.until.store(until, Ordering::Release);
        self.wait()?;
        let done = board.done.load(Ordering::Acquire) as usize;
        responses.clear();
        responses.extend(board.responses[..done].iter().map(|ns| ns.load(Ordering::Relaxed)));
        Ok(())
    }

    /// Stops the bystander's process while `body` runs: a stall of known length.
    #[cfg(test)]
    pub fn stopped_during(&mut self, body: impl FnOnce()) -> io::Result<()> {
        self.pid.stop()?;
        body();
        self.pid.go_on();
        Ok(())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.board.quit.store(1, Ordering::Release);
        self.board.until.store(0, Ordering::Release);
        self.board.ordered.announce(self.board.ordered.get() + 1);
        // Not waited for: the process may be stuck in an operation, and it holds nothing.
        self.pid.kill();
        let _ = reap(self.pid);
    }
}

/// The main loop of the bystander.
fn stand_by(board: &Board, operation: &Operation, cpus: &[usize], parent: i64) -> i32 {
    // Touches every page of the record before anything is timed.
    for response in &board.responses {
        response.store(0, Ordering::Relaxed);
    }
    let mut order = 1;
    let end = |order, done: usize, result: io::Result<()>| {
        let errno = result.err().and_then(|e| e.raw_os_error()).unwrap_or(0);
        board.done.store(done as u32, Ordering::Release);
        board.errno.store(errno as u32, Ordering::Release);
        board.ended.announce(order);
    };
    end(order, 0, pin_to(cpus));
    loop {
        while !board.ordered.wait_while(order, Some(LOOK_S)) {
            if getppid() != parent {
                return 1;
            }
        }
        if board.quit.load(Ordering::Acquire) == 1 {
            return 0;
        }
        order = board.ordered.get();
        let (done, result) = watch(board, operation);
        end(order, done, result);
    }
}

/// One watch: returns how many operations were done, and the error that ended it early. An
/// operation that is late delays those after it; they are done one after the other, and each is
/// timed from its own due time.
fn watch(board: &Board, operation: &Operation) -> (usize, io::Result<()>) {
    let period = board.period.load(Ordering::Acquire);
    let mut due = board.first.load(Ordering::Acquire);
    for (done, response) in board.responses.iter().enumerate() {
        if due >= board.until.load(Ordering::Acquire) {
            return (done, Ok(()));
        }
        if let Err(error) = sleep_until(due).and_then(|()| operation.perform()) {
            return (done, Err(error));
        }
        response.store(now_ns().saturating_sub(due), Ordering::Relaxed);
        due += period;
    }
    (MOST_DUE, Err(io::Error::from_raw_os_error(libc::EOVERFLOW)))
}

/// Sleeps until that time of the clock; returns at once when it has passed.
fn sleep_until(ns: u64) -> io::Result<()> {
    let time = libc::timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    };
    // Some systems take tens of us to set a timer to a time that has passed; a bystander that is
    // late must not be charged with that.
    if now_ns() >= ns {
        return Ok(());
    }
    let clock = libc::CLOCK_MONOTONIC as usize;
    let arguments = [clock, libc::TIMER_ABSTIME as usize, &raw const time as usize, 0];
    loop {
        // SAFETY: the time lives through the call; no remainder is asked for.
        match unsafe { raw::call(libc::SYS_clock_nanosleep, arguments) } {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => return other.map(drop),
        }
    }
}

impl Operation {
    #[inline]
    fn perform(&self) -> io::Result<()> {
        match self {
            Operation::Wake => Ok(()),
            Operation::Fork => reap(fork_exiting()?).map(drop),
            Operation::Map => touch_a_page(),
            Operation::Open(path) => ReadFile::open(path)?.close(),
            Operation::Peek => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

fn touch_a_page() -> io::Result<()> {
    let bytes = page_size();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at a place the kernel chooses touches nothing of ours.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the page was mapped above, and is not used after it is unmapped.
    let unmapped = unsafe {
        write_volatile(start.cast::<u8>(), 1);
        libc::munmap(start, bytes)
    };
    check(unmapped.into()).map(drop)
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::sys::linux::allowed_cpus;

    const PERIOD: u64 = 1_000_000;

    #[test]
    fn every_operation_is_done_at_its_due_times() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "x").unwrap();
        let open = Operation::Open(FilePath::new(&path).unwrap());
        let cpus = allowed_cpus().unwrap();
        for operation in [Operation::Wake, Operation::Fork, Operation::Map, open] {
            let mut bystander = Bystander::start(&operation, &cpus).unwrap();
            let mut responses = Vec::new();
            for _ in 0..2 {
                let first = bystander.begin(PERIOD);
                sleep(Duration::from_millis(20));
                let until = now_ns();
                bystander.finish(until, &mut responses).unwrap();
                // A few more may have begun before the end was known.
                let due = |until: u64| (until - first).div_ceil(PERIOD);
                assert!((due(until)..=due(now_ns())).contains(&(responses.len() as u64)));
                assert!(responses.iter().all(|ns| *ns > 0), "nobody wakes in no time");
            }
        }
    }

    #[test]
    fn what_an_operation_says_comes_back() {
        let gone = Operation::Open(FilePath::new("/no/such/file".as_ref()).unwrap());
        let mut bystander = Bystander::start(&gone, &allowed_cpus().unwrap()).unwrap();
        bystander.begin(PERIOD);
        let error = bystander.finish(u64::MAX, &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        let nowhere = Bystander::start(&Operation::Wake, &[]).map(drop).unwrap_err();
        assert_eq!(nowhere.raw_os_error(), Some(libc::EINVAL), "no CPU to run on");
    }

    #[test]
    fn a_record_that_is_full_is_an_error_and_no_end_is_needed() {
        let cpus = allowed_cpus().unwrap();
        let mut bystander = Bystander::start(&Operation::Wake, &cpus).unwrap();
        bystander.begin(1);
        let error = bystander.finish(u64::MAX, &mut Vec::new()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EOVERFLOW));
        bystander.begin(PERIOD);
        drop(bystander);
    }

    #[test]
    fn a_bystander_that_was_killed_is_an_error() {
        let cpus = allowed_cpus().unwrap();
        let mut bystander = Bystander::start(&Operation::Wake, &cpus).unwrap();
        bystander.begin(PERIOD);
        bystander.pid.kill();
        let error = bystander.finish(u64::MAX, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "the bystander was killed");
    }
}
