//! Decides which environments of which files are compared with each other.

use std::borrow::Borrow;
use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};

use crate::model::{Case, EnvSpec};
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
    /// Name of the file, if it must be told apart from others.
    pub file: Option<&'a str>,
    pub run: &'a RunFile,
    pub env: &'a str,
    /// The target directory that the column is of, where directories are compared: only its cases
    /// count, and their rows name no directory.
    pub dir: Option<&'a str>,
}

impl Session<'_> {
    /// `FILE:ENV`, or the environment alone if there is one file. An imported file that names no
    /// command has one environment, and then its name is the file's.
    pub fn name(&self) -> String {
        let nameless = self.run.imported && self.run.header.plan.environments[0].command.is_empty();
        match self.file {
            Some(file) if nameless => file.to_owned(),
            Some(file) => format!("{file}:{}", self.env),
            None => self.env.to_owned(),
        }
    }
}

impl<'a> Session<'a> {
    /// A fact of its environment.
    pub(super) fn fact(&self, name: &str) -> Option<&'a str> {
        let own = self.run.environments.iter().find(|own| own.name == self.env)?;
        own.facts.get(name).map(String::as_str)
    }

    /// What its environment says of the target directory of that name.
    pub(super) fn dir_fact(&self, dir: &str, name: &str) -> Option<&'a str> {
        let own = self.run.environments.iter().find(|own| own.name == self.env)?;
        own.dirs.get(dir)?.get(name).map(String::as_str)
    }

    /// The case as a row of the column has it; none if it is of another target directory.
    pub(super) fn case_of_row(&self, case: &Case) -> Option<Case> {
        match self.dir {
            None => Some(case.clone()),
            Some(dir) if case.dir.as_deref() == Some(dir) => {
                Some(Case { dir: None, ..case.clone() })
            }
            Some(_) => None,
        }
    }

    /// How many CPUs its environment may use; none where that is unknown.
    pub(super) fn cpus(&self) -> Option<usize> {
        let own = self.run.environments.iter().find(|own| own.name == self.env)?;
        Some(own.cpus.len()).filter(|cpus| *cpus > 0)
    }
}

impl<'a> Side<'a> {
    /// A column for each of these target directories of the environment.
    pub(super) fn by_directory(&self, dirs: &[&'a str]) -> Vec<Side<'a>> {
        let column = |dir: &&'a str| Side {
            label: (*dir).to_owned(),
            sessions: self.sessions.iter().map(|it| Session { dir: Some(dir), ..*it }).collect(),
        };
        dirs.iter().map(column).collect()
    }
}

impl Side<'_> {
    /// Whether the target directory of that name lies on another kind of filesystem than the
    /// reference's, as far as both say.
    pub(super) fn is_other_filesystem(&self, reference: &Side<'_>, dir: &str) -> bool {
        let kinds = |side: &Side<'_>| -> BTreeSet<String> {
            let sessions = side.sessions.iter();
            sessions.filter_map(|it| it.dir_fact(dir, "filesystem")).map(str::to_owned).collect()
        };
        let (own, base) = (kinds(self), kinds(reference));
        !own.is_empty() && !base.is_empty() && own != base
    }

    /// The kind of environment in each session.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().filter_map(|session| {
            let mut environments = session.run.header.plan.environments.iter();
            environments.find(|spec| spec.name == session.env).map(|spec| spec.kind.as_str())
        })
    }

    /// Whether the environment started in no session.
    pub(super) fn never_started(&self) -> bool {
        self.sessions.iter().all(|session| {
            let mut environments = session.run.environments.iter();
            environments.any(|own| own.name == session.env && own.error.is_some())
        })
    }
}

