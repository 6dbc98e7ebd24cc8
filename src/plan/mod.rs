//! Checks the user's wish and turns it into a plan: which cases, which environments, when the run
//! ends. Pure. May use `launch`, `model` and `probe`. Must not start or read anything.

pub mod environment_file;
pub mod suite;

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

use crate::model::{
    Case, CommandRules, EnvSpec, LaunchCount, Params, Plan, PlannedCase, Stop, TargetDir, suggest,
};
use crate::probe;

/// No case is finished with fewer rounds: with 5, stopping by the width let the coverage of the
/// intervals fall to 86 % (docs/METHODOLOGY.md, From rounds to a tax).
pub const MIN_ROUNDS: u32 = 15;

/// What makes a glob of a name.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// What the user asked for, before it is checked.
pub struct Wish {
    pub environments: Vec<EnvSpec>,
    pub reference: Option<String>,
    /// All cases, from which `probes` picks.
    pub cases: Vec<PlannedCase>,
    /// Globs that match probe ids or whole cases; without a glob, all cases match.
    pub probes: Vec<String>,
    /// Libraries with which cases that can load one are measured as well.
    pub libraries: Vec<String>,
    /// Numbers of processes at a time; every case is measured with each number.
    pub copies: Vec<u32>,
    pub dirs: Vec<TargetDir>,
    pub seed: u64,
    pub stop: Stop,
    pub launches: LaunchCount,
    pub cold_launches: bool,
    /// Cases are measured in their own order, and not in random order.
    pub fixed_order: bool,
    /// Busy processes beside the run.
    pub load: u32,
    pub commands: Option<CommandRules>,
}

/// A checked plan before the machine is asked which of its environments start here and where made
/// directories are.
pub struct Draft {
    plan: Plan,
}

impl Draft {
    pub fn environments(&self) -> &[EnvSpec] {
        &self.plan.environments
    }

    /// Name of the reference.
    pub fn reference(&self) -> &str {
        &self.plan.reference
    }

    pub fn cases(&self) -> &[PlannedCase] {
        &self.plan.cases
    }

    pub fn dirs(&self) -> &[TargetDir] {
        &self.plan.dirs
    }

    pub fn commands(&self) -> Option<&CommandRules> {
        self.plan.commands.as_ref()
    }

    /// The plan of the run with that index, over these environments, with the present paths of its
    /// directories. Each run has another seed. Nothing changes the plan afterwards.
    pub fn settle(&self, run: usize, environments: &[EnvSpec], dirs: Vec<TargetDir>) -> Plan {
        let seed = self.plan.seed.wrapping_add(run as u64);
        Plan { environments: environments.to_vec(), dirs, seed, ..self.plan.clone() }
    }
}

/// Checks the wish and makes a plan of it. Errors name the argument that is wrong.
pub fn make(wish: Wish) -> Result<Draft> {
    let mut names = BTreeSet::new();
    for environment in &wish.environments {
        ensure!(
            names.insert(&environment.name),
            "two environments are called `{}`; name one: `--env NAME={}`",
            environment.name,
            environment.spec()
        );
    }
    let mut dirs = BTreeSet::new();
    for dir in &wish.dirs {
        ensure!(dirs.insert(&dir.name), "two target directories are called `{}`", dir.name);
    }
    let Some(first) = wish.environments.first() else {
        bail!("there is no environment to measure")
    };
    let reference = wish.reference.unwrap_or_else(|| first.name.clone());
    ensure!(
        names.contains(&reference),
        "`--reference {reference}` is none of the environments: {}",
        wish.environments.iter().map(|env| env.name.as_str()).collect::<Vec<_>>().join(", ")
    );
    if let Stop::Precise { half_width, .. } = wish.stop {
        let precise = half_width > 0.0 && half_width.is_finite();
        ensure!(precise, "`--precision` must be zero or above");
    }
    let budget_s = wish.stop.budget_s();
    ensure!(budget_s.is_none_or(|budget| budget > 0.0), "`--budget` must be above zero");
    let cases = with_libraries(picked(wish.cases, &wish.probes)?, &wish.libraries)?;
    let named = named(&cases, &wish.probes, wish.copies.len());
    let plan = Plan {
        cases: in_copies(cases, &wish.copies),
        named,
        environments: wish.environments,
        reference,
        dirs: wish.dirs,
        seed: wish.seed,
        stop: wish.stop,
        commands: wish.commands,
        launches: wish.launches,
        cold_launches: wish.cold_launches,
        fixed_order: wish.fixed_order,
        load: wish.load,
    };
    Ok(Draft { plan })
}

