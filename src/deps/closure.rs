//! The libraries that a program loads, directly and through each other, as its own loader finds
//! them; and which of them need which.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::listing::{Listed, read_listing};
use crate::cleanup::child::{self, Output};
use crate::inside::program::{self, Headers};
use crate::model::{Facts, Failure};

/// How long the loader may take to list the libraries.
const LIMIT: Duration = Duration::from_secs(20);
/// The most bytes that it may print.
const LONGEST: u64 = 4 << 20;

/// A library that the program loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The name by which it is asked for.
    pub name: String,
    pub path: PathBuf,
    /// Indices of the libraries that it needs itself, in its order.
    pub needs: Vec<usize>,
}

/// All libraries of a program, in the order in which its loader maps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    pub program: PathBuf,
    /// The loader of libraries that the program names; none on Windows, where it is the system's.
    pub loader: Option<PathBuf>,
    pub libraries: Vec<Library>,
    /// Indices of those that the program itself asks for, in its order.
    pub imports: Vec<usize>,
    /// Names of libraries that are loaded only when they are first used, and are not measured.
    pub delayed: Vec<String>,
    /// Names of libraries that every process has which envtax starts, and which have no figure.
    pub present: Vec<String>,
}

/// The closure of a program of this machine, by the loader that it names.
pub(super) fn by_loader(program: PathBuf, headers: Headers) -> Result<Closure> {
    let loader = PathBuf::from(loader_of(&program, &headers.facts)?);
    let listed = list(&loader, &program, &headers)?;
    link(program, loader, headers, listed)
}

pub(super) fn headers_of(path: &Path) -> Result<Headers> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("opening `{shown}`"))?;
    let damaged = || {
        format!(
            "`{shown}` is no program, or its headers are damaged: `file {shown}` says what it is"
        )
    };
    program::read(file).with_context(damaged)
}

/// The loader that the program names, if it is a dynamic program of this machine.
fn loader_of<'a>(program: &Path, facts: &'a Facts) -> Result<&'a str> {
    let shown = program.display();
    let fact = |name: &str| facts.get(name).map_or("", String::as_str);
    let machine = std::env::consts::ARCH.replace('_', "-");
    match fact("format") {
        "script" => {
            let interpreter = fact("interpreter");
            let words: Vec<&str> = interpreter.split_whitespace().collect();
            let by_env = words.first().is_some_and(|word| word.ends_with("/env"));
            let program = words.get(usize::from(by_env)).copied().unwrap_or("INTERPRETER");
            bail!(
                "`{shown}` is a script: its libraries are those of its interpreter, \
                 `envtax deps {program}`"
            )
        }
        "PE32" | "PE32+" => bail!(
            "`{shown}` is a program of Windows: measure it there, or under Wine, with \
             `envtax.exe deps`"
        ),
        "ELF32" => bail!(
            "`{shown}` is a 32-bit program: the processes that envtax makes to load its libraries \
             have 64 bits"
        ),
        "ELF64" => {}
        other => bail!("`{shown}` is no program that is linked with libraries ({other})"),
    }
    ensure!(
        fact("machine") == machine,
        "`{shown}` is for {} processors, and this machine has {machine}: measure it on such a \
         machine",
        fact("machine")
    );
    let loader = facts.get("interpreter").map(String::as_str).filter(|path| !path.is_empty());
    let loader = loader.with_context(|| {
        format!("`{shown}` is linked statically: it loads no library, so none costs its start")
    })?;
    ensure!(
        Path::new(loader).is_file(),
        "the loader `{loader}`, which `{shown}` names, is not there: install the C library that \
         the program was built for"
    );
    Ok(loader)
}

/// What the loader says it would load for the program, whose code it does not run.
fn list(loader: &Path, program: &Path, headers: &Headers) -> Result<Vec<Listed>> {
    let (listed, output) = ask(loader, program)?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let whole = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut missing: Vec<&str> =
        listed.iter().filter(|it| it.path.is_none()).map(|it| it.name.as_str()).collect();
    missing.extend(errors.lines().find_map(missing_in));
    if !missing.is_empty() {
        let text = format!(
            "`{}` does not start here: its loader does not find {}",
            program.display(),
            missing.join(", ")
        );
        let remedy = "install the package that has it, or name its folder in LD_LIBRARY_PATH";
        return Err(Failure::new(text).or_remedy(remedy).into());
    }
    if output.status.success() && (!listed.is_empty() || headers.libraries.is_empty()) {
        return Ok(listed);
    }
    let by_hand = format!("{} --list {}", loader.display(), whole.display());
    let text = format!("the loader of `{}` cannot list its libraries", program.display());
    Err(Failure::new(text).printed(errors.lines().take(3)).by_hand(by_hand).into())
}

/// The libraries that this loader would load for the program, and all that it printed.
pub(super) fn ask(loader: &Path, program: &Path) -> Result<(Vec<Listed>, Output)> {
    let whole = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let mut command = Command::new(loader);
    command.arg("--list").arg(&whole).stdin(Stdio::null());
    let output = child::output_within(command, LIMIT, LONGEST)
        .with_context(|| format!("asking `{}` for the libraries", loader.display()))?;
    Ok((read_listing(&String::from_utf8_lossy(&output.stdout)), output))
}

