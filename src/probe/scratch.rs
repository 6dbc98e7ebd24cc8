//! Where a block may leave files, and how they are gone again.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The block's own folder, made when a probe first asks for it and removed when dropped.
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Nothing is made until a probe asks.
    pub fn at(path: PathBuf) -> Scratch {
        Scratch { path }
    }

    /// Makes the folder if it is not there yet. Errors name the target directory.
    pub fn folder(&self) -> Result<&Path> {
        if !self.path.exists() {
            let parent = self.path.parent().unwrap_or(&self.path).display().to_string();
            fs::create_dir(&self.path)
                .with_context(|| format!("making a scratch folder in `{parent}`"))?;
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