/// The sides of one or several run files, the reference first.
///
/// `sources` are files with, optionally, one environment each; without, every environment of the
/// file is a column. A file that is in several sources must be the same object in all of them, by
/// which its rounds are known to be pairs. `reference` is a column's label or an environment's
/// name.
pub fn sides<'a, R: Borrow<RunFile>>(
    sources: &'a [(String, R, Option<String>)],
    reference: Option<&str>,
) -> Result<Vec<Side<'a>>> {
    let several = sources.len() > 1 && !labelled(sources);
    let mut sides = if is_repeated(sources) { of_runs(sources)? } else { Vec::new() };
    // Where runs are pooled, the pool has all their environments already.
    let single = sources.iter().filter(|_| sides.is_empty()).collect::<Vec<_>>();
    for (name, run, wanted) in single {
        let run: &RunFile = run.borrow();
        for spec in &run.header.plan.environments {
            if wanted.as_ref().is_some_and(|wanted| *wanted != spec.name) {
                continue;
            }
            let file = (sources.len() > 1).then_some(name.as_str());
            let session = Session { file, run, env: &spec.name, dir: None };
            let label = if several { session.name() } else { spec.name.clone() };
            sides.push(Side { label, sessions: vec![session] });
        }
        known_environment(name, run, wanted.as_deref())?;
    }
    let wanted = match (reference, sources) {
        (Some(wanted), _) => Some(wanted),
        (None, [(_, run, None), ..]) if sources.len() == 1 || is_repeated(sources) => {
            Some(run.borrow().header.plan.reference.as_str())
        }
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

/// With fewer runs of the same environments and cases, each file is a column of its own: a file
/// before a change and one after it are two.
const REPEATED: usize = 3;

/// Whether the files are runs of the same environments and cases, which are to be pooled.
fn is_repeated<R: Borrow<RunFile>>(sources: &[(String, R, Option<String>)]) -> bool {
    let of = |run: &RunFile| {
        let plan = &run.header.plan;
        let names: BTreeSet<String> =
            plan.environments.iter().map(|spec| spec.name.clone()).collect();
        let cases: BTreeSet<String> =
            plan.cases.iter().map(|planned| planned.case.to_string()).collect();
        (names, cases, plan.load)
    };
    let Some((_, first, _)) = sources.first() else { return false };
    let first = of(first.borrow());
    sources.len() >= REPEATED
        && first.0.len() > 1
        && sources.iter().all(|(_, run, wanted)| {
            wanted.is_none() && !run.borrow().imported && of(run.borrow()) == first
        })
}

/// A side for each environment; each file is a session of it.
fn of_runs<'a, R: Borrow<RunFile>>(
    sources: &'a [(String, R, Option<String>)],
) -> Result<Vec<Side<'a>>> {
    for (at, (name, run, _)) in sources.iter().enumerate() {
        let same =
            |other: &&(String, R, Option<String>)| same_session(other.1.borrow(), run.borrow());
        if let Some((other, ..)) = sources[..at].iter().find(same) {
            bail!("`{name}` is the same run as `{other}`; a run counts once");
        }
    }
    let Some((_, first, _)) = sources.first() else { return Ok(Vec::new()) };
    let side = |spec: &'a EnvSpec| {
        let session = |(name, run, _): &'a (String, R, Option<String>)| Session {
            file: Some(name),
            run: run.borrow(),
            env: &spec.name,
            dir: None,
        };
        Side { label: spec.name.clone(), sessions: sources.iter().map(session).collect() }
    };
    Ok(first.borrow().header.plan.environments.iter().map(side).collect())
}

/// Whether these files' columns have names that tell them apart, as with `envtax time --label`: all
/// are of whole commands, and no two have the same name.
fn labelled<R: Borrow<RunFile>>(sources: &[(String, R, Option<String>)]) -> bool {
    let mut seen = BTreeSet::new();
    sources.iter().all(|(_, run, wanted)| {
        let plan = &run.borrow().header.plan;
        let names = plan.environments.iter().map(|spec| &spec.name);
        let mut names = names.filter(|name| wanted.as_ref().is_none_or(|wanted| wanted == *name));
        plan.commands.is_some() && names.all(|name| seen.insert(name))
    })
}

/// The names of the two sides: the labels of their sessions, if these agree within each side and
/// differ between the sides.
pub fn side_names<R: Borrow<RunFile>>(
    first: &[(String, R, Option<String>)],
    second: &[(String, R, Option<String>)],
) -> [String; 2] {
    let name = |sources: &[(String, R, Option<String>)]| {
        let names: BTreeSet<Option<String>> = sources
            .iter()
            .map(|(_, run, wanted)| {
                let plan = &run.borrow().header.plan;
                plan.commands.as_ref().map(|_| wanted.as_ref().unwrap_or(&plan.reference).clone())
            })
            .collect();
        match names.len() {
            1 => names.into_iter().next().flatten(),
            _ => None,
        }
    };
    match (name(first), name(second)) {
        (Some(first), Some(second)) if first != second => [first, second],
        _ => ["before", "after"].map(str::to_owned),
    }
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

/// One side from several sessions: one environment of each file, each file once.
pub fn pooled<'a, R: Borrow<RunFile>>(
    label: &str,
    sources: &'a [(String, R, Option<String>)],
) -> Result<Side<'a>> {
    let mut sessions: Vec<Session<'a>> = Vec::new();
    for (name, run, wanted) in sources {
        let run: &RunFile = run.borrow();
        if let Some(other) = sessions.iter().find(|other| same_session(other.run, run)) {
            let other = other.file.unwrap_or_default();
            ensure!(name != other, "`{name}` is given twice; a session counts once");
            bail!("`{name}` is a copy of `{other}`; a session counts once");
        }
        known_environment(name, run, wanted.as_deref())?;
        let env = wanted.as_ref().unwrap_or(&run.header.plan.reference);
        sessions.push(Session { file: Some(name), run, env, dir: None });
    }
    Ok(Side { label: format!("{label} ({})", count(sessions.len())), sessions })
}

/// Whether these are the same file, or copies of one: no two runs start in the same second and draw
/// the same seed.
fn same_session(a: &RunFile, b: &RunFile) -> bool {
    (&a.header.started, a.header.plan.seed) == (&b.header.started, b.header.plan.seed)
}

fn count(sessions: usize) -> String {
    if sessions == 1 { "1 session".into() } else { format!("{sessions} sessions") }
}
