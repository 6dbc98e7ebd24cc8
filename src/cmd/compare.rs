//! `envtax compare`: everything is recomputed from run files; nothing is started.

use std::path::Path;

use anyhow::{Result, ensure};

use super::show;
use crate::cli::CompareArgs;
use crate::compare::{Comparison, Verdict, pooled, sides, tax_of};
use crate::exit::Exit;
use crate::runfile::{self, RunFile};

pub fn run(args: &CompareArgs) -> Result<Exit> {
    show::check(&args.show)?;
    if let Some(percent) = args.fail_above {
        ensure!(percent.is_finite() && percent >= 0.0, "`--fail-above` must be zero or more");
    }
    let first = read(&args.sources)?;
    let second = read(&args.versus)?;
    let sides = if second.is_empty() {
        sides(&first, args.reference.as_deref())?
    } else {
        ensure!(args.reference.is_none(), "with `--versus`, the files before it are the reference");
        vec![pooled("before", &first)?, pooled("after", &second)?]
    };
    let comparison = show::show(&sides, &args.show)?;
    match args.fail_above {
        Some(percent) if slower_than(&comparison, percent / 100.0) => Ok(Exit::Gate),
        _ => Ok(Exit::Done),
    }
}

/// Whether some environment is slower, and by its interval surely by more than `share`.
fn slower_than(comparison: &Comparison, share: f64) -> bool {
    let taxes = comparison.rows.iter().flat_map(|row| &row.cells).filter_map(tax_of);
    let trips = |low: f64| low > 1.0 + share;
    let mut slower = taxes.filter(|tax| tax.verdict == Verdict::Slower);
    slower.any(|tax| tax.interval.is_some_and(|(low, _)| trips(low)))
}

/// Reads `FILE` or `FILE:ENV`. A file whose name has a colon is found by its whole name first.
fn read(sources: &[String]) -> Result<Vec<(String, RunFile, Option<String>)>> {
    sources
        .iter()
        .map(|source| {
            let (path, env) = match source.rsplit_once(':') {
                Some((path, env)) if !Path::new(source).exists() => (path, Some(env.to_owned())),
                _ => (source.as_str(), None),
            };
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            Ok((name.into_owned(), runfile::read(Path::new(path))?, env))
        })
        .collect()
}
