//! Prepares the re-enactment of a recording: a script of instructions, and a tree of stand-in
//! files. The processes that carry it out are in `sys`.
//!
//! May use `model`, `recording` and `sys`. Must not write outside the folder it is given.

mod calibrate;
mod change;
mod compile;
mod layout;
mod own_faults;
mod tree;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

pub use calibrate::calibrate;
pub use change::{Change, changed};
pub use compile::{Compiled, Options, compile};
use own_faults::OwnFaults;
pub use tree::{bytes_needed, depth_of, make_tree, pages_needed, restore};

use crate::recording::Recording;

/// Names in the folder of a re-enactment.
pub const SCRIPT: &str = "script";
pub const TREE: &str = "t";
pub const PROGRAM: &str = "envtax";
/// A copy of the recording, from which the tree is restored.
pub const COPY: &str = "recording";

/// Bytes of mapped files around one that is touched.
const STRETCH: u64 = 64 << 10;

/// Makes everything that a re-enactment needs, in an empty folder: the tree, the script, and this
/// program.
pub fn prepare(recording: &Recording, options: &Options, folder: &Path) -> Result<Compiled> {
    make_tree(recording, &folder.join(TREE)).context("making the stand-in files")?;
    let own = std::env::current_exe().context("finding the path of envtax itself")?;
    let copy = folder.join(PROGRAM);
    fs::copy(&own, &copy).with_context(|| format!("copying envtax to `{}`", copy.display()))?;
    let depth = depth_of(&folder.join(TREE));
    let own = OwnFaults::count(folder)?;
    let compiled = compile(recording, &Options { depth, own, ..options.clone() });
    let path = folder.join(SCRIPT);
    let mut file = File::create(&path).with_context(|| format!("making `{}`", path.display()))?;
    let mut bytes = compiled.script.to_bytes();
    // Stretches of this file are touched in place of those of programs and libraries.
    let least = u64::from(compiled.most_stretches) * STRETCH;
    bytes.resize(bytes.len().max(least as usize), 1);
    file.write_all(&bytes)?;
    let path = folder.join(COPY);
    let file = File::create(&path).with_context(|| format!("making `{}`", path.display()))?;
    crate::recording::write(recording, file)?;
    Ok(compiled)
}
