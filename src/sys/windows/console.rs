//! The console: escape sequences, the closing of its window, and windows that must not appear.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::System::Console::{
    CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT, ENABLE_VIRTUAL_TERMINAL_PROCESSING,
    GetConsoleCP, GetConsoleMode, GetStdHandle, STD_OUTPUT_HANDLE, SetConsoleCtrlHandler,
    SetConsoleMode,
};
use windows_sys::Win32::System::Threading::CREATE_NO_WINDOW;

use super::facts::wine_version;

/// Whether the console on standard output obeys escape sequences from now on: since Windows 10.
pub fn takes_escapes() -> bool {
    let mut mode = 0;
    // SAFETY: the mode lives through the call; what is no console is answered with an error.
    unsafe {
        let output = GetStdHandle(STD_OUTPUT_HANDLE);
        GetConsoleMode(output, &mut mode) != 0
            && SetConsoleMode(output, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0
    }
}

/// What is set when the window closes, in the process that the user started.
static INTERRUPTED: OnceLock<Option<Arc<AtomicBool>>> = OnceLock::new();

/// Lets this process end in order when its window is closed, or the user logs off: `interrupted`
/// is set, and the system waits some seconds for the end. Without it, the process waits for its
/// starter to end it. For the first call of a process only.
pub fn end_in_order_when_closed(interrupted: Option<Arc<AtomicBool>>) {
    if INTERRUPTED.set(interrupted).is_ok() {
        // SAFETY: the function stays where it is, and touches only what any thread may touch.
        unsafe { SetConsoleCtrlHandler(Some(hear), 1) };
    }
}

/// The system ends the process when this returns, and otherwise after some seconds.
unsafe extern "system" fn hear(event: u32) -> i32 {
    if !is_closing(event) {
        return 0;
    }
    if let Some(Some(flag)) = INTERRUPTED.get() {
        flag.store(true, Ordering::Relaxed);
    }
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

fn is_closing(event: u32) -> bool {
    [CTRL_CLOSE_EVENT, CTRL_LOGOFF_EVENT, CTRL_SHUTDOWN_EVENT].contains(&event)
}

/// The flag with which a child opens no window: where this process has no console, it would get one
/// of its own. What the child starts shares its console. Wine opens no windows for it, but would
/// start one more process.
pub(super) fn no_window() -> u32 {
    // SAFETY: takes nothing.
    let has_console = unsafe { GetConsoleCP() } != 0;
    if has_console || wine_version().is_some() { 0 } else { CREATE_NO_WINDOW }
}

#[cfg(test)]
mod tests {
    use windows_sys::Win32::System::Console::CTRL_C_EVENT;

    use super::*;

    #[test]
    fn closing_the_window_interrupts_and_ctrl_c_is_left_to_others() {
        let interrupted = Arc::new(AtomicBool::new(false));
        end_in_order_when_closed(Some(interrupted.clone()));
        // SAFETY: called as the system calls it.
        assert_eq!(unsafe { hear(CTRL_C_EVENT) }, 0);
        assert!(!interrupted.load(Ordering::Relaxed));
        // It never returns: the system ends the process meanwhile.
        // SAFETY: as above.
        thread::spawn(|| unsafe { hear(CTRL_CLOSE_EVENT) });
        while !interrupted.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }

    #[test]
    fn what_is_no_console_takes_no_escapes() {
        // Tests run with their output in a pipe or a file.
        assert!(!takes_escapes() || std::io::IsTerminal::is_terminal(&std::io::stdout()));
    }
}