fn picked(cases: Vec<PlannedCase>, globs: &[String]) -> Result<Vec<PlannedCase>> {
    if globs.is_empty() {
        return Ok(cases);
    }
    for glob in globs {
        ensure!(
            cases.iter().any(|planned| fits(glob, planned)),
            "`--probe {glob}` matches no case; {}",
            meant(glob, &cases)
        );
    }
    let wanted = |planned: &PlannedCase| globs.iter().any(|glob| fits(glob, planned));
    Ok(cases.into_iter().filter(wanted).collect())
}

fn fits(glob: &String, planned: &PlannedCase) -> bool {
    let case = &planned.case;
    let anywhere = Case { dir: None, ..case.clone() };
    let names = [case.probe.clone(), anywhere.to_string(), case.to_string()];
    names.iter().any(|name| fast_glob::glob_match(glob, name))
}

/// The cases that the user named without a wildcard, by their numbers among the copies of all.
fn named(cases: &[PlannedCase], globs: &[String], copies: usize) -> BTreeSet<usize> {
    let names: Vec<&String> = globs.iter().filter(|glob| !glob.contains(WILDCARDS)).collect();
    let is_named = |at: &usize| names.iter().any(|name| fits(name, &cases[at / copies]));
    (0..cases.len() * copies).filter(is_named).collect()
}

/// What the user may have meant by a glob that matches no case.
fn meant(glob: &str, cases: &[PlannedCase]) -> String {
    let mut known: Vec<(&str, &str)> = Vec::new();
    for planned in cases {
        let probe = (planned.case.probe.as_str(), "");
        if !known.contains(&probe) {
            known.push(probe);
        }
    }
    let near = suggest::nearest(glob.split(' ').next().unwrap_or_default(), &known);
    match near.is_empty() {
        true => "`envtax list probes` shows them".into(),
        false => format!("did you mean `{}`?", near.join("` or `")),
    }
}

/// The cases, and those whose processes can load a library once more with each of these.
fn with_libraries(mut cases: Vec<PlannedCase>, libraries: &[String]) -> Result<Vec<PlannedCase>> {
    let plain = cases.clone();
    for library in libraries {
        ensure!(!library.contains(' '), "`--dll {library}`: give a path without spaces");
        let known = cases.len();
        for planned in &plain {
            let params = &planned.case.params;
            let info = probe::find(&planned.case.probe)?.info();
            let takes = info.params.iter().any(|param| param.name == "dll");
            if takes && params.get("dll").is_none() {
                let text = format!("{} dll={library}", params.as_str());
                let params =
                    probe::complete(info, &text).with_context(|| format!("`--dll {library}`"))?;
                let case = Case { params, ..planned.case.clone() };
                cases.push(PlannedCase { case, ..planned.clone() });
            }
        }
        ensure!(
            cases.len() > known,
            "`--dll {library}`: none of the cases starts processes that load a library; choose \
             `--suite teardown`"
        );
    }
    Ok(cases)
}

