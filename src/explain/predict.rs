//! From the rounds of re-enactments to what the real program costs elsewhere, and why.
//!
//!     predicted = real natively + (re-enacted there − re-enacted natively)
//!
//! The difference cancels most of what a re-enactment gets wrong.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::model::{CommandPhase, REENACTMENT};
use crate::recording::{Class, Recording};
use crate::runfile::{Block, RunFile};
use crate::stats::Contrast;

const CONFIDENCE: f64 = 0.95;
/// Where the classes have a larger share of the wall time, processes run side by side.
const MOST_ATTRIBUTED: f64 = 1.15;

/// A value with its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

/// What a recorded program costs.
#[derive(Debug, Serialize)]
pub struct Explanation {
    pub name: String,
    /// Wall time in ns of the real program natively, and where it is from.
    pub real_native: Figure,
    pub real_native_from: &'static str,
    /// Wall time in ns of the re-enactment natively.
    pub reenacted_native: Figure,
    pub environments: Vec<OfEnvironment>,
}

/// What it costs in one environment.
#[derive(Debug, Serialize)]
pub struct OfEnvironment {
    pub name: String,
    /// Why there is no prediction.
    pub failure: Option<String>,
    /// Predicted wall time in ns, and as a factor of the native one.
    pub wall: Option<Figure>,
    pub slowdown: Option<Figure>,
    /// The same of CPU time.
    pub cpu_slowdown: Option<Figure>,
    pub verdict: &'static str,
    /// The real slowdown, if the program ran there too.
    pub real_slowdown: Option<Figure>,
    /// Extra time by class, largest first.
    pub classes: Vec<OfClass>,
    /// Share of the extra wall time that the classes have.
    pub attributed: f64,
    /// Classes have more than the wall time together: shares are of their sum.
    pub side_by_side: bool,
    /// What the environment answers otherwise than the machine itself, as sentences.
    pub differs: Vec<String>,
    /// Calls that ended otherwise than recorded, a round.
    pub unlike: BTreeMap<String, f64>,
    pub rounds: usize,
}

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
}

/// Explains a recording by a run file.
pub fn explain(recording: &Recording, run: &RunFile, margin: f64) -> Result<Explanation> {
    let plan = &run.header.plan;
    let is_reenacted = |case: &usize| {
        let workload = plan.cases[*case].command().and_then(|command| command.workload());
        workload.is_some_and(|workload| workload.name == REENACTMENT)
    };
    let reenacted = (0..plan.cases.len())
        .find(is_reenacted)
        .context("the run file has no re-enactment: `envtax explain` writes one")?;
    let real = (0..plan.cases.len()).find(|case| !is_reenacted(case));
    let reference = plan.reference.as_str();
    let native = Rounds::of(run, reenacted, reference);
    ensure!(!native.blocks.is_empty(), "the re-enactment did not succeed natively{}", {
        why(run, reenacted, reference).map_or(String::new(), |why| format!(": {why}"))
    });
    let verified = real.map(|case| Rounds::of(run, case, reference));
    let verified = verified.filter(|rounds| !rounds.blocks.is_empty());
    let (real_native, real_cpu, real_native_from) = match &verified {
        Some(rounds) => (
            rounds.figure(CommandPhase::Wall),
            rounds.figure(CommandPhase::Cpu),
            "measured in the same rounds",
        ),
        None => {
            let alone = &recording.about.alone;
            let cpu = alone.user.iter().zip(&alone.system).map(|(user, system)| user + system);
            (of(&alone.wall), of(&cpu.collect::<Vec<_>>()), "measured when it was recorded")
        }
    };
    let real_native = real_native.context("the recording has no times of the real program")?;
    let environments = plan.environments.iter().filter(|spec| spec.name != reference);
    let environments = environments.map(|spec| {
        let there = Rounds::of(run, reenacted, &spec.name);
        let mut found = OfEnvironment::empty(&spec.name);
        if there.blocks.is_empty() {
            let why = why(run, reenacted, &spec.name);
            found.failure = Some(why.unwrap_or_else(|| "no round was measured".into()));
            return found;
        }
        found.rounds = there.blocks.len();
        found.predict(&native, &there, (real_native, real_cpu), margin / 100.0);
        found.attribute(&native, &there);
        found.differs = differs(run, (&native, reference), (&there, &spec.name));
        if let (Some(case), Some(native)) = (real, &verified) {
            let there = Rounds::of(run, case, &spec.name);
            found.real_slowdown = ratio(&there, native);
        }
        found
    });
    Ok(Explanation {
        name: recording.about.name.clone(),
        real_native,
        real_native_from,
        reenacted_native: native.figure(CommandPhase::Wall).context("no round")?,
        environments: environments.collect(),
    })
}

