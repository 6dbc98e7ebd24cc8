//! The folder in which a block may leave files, and its removal.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::cleanup::leftovers;
use crate::sys;

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

    /// The folder, made now if this was not done yet. One that somebody else made is an error.
    /// Errors name the target directory.
    pub fn folder(&self) -> Result<&Path> {
        if self.held.get().is_none() {
            let parent = self.path.parent().unwrap_or(&self.path).display().to_string();
            sys::make_private_folder(&self.path)
                .with_context(|| format!("making a scratch folder in `{parent}`"))?;
            self.held.get_or_init(|| leftovers::hold(&self.path));
        }
        Ok(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now, the agent removes later, when it finds the folder.
        if self.held.get().is_some() {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_neither_used_nor_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scratch");
        let own = Scratch::at(path.clone());
        assert!(own.folder().is_ok() && own.folder().is_ok(), "made once, and used again");
        let other = Scratch::at(path.clone());
        let error = format!("{:#}", other.folder().unwrap_err());
        assert!(error.contains("scratch folder in") && error.contains("xist"), "{error}");
        drop(other);
        assert!(path.is_dir());
        drop(own);
        assert!(!path.exists());
        // Nor is what a link of that name leads to.
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        sys::make_link(&elsewhere, &path).unwrap();
        let linked = Scratch::at(path.clone());
        assert!(linked.folder().is_err());
        drop(linked);
        assert!(elsewhere.is_dir() && path.is_symlink());
    }
}
