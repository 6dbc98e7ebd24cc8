//! Many processes that exist at the same time, do nothing, and end together: this binary once more
//! in each of them, because Windows has no fork.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;
use std::sync::atomic::{AtomicU32, Ordering};

use windows_sys::Win32::Foundation::{WAIT_OBJECT_0, WAIT_TIMEOUT};
use windows_sys::Win32::System::LibraryLoader::LoadLibraryW;
use windows_sys::Win32::System::Threading::{
    CreateSemaphoreW, INFINITE, OpenProcess, OpenSemaphoreW, PROCESS_SYNCHRONIZE, ReleaseSemaphore,
    SEMAPHORE_MODIFY_STATE, SYNCHRONIZATION_SYNCHRONIZE, WaitForMultipleObjects,
    WaitForSingleObject,
};

use super::super::shared::types::{Console, Shape, Weight};
use super::agent::bind_children;
use super::process::{Executable, PEER_VERB, Pid, fork_exec_with, reap};
use super::{check, check_handle, wide};

/// Most memory that one of them takes, in bytes: four times what was measured under Wine.
pub const TREE_PROCESS_BYTES: u64 = 8 << 20;

/// What the first word of a member's work is.
pub(super) const ROLE: &str = "tree";
/// Processes that one child of a tree starts.
const CHILDREN: usize = 24;
/// Seconds after which a tree that is not complete is given up.
const CREATION_S: u32 = 120;

/// The two semaphores of a tree: each member releases `up` once, and waits for `end`.
pub(super) struct Gate {
    pub(super) up: OwnedHandle,
    pub(super) end: OwnedHandle,
}

impl Gate {
    pub(super) fn make(token: &str) -> io::Result<Gate> {
        let make = |which: &str| {
            let name = wide(OsStr::new(&format!("Local\\envtax-{token}-{which}")))?;
            // SAFETY: the name is zero-terminated; the handle is owned by nobody else.
            unsafe {
                let handle = CreateSemaphoreW(null(), 0, i32::MAX, name.as_ptr());
                Ok::<_, io::Error>(OwnedHandle::from_raw_handle(check_handle(handle)?))
            }
        };
        Ok(Gate { up: make("up")?, end: make("end")? })
    }

    pub(super) fn open(token: &str) -> io::Result<Gate> {
        let open = |which: &str, rights: u32| {
            let name = wide(OsStr::new(&format!("Local\\envtax-{token}-{which}")))?;
            // SAFETY: the name is zero-terminated; the handle is owned by nobody else.
            unsafe {
                let handle = OpenSemaphoreW(rights, 0, name.as_ptr());
                Ok::<_, io::Error>(OwnedHandle::from_raw_handle(check_handle(handle)?))
            }
        };
        let end = open("end", SYNCHRONIZATION_SYNCHRONIZE)?;
        Ok(Gate { up: open("up", SEMAPHORE_MODIFY_STATE)?, end })
    }

    pub(super) fn release(semaphore: &OwnedHandle, times: usize) -> io::Result<()> {
        // SAFETY: the handle is open; the count before is not asked for.
        let done = unsafe {
            ReleaseSemaphore(semaphore.as_raw_handle(), times as i32, std::ptr::null_mut())
        };
        check(done)
    }
}

/// Processes that sleep until [`ProcessTree::end`] wakes all of them with one call.
///
/// They end with this process, also when it is killed.
pub struct ProcessTree {
    gate: Gate,
    size: usize,
    group: usize,
    /// What starts a child with a whole group, and the last one, whose group may be smaller.
    leader: Executable,
    last_leader: Executable,
    weight: Weight,
    /// The existing processes that this process started itself.
    children: Vec<Pid>,
    reached: usize,
    shape: Shape,
}

impl ProcessTree {
    /// A tree of `size` processes, none of which exists yet. This process loads the library of the
    /// weight as well, as the first one of the original does; an error if it cannot.
    pub fn new(size: usize, shape: Shape, weight: &Weight) -> io::Result<ProcessTree> {
        static TREES: AtomicU32 = AtomicU32::new(0);
        bind_children();
        if let Some(library) = &weight.library {
            load(library)?;
        }
        let group = match shape {
            Shape::Flat => 1,
            Shape::Tree => 1 + CHILDREN,
        };
        let own = env::current_exe()?;
        let own = own.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let token = format!("{}-{}", std::process::id(), TREES.fetch_add(1, Ordering::Relaxed));
        let leader = |members: usize| {
            let (worker, burden) = (std::process::id(), words_of(weight));
            let role = format!("{ROLE}:{token}:{worker}:{}:{burden}", members - 1);
            Executable::new(&[own, PEER_VERB, &role, "-"])
        };
        let last = size - (size.div_ceil(group) - 1) * group;
        Ok(ProcessTree {
            gate: Gate::make(&token)?,
            size,
            group,
            leader: leader(group)?,
            last_leader: leader(last)?,
            weight: weight.clone(),
            children: Vec::with_capacity(size.div_ceil(group)),
            reached: 0,
            shape,
        })
    }

