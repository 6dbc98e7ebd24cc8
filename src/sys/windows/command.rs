//! A whole command from its start to its end, with what it and its children used: what its job
//! counted.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::mem::{size_of, size_of_val, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::os::windows::process::ExitStatusExt;
use std::path::{Path, PathBuf, is_separator};
use std::process::ExitStatus;
use std::ptr::{null, null_mut};
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_BAD_EXE_FORMAT, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation,
    WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::Storage::FileSystem::{GetDriveTypeW, GetLogicalDrives};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::{
    CreateProcessW, DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT,
    GetExitCodeProcess, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute, WaitForSingleObject,
};

use super::facts::wine_version;
use super::input::Input;
use super::job::Job;
use super::{check, not_here, now_ns, wide};
use crate::model::Usage;
use crate::sys::{CommandEnd, CommandOrder, Killed};

/// How often a wait looks at the time limit, at who wants to stop, and at the output's size.
const GLANCE_MS: u32 = 100;
/// How long processes that are ended may take to be gone.
const LEAVING: Duration = Duration::from_secs(5);
/// A device that is empty and takes whatever is written.
const NOTHING: &str = "NUL";
/// A drive that is neither remote nor removable (`GetDriveTypeW`).
const DRIVE_FIXED: u32 = 3;

/// Runs a command to its end. It is born in a job of its own; what is left of that afterwards is
/// ended. Errors are those of starting it.
pub fn run_command(order: &CommandOrder<'_>, interrupt: &Input) -> io::Result<CommandEnd> {
    let Some(name) = order.words.first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
    };
    let program = find_program(name).ok_or(io::ErrorKind::NotFound)?;
    check_program(&program)?;
    let program = wide(std::path::absolute(&program)?.as_os_str())?;
    let mut line = wide(command_line(order.words).as_ref())?;
    let streams = Streams::open(order)?;
    let job = Job::new()?;
    let start_ns = now_ns();
    let process = streams.start(&program, &mut line, &job)?;
    let killed = wait_for_end(&process.handle, &job, order, start_ns, interrupt)?;
    let end_ns = now_ns();
    // Wine knows it only until the process below is gone, which it may be at any moment.
    let peak_bytes = peak_bytes(&process.handle);
    let left = end_the_rest(&job, process.id);
    let mut code = 0;
    // SAFETY: the handle is open, and the number lives through the call.
    check(unsafe { GetExitCodeProcess(process.handle.as_raw_handle(), &mut code) })?;
    let (usage, uncounted) = usage_of(&job);
    Ok(CommandEnd {
        status: ExitStatus::from_raw(code),
        killed,
        start_ns,
        end_ns,
        usage,
        peak_bytes,
        floor_bytes: None,
        storage: job.transferred().ok(),
        uncounted,
        left,
    })
}

/// Where the system finds the program: a path as it stands, a name on the search path; both also
/// without the `.exe` at their ends.
pub fn find_program(word: &str) -> Option<PathBuf> {
    let suffixed = format!("{word}{}", env::consts::EXE_SUFFIX);
    // `tool` is `tool.exe` first of all, as it is to the system; `tool.1` may be complete.
    let names = match Path::new(word).extension() {
        None => [suffixed.as_str(), word],
        Some(_) => [word, suffixed.as_str()],
    };
    if word.contains(|c| is_separator(c) || c == ':') {
        let found = names.into_iter().find(|name| Path::new(name).is_file());
        return Some(PathBuf::from(found.unwrap_or(word)));
    }
    let search = env::var_os("PATH")?;
    let of = |folder: PathBuf| names.map(|name| folder.join(name));
    env::split_paths(&search).flat_map(of).find(|path| path.is_file())
}

/// Whether what was to be started is a file that this system cannot execute.
pub fn is_no_program(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_BAD_EXE_FORMAT as i32)
}

/// Waits until everything that was written to this machine's drives is durable, which only an
/// administrator may ask for.
pub fn sync_all() -> io::Result<()> {
    if wine_version().is_some() {
        return not_here("Wine makes single files durable, but not a drive");
    }
    // SAFETY: takes nothing.
    let drives = unsafe { GetLogicalDrives() };
    for letter in ('A'..='Z').enumerate().filter(|(at, _)| drives >> at & 1 == 1).map(|it| it.1) {
        let root = wide(format!("{letter}:\\").as_ref())?;
        // SAFETY: the path is zero-terminated.
        if unsafe { GetDriveTypeW(root.as_ptr()) } == DRIVE_FIXED {
            File::options().write(true).open(format!("\\\\.\\{letter}:"))?.sync_all()?;
        }
    }
    Ok(())
}

