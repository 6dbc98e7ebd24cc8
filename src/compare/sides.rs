//! Which environments of which files stand beside each other.

use anyhow::{Result, bail};

use crate::runfile::RunFile;

/// A column: one environment, of one session or of several.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    pub label: String,
    pub sessions: Vec<Session<'a>>,
}

/// One environment of one run file.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    pub run: &'a RunFile,
    pub env: &'a str,
}

/// The sides of one or several run files, the reference first.
///
/// `sources` are files with, optionally, one environment each; without, every environment of the
/// file is a column. `reference` is a column's label or an environment's name.
pub fn sides<'a>(
    sources: &'a [(String, RunFile, Option<String>)],
    reference: Option<&str>,
) -> Result<Vec<Side<'a>>> {
    let several = sources.len() > 1;
    let mut sides = Vec::new();
    for (name, run, wanted) in sources {
        for spec in &run.header.plan.environments {
            if wanted.as_ref().is_some_and(|wanted| *wanted != spec.name) {
                continue;
            }
            let label = if several { format!("{name}:{}", spec.name) } else { spec.name.clone() };
            sides.push(Side { label, sessions: vec![Session { run, env: &spec.name }] });
        }
        known_environment(name, run, wanted.as_deref())?;
    }
    let wanted = match (reference, sources) {
        (Some(wanted), _) => Some(wanted),
        (None, [(_, run, None)]) => Some(run.header.plan.reference.as_str()),
        _ => None,
    };
    if let Some(wanted) = wanted {
        let named = |side: &Side| side.label == wanted || side.sessions[0].env == wanted;
        let Some(at) = sides.iter().position(named) else {
            let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
            bail!("`--reference {wanted}` is none of the columns: {}", labels.join(", "));
        };
        sides[..=at].rotate_right(1);
    }
    Ok(sides)
}

fn known_environment(name: &str, run: &RunFile, wanted: Option<&str>) -> Result<()> {
    let specs = &run.header.plan.environments;
    let Some(wanted) = wanted else { return Ok(()) };
    if specs.iter().any(|spec| spec.name == wanted) {
        return Ok(());
    }
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    bail!("`{name}` has no environment `{wanted}`; it has {}", names.join(", "))
}

/// One side from several sessions: one environment a file.
pub fn pooled<'a>(
    label: &str,
    sources: &'a [(String, RunFile, Option<String>)],
) -> Result<Side<'a>> {
    let mut sessions = Vec::new();
    for (name, run, wanted) in sources {
        known_environment(name, run, wanted.as_deref())?;
        let plan = &run.header.plan;
        let env = wanted.as_ref().unwrap_or(&plan.reference);
        sessions.push(Session { run, env });
    }
    Ok(Side { label: format!("{label} ({})", count(sessions.len())), sessions })
}

fn count(sessions: usize) -> String {
    if sessions == 1 { "1 session".into() } else { format!("{sessions} sessions") }
}
