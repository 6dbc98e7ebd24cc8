//! The libraries of a program of Windows, as its import tables and those of its libraries name
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::closure::{Closure, Library, headers_of};
use crate::inside::program::Headers;
use crate::model::Failure;

/// The most libraries that are followed.
const MOST: usize = 1000;
/// Names of contracts of the system, which are no files: other libraries fulfil them.
const CONTRACTS: [&str; 2] = ["api-ms-", "ext-ms-"];

/// The closure of a program of this machine, whose libraries are in these folders. Those that `own`
/// has, the program of the processes that load them, with folders of its own, are not measured.
pub fn closure(
    program: PathBuf,
    headers: Headers,
    folders: &[PathBuf],
    own: &Path,
    own_folders: &[PathBuf],
) -> Result<Closure> {
    check(&program, &headers)?;
    let present = found(&headers_of(own)?.libraries, own_folders)?;
    let present: BTreeSet<String> = present.into_iter().map(|it| it.0).chain(always()).collect();
    let all = found(&headers.libraries, folders)?;
    let kept: Vec<&(String, PathBuf, Headers)> =
        all.iter().filter(|(name, ..)| !present.contains(name)).collect();
    let place = |name: &String| {
        let name = name.to_lowercase();
        kept.iter().position(|(known, ..)| *known == name)
    };
    let libraries = kept.iter().map(|(name, path, headers)| Library {
        name: name.clone(),
        path: path.clone(),
        needs: headers.libraries.iter().filter_map(place).collect(),
    });
    let both = all.iter().filter(|(name, ..)| present.contains(name));
    Ok(Closure {
        libraries: libraries.collect(),
        imports: headers.libraries.iter().filter_map(place).collect(),
        present: both.map(|(name, ..)| name.clone()).collect(),
        delayed: headers.delayed,
        loader: None,
        program,
    })
}

/// Libraries that the system maps into every process.
fn always() -> impl Iterator<Item = String> {
    ["ntdll.dll", "kernel32.dll", "kernelbase.dll"].map(str::to_owned).into_iter()
}

/// Whether it is a program that processes of this machine can load the libraries of.
fn check(program: &Path, headers: &Headers) -> Result<()> {
    let shown = program.display();
    let fact = |name: &str| headers.facts.get(name).map_or("", String::as_str);
    match fact("format") {
        "PE32+" => {}
        "PE32" => bail!(
            "`{shown}` is a 32-bit program: the processes that envtax makes to load its libraries \
             have 64 bits"
        ),
        "ELF32" | "ELF64" => {
            bail!("`{shown}` is a program of Linux: measure it there, with `envtax deps`")
        }
        "script" => bail!(
            "`{shown}` is a script: its libraries are those of its interpreter, `{}`",
            fact("interpreter")
        ),
        other => bail!("`{shown}` is no program that is linked with libraries ({other})"),
    }
    let machine = std::env::consts::ARCH.replace('_', "-");
    ensure!(
        fact("machine") == machine,
        "`{shown}` is for {} processors, and this machine has {machine}: measure it on such a \
         machine",
        fact("machine")
    );
    ensure!(
        !headers.libraries.is_empty(),
        "`{shown}` imports from no library, so none costs its start"
    );
    Ok(())
}

/// The libraries of these names, and what they need, in the order in which they are met: names in
/// small letters, paths and headers.
fn found(names: &[String], folders: &[PathBuf]) -> Result<Vec<(String, PathBuf, Headers)>> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(String, PathBuf, Headers)> = Vec::new();
    let mut open: Vec<(String, Option<String>)> =
        names.iter().map(|name| (name.to_lowercase(), None)).collect();
    let mut next = 0;
    while next < open.len() && found.len() < MOST {
        let (name, by) = open[next].clone();
        next += 1;
        let contract = CONTRACTS.iter().any(|begin| name.starts_with(begin));
        if contract || !seen.insert(name.clone()) {
            continue;
        }
        // A name is no path: what has separators in it would lead out of the folders.
        let plain = !name.contains(['/', '\\', ':']);
        let mut places = folders.iter().map(|folder| folder.join(&name));
        let Some(path) = places.find(|path| plain && path.is_file()) else {
            let by = by.map_or("the program".to_owned(), |by| format!("`{by}`"));
            let text = format!("the library `{name}`, which {by} imports from, is not found");
            let remedy = "put it beside the program, or its folder on the search path";
            return Err(Failure::new(text).or_remedy(remedy).into());
        };
        let headers = headers_of(&path)?;
        let needs = headers.libraries.iter().map(|need| (need.to_lowercase(), Some(name.clone())));
        open.extend(needs);
        found.push((name, path, headers));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::sys::pe::{HEADERS, Image, SECTION};

    /// A library that imports from these.
    fn importing(names: &[&str]) -> Vec<u8> {
        let table = 20 * (names.len() as u32 + 1);
        let (mut section, mut texts) = (Vec::new(), Vec::new());
        for name in names {
            let at = SECTION + table + texts.len() as u32;
            // No table of functions: only the name is read.
            let descriptor = [SECTION, 0, 0, at, SECTION];
            section.extend(descriptor.iter().flat_map(|number| number.to_le_bytes()));
            texts.extend([name.as_bytes(), &[0]].concat());
        }
        section.extend([0; 20]);
        section.extend(texts);
        let directories = &[(1, SECTION, table)];
        let image = Image { section: &section, library: true, entry: 0, directories };
        image.file::<{ 2 * HEADERS }>().to_vec()
    }

    #[test]
    fn libraries_are_followed_through_the_folders() {
        let (own, system) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let put = |folder: &Path, name: &str, needs: &[&str]| {
            fs::write(folder.join(name), importing(needs)).unwrap();
        };
        put(system.path(), "user.dll", &["GDI.dll", "base.dll", "api-ms-win-core-l1.dll"]);
        put(system.path(), "gdi.dll", &["user.dll"]);
        put(system.path(), "base.dll", &[]);
        put(own.path(), "base.dll", &[]);
        let folders = [own.path().to_owned(), system.path().to_owned()];
        let all = found(&["User.dll".to_owned()], &folders).unwrap();
        let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["user.dll", "gdi.dll", "base.dll"]);
        assert!(all[2].1.starts_with(own.path()), "the program's own folder comes first");
        put(system.path(), "gdi.dll", &["gone.dll"]);
        let missing = found(&["User.dll".to_owned()], &folders).unwrap_err().to_string();
        assert!(missing.contains("`gone.dll`, which `gdi.dll` imports"), "{missing}");
        put(system.path(), "gdi.dll", &["..\\base.dll"]);
        assert!(found(&["User.dll".to_owned()], &folders).is_err(), "a path is no name");
    }
}