/// Looks at the file's first bytes. Wine would start a program of the system below, and have no
/// handle to wait for it by; and what a batch file is given is read by rules of its own.
fn check_program(path: &Path) -> io::Result<()> {
    let ending = path.extension().map(|it| it.to_ascii_lowercase()).unwrap_or_default();
    if ending == "bat" || ending == "cmd" {
        let text = "a batch file is no program: write `cmd /c FILE`";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(2).read_to_end(&mut begin)?;
    match &*begin {
        b"MZ" => Ok(()),
        _ => Err(io::Error::from_raw_os_error(ERROR_BAD_EXE_FORMAT as i32)),
    }
}

/// The words as programs made by the usual C compilers and by Rust split them again.
fn command_line(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    quoted.join(" ")
}

/// Backslashes are themselves, except before a quote: there, and at the end of a quoted word, two
/// of them are one.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '\n', '\x0b', '"']) {
        return word.to_owned();
    }
    let (mut text, mut slashes) = (String::from("\""), 0);
    for letter in word.chars() {
        match letter {
            '\\' => slashes += 1,
            '"' => {
                text.extend(std::iter::repeat_n('\\', slashes + 1));
                slashes = 0;
            }
            _ => slashes = 0,
        }
        text.push(letter);
    }
    text.extend(std::iter::repeat_n('\\', slashes));
    text.push('"');
    text
}

/// The standard streams of a command: nothing else of this process is inherited.
struct Streams([File; 3]);

/// A process that was started.
struct Started {
    handle: OwnedHandle,
    id: u32,
}

impl Streams {
    fn open(order: &CommandOrder<'_>) -> io::Result<Streams> {
        let input = File::open(order.stdin.unwrap_or(Path::new(NOTHING)))?;
        let output = |path: Option<&Path>| match path {
            Some(path) => File::create(path),
            None => File::options().write(true).open(NOTHING),
        };
        let streams = Streams([input, output(order.stdout)?, output(order.stderr)?]);
        for handle in streams.handles() {
            let inherited = HANDLE_FLAG_INHERIT;
            // SAFETY: takes no pointer; the handle is open.
            check(unsafe { SetHandleInformation(handle, inherited, inherited) })?;
        }
        Ok(streams)
    }

    fn handles(&self) -> [HANDLE; 3] {
        self.0.each_ref().map(|stream| stream.as_raw_handle())
    }

    /// One `CreateProcessW`. The process is in the job from its first instant.
    fn start(&self, program: &[u16], line: &mut [u16], job: &Job) -> io::Result<Started> {
        let (handles, jobs) = (self.handles(), [job.handle()]);
        let mut attributes = Attributes::new()?;
        attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
        attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
        // SAFETY: all zeroes are a valid structure of each kind. Program and line are
        // zero-terminated; they, the attributes and what those point to live through the call.
        // Success means that both handles are there and owned by nobody else.
        unsafe {
            let mut startup: STARTUPINFOEXW = zeroed();
            startup.StartupInfo.cb = size_of::<STARTUPINFOEXW>() as u32;
            startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
            startup.StartupInfo.hStdInput = handles[0];
            startup.StartupInfo.hStdOutput = handles[1];
            startup.StartupInfo.hStdError = handles[2];
            startup.lpAttributeList = attributes.pointer();
            let mut started: PROCESS_INFORMATION = zeroed();
            check(CreateProcessW(
                program.as_ptr(),
                line.as_mut_ptr(),
                null(),
                null(),
                1,
                EXTENDED_STARTUPINFO_PRESENT,
                null(),
                null(),
                (&raw const startup).cast(),
                &mut started,
            ))?;
            CloseHandle(started.hThread);
            let handle = OwnedHandle::from_raw_handle(started.hProcess);
            Ok(Started { handle, id: started.dwProcessId })
        }
    }
}

/// What a process is born with, beside its command line.
struct Attributes<'a> {
    list: Vec<usize>,
    values: PhantomData<&'a [HANDLE]>,
}

impl<'a> Attributes<'a> {
    /// Room for two.
    fn new() -> io::Result<Attributes<'a>> {
        let mut bytes = 0;
        // SAFETY: the first call only says how many bytes it takes, which the second one is given.
        unsafe {
            InitializeProcThreadAttributeList(null_mut(), 2, 0, &mut bytes);
            let mut list = vec![0usize; bytes.div_ceil(size_of::<usize>())];
            let place = list.as_mut_ptr().cast();
            check(InitializeProcThreadAttributeList(place, 2, 0, &mut bytes))?;
            Ok(Attributes { list, values: PhantomData })
        }
    }

    fn set(&mut self, attribute: u32, handles: &'a [HANDLE]) -> io::Result<()> {
        let (value, bytes) = (handles.as_ptr().cast(), size_of_val(handles));
        let list = self.pointer();
        // SAFETY: the list was initialised, and the handles outlive it.
        check(unsafe {
            UpdateProcThreadAttribute(list, 0, attribute as usize, value, bytes, null_mut(), null())
        })
    }

    fn pointer(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.list.as_mut_ptr().cast()
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        // SAFETY: the list was initialised.
        unsafe { DeleteProcThreadAttributeList(self.pointer()) };
    }
}

