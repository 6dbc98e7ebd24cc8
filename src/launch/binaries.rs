//! Finds the builds of envtax for other targets: an environment with another processor or system
//! needs its own agent.

use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::sys;

/// Names a folder with builds for other targets, which is searched first.
const VARIABLE: &str = "ENVTAX_AGENTS";

/// A target that an agent may be needed for.
pub(super) struct Target {
    /// Rust's name of it.
    pub(super) triple: &'static str,
    /// The binary's name in a release.
    pub(super) file: &'static str,
}

pub(super) const WINDOWS: Target = Target { triple: "x86_64-pc-windows-gnu", file: "envtax.exe" };
pub(super) const X86_64: Target =
    Target { triple: "x86_64-unknown-linux-musl", file: "envtax-x86_64" };
pub(super) const AARCH64: Target =
    Target { triple: "aarch64-unknown-linux-musl", file: "envtax-aarch64" };

/// The envtax binary for that target: in the folder that `ENVTAX_AGENTS` names, beside this binary
/// or in `../lib/envtax` as in a release, or where cargo puts it.
pub(super) fn find(target: &Target, agent: &str) -> Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let found = places(target, Path::new(agent), named).into_iter().find(|path| path.is_file());
    let path = found.with_context(|| {
        let Target { triple, file } = target;
        format!(
            "there is no `{file}`, the build of envtax for {triple}: put it beside this binary, \
             name its folder in {VARIABLE}, or build it with `cargo build --release --target \
             {triple}`"
        )
    })?;
    ensure!(
        begins_as(target, &sys::header_of(&path)),
        "`{}` is no build for {}; replace it",
        path.display(),
        target.triple
    );
    Ok(path)
}

/// The build for Linux on that processor; none if this binary is that build.
pub(super) fn find_linux(arch: &str, agent: &str) -> Result<Option<PathBuf>> {
    match arch {
        own if OS == "linux" && own == ARCH => Ok(None),
        "aarch64" => find(&AARCH64, agent).map(Some),
        _ => find(&X86_64, agent).map(Some),
    }
}

/// Whether a file with that header is a program for the target. A file that could not be read
/// passes.
fn begins_as(target: &Target, header: &[u8]) -> bool {
    // Bytes 18 and 19 of an ELF file name the machine (gABI chapter 4).
    let elf_of = |machine: u8| header.starts_with(b"\x7fELF") && header.get(18) == Some(&machine);
    match target.triple.split('-').next() {
        _ if header.is_empty() => true,
        _ if target.triple.contains("windows") => header.starts_with(b"MZ"),
        Some("aarch64") => elf_of(183),
        _ => elf_of(62),
    }
}

fn places(target: &Target, agent: &Path, named: Option<PathBuf>) -> Vec<PathBuf> {
    let beside = agent.parent().map(Path::to_owned);
    let library = beside.as_deref().and_then(Path::parent).map(|top| top.join("lib/envtax"));
    let folders = named.iter().chain(&beside).chain(&library);
    let mut places: Vec<PathBuf> = folders.map(|folder| folder.join(target.file)).collect();
    // target/TRIPLE/PROFILE/envtax
    if let Some((profile, targets)) = beside.as_deref().and_then(|profile| {
        let targets = profile.parent()?.parent()?;
        Some((profile.file_name()?, targets))
    }) {
        let name = if target.file.ends_with(".exe") { "envtax.exe" } else { "envtax" };
        for profile in [Path::new(profile), Path::new("release")] {
            places.push(targets.join(target.triple).join(profile).join(name));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_looked_for_where_they_are() {
        let agent = Path::new("/w/target/x86_64-unknown-linux-musl/debug/envtax");
        let found = places(&WINDOWS, agent, Some("/own".into()));
        let expected = [
            "/own/envtax.exe",
            "/w/target/x86_64-unknown-linux-musl/debug/envtax.exe",
            "/w/target/x86_64-unknown-linux-musl/lib/envtax/envtax.exe",
            "/w/target/x86_64-pc-windows-gnu/debug/envtax.exe",
            "/w/target/x86_64-pc-windows-gnu/release/envtax.exe",
        ];
        assert_eq!(found, expected.map(PathBuf::from));
        let error = find(&AARCH64, "/no/such/envtax").unwrap_err().to_string();
        assert!(
            error.contains("aarch64-unknown-linux-musl") && error.contains(VARIABLE),
            "{error}"
        );
        let elf = [&b"\x7fELF"[..], &[2, 1, 1, 0], &[0; 8], &[2, 0, 183, 0]].concat();
        assert!(begins_as(&AARCH64, &elf) && begins_as(&WINDOWS, b"MZ\x90"));
        assert!(!begins_as(&X86_64, &elf) && !begins_as(&WINDOWS, &elf));
    }
}
