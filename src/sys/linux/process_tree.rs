//! Many processes that exist at the same time, do nothing, and end together.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::shared::types::{Shape, Weight};
use super::process::{Pid, reap};
use super::shared_memory::{Atomics, Shared, Word};
use super::{check, die_with_parent, getppid};

/// Most memory of one sleeping process, with its kernel stack and page tables, in bytes.
pub const TREE_PROCESS_BYTES: u64 = 400 << 10;
/// Processes that one child of a tree starts.
const CHILDREN: usize = 24;
/// Seconds after which a tree that is not complete is given up.
const CREATION_S: i64 = 120;
/// Seconds between checks of whether the parent is alive, for systems that do not signal its death.
const LOOK_S: i64 = 10;

/// Shared memory through which this process and the members of the tree communicate.
struct Gate {
    /// 1 tells every member to exit.
    released: Word,
    /// 1 once every member has reported.
    complete: Word,
    /// Members that run or are known to be missing, and how many of these are missing.
    answered: AtomicU32,
    missing: AtomicU32,
    /// Error number of the last member that is missing.
    errno: AtomicU32,
}

// SAFETY: atomic numbers only.
unsafe impl Atomics for Gate {}

impl Gate {
    fn answer(&self, members: usize, size: usize) {
        let members = members as u32;
        let before = self.answered.fetch_add(members, Ordering::AcqRel);
        if before + members == size as u32 {
            self.complete.announce(1);
        }
    }

    /// Sleeps until told to exit, or until the parent is gone.
    fn wait(&self, parent: i64) {
        while !self.released.wait_while(0, Some(LOOK_S)) && getppid() == parent {}
    }
}

/// Forked processes that sleep until [`ProcessTree::end`] wakes all of them with one call.
///
/// They die with this process, also when it is killed.
pub struct ProcessTree {
    gate: Shared<Gate>,
    size: usize,
    group: usize,
    /// The existing processes that this process started itself.
    children: Vec<Pid>,
    reached: usize,
}

impl ProcessTree {
    /// A tree of `size` processes, none of which exists yet. With a weight, an error: forked
    /// processes load nothing, and have no console of their own.
    pub fn new(size: usize, shape: Shape, weight: &Weight) -> io::Result<ProcessTree> {
        if *weight != Weight::default() {
            let text = "processes of a tree load libraries (`dll`) and have consoles of their own \
                        (`console`) on Windows only";
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        let group = match shape {
            Shape::Flat => 1,
            Shape::Tree => 1 + CHILDREN,
        };
        let children = Vec::with_capacity(size.div_ceil(group));
        Ok(ProcessTree { gate: Shared::new()?, size, group, children, reached: 0 })
    }

    /// Starts all of them and waits until the last one has reported. If one cannot be started, ends
    /// the others.
    pub fn create(&mut self) -> io::Result<()> {
        self.end()?;
        self.gate.released.reset(0);
        self.gate.complete.reset(0);
        for number in [&self.gate.answered, &self.gate.missing, &self.gate.errno] {
            number.store(0, Ordering::Release);
        }
        let complete = self.start_children().and_then(|()| self.wait_until_up());
        if complete.is_err() {
            // The reason why the tree is not complete says more than how the rest of it ended.
            let _ = self.end();
            self.reached -= self.gate.missing.load(Ordering::Acquire) as usize;
        }
        complete
    }

    fn start_children(&mut self) -> io::Result<()> {
        self.reached = 0;
        while self.reached < self.size {
            let members = self.group.min(self.size - self.reached);
            self.children.push(fork_tied(|own| lead(&self.gate, own, members, self.size))?);
            self.reached += members;
        }
        Ok(())
    }

    fn wait_until_up(&self) -> io::Result<()> {
        let mut seconds = 0;
        while !self.gate.complete.wait_while(0, Some(1)) {
            seconds += 1;
            if self.children.iter().any(|child| child.has_ended()) {
                return Err(io::Error::other("a sleeping process was killed"));
            }
            if seconds >= CREATION_S {
                let up = self.gate.answered.load(Ordering::Acquire);
                let text = format!("{up} of {} processes were up after {seconds} s", self.size);
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        match self.gate.errno.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(errno as i32)),
        }
    }

    /// How many processes the last attempt to create them started.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Tells all of them to exit and reaps them. An error if one had ended otherwise.
    pub fn end(&mut self) -> io::Result<()> {
        self.gate.released.announce(1);
        let mut result = Ok(());
        for child in self.children.drain(..) {
            match reap(child) {
                Ok(0) => {}
                Ok(status) => {
                    let text = format!("a sleeping process ended with status {status}");
                    result = Err(io::Error::other(text));
                }
                Err(error) => result = Err(error),
            }
        }
        result
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        // Errors were reported to earlier callers.
        let _ = self.end();
    }
}

/// Forks a process that runs `body` with its parent's id, and exits with what `body` returns. The
/// kernel kills it when its parent dies.
///
/// `body` may call async-signal-safe functions only, on memory that existed before.
#[inline]
pub(super) fn fork_tied(body: impl FnOnce(i64) -> i32) -> io::Result<Pid> {
    let parent = i64::from(std::process::id());
    // SAFETY: the child calls prctl, getppid, the body, for which see above, and _exit.
    match unsafe { libc::fork() } {
        0 => {
            die_with_parent();
            // The parent may have died before the line above.
            let status = if getppid() == parent { body(parent) } else { 1 };
            // SAFETY: ends the child without running anything of the parent's.
            unsafe { libc::_exit(status) }
        }
        pid => check(pid.into()).map(|_| Pid::from_raw(pid)),
    }
}

/// A child: starts its own children, reports that all run, and exits after them.
fn lead(gate: &Gate, parent: i64, members: usize, size: usize) -> i32 {
    let mut children: [Option<Pid>; CHILDREN] = [None; CHILDREN];
    let mut missing = members - 1;
    for place in children.iter_mut().take(members - 1) {
        // If another process failed to start, no more are wanted.
        if gate.released.get() == 1 {
            gate.missing.fetch_add(missing as u32, Ordering::AcqRel);
            break;
        }
        match fork_tied(|own| sleep(gate, own, size)) {
            Ok(pid) => *place = Some(pid),
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EAGAIN);
                gate.errno.store(errno as u32, Ordering::Release);
                gate.missing.fetch_add(missing as u32, Ordering::AcqRel);
                break;
            }
        }
        missing -= 1;
    }
    gate.answer(1 + missing, size);
    gate.wait(parent);
    // All of them are reaped, whatever the first one's status is.
    let failed = |pid: &&Pid| !matches!(reap(**pid), Ok(0));
    i32::from(children.iter().flatten().filter(failed).count() > 0)
}

