//! `envtax compare`: recomputes everything from run files; starts nothing.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, bail, ensure};

use super::show;
use crate::cli::CompareArgs;
use crate::compare::{Comparison, Row, Tax, Verdict, pooled, side_names, sides, tax_of};
use crate::exit::Exit;
use crate::import;
use crate::runfile::{self, RunFile};

pub fn run(args: &CompareArgs) -> Result<Exit> {
    show::check(&args.show)?;
    if let Some(percent) = args.fail_above {
        ensure!(percent.is_finite() && percent >= 0.0, "`--fail-above` must be zero or more");
    }
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
    let comparison = show::show(&sides, &args.show, again(args))?;
    match args.fail_above {
        Some(percent) => gate(&comparison, percent / 100.0),
        None => Ok(Exit::Done),
    }
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

/// Applies the gate to the comparison. Without any verdict to judge this is an error, because a
/// gate that never closes is worse than no gate.
fn gate(comparison: &Comparison, share: f64) -> Result<Exit> {
    let open = |row: &&Row| !row.cells.iter().skip(1).all(|cell| tax_of(cell).is_some_and(tested));
    let unjudged = comparison.rows.iter().filter(open).count();
    let taxes = || comparison.rows.iter().flat_map(|row| &row.cells).filter_map(tax_of);
    if !taxes().any(tested) {
        bail!(
            "`--fail-above` needs a verdict: measure both in one run, or three sessions a side; \
             five rounds at least"
        );
    }
    if unjudged > 0 {
        // A closed stderr is not a failure.
        let _ = writeln!(
            io::stderr(),
            "envtax: `--fail-above` could not judge {unjudged} of {} rows: an environment has no \
             verdict there",
            comparison.rows.len()
        );
    }
    Ok(if taxes().any(|tax| slower_than(tax, share)) { Exit::Gate } else { Exit::Done })
}

fn tested(tax: &Tax) -> bool {
    tax.verdict != Verdict::Descriptive
}

/// Whether the verdict is slower and the whole interval lies above `1 + share`.
fn slower_than(tax: &Tax, share: f64) -> bool {
    let beyond = |(low, _): (f64, f64)| low > 1.0 + share;
    tax.verdict == Verdict::Slower && tax.interval.is_some_and(beyond)
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
struct Files(Vec<OneFile>);

struct OneFile {
    /// The name as it was typed first.
    typed: String,
    canonical: PathBuf,
    run: Rc<RunFile>,
}

impl Files {
    /// Reads the files of `FILE` and `FILE:ENV`, and returns their indices with the environments. A
    /// file that has the whole name, colon included, comes first.
    fn sources(&mut self, sources: &[String]) -> Result<Vec<(usize, Option<String>)>> {
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
    fn named(
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
