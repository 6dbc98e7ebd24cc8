//! `envtax compare`: recomputes everything from run files; starts nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, ensure};

use super::{gate, show};
use crate::cli::CompareArgs;
use crate::compare::{pooled, side_names, sides};
use crate::exit::Exit;
use crate::import;
use crate::runfile::{self, RunFile};

pub fn run(args: &CompareArgs) -> Result<Exit> {
    show::check(&args.show)?;
    let rules = gate::rules(&args.gate)?;
    let mut files = Files::default();
    let first = files.sources(&args.sources)?;
    let second = files.sources(&args.versus)?;
    let (first, second) = (files.named(first), files.named(second));
    let sides = if second.is_empty() {
        sides(&first, args.reference.as_deref())?
    } else {
        ensure!(args.reference.is_none(), "with `--versus`, the files before it are the reference");
        let [before, after] = side_names(&first, &second);
        vec![pooled(&before, &first)?, pooled(&after, &second)?]
    };
    let all = first.iter().chain(&second);
    let cases = all.flat_map(|(_, run, _)| run.header.plan.cases.iter());
    gate::check(rules.as_ref(), cases)?;
    let comparison = show::show(&sides, &args.show, again(args), rules.as_ref())?;
    gate::finish(&comparison, &args.show, Exit::Done)
}

/// The words of this command without what says how the output looks.
fn again(args: &CompareArgs) -> Vec<String> {
    let mut words = vec!["envtax".to_owned(), "compare".to_owned()];
    words.extend(args.sources.iter().cloned());
    if !args.versus.is_empty() {
        words.push("--versus".to_owned());
        words.extend(args.versus.iter().cloned());
    }
    if let Some(reference) = &args.reference {
        words.extend(["--reference".to_owned(), reference.clone()]);
    }
    words
}

/// The two parts of `FILE:ENV`. Both may contain colons, as columns can be whole commands.
fn environment_of(source: &str) -> Option<(&str, &str)> {
    let mut colons = source.match_indices(':').map(|(at, _)| (&source[..at], &source[at + 1..]));
    let exists = colons.find(|(path, _)| Path::new(path).is_file());
    exists.or_else(|| source.rsplit_once(':'))
}

/// The run files of a command line. Each is read once, even if it is named several times.
/// Environments that share a file are compared round by round.
#[derive(Default)]
pub(super) struct Files(Vec<OneFile>);

struct OneFile {
    /// The name as it was typed first.
    typed: String,
    canonical: PathBuf,
    run: Rc<RunFile>,
}

impl Files {
    /// Reads the files of `FILE` and `FILE:ENV`, and returns their indices with the environments. A
    /// file that has the whole name, colon included, comes first.
    pub(super) fn sources(&mut self, sources: &[String]) -> Result<Vec<(usize, Option<String>)>> {
        let mut found = Vec::new();
        for source in sources {
            let (path, env) = match environment_of(source) {
                Some((path, env)) if !Path::new(source).exists() => (path, Some(env.to_owned())),
                _ => (source.as_str(), None),
            };
            found.push((self.read(path)?, env));
        }
        Ok(found)
    }

    fn read(&mut self, typed: &str) -> Result<usize> {
        // A missing file has no canonical path; reading it gives the error.
        let canonical = fs::canonicalize(typed).unwrap_or_else(|_| typed.into());
        if let Some(at) = self.0.iter().position(|file| file.canonical == canonical) {
            return Ok(at);
        }
        let path = Path::new(typed);
        let run = Rc::new(match import::read(path)? {
            Some(run) => run,
            None => runfile::read(path)?,
        });
        self.0.push(OneFile { typed: typed.to_owned(), canonical, run });
        Ok(self.0.len() - 1)
    }

    /// The sources with unique names: base names, or else paths as they were typed.
    pub(super) fn named(
        &self,
        sources: Vec<(usize, Option<String>)>,
    ) -> Vec<(String, Rc<RunFile>, Option<String>)> {
        let base = |file: &OneFile| {
            let name = Path::new(&file.typed).file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = self.0.iter().map(base).collect();
        names.sort();
        names.dedup();
        let unique = names.len() == self.0.len();
        let name = |file: &OneFile| if unique { base(file) } else { file.typed.clone() };
        let source = |(at, env)| {
            let file: &OneFile = &self.0[at];
            (name(file), file.run.clone(), env)
        };
        sources.into_iter().map(source).collect()
    }
}