    /// Starts all of them and waits until the last one has reported. If one cannot be started, ends
    /// the others.
    pub fn create(&mut self) -> io::Result<()> {
        self.end()?;
        let complete = self.start_children().and_then(|()| self.wait_until_up());
        if complete.is_err() {
            // The reason why the tree is not complete says more than how the rest of it ended.
            let _ = self.end();
            // Nobody knows what is left in the semaphores.
            let reached = self.reached;
            *self = ProcessTree::new(self.size, self.shape, &self.weight.clone())?;
            self.reached = reached;
        }
        complete
    }

    fn start_children(&mut self) -> io::Result<()> {
        self.reached = 0;
        while self.reached < self.size {
            let members = self.group.min(self.size - self.reached);
            let whole = members == self.group;
            let leader = if whole { &self.leader } else { &self.last_leader };
            self.children.push(fork_exec_with(leader, self.weight.console)?);
            self.reached += members;
        }
        Ok(())
    }

    fn wait_until_up(&self) -> io::Result<()> {
        let mut seconds = 0;
        let mut up = 0;
        while up < self.size {
            // SAFETY: takes no pointer; the handle is open.
            match unsafe { WaitForSingleObject(self.gate.up.as_raw_handle(), 1000) } {
                WAIT_OBJECT_0 => up += 1,
                WAIT_TIMEOUT => seconds += 1,
                _ => return Err(io::Error::last_os_error()),
            }
            if seconds > 0 && self.children.iter().any(Pid::has_ended) {
                return Err(io::Error::other("a sleeping process ended too early"));
            }
            if seconds >= CREATION_S {
                let text = format!("{up} of {} processes were up after {seconds} s", self.size);
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
        Ok(())
    }

    /// How many processes the last attempt to create them started.
    pub fn reached(&self) -> usize {
        self.reached
    }

    /// Tells all of them to exit and waits for them. An error if one had ended otherwise.
    pub fn end(&mut self) -> io::Result<()> {
        if self.children.is_empty() {
            return Ok(());
        }
        Gate::release(&self.gate.end, self.size)?;
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

/// Words for the consoles of members.
const CONSOLES: [(&str, Console); 3] =
    [("attached", Console::Attached), ("detached", Console::Detached), ("hidden", Console::Hidden)];

/// The weight as the last words of a role: console and library, whose path may have colons.
fn words_of(weight: &Weight) -> String {
    let console = CONSOLES.iter().find(|it| it.1 == weight.console).map_or("", |it| it.0);
    format!("{console}:{}", weight.library.as_deref().unwrap_or_default())
}

/// Loads a library, which stays for as long as this process lives.
fn load(library: &str) -> io::Result<()> {
    let name = wide(OsStr::new(library))?;
    // SAFETY: the name is zero-terminated; what the library does at its start is its own affair.
    if unsafe { LoadLibraryW(name.as_ptr()) }.is_null() {
        let error = io::Error::last_os_error();
        let text = format!(
            "the library `{library}` cannot be loaded ({error}); give the name of one that the \
             system finds, or a whole path"
        );
        return Err(io::Error::new(error.kind(), text));
    }
    Ok(())
}

/// What a member does, by the words after its role: `TOKEN:WORKER:CHILDREN:CONSOLE:LIBRARY`. It
/// loads the library, starts its own children, reports that it is up, and exits after them.
pub(super) fn be_member(words: &str) -> io::Result<()> {
    let [token, worker, count, console, library] = words.splitn(5, ':').collect::<Vec<_>>()[..]
    else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let found = CONSOLES.iter().find(|it| it.0 == console);
    let console = found.ok_or(io::ErrorKind::InvalidInput)?.1;
    let library = (!library.is_empty()).then(|| library.to_owned());
    if let Some(library) = &library {
        load(library)?;
    }
    let burden = words_of(&Weight { library, console });
    let number = |word: &str| word.parse::<u32>().map_err(|_| io::ErrorKind::InvalidInput);
    let (worker_id, count) = (number(worker)?, number(count)?);
    let gate = Gate::open(token)?;
    // SAFETY: takes no pointer; the handle is owned by nobody else.
    let worker_process = unsafe {
        let handle = OpenProcess(PROCESS_SYNCHRONIZE, 0, worker_id);
        OwnedHandle::from_raw_handle(check_handle(handle)?)
    };
    let mut children = Vec::new();
    if count > 0 {
        let own = env::current_exe()?;
        let own = own.to_str().ok_or(io::ErrorKind::InvalidInput)?;
        let role = format!("{ROLE}:{token}:{worker}:0:{burden}");
        let member = Executable::new(&[own, PEER_VERB, &role, "-"])?;
        for _ in 0..count {
            children.push(fork_exec_with(&member, console)?);
        }
    }
    Gate::release(&gate.up, 1)?;
    let both = [gate.end.as_raw_handle(), worker_process.as_raw_handle()];
    // SAFETY: both handles are open and live through the call.
    unsafe { WaitForMultipleObjects(2, both.as_ptr(), 0, INFINITE) };
    children.into_iter().try_for_each(|child| match reap(child)? {
        0 => Ok(()),
        _ => Err(io::Error::other("a child ended otherwise")),
    })
}