/// Each case with each number of copies; with one copy, the case is unchanged.
fn in_copies(cases: Vec<PlannedCase>, copies: &[u32]) -> Vec<PlannedCase> {
    let of = |planned: PlannedCase| {
        copies.iter().map(move |copies| {
            let mut planned = planned.clone();
            if *copies > 1 {
                let text = format!("{} copies={copies}", planned.case.params.as_str());
                planned.case.params = Params::new(text.trim_start());
            }
            planned
        })
    };
    cases.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Phase, Work};

    fn env(name: &str) -> EnvSpec {
        EnvSpec::new(name, "native", "")
    }

    fn wish(names: &[&str], probes: &[&str]) -> Wish {
        let case = |probe: &str, params: &str| PlannedCase {
            case: Case { probe: probe.into(), params: Params::new(params), dir: None },
            phases: vec![Phase::timed("")],
            unit: "call".into(),
            work: Work::Probe,
        };
        Wish {
            environments: names.iter().map(|name| env(name)).collect(),
            reference: None,
            cases: vec![
                case("null", ""),
                case("file.read", "size=4KiB"),
                case("file.read", "size=1MiB"),
                case("file.stat", ""),
            ],
            probes: probes.iter().map(|glob| glob.to_string()).collect(),
            libraries: Vec::new(),
            copies: vec![1],
            dirs: Vec::new(),
            seed: 1,
            stop: Stop::at_precision(0.02, MIN_ROUNDS, 60.0),
            launches: LaunchCount::Affordable,
            cold_launches: false,
            fixed_order: false,
            load: 0,
            commands: None,
        }
    }

    fn cases(probes: &[&str]) -> Vec<String> {
        let plan = make(wish(&["a"], probes)).unwrap().plan;
        plan.cases.iter().map(|planned| planned.case.to_string()).collect()
    }

    fn error(wish: Wish) -> String {
        make(wish).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn what_is_named_without_a_wildcard_is_known() {
        let named = |probes: &[&str], copies: &[u32]| {
            let wish = Wish { copies: copies.to_vec(), ..wish(&["a"], probes) };
            make(wish).unwrap().plan.named.into_iter().collect::<Vec<_>>()
        };
        assert!(named(&[], &[1]).is_empty());
        assert!(named(&["file.*"], &[1]).is_empty());
        assert_eq!(named(&["file.read size=1MiB", "file.*"], &[1]), [1]);
        assert_eq!(named(&["file.read"], &[1]), [0, 1]);
        assert_eq!(named(&["file.stat", "file.read*"], &[1, 2]), [4, 5]);
    }

    #[test]
    fn globs_pick_probes_and_cases() {
        assert_eq!(cases(&[]).len(), 4);
        assert_eq!(cases(&["file.*"]).len(), 3);
        assert_eq!(cases(&["null", "file.stat"]), ["null", "file.stat"]);
        assert_eq!(cases(&["file.read size=4*"]), ["file.read size=4KiB"]);
    }

    #[test]
    fn copies_are_cases_of_their_own() {
        let twice = Wish { copies: vec![1, 4], ..wish(&["a"], &["null", "file.read size=4*"]) };
        let plan = make(twice).unwrap().plan;
        let names: Vec<String> = plan.cases.iter().map(|it| it.case.to_string()).collect();
        let wanted =
            ["null", "null copies=4", "file.read size=4KiB", "file.read size=4KiB copies=4"];
        assert_eq!(names, wanted);
    }

    #[test]
    fn the_first_environment_is_the_reference() {
        assert_eq!(make(wish(&["b", "a"], &[])).unwrap().plan.reference, "b");
        let chosen = Wish { reference: Some("a".into()), ..wish(&["b", "a"], &[]) };
        assert_eq!(make(chosen).unwrap().plan.reference, "a");
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error(wish(&["a", "a"], &[])).contains("called `a`"));
        assert!(error(wish(&[], &[])).contains("no environment"));
        assert!(error(wish(&["a"], &["disk.*"])).contains("`--probe disk.*` matches no case"));
        let other = Wish { reference: Some("c".into()), ..wish(&["a", "b"], &[]) };
        assert!(error(other).contains("`--reference c` is none of the environments: a, b"));
        let none = Wish { stop: Stop::at_precision(-1.0, 1, 1.0), ..wish(&["a"], &[]) };
        assert!(error(none).contains("--precision"));
    }
}
