//! A process that does a tiny operation at fixed due times and records how long each took: this
//! binary once more, because Windows has no fork.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use windows_sys::Win32::Foundation::{
    ERROR_BUFFER_OVERFLOW, INVALID_HANDLE_VALUE, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_ALL_ACCESS, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    OpenFileMappingW, PAGE_READWRITE, UnmapViewOfFile,
};
use windows_sys::Win32::System::Threading::WaitForSingleObject;

use super::agent::bind_children;
use super::due_timer::DueTimer;
use super::memory::Region;
use super::process::{Executable, PEER_VERB, Pid, fork_exec, reap};
use super::process_tree::Gate;
use super::window::Desktop;
use super::{FilePath, ReadFile, check, check_handle, not_here, now_ns, page_size, pin_to, wide};

/// What the bystander does at each due time.
pub enum Operation {
    /// Nothing beyond the wake-up from the timer.
    Wake,
    /// Not possible: Windows has no fork.
    Fork,
    /// Allocates a page, writes to it, and frees it.
    Map,
    /// Opens and closes the file.
    Open(FilePath),
    /// Asks for a message of the desktop's window: takes the window system's global lock.
    Peek,
}

/// Most due times of one watch.
pub const MOST_DUE: usize = 1 << 16;
/// What the first word of a bystander's work is.
pub(super) const ROLE: &str = "bystander";
/// Seconds after which a bystander that does not answer is given up.
const ANSWER_S: u32 = 60;

/// Shared memory in which the bystander and this process exchange orders and results. Of the gate,
/// `end` announces an order to the bystander, and `up` the end of a watch to this process.
struct Board {
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

/// The board in memory that two processes share.
struct Shared {
    view: MEMORY_MAPPED_VIEW_ADDRESS,
    _section: OwnedHandle,
}

impl Shared {
    /// Makes the memory, or opens what the starter made.
    fn of(token: &str, make: bool) -> io::Result<Shared> {
        let name = wide(OsStr::new(&format!("Local\\envtax-{token}-board")))?;
        let bytes = size_of::<Board>();
        // SAFETY: the name is zero-terminated; the handle is owned by nobody else. Memory of a new
        // section is zero, of which a board may consist.
        unsafe {
            let section = match make {
                true => CreateFileMappingW(
                    INVALID_HANDLE_VALUE,
                    null(),
                    PAGE_READWRITE,
                    0,
                    bytes as u32,
                    name.as_ptr(),
                ),
                false => OpenFileMappingW(FILE_MAP_ALL_ACCESS, 0, name.as_ptr()),
            };
            let section = OwnedHandle::from_raw_handle(check_handle(section)?);
            let view = MapViewOfFile(section.as_raw_handle(), FILE_MAP_ALL_ACCESS, 0, 0, bytes);
            match view.Value.is_null() {
                true => Err(io::Error::last_os_error()),
                false => Ok(Shared { view, _section: section }),
            }
        }
    }

    fn board(&self) -> &Board {
        // SAFETY: the view is as large as a board, lives as long as this, and has atomic numbers
        // only.
        unsafe { &*self.view.Value.cast::<Board>() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: exactly the view made above, to which no reference is left.
        let _ = check(unsafe { UnmapViewOfFile(self.view) });
    }
}

/// The bystander's process. It dies with this process.
pub struct Bystander {
    shared: Shared,
    gate: Gate,
    pid: Option<Pid>,
}

impl Bystander {
    /// Starts it on `cpus`, at the priority of this process. It does nothing until it is asked.
    pub fn start(operation: &Operation, cpus: &[usize]) -> io::Result<Bystander> {
        static BYSTANDERS: AtomicU32 = AtomicU32::new(0);
        bind_children();
        let (word, path) = match operation {
            Operation::Wake => ("wake", String::new()),
            Operation::Fork => return not_here("Windows has no fork"),
            Operation::Map => ("map", String::new()),
            Operation::Open(path) => ("open", path.text()),
            Operation::Peek => ("peek", String::new()),
        };
        let number = BYSTANDERS.fetch_add(1, Ordering::Relaxed);
        let token = format!("{}-by-{number}", std::process::id());
        let (shared, gate) = (Shared::of(&token, true)?, Gate::make(&token)?);
        let own = env::current_exe()?;
        let own = own.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let work = format!("{ROLE}:{token}:{word}:{path}");
        let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let cpus = if cpus.is_empty() { "-".into() } else { cpus.join(",") };
        let pid = fork_exec(&Executable::new(&[own, PEER_VERB, &work, &cpus])?)?;
        let bystander = Bystander { shared, gate, pid: Some(pid) };
        bystander.wait()?;
        Ok(bystander)
    }

    /// Waits until it has finished the last order.
    fn wait(&self) -> io::Result<()> {
        let mut seconds = 0;
        // SAFETY: takes no pointer; the handle is open.
        while unsafe { WaitForSingleObject(self.gate.up.as_raw_handle(), 1000) } == WAIT_TIMEOUT {
            seconds += 1;
            if self.pid.as_ref().is_none_or(Pid::has_ended) {
                return Err(io::Error::other("the bystander was killed"));
            }
            if seconds >= ANSWER_S {
                let text = format!("the bystander did not end an operation within {seconds} s");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        match self.shared.board().errno.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno as i32)),
        }
    }

    /// Starts a watch one period from now. Returns the first due time, in ns of the clock.
    pub fn begin(&mut self, period_ns: u64) -> u64 {
        let first = now_ns() + period_ns;
        let board = self.shared.board();
        for (number, value) in
            [(&board.first, first), (&board.period, period_ns), (&board.until, u64::MAX)]
        {
            number.store(value, Ordering::Release);
        }
        // A bystander that is not told does not answer, which is an error of its own.
        let _ = Gate::release(&self.gate.end, 1);
        first
    }