/// Waits until the process has ended; ends its job when it has to be.
fn wait_for_end(
    process: &OwnedHandle,
    job: &Job,
    order: &CommandOrder<'_>,
    start_ns: u64,
    interrupt: &Input,
) -> io::Result<Option<Killed>> {
    let mut killed = None;
    loop {
        // SAFETY: takes no pointer; the handle is open.
        match unsafe { WaitForSingleObject(process.as_raw_handle(), GLANCE_MS) } {
            WAIT_OBJECT_0 => return Ok(killed),
            WAIT_TIMEOUT => {}
            _ => return Err(io::Error::last_os_error()),
        }
        let ran_ns = now_ns() - start_ns;
        killed = order.why_to_kill(ran_ns, || interrupt.is_ready_within(Duration::ZERO)).or(killed);
        if killed.is_some() {
            job.end();
        }
    }
}

/// Ends what is left of the job beside the process of that id, which has ended; how many there
/// were. Files of theirs can be removed afterwards.
fn end_the_rest(job: &Job, ended: u32) -> usize {
    let others = || {
        let ids = job.processes().unwrap_or_default();
        ids.into_iter().filter(|id| *id != ended).count()
    };
    let left = others();
    let until = Instant::now() + LEAVING;
    while others() > 0 && Instant::now() < until {
        job.end();
        thread::sleep(Duration::from_millis(1));
    }
    left
}

/// What the job counted, and what it does not. Wine has the numbers and leaves them at zero, which
/// shows in the page faults: every program has some. The times that Wine 8 gives for any process
/// are those of the one that asks, so that there is nothing to fall back to.
fn usage_of(job: &Job) -> (Usage, &'static [&'static str]) {
    let totals = job.totals().unwrap_or_default();
    if totals.TotalPageFaultCount == 0 {
        return (Usage::default(), &["user", "system", "cpu", "switches"]);
    }
    // The system counts in units of 100 ns.
    let usage = Usage {
        user_ns: totals.TotalUserTime as u64 * 100,
        system_ns: totals.TotalKernelTime as u64 * 100,
        minor_faults: totals.TotalPageFaultCount.into(),
        ..Usage::default()
    };
    (usage, &["switches"])
}

