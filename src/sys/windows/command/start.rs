//! Starts the process of a command with its standard streams and its job.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::mem::{size_of, size_of_val, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{
    CloseHandle, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::System::Threading::{
    CreateProcessW, DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT,
    InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION,
    STARTF_USESTDHANDLES, STARTUPINFOEXW, UpdateProcThreadAttribute,
};

use super::super::super::shared::command::CommandOrder;
use super::super::check;
use super::super::job::Job;

/// A device that is empty and takes whatever is written.
const NOTHING: &str = "NUL";

/// The standard streams of a command; it inherits nothing else of this process.
pub(super) struct Streams([File; 3]);

/// A process that was started.
pub(super) struct Started {
    pub handle: OwnedHandle,
    pub id: u32,
}

impl Streams {
    pub(super) fn open(order: &CommandOrder<'_>) -> io::Result<Streams> {
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
    pub(super) fn start(
        &self,
        program: &[u16],
        line: &mut [u16],
        job: &Job,
    ) -> io::Result<Started> {
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

/// Attributes that a process is created with.
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
