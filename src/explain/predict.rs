//! From the rounds of re-enactments to what the real program costs elsewhere, and why.
//!
//!     predicted = real natively + (re-enacted there − re-enacted natively)
//!
//! The difference cancels most of what a re-enactment gets wrong.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::attribute::{Parts, parts};
use super::differs::differs;
use super::rounds::{Figure, Rounds, of, ratio, scaled, slowdown, value};
use crate::model::{CommandPhase, PlannedCase};
use crate::recording::Recording;
use crate::recording::groups::Groups;
use crate::runfile::RunFile;

/// Separates the name of a re-enactment from the number of a change that is tried.
pub const CHANGED: char = '+';
/// Parameter of a case that says what is changed.
pub const CHANGE: &str = "try";

/// What is to be explained.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub recording: &'a Recording,
    /// Name of the re-enactment in the run file.
    pub workload: &'a str,
    /// The program is not on this machine: what its re-enactment takes stands for it.
    pub absent: bool,
    /// In per cent: smaller differences count as the same.
    pub margin: f64,
    /// What else ran on the machine meanwhile, in words.
    pub state: &'a str,
}

/// Where the native time of the real program is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NativeSource {
    /// The program ran in the same rounds.
    SameRounds,
    /// It was measured when it was recorded.
    Recorded,
    /// So it was, and is scaled by how much longer its re-enactment takes now.
    Scaled,
    /// Its re-enactment stands for it, as it is not here.
    Reenactment,
    /// Its re-enactment stands for it, as it did not end in time when it was recorded.
    NotEnded,
}

/// What a recorded program costs.
#[derive(Debug, Serialize)]
pub struct Explanation {
    pub name: String,
    /// Wall time in ns of the real program natively, and where it is from.
    pub real_native: Figure,
    pub real_native_from: NativeSource,
    /// Wall time in ns of the real program when it was recorded.
    pub recorded_native: Option<Figure>,
    /// Wall time in ns of the re-enactment natively.
    pub reenacted_native: Figure,
    /// What else ran on the machine meanwhile, in words.
    pub state: String,
    pub rounds: usize,
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
    #[serde(flatten)]
    pub parts: Parts,
    /// What each change that was tried gains there, in the order of the options.
    pub tried: Vec<Tried>,
    /// What the environment answers otherwise than the machine itself, as sentences.
    pub differs: Vec<String>,
    /// Calls that ended otherwise than recorded, a round.
    pub unlike: BTreeMap<String, f64>,
    pub rounds: usize,
}

/// What a change gains.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// The change, as it was asked for.
    pub change: String,
    /// Ns less than without it, in the same environment.
    pub gain: Option<Figure>,
    /// The gain as a share of the predicted time.
    pub share: Option<Figure>,
    pub failure: Option<String>,
}

/// The case of that workload in a run file.
fn case_of(cases: &[PlannedCase], name: &str) -> Option<usize> {
    let named = |case: &PlannedCase| {
        let workload = case.command().and_then(|command| command.workload());
        workload.is_some_and(|workload| workload.name == name)
    };
    cases.iter().position(named)
}

/// Explains a recording by a run file.
pub fn explain(question: &Question<'_>, run: &RunFile) -> Result<Explanation> {
    let Question { recording, workload, margin, .. } = *question;
    let plan = &run.header.plan;
    let reenacted = case_of(&plan.cases, workload).context(
        "the run file has no re-enactment of this recording: `envtax explain` writes one",
    )?;
    let is_real = |case: &PlannedCase| case.command().is_some_and(|it| it.workload().is_none());
    let real = plan.cases.iter().position(is_real);
    let reference = plan.reference.as_str();
    let native = Rounds::of(run, reenacted, reference);
    ensure!(!native.blocks.is_empty(), "the re-enactment did not succeed natively{}", {
        why(run, reenacted, reference).map_or(String::new(), |why| format!(": {why}"))
    });
    let verified = real.map(|case| Rounds::of(run, case, reference));
    let verified = verified.filter(|rounds| !rounds.blocks.is_empty());
    let reenacted_native = native.figure(CommandPhase::Wall).context("no round")?;
    let times = Times::of(question, verified.as_ref(), &native)?;
    let groups = Groups::of(recording);
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
        found.predict(&native, &there, &times, margin / 100.0);
        found.parts = parts(&groups, &native, &there);
        found.tried = tried(run, workload, &spec.name, &there, found.wall);
        found.count_unlike(&there);
        found.differs = differs(recording, run, (&native, reference), (&there, &spec.name));
        if let (Some(case), Some(native)) = (real, &verified) {
            let there = Rounds::of(run, case, &spec.name);
            found.real_slowdown = ratio(&there, native);
        }
        found
    });
    Ok(Explanation {
        name: recording.about.name.clone(),
        real_native: times.wall,
        real_native_from: times.from,
        recorded_native: of(&recording.about.alone.wall),
        reenacted_native,
        state: question.state.to_owned(),
        rounds: native.blocks.len(),
        environments: environments.collect(),
    })
}

