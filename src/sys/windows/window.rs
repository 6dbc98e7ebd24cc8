//! Calls of the window system (user32), which is loaded on demand: programs without windows must
//! not carry its weight.

use std::ffi::c_void;
use std::io;
use std::mem::{MaybeUninit, transmute};

use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LoadLibraryW};

use super::wide;

/// `PeekMessageW`: message, window, first and last kind of message, what to do with it.
type Peek = unsafe extern "system" fn(*mut c_void, *mut c_void, u32, u32, u32) -> i32;
/// `MSG` has 48 bytes on 64-bit systems.
type Message = [u64; 8];

/// The desktop's window.
pub(super) struct Desktop {
    window: *mut c_void,
    peek: Peek,
}

impl Desktop {
    /// Loads user32 and asks for the desktop's window.
    pub(super) fn open() -> io::Result<Desktop> {
        let name = wide("user32.dll".as_ref())?;
        // SAFETY: names are zero-terminated; the functions are those of that name, with the types
        // that the system's documents give them, and stay where they are.
        unsafe {
            let library = LoadLibraryW(name.as_ptr());
            if library.is_null() {
                return Err(io::Error::last_os_error());
            }
            let function = |name: &std::ffi::CStr| {
                GetProcAddress(library, name.as_ptr().cast()).ok_or_else(io::Error::last_os_error)
            };
            let desktop: unsafe extern "system" fn() -> *mut c_void =
                transmute(function(c"GetDesktopWindow")?);
            let peek: Peek = transmute(function(c"PeekMessageW")?);
            Ok(Desktop { window: desktop(), peek })
        }
    }

    /// One `PeekMessageW`, which leaves messages where they are.
    #[inline]
    pub(super) fn peek(&self) {
        let mut message = MaybeUninit::<Message>::uninit();
        // SAFETY: the memory has room for a message.
        unsafe { (self.peek)(message.as_mut_ptr().cast(), self.window, 0, 0, 0) };
    }
}