/// The library that the loader of glibc or musl complains about in this line.
fn missing_in(line: &str) -> Option<&str> {
    let before = ["loading shared libraries: ", "loading shared library "];
    let rest = before.iter().find_map(|text| Some(line.split_once(text)?.1))?;
    let (name, why) = rest.split_once(": ")?;
    let unfound = ["cannot open shared object", "No such file"];
    unfound.iter().any(|text| why.starts_with(text)).then_some(name)
}

/// Connects the libraries of the list by the names that they ask for. The loader itself is none of
/// them: every program has it.
fn link(
    program: PathBuf,
    loader: PathBuf,
    headers: Headers,
    listed: Vec<Listed>,
) -> Result<Closure> {
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let own_loader = real(&loader);
    let mut found: Vec<(String, PathBuf, Headers)> = Vec::new();
    for Listed { name, path } in listed {
        let Some(path) = path.filter(|path| real(path) != own_loader) else { continue };
        let headers = headers_of(&path)?;
        found.push((name, path, headers));
    }
    let index = |name: &String| {
        let same = |(known, path, _): &&(String, PathBuf, Headers)| {
            known == name || path.to_str() == Some(name)
        };
        found.iter().position(|it| same(&it))
    };
    let imports = headers.libraries.iter().filter_map(index).collect();
    let libraries = found.iter().map(|(name, path, headers)| Library {
        name: name.rsplit('/').next().unwrap_or(name).to_owned(),
        path: path.clone(),
        needs: headers.libraries.iter().filter_map(index).collect(),
    });
    let libraries = libraries.collect();
    let delayed = headers.delayed;
    let (loader, present) = (Some(loader), Vec::new());
    Ok(Closure { program, loader, libraries, imports, delayed, present })
}

impl Closure {
    /// The libraries with everything that they need.
    pub fn with_needs(&self, roots: &[usize]) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = roots.to_vec();
        while let Some(index) = open.pop() {
            if seen.insert(index) {
                open.extend(&self.libraries[index].needs);
            }
        }
        seen
    }

    /// All libraries, each after those that it needs: the order in which loaders initialise them.
    /// In a circle, the one that was asked for first comes last.
    pub fn by_need(&self) -> Vec<usize> {
        let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
        for root in (0..self.libraries.len()).rev() {
            // A library, and how many of its needs were visited.
            let mut path = vec![(root, 0)];
            if !seen.insert(root) {
                continue;
            }
            while let Some((index, next)) = path.last_mut() {
                match self.libraries[*index].needs.get(*next) {
                    Some(need) => {
                        *next += 1;
                        let need = *need;
                        if seen.insert(need) {
                            path.push((need, 0));
                        }
                    }
                    None => {
                        order.push(*index);
                        path.pop();
                    }
                }
            }
        }
        order
    }

    /// What is no longer loaded when the program does not ask for `import` any more.
    pub fn goes_with(&self, import: usize) -> BTreeSet<usize> {
        let others: Vec<usize> =
            self.imports.iter().copied().filter(|other| *other != import).collect();
        let rest = self.with_needs(&others);
        self.with_needs(&[import]).difference(&rest).copied().collect()
    }

    /// Who asks for a library: indices of libraries, none for the program itself.
    pub fn asked_by(&self, library: usize) -> Vec<Option<usize>> {
        let program = self.imports.contains(&library).then_some(None);
        let asks = |(_, other): &(usize, &Library)| other.needs.contains(&library);
        let others = self.libraries.iter().enumerate().filter(asks).map(|(index, _)| Some(index));
        program.into_iter().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R3's chain: the program asks for shell and base; shell for user, user for gdi and base.
    fn chain() -> Closure {
        let library = |name: &str, needs: &[usize]| Library {
            name: name.into(),
            path: format!("/l/{name}").into(),
            needs: needs.to_vec(),
        };
        Closure {
            program: "/p".into(),
            loader: None,
            libraries: vec![
                library("shell", &[2]),
                library("base", &[]),
                library("user", &[3, 1]),
                library("gdi", &[2, 1]),
            ],
            imports: vec![0, 1],
            delayed: Vec::new(),
            present: Vec::new(),
        }
    }

    #[test]
    fn loaders_tell_which_library_is_missing() {
        let glibc = "p: error while loading shared libraries: libx.so: cannot open shared object \
                     file: No such file or directory";
        let musl = "Error loading shared library liby.so: No such file or directory (needed by p)";
        let other = "p: error while loading shared libraries: libx.so: invalid ELF header";
        assert_eq!([glibc, musl, other].map(missing_in), [Some("libx.so"), Some("liby.so"), None]);
    }

    #[test]
    fn what_only_one_import_pulls_in_goes_with_it() {
        let chain = chain();
        assert_eq!(chain.goes_with(0), BTreeSet::from([0, 2, 3]));
        assert!(chain.goes_with(1).is_empty(), "others need it");
        assert_eq!(chain.asked_by(1), [None, Some(2), Some(3)]);
        assert_eq!(chain.asked_by(2), [Some(0), Some(3)]);
    }

    #[test]
    fn each_library_comes_after_what_it_needs_but_for_circles() {
        let order = chain().by_need();
        let place = |index: usize| order.iter().position(|it| *it == index).unwrap();
        assert_eq!(order.len(), 4);
        assert!(place(1) < place(2) && place(2) < place(0) && place(3) < place(0), "{order:?}");
        assert_eq!(chain().with_needs(&[3]), BTreeSet::from([1, 2, 3]));
    }
}
