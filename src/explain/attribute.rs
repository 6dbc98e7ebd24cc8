//! The extra time of an environment by class, by place in the tree of files, by program of the
//! process tree, and by all three.

use std::collections::BTreeMap;

use serde::Serialize;

use super::rounds::{Figure, Rounds, value};
use crate::model::CommandPhase;
use crate::recording::Class;
use crate::recording::groups::{Group, Groups};
use crate::runfile::Block;

/// Where the classes have a larger share of the wall time, processes run side by side.
const MOST_ATTRIBUTED: f64 = 1.15;

/// The extra time of a class.
#[derive(Debug, Serialize)]
pub struct OfClass {
    pub class: &'static str,
    pub words: &'static str,
    pub count: u64,
    /// Ns more than natively.
    pub extra: Figure,
    /// Of the extra wall time.
    pub share: Figure,
    /// Where most of it is, if that is known.
    pub place: Option<String>,
}

/// The extra time of a place, a program, or one class of a program at a place.
#[derive(Debug, Serialize)]
pub struct OfPart {
    /// From the first program to the class and the place; only the last one for a place or program.
    pub names: Vec<String>,
    pub count: u64,
    pub extra: Figure,
    pub share: Figure,
}

/// The extra time of an environment in its parts, each list with the largest first.
#[derive(Debug, Default, Serialize)]
pub struct Parts {
    pub classes: Vec<OfClass>,
    pub places: Vec<OfPart>,
    pub programs: Vec<OfPart>,
    /// By program, class and place together.
    pub all: Vec<OfPart>,
    /// Share of the extra wall time that the classes have.
    pub attributed: f64,
    /// Classes have more than the wall time together: shares are of their sum.
    pub side_by_side: bool,
}

/// Part of the time of its class that one place has at least, if it is named.
const MOST_OF_CLASS: f64 = 0.6;

/// The parts of what it takes longer there. Waiting is for what others do, and counted there.
pub fn parts(groups: &Groups, native: &Rounds<'_>, there: &Rounds<'_>) -> Parts {
    let wall = |block: &Block| value(block, CommandPhase::Wall);
    let Some(extra_wall) = there.beyond(native, &wall) else { return Parts::default() };
    let mut found = Parts::default();
    let mut whole = extra_wall.value;
    for (class, name, words) in Class::ALL.into_iter().filter(|it| it.0 != Class::Wait) {
        let ns = |block: &Block| {
            Some(block.set.extras.classes.get(name).map_or(0.0, |(_, ns)| *ns as f64))
        };
        let last = there.blocks.values().next_back();
        let count = last.and_then(|block| block.set.extras.classes.get(name)).map(|it| it.0);
        if let Some((extra, count)) = there.beyond(native, &ns).zip(count) {
            let place = None;
            found.classes.push(OfClass {
                class: class.name(),
                words,
                count,
                extra,
                share: extra,
                place,
            });
        }
    }
    found.classes.sort_by(|a, b| b.extra.value.total_cmp(&a.extra.value));
    let sum: f64 = found.classes.iter().map(|it| it.extra.value).sum();
    found.attributed = sum / whole;
    if found.attributed > MOST_ATTRIBUTED {
        found.side_by_side = true;
        whole = sum;
    }
    let splitter = Splitter { groups, native, there, whole };
    found.places = splitter.split(&|group| Some(vec![place_of(group)?]));
    found.programs = splitter.split(&|group| Some(vec![group.programs.as_ref()?.join(" › ")]));
    found.all = splitter.split(&|group| {
        let mut names = group.programs.clone().unwrap_or_else(|| vec!["other".into()]);
        names.push(group.class.name().into());
        names.extend(place_of(group));
        Some(names)
    });
    let by_class = splitter.split(&|group| Some(vec![group.class.name().into(), place_of(group)?]));
    for class in &mut found.classes {
        class.share = share(class.extra, whole);
        let largest = by_class.iter().find(|part| part.names[0] == class.class);
        let enough = |part: &&OfPart| part.extra.value > MOST_OF_CLASS * class.extra.value;
        class.place = largest.filter(enough).map(|part| part.names[1].clone());
    }
    found
}

/// A place in words: a file by its path, a folder with a slash and dots.
fn place_of(group: &Group) -> Option<String> {
    let place = group.place.as_ref()?;
    Some(if place.below {
        format!("{}/…", place.path.trim_end_matches('/'))
    } else {
        place.path.clone()
    })
}

fn share(extra: Figure, whole: f64) -> Figure {
    let ends = |(low, high): (f64, f64)| {
        let (one, other) = (low / whole, high / whole);
        (one.min(other), one.max(other))
    };
    Figure { value: extra.value / whole, interval: extra.interval.map(ends) }
}

/// Adds up the groups of operations by names.
struct Splitter<'a> {
    groups: &'a Groups,
    native: &'a Rounds<'a>,
    there: &'a Rounds<'a>,
    /// Ns of which the shares are.
    whole: f64,
}

impl Splitter<'_> {
    /// The extra time by what a group is called; groups without a name are left out.
    fn split(&self, named: &dyn Fn(&Group) -> Option<Vec<String>>) -> Vec<OfPart> {
        let mut members: BTreeMap<Vec<String>, (Vec<usize>, u64)> = BTreeMap::new();
        for (number, group) in self.groups.list.iter().enumerate() {
            let Some(group) = group.as_ref().filter(|group| group.count > 0) else { continue };
            if let Some(names) = named(group) {
                let entry = members.entry(names).or_default();
                entry.0.push(number);
                entry.1 += group.count;
            }
        }
        let mut parts: Vec<OfPart> = Vec::new();
        for (names, (numbers, count)) in members {
            let ns = |block: &Block| {
                let of = |number: &usize| block.set.extras.groups.get(*number).copied();
                Some(numbers.iter().filter_map(of).sum::<u64>() as f64)
            };
            let Some(extra) = self.there.beyond(self.native, &ns) else { continue };
            parts.push(OfPart { names, count, extra, share: share(extra, self.whole) });
        }
        parts.sort_by(|a, b| b.extra.value.total_cmp(&a.extra.value));
        parts
    }
}
