//! The folder in which a block may leave files, and its removal.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cleanup::leftovers;

/// The block's own folder, made when a probe first asks for it and removed when dropped.
pub struct Scratch {
    path: PathBuf,
    /// A lock that marks the folder as used, from its creation on.
    held: OnceCell<Option<File>>,
}

impl Scratch {
    /// Makes no folder yet: that happens when a probe first asks for it.
    pub fn at(path: PathBuf) -> Scratch {
        Scratch { path, held: OnceCell::new() }
    }

    /// The folder, made now if it does not exist yet. Errors name the target directory.
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
        // What cannot be removed now, the agent removes later, when it finds the folder.
        let _ = fs::remove_dir_all(&self.path);
    }
}