/// Why a case has no figures in an environment.
fn why(run: &RunFile, case: usize, env: &str) -> Option<String> {
    let outcome = run.outcomes.iter().find(|it| it.case == case && it.env == env);
    let started = run.environments.iter().find(|it| it.name == env);
    let outcome = outcome.map(|it| it.why.what.clone());
    outcome.or_else(|| started.and_then(|it| it.error.clone()))
}

/// Why a program may take another path there, as far as the environment's answers show.
fn differs(
    run: &RunFile,
    (native, reference): (&Rounds<'_>, &str),
    (there, name): (&Rounds<'_>, &str),
) -> Vec<String> {
    let mut sentences = Vec::new();
    let identities = |rounds: &Rounds<'_>| {
        let all = rounds.blocks.values().filter_map(|block| block.set.extras.identity);
        all.collect::<BTreeSet<(u64, u64)>>()
    };
    let (here, other) = (identities(native), identities(there));
    let inodes = |of: &BTreeSet<(u64, u64)>| of.iter().map(|it| it.0).collect::<BTreeSet<_>>();
    if inodes(&here) != inodes(&other) {
        let how = if inodes(&other).len() > 1 { "change from run to run" } else { "are others" };
        sentences.push(format!(
            "Inode numbers {how} there: a program that remembers them, such as git with its \
             index, will distrust what it knows and may read every file again"
        ));
    }
    let times = |of: &BTreeSet<(u64, u64)>| of.iter().map(|it| it.1).collect::<BTreeSet<_>>();
    if times(&here) != times(&other) {
        sentences.push(
            "Times of files are others there, or coarser: a program that compares \
                        them, such as make, may do other work"
                .into(),
        );
    }
    let cpus =
        |name: &str| run.environments.iter().find(|it| it.name == name).map(|it| it.cpus.len());
    if let (Some(here), Some(there)) = (cpus(reference), cpus(name))
        && here != there
        && there > 0
    {
        sentences.push(format!(
            "It has {there} CPUs and the machine {here}: a program that asks for their number may \
             start as many threads"
        ));
    }
    sentences
}

/// The counted rounds of a case in an environment.
struct Rounds<'a> {
    blocks: BTreeMap<u32, &'a Block>,
}

impl<'a> Rounds<'a> {
    fn of(run: &'a RunFile, case: usize, env: &str) -> Rounds<'a> {
        let counts = |it: &&Block| it.case == case && it.round > 0 && it.env == env;
        let blocks = run.blocks.iter().filter(counts).map(|block| (block.round, block));
        Rounds { blocks: blocks.collect() }
    }

    fn figure(&self, phase: CommandPhase) -> Option<Figure> {
        let values = self.blocks.values().filter_map(|block| value(block, phase)).collect();
        located(values, self.blocks.values().map(|block| block.launch).collect())
    }

    /// The differences of the rounds that both have.
    fn beyond(&self, base: &Rounds<'_>, of: &dyn Fn(&Block) -> Option<f64>) -> Option<Figure> {
        let pairs = self.blocks.iter().filter_map(|(round, own)| {
            let base = base.blocks.get(round)?;
            Some((of(own)? - of(base)?, own.launch))
        });
        let (values, launches) = pairs.unzip();
        located(values, launches)
    }
}

fn value(block: &Block, phase: CommandPhase) -> Option<f64> {
    let at = CommandPhase::ALL.iter().position(|it| *it == phase)?;
    Some(*block.set.samples.get(at)?.first()? as f64)
}

fn located(values: Vec<f64>, launches: Vec<u32>) -> Option<Figure> {
    let effect = Contrast::of_values(&values, &launches, 1).effect()?;
    Some(Figure { value: effect.value, interval: effect.bounds(CONFIDENCE) })
}

fn of(values: &[u64]) -> Option<Figure> {
    located(values.iter().map(|value| *value as f64).collect(), vec![0; values.len()])
}

/// The ratio of the wall times of the rounds that both have.
fn ratio(own: &Rounds<'_>, base: &Rounds<'_>) -> Option<Figure> {
    let found = own.beyond(base, &|block| Some(value(block, CommandPhase::Wall)?.ln()))?;
    let interval = found.interval.map(|(low, high)| (low.exp(), high.exp()));
    Some(Figure { value: found.value.exp(), interval })
}

impl Figure {
    fn half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0)
    }
}