/// A grandchild: reports that it runs, and waits for its end.
fn sleep(gate: &Gate, parent: i64, size: usize) -> i32 {
    gate.answer(1, size);
    gate.wait(parent);
    0
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn up(tree: &ProcessTree) -> usize {
        tree.gate.answered.load(Ordering::Acquire) as usize
    }

    #[test]
    fn all_are_there_at_once_and_gone_together() {
        for (size, shape, children) in [(7, Shape::Flat, 7), (60, Shape::Tree, 3)] {
            let mut tree = ProcessTree::new(size, shape, &Weight::default()).unwrap();
            for _ in 0..3 {
                tree.create().unwrap();
                assert_eq!((up(&tree), tree.reached()), (size, size));
                let pids = tree.children.clone();
                assert_eq!(pids.len(), children);
                tree.end().unwrap();
                for pid in pids {
                    let error = reap(pid).unwrap_err();
                    assert_eq!(error.raw_os_error(), Some(libc::ECHILD), "{shape:?}");
                }
            }
        }
    }

    #[test]
    fn a_member_that_was_killed_is_an_error() {
        let mut tree = ProcessTree::new(3, Shape::Flat, &Weight::default()).unwrap();
        tree.create().unwrap();
        tree.children[1].kill();
        let error = tree.end().unwrap_err().to_string();
        assert_eq!(error, "a sleeping process ended with status 137");
        tree.create().unwrap();
    }

    /// Runs `body` in a forked process; its exit status.
    fn in_process(body: impl FnOnce() -> i32) -> i32 {
        reap(fork_tied(|_| body()).unwrap()).unwrap()
    }

    #[test]
    fn a_limit_on_processes_ends_what_there_is() {
        // The limit counts all processes of the user, and root is exempt: another user then.
        // SAFETY: changes what this forked process may do, and nothing else.
        let limited = |most: u64| unsafe {
            let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
            (libc::getuid() != 0 || libc::setuid(54_321) == 0)
                && libc::setrlimit(libc::RLIMIT_NPROC, &limit) == 0
        };
        // Some members of a tree may exit before the last one was tried.
        for (shape, most) in [(Shape::Flat, 100), (Shape::Tree, 500)] {
            let mut tree = ProcessTree::new(500, shape, &Weight::default()).unwrap();
            let status = in_process(|| {
                if !limited(100) {
                    return 10;
                }
                let Err(error) = tree.create() else { return 11 };
                if error.raw_os_error() != Some(libc::EAGAIN) {
                    return 12;
                }
                // SAFETY: no memory is given; asks whether there is any child.
                let childless = unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } == -1;
                if tree.reached() >= most { 13 } else { i32::from(!childless) }
            });
            assert_eq!(status, 0, "{shape:?}");
        }
    }

    /// The worker of this test is a child of a process that adopts its orphans.
    #[test]
    fn nothing_is_left_of_a_worker_that_is_killed() {
        for (size, shape) in [(20, Shape::Flat), (50, Shape::Tree)] {
            let mut tree = ProcessTree::new(size, shape, &Weight::default()).unwrap();
            let ready = Shared::<Gate>::new().unwrap();
            let status = in_process(|| {
                // SAFETY: flags and an alarm of this process; if the tree lives on, it ends this.
                unsafe {
                    libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1);
                    libc::alarm(LOOK_S as u32 - 2);
                }
                let Ok(worker) = fork_tied(|_| {
                    ready.complete.announce(if tree.create().is_ok() { 1 } else { 2 });
                    while ready.released.wait_while(0, None) {}
                    0
                }) else {
                    return 10;
                };
                ready.complete.wait_while(0, None);
                worker.kill();
                let mut killed = 0;
                let mut status = 0;
                // SAFETY: the status outlives the call.
                while unsafe { libc::waitpid(-1, &mut status, 0) } > 0 {
                    killed += usize::from(libc::WIFSIGNALED(status));
                }
                i32::from(killed != size + 1 || ready.complete.get() != 1)
            });
            assert_eq!(status, 0, "{shape:?}");
        }
    }

    #[test]
    fn without_a_signal_members_look_for_their_parent() {
        let gate = Shared::<Gate>::new().unwrap();
        let start = Instant::now();
        gate.released.reset(1);
        gate.wait(-1);
        assert!(
            start.elapsed() < Duration::from_secs(LOOK_S as u64),
            "a released process does not wait"
        );
    }
}