    /// Ends the watch at `until`, waits for the operations that were due before, and puts their
    /// response times into `responses`, in ns and in the order of the due times.
    pub fn finish(&mut self, until: u64, responses: &mut Vec<u64>) -> io::Result<()> {
        self.shared.board().until.store(until, Ordering::Release);
        self.wait()?;
        let board = self.shared.board();
        let done = board.done.load(Ordering::Acquire) as usize;
        responses.clear();
        responses.extend(board.responses[..done].iter().map(|ns| ns.load(Ordering::Relaxed)));
        Ok(())
    }

    /// Runs `work` while the bystander's process is stopped: not possible.
    #[cfg(test)]
    pub fn stopped_during(&mut self, _work: impl FnOnce()) -> io::Result<()> {
        not_here("Windows stops no process from outside")
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.shared.board().until.store(0, Ordering::Release);
        // Not waited for in order: the process may be stuck in an operation, and it holds nothing.
        if let Some(pid) = self.pid.take() {
            let _ = pid.end();
            let _ = reap(pid);
        }
    }
}

/// The bystander's own side of its operation.
enum Work {
    Wake,
    Map,
    Open(FilePath),
    Peek(Desktop),
}

impl Work {
    fn of(word: &str, path: &str) -> io::Result<Work> {
        match word {
            "wake" => Ok(Work::Wake),
            "map" => Ok(Work::Map),
            "open" => Ok(Work::Open(FilePath::new(path.as_ref())?)),
            "peek" => Desktop::open().map(Work::Peek),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    #[inline]
    fn perform(&self) -> io::Result<()> {
        match self {
            Work::Wake => Ok(()),
            Work::Map => {
                Region::map(page_size())?.touch(page_size());
                Ok(())
            }
            Work::Open(path) => ReadFile::open(path)?.close(),
            Work::Peek(desktop) => {
                desktop.peek();
                Ok(())
            }
        }
    }
}

/// What a bystander does, by the words after its role, `TOKEN:OPERATION:PATH`, until it is killed.
/// It is in the job of its starter, which ends it also when the starter is killed.
pub(super) fn stand_by(words: &str, cpus: &[usize]) -> io::Result<()> {
    let [token, word, path] = words.splitn(3, ':').collect::<Vec<_>>()[..] else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let (shared, gate) = (Shared::of(token, false)?, Gate::open(token)?);
    let board = shared.board();
    // Touches every page of the record before anything is timed.
    board.responses.iter().for_each(|response| response.store(0, Ordering::Relaxed));
    let end = |done: usize, result: &io::Result<()>| {
        let errno = result.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(1));
        board.done.store(done as u32, Ordering::Release);
        board.errno.store(errno as u32, Ordering::Release);
        Gate::release(&gate.up, 1)
    };
    let prepared = (|| {
        pin_to(cpus)?;
        Ok((Work::of(word, path)?, DueTimer::new()?))
    })();
    let (work, timer) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return end(0, &Err(error)),
    };
    end(0, &Ok(()))?;
    // SAFETY: takes no pointer; the handle is open.
    while unsafe { WaitForSingleObject(gate.end.as_raw_handle(), u32::MAX) } == WAIT_OBJECT_0 {
        let (done, result) = watch(board, &work, &timer);
        end(done, &result)?;
    }
    Err(io::Error::last_os_error())
}

/// One watch: returns how many operations were done, and the error that ended it early. An
/// operation that is late delays those after it; each is timed from its own due time.
fn watch(board: &Board, work: &Work, timer: &DueTimer) -> (usize, io::Result<()>) {
    let period = board.period.load(Ordering::Acquire);
    let mut due = board.first.load(Ordering::Acquire);
    for (done, response) in board.responses.iter().enumerate() {
        if due >= board.until.load(Ordering::Acquire) {
            return (done, Ok(()));
        }
        if let Err(error) = timer.sleep_until(due).and_then(|()| work.perform()) {
            return (done, Err(error));
        }
        response.store(now_ns().saturating_sub(due), Ordering::Relaxed);
        due += period;
    }
    (MOST_DUE, Err(io::Error::from_raw_os_error(ERROR_BUFFER_OVERFLOW as i32)))
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    /// A peer is this binary in another role, which the binary of the tests has not.
    #[test]
    fn the_operations_are_done() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "x").unwrap();
        for (word, path) in [("wake", ""), ("map", ""), ("open", path.to_str().unwrap())] {
            Work::of(word, path).unwrap().perform().unwrap();
        }
        assert!(Work::of("fork", "").is_err() && Work::of("open", "Z:\\no\\such").is_ok());
        let error = Work::of("open", "Z:\\no\\such").unwrap().perform().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_watch_ends_when_it_is_told_to() {
        let shared = Shared::of(&format!("{}-test", std::process::id()), true).unwrap();
        let (board, timer) = (shared.board(), DueTimer::new().unwrap());
        board.period.store(1_000_000, Ordering::Release);
        let now = now_ns();
        board.first.store(now, Ordering::Release);
        board.until.store(now + 5_000_000, Ordering::Release);
        sleep(Duration::from_millis(1));
        let (done, result) = watch(board, &Work::Wake, &timer);
        result.unwrap();
        assert_eq!(done, 5, "however late they are");
        assert!(board.responses[..done].iter().all(|ns| ns.load(Ordering::Relaxed) > 0));
    }
}