/// `1 + extra / base`, with the errors of both (propagation of independent errors).
fn slowdown(extra: Figure, base: Figure) -> Figure {
    let share = extra.value / base.value;
    let widths = extra.half_width().zip(base.half_width());
    let interval = widths.map(|(of_extra, of_base)| {
        let width = (of_extra / base.value).hypot(share * of_base / base.value);
        (1.0 + share - width, 1.0 + share + width)
    });
    Figure { value: 1.0 + share, interval }
}

impl OfEnvironment {
    fn empty(name: &str) -> OfEnvironment {
        OfEnvironment {
            name: name.to_owned(),
            failure: None,
            wall: None,
            slowdown: None,
            cpu_slowdown: None,
            verdict: "inconclusive",
            real_slowdown: None,
            classes: Vec::new(),
            attributed: 0.0,
            side_by_side: false,
            differs: Vec::new(),
            unlike: BTreeMap::new(),
            rounds: 0,
        }
    }

    fn predict(
        &mut self,
        native: &Rounds<'_>,
        there: &Rounds<'_>,
        (real, real_cpu): (Figure, Option<Figure>),
        margin: f64,
    ) {
        let of = |phase| there.beyond(native, &|block| value(block, phase));
        let Some(extra) = of(CommandPhase::Wall) else { return };
        let slow = slowdown(extra, real);
        self.slowdown = Some(slow);
        self.wall = Some(Figure {
            value: real.value * slow.value,
            interval: slow.interval.map(|(low, high)| (low * real.value, high * real.value)),
        });
        self.cpu_slowdown = of(CommandPhase::Cpu)
            .zip(real_cpu.filter(|cpu| cpu.value > 0.0))
            .map(|(extra, cpu)| slowdown(extra, cpu));
        self.verdict = match slow.interval {
            Some((low, _)) if low > 1.0 + margin => "slower",
            Some((_, high)) if high < 1.0 - margin => "faster",
            Some((low, high)) if low >= 1.0 - margin && high <= 1.0 + margin => "same",
            _ => "inconclusive",
        };
    }

    fn attribute(&mut self, native: &Rounds<'_>, there: &Rounds<'_>) {
        let wall = |block: &Block| value(block, CommandPhase::Wall);
        let Some(extra_wall) = there.beyond(native, &wall) else { return };
        for (class, name, words) in Class::ALL {
            // Waiting is for what others do, and counted there.
            if class == Class::Wait {
                continue;
            }
            let ns = |block: &Block| {
                Some(block.set.extras.classes.get(name).map_or(0.0, |(_, ns)| *ns as f64))
            };
            let Some(extra) = there.beyond(native, &ns) else { continue };
            let count = there.blocks.values().next_back();
            let count = count.and_then(|block| block.set.extras.classes.get(name));
            let Some((count, _)) = count else { continue };
            let share = |ns: f64| ns / extra_wall.value;
            let interval = extra.interval.map(|(low, high)| (share(low), share(high)));
            let share = Figure { value: share(extra.value), interval };
            self.classes.push(OfClass { class: name, words, count: *count, extra, share });
        }
        self.classes.sort_by(|a, b| b.extra.value.total_cmp(&a.extra.value));
        self.attributed = self.classes.iter().map(|it| it.share.value).sum();
        if self.attributed > MOST_ATTRIBUTED {
            self.side_by_side = true;
            for share in self.classes.iter_mut().map(|class| &mut class.share) {
                let part = |value: f64| value / self.attributed;
                share.value = part(share.value);
                share.interval = share.interval.map(|(low, high)| (part(low), part(high)));
            }
        }
        for block in there.blocks.values() {
            for (name, count) in &block.set.extras.unlike {
                let sum = self.unlike.entry(name.clone()).or_default();
                *sum += *count as f64 / there.blocks.len() as f64;
            }
        }
    }
}
