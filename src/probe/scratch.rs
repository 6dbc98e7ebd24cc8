//! Where a block may leave files, and how they are gone again.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cleanup::leftovers;

/// The block's own folder, made when a probe first asks for it and removed when dropped.
pub struct Scratch {
    path: PathBuf,
    /// Says that the folder is in use, from its making on.
    held: OnceCell<Option<File>>,
}

impl Scratch {
    /// Nothing is made until a probe asks.
    pub fn at(path: PathBuf) -> Scratch {
        Scratch { path, held: OnceCell::new() }
    }

    /// Makes the folder if it is not there yet. Errors name the target directory.
    pub fn folder(&self) -> Result<&Path> {
        if !self.path.exists() {
            let parent = self.path.parent().unwrap_or(&self.path).display().to_string();
            fs::create_dir(&self.path)
                .with_context(|| format!("making a scratch folder in `{parent}`"))?;
            self.held.get_or_init(|| leftovers::hold(&self.path));
        }
        Ok(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now, the agent tries again when it sees the folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}
