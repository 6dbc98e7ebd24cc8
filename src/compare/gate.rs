//! A gate: which figures are beyond the user's limits, and which could not be judged.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Comparison;
use super::row::{Cell, Measured, Row};
use super::verdict::{Open, Verdict};
use crate::model::{COMMAND, CommandPhase, PlannedCase};
use crate::words::Message;

/// Most that a tax may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// Glob over probes and rows, as in `--probe`; none for all rows without a glob of their own.
    pub rows: Option<String>,
    pub ratio: f64,
}

impl Limit {
    /// Whether the glob fits some row that the case will have.
    pub fn fits_case(&self, planned: &PlannedCase) -> bool {
        let case = &planned.case;
        let (params, dir) = (case.params.as_str(), case.dir.as_deref());
        let mut phases = planned.phases.iter();
        phases.any(|phase| self.fits(&case.probe, &phase.name, params, dir))
    }

    /// Whether the limit holds for a row. Of a whole command, a limit without a glob is one of its
    /// wall time: the other figures are those of the same runs.
    fn fits(&self, probe: &str, phase: &str, params: &str, dir: Option<&str>) -> bool {
        let Some(glob) = &self.rows else {
            return probe != COMMAND || phase == CommandPhase::Wall.name();
        };
        let dir = dir.map(|dir| format!("dir={dir}")).unwrap_or_default();
        let all: [&[&str]; 6] = [
            &[probe],
            &[probe, phase],
            &[probe, params],
            &[probe, params, &dir],
            &[probe, phase, params],
            &[probe, phase, params, &dir],
        ];
        let name = |words: &[&str]| {
            let words = words.iter().filter(|word| !word.is_empty());
            words.copied().collect::<Vec<_>>().join(" ")
        };
        all.iter().any(|words| fast_glob::glob_match(glob, name(words)))
    }
}

/// What is held against the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateOn {
    /// The lower end of the interval, where the verdict is slower.
    Bound,
    /// The tax itself.
    Estimate,
}

/// What the user wants to be judged.
#[derive(Clone, Debug)]
pub struct GateRules {
    pub limits: Vec<Limit>,
    pub on: GateOn,
    pub allow_unjudged: bool,
}

/// What came of it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Gate {
    pub on: GateOn,
    /// Whether figures without judgement pass.
    pub allow_unjudged: bool,
    /// Figures that were judged.
    pub judged: usize,
    /// Those of them that are above their limit, the worst first.
    pub above: Vec<Above>,
    /// Figures that have a limit and could not be judged.
    pub unjudged: Vec<Unjudged>,
}

/// A figure above its limit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Above {
    pub column: String,
    /// Index of the row in [`Comparison::rows`].
    pub row: usize,
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
    pub limit: f64,
}

/// Figures of one column that could not be judged for the same reason.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unjudged {
    pub column: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub reason: Message,
    /// Indices in [`Comparison::rows`].
    pub rows: Vec<usize>,
}

impl Gate {
    pub fn failed(&self) -> bool {
        !self.above.is_empty() || !self.allow_unjudged && !self.unjudged.is_empty()
    }
}

/// Judges every figure that has a limit.
pub fn gate(comparison: &Comparison, rules: &GateRules) -> Gate {
    let (mut judged, mut above) = (0, Vec::new());
    let mut unjudged: BTreeMap<(usize, Message), Vec<usize>> = BTreeMap::new();
    for (at, row) in comparison.rows.iter().enumerate() {
        let Some(limit) = limit_of(row, &rules.limits) else { continue };
        for (column, cell) in row.cells.iter().enumerate().skip(1) {
            match figure(cell, limit, rules.on) {
                Ok(figure) => {
                    judged += 1;
                    above.extend(figure.map(|(ratio, interval)| {
                        let column = comparison.columns[column].clone();
                        Above { column, row: at, ratio, interval, limit }
                    }));
                }
                Err(reason) => {
                    let absent = comparison.is_absent(column);
                    let reason = if absent { Message::new("gate-absent") } else { reason };
                    unjudged.entry((column, reason)).or_default().push(at);
                }
            }
        }
    }
    above.sort_by(|a, b| (b.ratio / b.limit).total_cmp(&(a.ratio / a.limit)));
    let unjudged = unjudged.into_iter().map(|((column, reason), rows)| {
        let column = comparison.columns[column].clone();
        Unjudged { column, reason, rows }
    });
    Gate {
        on: rules.on,
        allow_unjudged: rules.allow_unjudged,
        judged,
        above,
        unjudged: unjudged.collect(),
    }
}

/// The limit of a row: one with a glob comes before one without, and the last one before others.
fn limit_of(row: &Row, limits: &[Limit]) -> Option<f64> {
    let dir = row.dir.as_deref();
    let fits = |limit: &&Limit| limit.fits(&row.probe, &row.phase, &row.params, dir);
    let of = |with_glob: bool| {
        limits.iter().rev().filter(|limit| limit.rows.is_some() == with_glob).find(fits)
    };
    of(true).or_else(|| of(false)).map(|limit| limit.ratio)
}

type Figure = (f64, Option<(f64, f64)>);

/// The tax if it is above the limit, or why that cannot be said.
fn figure(cell: &Cell, limit: f64, on: GateOn) -> Result<Option<Figure>, Message> {
    let measured = match cell {
        Cell::Measured(measured) => measured,
        Cell::Skipped(why) => return Err(recorded("gate-skipped", &why.what)),
        Cell::Failed(why) => return Err(recorded("gate-not-measured", &why.what)),
        Cell::NotReached { reason } => return Err(Message::verbatim(reason)),
    };
    let Some(tax) = &measured.tax else { return Err(Message::new("gate-no-reference")) };
    if tax.verdict == Verdict::Descriptive {
        return Err(too_little(measured));
    }
    let certain = tax.interval.is_some_and(|(low, _)| low > limit);
    let is_above = match (on, tax.verdict) {
        (GateOn::Estimate, _) => tax.ratio > limit,
        (GateOn::Bound, Verdict::Inconclusive { why, .. }) if certain => {
            return Err(withheld(why));
        }
        (GateOn::Bound, verdict) => certain && verdict == Verdict::Slower,
    };
    Ok(is_above.then_some((tax.ratio, tax.interval)))
}

/// What the run file tells.
fn recorded(id: &'static str, what: &str) -> Message {
    Message::new(id).with("what", what)
}

/// Why a measured figure has no verdict.
fn too_little(measured: &Measured) -> Message {
    let tax = measured.tax.as_ref();
    let zeroes = measured.range.is_some_and(|(least, _)| least == 0.0);
    Message::new(match tax {
        Some(tax) if tax.runs.is_some() => "gate-few-runs",
        _ if measured.rounds < super::evidence::MIN_ROUNDS => "gate-few-rounds",
        _ if zeroes => "gate-zeroes",
        Some(tax) if tax.spread.is_none() => "gate-few-sessions",
        _ => "gate-no-verdict",
    })
}

/// Why a verdict is withheld although the interval is above the limit.
fn withheld(why: Open) -> Message {
    Message::new(match why {
        Open::Levels => "gate-levels",
        Open::Ticks => "gate-ticks",
        Open::ManyRows => "gate-many-rows",
        Open::FewLaunches => "gate-few-starts",
        Open::Width | Open::NearMargin => "gate-inconclusive",
    })
}
