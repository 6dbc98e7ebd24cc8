//! Plain types that functions of every system take and return.

/// What the filesystem of a folder tells about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Bytes in all: of the whole filesystem on Linux, of this user's share on Windows. Zero if the
    /// filesystem does not tell.
    pub size: u64,
    /// Bytes that this user may still fill.
    pub free: u64,
    /// The filesystem's name if it is known to keep files in memory only. Always none on Windows,
    /// which has no such filesystem.
    pub in_memory: Option<&'static str>,
}

/// The number that the tightest limit still allows.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Processes, threads or bytes.
    pub left: u64,
    /// The limit, for messages: `pids.max of the cgroup is 460`.
    pub limit: String,
}

/// What `wait_for_answer` saw.
#[derive(Debug, PartialEq, Eq)]
pub enum Ready {
    /// The first stream has data, or its other end was closed.
    Answer,
    /// The second stream has data or was closed.
    Interrupted,
    TimedOut,
}

/// The parents of the processes of a process tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// This process starts all of them.
    Flat,
    /// This process starts children, each of which starts 24 of its own and outlives them.
    Tree,
}

/// What the processes of a tree have beside their sleep. Windows only: without a library and with
/// the console of this process, nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// A library that each of them loads before it reports: its name or path.
    pub library: Option<String>,
    pub console: Console,
}

/// The console of a process that is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Console {
    /// That of its starter.
    #[default]
    Attached,
    /// None (`DETACHED_PROCESS`).
    Detached,
    /// One of its own, without a window (`CREATE_NO_WINDOW`).
    Hidden,
}

/// What a block device wrote since the system started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    pub bytes: u64,
    /// Flushes of the device's cache; none where they are not counted, or not needed.
    pub flushes: Option<u64>,
}

/// The two parts of the life of a process that only loads libraries, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTimes {
    /// From before its creation until its libraries were loaded and initialised.
    pub start_ns: u64,
    /// From there until its end was known to the process that started it.
    pub exit_ns: u64,
}

/// What a program asks its loader for.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Names or paths of libraries.
    pub names: Vec<String>,
    /// Folders in which they are looked for first.
    pub folders: Vec<String>,
}
