//! How the environments of a comparison differ, as far as they say: what a tax may be the tax of.

use super::Side;
use super::remarks::{Remark, RemarkKind};
use crate::runfile::Environment;

/// Facts that bear on costs, in the order in which they are named.
const FACTS: [&str; 14] = [
    "kernel",
    "kernel_version",
    "distribution",
    "cpu",
    "hypervisor",
    "clock_source",
    "seccomp",
    "no_new_privileges",
    "traced",
    "huge_pages",
    "governor",
    "libc",
    "mitigations",
    "target",
];
/// Facts of a target directory that do.
const DIR_FACTS: [&str; 2] = ["filesystem", "options"];
/// Characters from which a value is no longer printed.
const LONG: usize = 60;

/// One remark for each column that differs from the reference, with everything in which it does.
pub(super) fn remarks(sides: &[Side<'_>]) -> Vec<Remark> {
    let Some((reference, others)) = sides.split_first() else { return Vec::new() };
    let base = started(reference);
    let remark = |side: &Side<'_>| {
        let found = differences(&base, &started(side));
        (!found.is_empty()).then(|| {
            let found = found.join("; ");
            let text = format!("`{}` differs from {} in: {found}", side.label, reference.label);
            Remark::on_column(RemarkKind::FactsDiffer, &side.label, text)
        })
    };
    others.iter().filter_map(remark).collect()
}

/// The environment in each session of the side in which it did start.
fn started<'a>(side: &Side<'a>) -> Vec<&'a Environment> {
    let of_session = |session: &super::Session<'a>| {
        let mut all = session.run.environments.iter();
        all.find(|environment| environment.name == session.env && environment.error.is_none())
    };
    side.sessions.iter().filter_map(of_session).collect()
}

/// `seccomp 0 / 2`: the reference's value first. Nothing where either side never started.
fn differences<'a>(base: &[&'a Environment], own: &[&'a Environment]) -> Vec<String> {
    if base.is_empty() || own.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for name in FACTS {
        found.extend(difference(name, base, own, |it| it.facts.get(name)));
    }
    let mut dirs: Vec<&String> = base.iter().flat_map(|it| it.dirs.keys()).collect();
    dirs.sort();
    dirs.dedup();
    for dir in dirs.into_iter().filter(|dir| own.iter().any(|it| it.dirs.contains_key(*dir))) {
        for name in DIR_FACTS {
            let of_dir = |it: &'a Environment| it.dirs.get(dir)?.get(name);
            found.extend(difference(&format!("{name} of {dir}"), base, own, of_dir));
        }
    }
    found
}

/// How one fact differs between the sides; nothing where it does not.
fn difference<'a>(
    name: &str,
    base: &[&'a Environment],
    own: &[&'a Environment],
    fact: impl Fn(&'a Environment) -> Option<&'a String>,
) -> Option<String> {
    // Sessions of one side may differ as well: each value once.
    let text = |side: &[&'a Environment]| {
        let mut values: Vec<&str> =
            side.iter().filter_map(|it| fact(it)).map(String::as_str).collect();
        values.sort_unstable();
        values.dedup();
        if values.is_empty() { "unknown".to_owned() } else { values.join(", ") }
    };
    let (base, own) = (text(base), text(own));
    if base == own {
        return None;
    }
    if base.chars().count().max(own.chars().count()) > LONG {
        return Some(format!("{name} (see the run file)"));
    }
    Some(format!("{name} {base} / {own}"))
}
