//! What the libraries of a program cost its start and its exit: which it loads, programs that need
//! some of them and do nothing, and rounds in which these are started in turn.
//!
//! May use `cleanup`, `inside`, `model`, `stats`, `sys` and `units`. Must not know environments,
//! probes or run files, and must not start the program itself.

pub mod closure;
mod costs;
mod imports;
pub mod listing;
mod rounds;
mod text;

use anyhow::{Context, Result, ensure};

use self::closure::{Closure, by_loader, headers_of};
pub use costs::costs;
pub use rounds::{Rules, measure};
pub use text::text;

use crate::sys;

/// Finds the libraries of the program of that name or path. An error says why it has none that can
/// be measured here.
pub fn closure(word: &str) -> Result<Closure> {
    let program = sys::find_program(word).filter(|path| path.exists());
    let program = program.with_context(|| format!("there is no program `{word}`"))?;
    ensure!(program.is_file(), "`{}` is no file", program.display());
    let headers = headers_of(&program)?;
    if let Some(folders) = sys::library_folders(&program) {
        let own = std::env::current_exe().context("finding the path of envtax itself")?;
        let own_folders = sys::library_folders(&own).unwrap_or_default();
        return imports::closure(program, headers, &folders, &own, &own_folders);
    }
    by_loader(program, headers)
}
