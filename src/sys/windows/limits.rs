//! Limits: none are read yet.

// Constructed once limits are read.
#[allow(dead_code)]
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    pub left: u64,
    pub limit: String,
}

pub fn process_room() -> Option<Room> {
    None
}

pub fn memory_room() -> Option<Room> {
    None
}
