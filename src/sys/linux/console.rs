//! The terminal that the user sees.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Whether the terminal on standard output obeys escape sequences: all of them do.
pub fn takes_escapes() -> bool {
    true
}

/// Does nothing: a terminal that is closed sends a signal.
pub fn end_in_order_when_closed(_interrupted: Option<Arc<AtomicBool>>) {}
