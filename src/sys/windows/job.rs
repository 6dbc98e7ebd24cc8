//! Job objects: processes that are counted, and ended, together.

use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, HANDLE};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION,
    JOBOBJECT_BASIC_PROCESS_ID_LIST, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JOBOBJECTINFOCLASS,
    JobObjectBasicAccountingInformation, JobObjectBasicAndIoAccountingInformation,
    JobObjectBasicProcessIdList, JobObjectExtendedLimitInformation, QueryInformationJobObject,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::{check, check_handle};

/// Most ids that are asked for at once: far more than commands leave behind.
const MOST_IDS: usize = 1000;

/// A job that ends all its processes when its handle is closed, which is also when this process
/// dies.
pub(super) struct Job(OwnedHandle);

impl Job {
    pub(super) fn new() -> io::Result<Job> {
        // SAFETY: a job without name and attributes; its handle is owned by nobody else. The limits
        // are a whole structure of the size given, in which all zeroes mean no limit.
        unsafe {
            let job = check_handle(CreateJobObjectW(null(), null()))?;
            let job = OwnedHandle::from_raw_handle(job);
            let mut limits: JOBOBJECT_EXTENDED_LIMIT_INFORMATION = zeroed();
            limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
            check(SetInformationJobObject(
                job.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
            ))?;
            Ok(Job(job))
        }
    }

    /// Puts this process into the job: what it starts from here on belongs to the job.
    pub(super) fn join(&self) -> io::Result<()> {
        // SAFETY: both handles are open; that of the own process is a constant.
        check(unsafe { AssignProcessToJobObject(self.handle(), GetCurrentProcess()) })
    }

    /// Valid as long as the job is.
    pub(super) fn handle(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    /// Ends all its processes, which takes a moment.
    pub(super) fn end(&self) {
        // SAFETY: the handle is the job's own. There is nobody to tell that it did not work: the
        // caller sees what is still there.
        unsafe { TerminateJobObject(self.handle(), 1) };
    }

    /// What all its processes used so far, ended ones included.
    pub(super) fn totals(&self) -> io::Result<JOBOBJECT_BASIC_ACCOUNTING_INFORMATION> {
        // SAFETY: the structure is that of this class.
        unsafe { self.query(JobObjectBasicAccountingInformation) }
    }

    /// Bytes that all its processes asked to read and to write so far, by any system call that
    /// transfers bytes.
    pub(super) fn transferred(&self) -> io::Result<(u64, u64)> {
        // SAFETY: the structure is that of this class.
        let totals: JOBOBJECT_BASIC_AND_IO_ACCOUNTING_INFORMATION =
            unsafe { self.query(JobObjectBasicAndIoAccountingInformation)? };
        Ok((totals.IoInfo.ReadTransferCount, totals.IoInfo.WriteTransferCount))
    }

    /// Its living processes, at most [`MOST_IDS`] of them.
    pub(super) fn processes(&self) -> io::Result<Vec<u32>> {
        const HEAD: usize = offset_of!(JOBOBJECT_BASIC_PROCESS_ID_LIST, ProcessIdList);
        const WORDS: usize = HEAD.div_ceil(size_of::<usize>());
        let mut buffer = vec![0usize; WORDS + MOST_IDS];
        let bytes = (buffer.len() * size_of::<usize>()) as u32;
        // SAFETY: the buffer has the alignment of the structure and the size given, and its ids
        // follow each other from where the first one is.
        unsafe {
            let list: *mut JOBOBJECT_BASIC_PROCESS_ID_LIST = buffer.as_mut_ptr().cast();
            let asked = check(QueryInformationJobObject(
                self.handle(),
                JobObjectBasicProcessIdList,
                list.cast(),
                bytes,
                null_mut(),
            ));
            match asked {
                Err(error) if error.raw_os_error() != Some(ERROR_MORE_DATA as i32) => Err(error),
                _ => {
                    let known = ((*list).NumberOfProcessIdsInList as usize).min(MOST_IDS);
                    let first = (&raw const (*list).ProcessIdList).cast::<usize>();
                    let ids = std::slice::from_raw_parts(first, known);
                    Ok(ids.iter().map(|id| *id as u32).collect())
                }
            }
        }
    }

    /// # Safety
    /// `T` is the structure of that class, of which all zeroes are a valid one.
    unsafe fn query<T>(&self, class: JOBOBJECTINFOCLASS) -> io::Result<T> {
        // SAFETY: the structure has the size given and lives through the call.
        unsafe {
            let mut found: T = zeroed();
            let bytes = size_of::<T>() as u32;
            let place = (&raw mut found).cast();
            check(QueryInformationJobObject(self.handle(), class, place, bytes, null_mut()))?;
            Ok(found)
        }
    }
}
