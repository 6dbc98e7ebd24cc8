//! Which pages of a file are in the cache: not built for Windows.

use std::fs::File;
use std::io;

use super::not_here;

#[derive(Clone, Copy, Debug)]
pub enum CacheView {}

impl CacheView {
    pub const ALL: [CacheView; 0] = [];

    pub fn name(self) -> &'static str {
        match self {}
    }

    pub fn brings_in(self) -> bool {
        match self {}
    }

    pub fn resident(self, _file: &File) -> io::Result<(u64, u64)> {
        match self {}
    }
}

pub fn evict(_file: &File) -> io::Result<()> {
    not_here("Windows does not say what of a file is in the cache")
}

pub const DROP_CACHES: &str = "the standby list";

pub fn may_drop_caches() -> io::Result<()> {
    not_here("Windows does not say what of a file is in the cache")
}

pub fn drop_caches() -> io::Result<()> {
    not_here("Windows does not say what of a file is in the cache")
}
