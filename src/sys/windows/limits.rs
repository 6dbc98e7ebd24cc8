//! How many more processes and how much more memory are possible, and which limit decides that.

use std::mem::{size_of, zeroed};

use windows_sys::Win32::System::ProcessStatus::{K32GetPerformanceInfo, PERFORMANCE_INFORMATION};

use super::super::shared::types::Room;

/// None: Windows does not limit the number of processes, except by jobs of others, which are not
/// looked at.
pub fn process_room() -> Option<Room> {
    None
}

/// How many more bytes of memory can be used; none where the environment does not tell.
pub fn memory_room() -> Option<Room> {
    let found = performance()?;
    let bytes = |pages: usize| (pages * found.PageSize) as u64;
    let rooms = [
        (bytes(found.PhysicalAvailable), "available memory of the system"),
        (bytes(found.CommitLimit.saturating_sub(found.CommitTotal)), "commit limit of the system"),
    ];
    let (left, limit) = rooms.into_iter().min_by_key(|(left, _)| *left)?;
    Some(Room { left, limit: limit.into() })
}

/// What the system says of its memory, in pages, at this moment.
pub(super) fn performance() -> Option<PERFORMANCE_INFORMATION> {
    let bytes = size_of::<PERFORMANCE_INFORMATION>() as u32;
    // SAFETY: the structure has the size given, and all zeroes is a valid one.
    unsafe {
        let mut found: PERFORMANCE_INFORMATION = zeroed();
        (K32GetPerformanceInfo(&mut found, bytes) != 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_less_than_there_is() {
        let found = performance().unwrap();
        let room = memory_room().unwrap();
        assert!(room.left > 0 && room.left < (found.CommitLimit * found.PageSize) as u64);
    }
}