/// Largest working set of a process that has ended; 0 where the system does not say.
fn peak_bytes(process: &OwnedHandle) -> u64 {
    let bytes = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: the structure has the size given; all zeroes is a valid one if the call fails.
    unsafe {
        let mut counters: PROCESS_MEMORY_COUNTERS = zeroed();
        K32GetProcessMemoryInfo(process.as_raw_handle(), &mut counters, bytes);
        counters.PeakWorkingSetSize as u64
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::super::pipe::pipe;
    use super::*;

    const LONG: u64 = 60_000_000_000;

    /// The words of a command that is this test binary doing one of the tests that are no tests.
    fn own(test: &str, more: &[&str]) -> Vec<String> {
        let this = env::current_exe().unwrap().into_os_string().into_string().unwrap();
        let name = format!("sys::windows::command::tests::{test}");
        let words = [&this, "--exact", &name, "--ignored", "--nocapture"];
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    }

    fn order(words: &[String], limit_ns: u64) -> CommandOrder<'_> {
        let (stdin, stdout, stderr) = (None, None, None);
        CommandOrder { words, stdin, stdout, stderr, limit_ns, output_limit: 1000 }
    }

    fn ordered(order: &CommandOrder<'_>) -> io::Result<CommandEnd> {
        // Nothing ever comes from the end of a pipe whose other end is held.
        let (reader, _writer) = pipe().unwrap();
        run_command(order, &Input::from(reader))
    }

    fn shell(line: &str) -> Vec<String> {
        ["cmd", "/d", "/c", line].map(str::to_owned).to_vec()
    }

    #[test]
    #[ignore = "what a test below runs"]
    fn sleeps() {
        print!("{}", "x".repeat(2000));
        io::stdout().flush().unwrap();
        thread::sleep(Duration::from_secs(60));
    }

    #[test]
    #[ignore = "what a test below runs"]
    fn leaves_a_child() {
        let words = own("sleeps", &[]);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdout(Stdio::null()).spawn().unwrap();
    }

    #[test]
    #[ignore = "what a test below runs"]
    fn works() {
        let start = now_ns();
        let mut sum = 0u64;
        while now_ns() - start < 100_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
    }

    #[test]
    #[ignore = "what a test below runs"]
    fn repeats_its_input() {
        io::copy(&mut io::stdin(), &mut io::stdout()).unwrap();
    }

    #[test]
    #[ignore = "what a test below runs"]
    fn says_its_words() {
        env::args().for_each(|word| println!("<{word}>"));
    }

    #[test]
    fn commands_run_to_their_end() {
        let words = shell("exit 3");
        let done = ordered(&order(&words, LONG)).unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert!(done.end_ns > done.start_ns && done.killed.is_none() && done.left == 0);
        let words = own("works", &[]);
        let done = ordered(&order(&words, LONG)).unwrap();
        assert!(done.status.success(), "{done:?}");
        // A figure, or the word that there is none.
        assert_ne!(done.usage.user_ns > 0, done.uncounted.contains(&"user"), "{done:?}");
        assert_eq!(done.usage.minor_faults > 0, done.usage.user_ns > 0, "{done:?}");
    }

    #[test]
    fn commands_are_ended_when_they_have_to_be() {
        let words = own("sleeps", &[]);
        let killed = |order: &CommandOrder<'_>| ordered(order).unwrap().killed;
        assert_eq!(killed(&order(&words, 1)), Some(Killed::TimedOut));
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let flood = CommandOrder { stdout: Some(&out), ..order(&words, LONG) };
        assert_eq!(killed(&flood), Some(Killed::Flooded));
        assert!(fs::read(&out).unwrap().len() > 1000);
        // Nobody has it open any more.
        fs::remove_file(&out).unwrap();
        let (reader, writer) = pipe().unwrap();
        drop(writer);
        let done = run_command(&order(&words, LONG), &Input::from(reader)).unwrap();
        assert_eq!(done.killed, Some(Killed::Interrupted));
    }

    #[test]
    fn what_a_command_leaves_is_counted_and_ended() {
        let words = own("leaves_a_child", &[]);
        let done = ordered(&order(&words, LONG)).unwrap();
        assert!(done.status.success() && done.left == 1, "{done:?}");
    }

    #[test]
    fn streams_are_files_or_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let [input, out] = ["in", "out"].map(|name| dir.path().join(name));
        fs::write(&input, "what is repeated").unwrap();
        let words = own("repeats_its_input", &[]);
        let order = CommandOrder { stdin: Some(&input), stdout: Some(&out), ..order(&words, LONG) };
        let repeated = |order: &CommandOrder<'_>| {
            let done = ordered(order).unwrap();
            assert!(done.status.success(), "{done:?}");
            fs::read_to_string(&out).unwrap().contains("what is repeated")
        };
        assert!(repeated(&order));
        assert!(!repeated(&CommandOrder { stdin: None, ..order }));
        // Where output goes nowhere it is no error to write.
        assert!(ordered(&CommandOrder { stdout: None, ..order }).unwrap().status.success());
    }

    #[test]
    fn words_arrive_as_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let out = dir.path().join("out");
        let odd = ["a b", "", "c\"d", "e\\", "f g\\", "h\\\"i j", "\\\\k", "l\tm", "'n'", "%o%"];
        let words = own("says_its_words", &odd);
        let order =
            CommandOrder { stdout: Some(&out), output_limit: 10_000, ..order(&words, LONG) };
        assert!(ordered(&order).unwrap().status.success());
        let said = fs::read_to_string(&out).unwrap();
        for word in odd {
            assert!(said.contains(&format!("<{word}>\n")), "{word} in {said}");
        }
    }

    #[test]
    fn what_cannot_be_started_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let error = |word: &str| {
            let words = [word.to_owned()];
            ordered(&order(&words, LONG)).unwrap_err()
        };
        let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(error("no-such-program").kind(), io::ErrorKind::NotFound);
        assert_eq!(error(&place("no-such.exe")).kind(), io::ErrorKind::NotFound);
        assert_eq!(error(&place("")).kind(), io::ErrorKind::PermissionDenied);
        for (name, text) in [("script", "#!/bin/sh\n"), ("elf", "\x7fELF"), ("empty.exe", "")] {
            fs::write(place(name), text).unwrap();
            assert!(is_no_program(&error(&place(name))), "{name}");
        }
        fs::write(place("x.bat"), "rem").unwrap();
        assert!(error(&place("x.bat")).to_string().contains("cmd /c"));
    }

    #[test]
    fn programs_are_found_without_their_ending() {
        let dir = tempfile::tempdir().unwrap();
        let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
        fs::write(place("tool"), "").unwrap();
        assert_eq!(find_program(&place("tool")), Some(place("tool").into()));
        for (name, found) in [("tool", "tool.exe"), ("tool.1", "tool.1.exe")] {
            fs::write(place(found), "").unwrap();
            assert_eq!(find_program(&place(name)), Some(place(found).into()));
        }
        assert!(find_program("cmd").unwrap().ends_with("cmd.exe"));
        assert_eq!(find_program("no-such-program"), None);
    }
}