/// What the real program takes natively.
struct Times {
    wall: Figure,
    cpu: Option<Figure>,
    from: NativeSource,
}

impl Times {
    fn of(
        question: &Question<'_>,
        verified: Option<&Rounds<'_>>,
        native: &Rounds<'_>,
    ) -> Result<Times> {
        if let Some(rounds) = verified {
            let wall = rounds.figure(CommandPhase::Wall).context("no round")?;
            let cpu = rounds.figure(CommandPhase::Cpu);
            return Ok(Times { wall, cpu, from: NativeSource::SameRounds });
        }
        let now = native.figure(CommandPhase::Wall).context("no round")?;
        let cpu_now = native.figure(CommandPhase::Cpu);
        if question.absent {
            return Ok(Times { wall: now, cpu: cpu_now, from: NativeSource::Reenactment });
        }
        let about = &question.recording.about;
        let Some(wall) = of(&about.alone.wall) else {
            return Ok(Times { wall: now, cpu: cpu_now, from: NativeSource::NotEnded });
        };
        let sums = |costs: &crate::recording::Costs| {
            let sums = costs.user.iter().zip(&costs.system).map(|(user, system)| user + system);
            of(&sums.collect::<Vec<_>>()).filter(|cpu| cpu.value > 0.0)
        };
        let cpu = sums(&about.alone);
        // How much faster or slower the machine is than it was.
        let Some(then) = of(&about.reenacted.wall).filter(|then| then.value > 0.0) else {
            return Ok(Times { wall, cpu, from: NativeSource::Recorded });
        };
        let cpu_then = sums(&about.reenacted);
        let cpu = cpu.zip(cpu_now).zip(cpu_then).map(|((cpu, now), then)| scaled(cpu, now, then));
        Ok(Times { wall: scaled(wall, now, then), cpu, from: NativeSource::Scaled })
    }
}

/// Why a case has no figures in an environment.
fn why(run: &RunFile, case: usize, env: &str) -> Option<String> {
    let outcome = run.outcomes.iter().find(|it| it.case == case && it.env == env);
    let started = run.environments.iter().find(|it| it.name == env);
    let outcome = outcome.map(|it| it.why.what.clone());
    outcome.or_else(|| started.and_then(|it| it.error.clone()))
}

/// What the changes gain in an environment.
fn tried(
    run: &RunFile,
    workload: &str,
    env: &str,
    unchanged: &Rounds<'_>,
    wall: Option<Figure>,
) -> Vec<Tried> {
    let cases = &run.header.plan.cases;
    let mut all = Vec::new();
    for number in 1.. {
        let Some(case) = case_of(cases, &format!("{workload}{CHANGED}{number}")) else { break };
        let change = cases[case].case.params.get(CHANGE).unwrap_or_default().to_owned();
        let changed = Rounds::of(run, case, env);
        let gain = unchanged.beyond(&changed, &|block| value(block, CommandPhase::Wall));
        let part = |gain: Figure| {
            let wall = wall?.value;
            let interval = gain.interval.map(|(low, high)| (low / wall, high / wall));
            Some(Figure { value: gain.value / wall, interval })
        };
        let failure = match gain {
            Some(_) => None,
            None => Some(why(run, case, env).unwrap_or_else(|| "too few rounds".into())),
        };
        all.push(Tried { change, gain, share: gain.and_then(part), failure });
    }
    all
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
            parts: Parts::default(),
            tried: Vec::new(),
            differs: Vec::new(),
            unlike: BTreeMap::new(),
            rounds: 0,
        }
    }

    fn predict(&mut self, native: &Rounds<'_>, there: &Rounds<'_>, real: &Times, margin: f64) {
        let of = |phase| there.beyond(native, &|block| value(block, phase));
        let Some(extra) = of(CommandPhase::Wall) else { return };
        let slow = slowdown(extra, real.wall);
        self.slowdown = Some(slow);
        let wall = real.wall.value;
        self.wall = Some(Figure {
            value: wall * slow.value,
            interval: slow.interval.map(|(low, high)| (low * wall, high * wall)),
        });
        self.cpu_slowdown = of(CommandPhase::Cpu)
            .zip(real.cpu.filter(|cpu| cpu.value > 0.0))
            .map(|(extra, cpu)| slowdown(extra, cpu));
        self.verdict = match slow.interval {
            Some((low, _)) if low > 1.0 + margin => "slower",
            Some((_, high)) if high < 1.0 - margin => "faster",
            Some((low, high)) if low >= 1.0 - margin && high <= 1.0 + margin => "same",
            _ => "inconclusive",
        };
    }

    fn count_unlike(&mut self, there: &Rounds<'_>) {
        for block in there.blocks.values() {
            for (name, count) in &block.set.extras.unlike {
                let sum = self.unlike.entry(name.clone()).or_default();
                *sum += *count as f64 / there.blocks.len() as f64;
            }
        }
    }
}
