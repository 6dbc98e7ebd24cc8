//! The cost of each library with its interval, from the rounds. Pure.

use std::collections::BTreeSet;

use serde::Serialize;

use super::closure::Closure;
use super::rounds::{Measured, Series};
use crate::model::Failure;
use crate::stats::Contrast;

const CONFIDENCE: f64 = 0.95;

/// A cost in ns with the half-width of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    pub ns: f64,
    /// None of too few rounds.
    pub half_width: Option<f64>,
}

impl Cost {
    /// Where the values, one a round, lie: the estimator of every figure of the program. None of
    /// no rounds.
    fn of(values: &[f64]) -> Option<Cost> {
        let effect = Contrast::of_values(values, &vec![0; values.len()], 1).effect()?;
        Some(Cost { ns: effect.value, half_width: effect.half_width(CONFIDENCE) })
    }
}

/// What one library, or the loader, adds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Added {
    pub name: String,
    pub path: String,
    pub start: Option<Cost>,
    pub exit: Option<Cost>,
    pub whole: Option<Cost>,
    /// What it adds, with what it needs, to a program without any library; none for the loader.
    pub alone: Option<Cost>,
    /// Who asks for it; `program` is the program itself.
    pub asked_by: Vec<String>,
    /// The library of the same circle whose figures have this one's cost.
    pub together_with: Option<String>,
    /// Why a figure is missing.
    pub failure: Option<String>,
}

/// What a start gains when the program does not ask for a library any more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drop {
    pub import: String,
    /// The other libraries that are not loaded either then.
    pub goes_with: Vec<String>,
    /// Per start and exit.
    pub gain: Option<Cost>,
}

/// All costs of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    pub program: String,
    /// None where the system itself loads libraries.
    pub loader: Option<String>,
    pub rounds: u32,
    /// A static program that does nothing: start, exit, and both.
    pub nothing: [Option<Cost>; 3],
    /// The loader if there is one, then the libraries in the order in which they are initialised.
    pub added: Vec<Added>,
    /// The loader and all libraries together.
    pub all: [Option<Cost>; 3],
    pub imports: Vec<Drop>,
    /// Libraries of the program that others ask for, too: dropping them alone gains nothing.
    pub kept_by_others: Vec<String>,
    /// Libraries that are loaded at their first use only.
    pub delayed: Vec<String>,
    /// Libraries that every process has which is started here.
    pub present: Vec<String>,
}

/// A part of the figures of a program's rounds.
type Part = fn(&Series) -> &Vec<f64>;
const PARTS: [Part; 3] = [|it| &it.start, |it| &it.exit, |it| &it.whole];

/// The rounds of a program; why there are none otherwise.
type Rounds<'a> = Result<&'a Series, &'a Failure>;

/// What one program takes more than another. None where either has no rounds.
fn between(own: Rounds<'_>, base: Rounds<'_>, part: Part) -> Option<Cost> {
    let pairs = part(own.ok()?).iter().zip(part(base.ok()?));
    Cost::of(&pairs.map(|(own, base)| own - base).collect::<Vec<_>>())
}

/// Costs from the rounds: each library is charged what a program costs more that has it in addition
/// to all that are initialised before it.
pub fn costs(closure: &Closure, measured: &Measured) -> Costs {
    let hosts = &measured.hosts;
    let [none, empty] = hosts.fixed.each_ref().map(|set| measured.of(set.as_ref()));
    let name = |index: &usize| closure.libraries[*index].name.clone();
    let loader = closure.loader.as_ref().map(|path| path.display().to_string());
    let of_loader = |path: &String| {
        let [start, exit, whole] = PARTS.map(|part| between(empty, none, part));
        Added {
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            path: path.clone(),
            start,
            exit,
            whole,
            alone: None,
            asked_by: Vec::new(),
            together_with: None,
            failure: empty.err().map(ToString::to_string),
        }
    };
    let mut added: Vec<Added> = loader.iter().map(of_loader).collect();
    let mut before = empty;
    for (place, index) in hosts.order.iter().enumerate() {
        let with = measured.of(Some(&hosts.cumulative[place]));
        let own = measured.of(Some(&hosts.alone[place]));
        // A library of a circle is loaded with the first one of it and adds nothing more.
        let own_set = &hosts.cumulative[place];
        let first = (0..place).find(|earlier| hosts.cumulative[*earlier] == *own_set);
        let [start, exit, whole] = match first {
            Some(_) => [None; 3],
            None => PARTS.map(|part| between(with, before, part)),
        };
        let asked = closure.asked_by(*index).into_iter();
        let library = &closure.libraries[*index];
        added.push(Added {
            name: library.name.clone(),
            path: library.path.display().to_string(),
            start,
            exit,
            whole,
            alone: between(own, empty, PARTS[2]),
            asked_by: asked.map(|it| it.map_or("program".into(), |it| name(&it))).collect(),
            together_with: first.map(|earlier| name(&hosts.order[earlier])),
            failure: with.err().or(own.err()).map(ToString::to_string),
        });
        if with.is_ok() {
            before = with;
        }
    }
    let all = PARTS.map(|part| between(before, none, part));
    let dropped = |import: &&usize| hosts.without.iter().all(|(index, _)| index != *import);
    Costs {
        program: closure.program.display().to_string(),
        loader,
        rounds: measured.rounds,
        nothing: PARTS.map(|part| none.ok().and_then(|none| Cost::of(part(none)))),
        added,
        all,
        imports: drops(closure, measured, empty),
        kept_by_others: closure.imports.iter().filter(dropped).map(name).collect(),
        delayed: closure.delayed.clone(),
        present: closure.present.clone(),
    }
}

/// What the program gains without each of its imports.
fn drops(closure: &Closure, measured: &Measured, empty: Rounds<'_>) -> Vec<Drop> {
    let hosts = &measured.hosts;
    let name = |index: &usize| closure.libraries[*index].name.clone();
    let whole = hosts.cumulative.last().map_or(empty, |set| measured.of(Some(set)));
    let drop = |(import, rest): &(usize, BTreeSet<usize>)| {
        let gone = closure.goes_with(*import);
        Drop {
            import: name(import),
            goes_with: gone.iter().filter(|index| *index != import).map(name).collect(),
            gain: between(whole, measured.of(Some(rest)), PARTS[2]),
        }
    };
    hosts.without.iter().map(drop).collect()
}
