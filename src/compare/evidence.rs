//! First pass of a comparison: collects what every cell knows, with every doubt about it.
//!
//! Nothing here gives a verdict. `decide.rs` gives the verdicts, from what is collected here and
//! nothing else.

use super::cell_data::{CellData, Counted, RowData, RowKey, row_keys};
use super::flag::Flag;
use super::reach::MIN_SESSIONS;
use super::row::{Cell, Level, Measured, Runs};
use super::sides::Side;
use super::{command_doubts, flags, load, measuring_conditions, same_work, start_ups};
use crate::model::Failure;
use crate::stats::{Between, Contrast, Effect, Estimate, Series};

/// With fewer rounds in a session there is no verdict: their error is mostly chance.
pub(super) const MIN_ROUNDS: usize = 5;
/// Starts below which a start of the environment may have decided what was found.
const MIN_LAUNCHES: usize = 3;
/// Kinds of environments in which a start decides nothing: there is only this machine.
const PLAIN: [&str; 2] = ["native", "planted"];

/// A row with everything from which its verdicts are decided.
pub(super) struct RowEvidence<'a> {
    pub data: RowData<'a>,
    /// One for each column, in their order.
    pub cells: Vec<CellEvidence>,
    /// Seconds that the controller waits for one round in all columns together.
    pub round_s: f64,
}

/// The evidence of one cell. Nearly all cells are measured, and there are few, so their size does
/// not matter.
#[allow(clippy::large_enum_variant)]
pub(super) enum CellEvidence {
    /// There is no figure: the cell gives the reason.
    Empty(Cell),
    Measured(MeasuredEvidence),
}

/// A measured cell, before its verdict.
pub(super) struct MeasuredEvidence {
    /// The cell without its tax.
    pub measured: Measured,
    /// None in the reference's own column, and if there is nothing to divide by.
    pub tax: Option<TaxEvidence>,
    /// The step in ns in which this figure or the reference's is counted.
    pub tick: Option<f64>,
    /// Whether there were too few starts to know what a start of the environment decides.
    pub few_launches: bool,
}

/// A cost compared with the reference's.
pub(super) struct TaxEvidence {
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
    pub all_in_ratio: f64,
    pub all_in_interval: Option<(f64, f64)>,
    /// Cost added or saved, in the row's quantity.
    pub difference: f64,
    /// The 10 % and the 90 % quantile of the rounds' ratios.
    pub range: Option<(f64, f64)>,
    pub levels: Vec<Level>,
    pub autocorrelation: Option<f64>,
    pub between: Option<Between>,
    /// The basis of a verdict, as a logarithm; none if there is too little data for any.
    pub estimate: Option<Estimate>,
    pub unit: Unit,
}

/// The unit of an estimate.
pub(super) enum Unit {
    /// Rounds that were measured side by side.
    Rounds,
    /// Several runs, within each of which rounds were measured side by side.
    Runs(Runs),
    /// Sessions, with one logarithm each.
    Sessions { own: Vec<f64>, base: Vec<f64> },
}

/// The data of a column that every row needs.
struct Column<'a, 'b> {
    side: &'b Side<'a>,
    counted: Counted,
    /// The step in which CPU times of its commands are counted.
    tick: Option<f64>,
}

/// The evidence of every row, in the order of the report. `ticks` are the steps of CPU time of the
/// columns' commands.
pub(super) fn gather<'a>(sides: &[Side<'a>], ticks: &[Option<f64>]) -> Vec<RowEvidence<'a>> {
    let column = |(side, tick): (_, &Option<f64>)| {
        let side: &Side<'a> = side;
        Column { side, counted: side.counted(), tick: *tick }
    };
    let columns: Vec<Column<'a, '_>> = sides.iter().zip(ticks).map(column).collect();
    row_keys(sides).into_iter().map(|key| of_row(&columns, sides, key)).collect()
}

fn of_row<'a>(columns: &[Column<'a, '_>], sides: &[Side<'a>], key: RowKey) -> RowEvidence<'a> {
    let data: Vec<CellData> = sides.iter().map(|side| CellData::collect(side, &key)).collect();
    let refused = same_work::refusals(sides, &key);
    // A case that failed is no measure for others, even if it has some rounds.
    let usable = sides[0].failure(&key).is_none() && refused[0].is_none();
    let base = usable.then_some((&data[0], &columns[0]));
    let of_column = |(at, refused): (usize, Option<String>)| {
        let own = (&data[at], &columns[at]);
        let mut cell = of_cell(&key, own, base.filter(|_| at > 0));
        if let (CellEvidence::Measured(_), Some(reason)) = (&cell, refused) {
            return CellEvidence::Empty(Cell::Failed(Failure::new(&reason)));
        }
        if let CellEvidence::Measured(own) = &mut cell
            && same_work::other_program(&sides[at], &sides[0], &key)
        {
            own.measured.flags.push(Flag::OtherProgram);
        }
        cell
    };
    let cells = refused.into_iter().enumerate().map(of_column).collect();
    let round_s = data.iter().map(CellData::round_s).sum();
    RowEvidence { data: RowData { key, cells: data }, cells, round_s }
}

/// What a column has for a row, and the column.
type Own<'a, 'b> = (&'b CellData<'a>, &'b Column<'a, 'b>);

fn of_cell(key: &RowKey, own: Own<'_, '_>, base: Option<Own<'_, '_>>) -> CellEvidence {
    let (data, column) = own;
    let side = column.side;
    if let Some(failure) = side.failure(key) {
        return CellEvidence::Empty(Cell::Failed(failure.clone()));
    }
    let tick = command_doubts::has_cpu_time(key)
        .then(|| column.tick.into_iter().chain(base.and_then(|base| base.1.tick)))
        .and_then(|ticks| ticks.reduce(f64::max));
    if let Some((measured, tax)) = with_zeroes(data, base.map(|(base, _)| base)) {
        let few_launches = false;
        return CellEvidence::Measured(MeasuredEvidence { measured, tax, tick, few_launches });
    }
    let Some((own_cost, own_all_in)) = data.costs() else {
        return CellEvidence::Empty(empty_cell(side, key, data));
    };
    let mut tax = base.and_then(|(base, _)| tax(data, base));
    // If two amounts are unknown and below one bound, neither is known to be larger.
    let at_floor = |data: &CellData<'_>| flags::at_floor(key, &data.blocks);
    if let Some(tax) = tax.as_mut().filter(|_| at_floor(data))
        && base.is_some_and(|(base, _)| at_floor(base))
    {
        (tax.interval, tax.all_in_interval, tax.estimate) = (None, None, None);
    }
    let flags = doubts(key, own_cost, own, base, tax.as_ref());
    let (cost, all_in) = match (&tax, base.and_then(|(base, _)| base.costs())) {
        // The estimate by rounds is the better one, and a reader who divides two costs must get the
        // tax.
        (Some(tax), Some(base)) => (base.0 * tax.ratio, base.1 * tax.all_in_ratio),
        _ => (own_cost, own_all_in),
    };
    let measured = Measured {
        cost,
        cost_interval: around(cost, data.effect(&data.alone())),
        range: data.range(),
        first_rounds: data.first_rounds(),
        all_in,
        all_in_interval: around(all_in, data.alone().mean_cost()),
        levels: Level::of(&data.alone()),
        p90: data.quantile(0.9).filter(|_| key.planned.is_command()),
        outside_cpu_ns: start_ups::outside_cpu_ns(&data.blocks).filter(|_| key.phase == 0),
        rounds: data.rounds(),
        tax: None,
        flags,
    };
    let few_launches = base.is_some_and(|base| few_launches(own, base));
    CellEvidence::Measured(MeasuredEvidence { measured, tax, tick, few_launches })
}

/// Whether rounds that were measured side by side come from too few starts. A start decides nothing
/// where both environments are this machine itself. Of imported files, nobody knows the starts.
fn few_launches((own, column): Own<'_, '_>, (base, other): Own<'_, '_>) -> bool {
    let plain = |column: &Column<'_, '_>| column.side.kinds().all(|kind| PLAIN.contains(&kind));
    let imported = |column: &Column<'_, '_>| column.side.sessions.iter().any(|it| it.run.imported);
    own.is_paired_with(base)
        && own.launches().min(base.launches()) < MIN_LAUNCHES
        && !(plain(column) && plain(other))
        && !imported(column)
}

/// All flags of a cell except those that follow from its verdict.
fn doubts(
    key: &RowKey,
    cost: f64,
    (data, column): Own<'_, '_>,
    base: Option<Own<'_, '_>>,
    tax: Option<&TaxEvidence>,
) -> Vec<Flag> {
    let mut flags = flags::of_blocks(key, cost, &data.blocks);
    // The resources of commands are shown in rows of their own, and may be the difference that the
    // user looks for.
    let probe = !key.planned.is_command();
    let other_work = |(base, other): Own<'_, '_>| {
        flags::different_work((data, column.counted), (base, other.counted))
    };
    if probe && base.is_some_and(other_work) {
        flags.push(Flag::DifferentWork);
    }
    flags.extend(measuring_conditions::flags(data));
    flags.extend(command_doubts::partly_zero(column.side, key, data));
    if key.phase().timed && data.clock_share > flags::CLOCK_SHARE {
        flags.push(Flag::ClockShare);
    }
    if flags::at_floor(key, &data.blocks) {
        flags.push(Flag::Floor);
    }
    if data.few_rounds {
        flags.push(Flag::FewRounds);
    }
    flags.extend(load::load_flag(column.side, key, data));
    let dir = key.planned.case.dir.as_deref();
    let is_other = |dir, base: &Side<'_>| column.side.is_other_filesystem(base, dir);
    if base.zip(dir).is_some_and(|((_, base), dir)| is_other(dir, base.side)) {
        flags.push(Flag::OtherFilesystem);
    }
    if let Some(tax) = tax {
        flags.extend(flags::heavy_tail(tax.interval, tax.all_in_interval));
        flags.extend((!tax.levels.is_empty()).then_some(Flag::Modes));
        flags.extend(flags::launches(tax.between));
        flags.extend(flags::autocorrelated(tax.autocorrelation, data.rounds()));
        let base = base.filter(|(base, _)| data.is_paired_with(base));
        flags.extend(base.and_then(|(base, _)| load::flag(data, base)));
    }
    flags
}

/// The cell of a figure that was zero in some runs, here or in the reference. Zero has no
/// logarithm, so means are compared directly, without an interval.
fn with_zeroes(
    data: &CellData<'_>,
    base: Option<&CellData<'_>>,
) -> Option<(Measured, Option<TaxEvidence>)> {
    if data.with_zeroes.is_none() && base.is_none_or(|base| base.with_zeroes.is_none()) {
        return None;
    }
    let mean = |data: &CellData<'_>| match &data.with_zeroes {
        Some(figures) => Some(figures.iter().sum::<f64>() / figures.len() as f64),
        None => Some(data.costs()?.1),
    };
    let cost = mean(data)?;
    let base = base.and_then(mean).filter(|base| cost > 0.0 && *base > 0.0);
    let tax = base.map(|base| TaxEvidence {
        ratio: cost / base,
        interval: None,
        all_in_ratio: cost / base,
        all_in_interval: None,
        difference: cost - base,
        range: None,
        levels: Vec::new(),
        autocorrelation: None,
        between: None,
        estimate: None,
        unit: Unit::Rounds,
    });
    let figures = data.with_zeroes.as_deref().unwrap_or_default();
    let greatest = figures.iter().copied().reduce(f64::max);
    let measured = Measured {
        cost,
        cost_interval: None,
        range: greatest.map(|greatest| (0.0, greatest)).or_else(|| data.range()),
        first_rounds: Vec::new(),
        all_in: cost,
        all_in_interval: None,
        levels: Vec::new(),
        p90: None,
        outside_cpu_ns: None,
        rounds: data.rounds().max(figures.len()),
        tax: None,
        flags: Vec::new(),
    };
    Some((measured, tax))
}

/// The cell of a row without figures. If there are blocks, the environment does not show this
/// figure, for a reason that the probe gave.
fn empty_cell(side: &Side<'_>, key: &RowKey, data: &CellData<'_>) -> Cell {
    let Some(block) = data.blocks.first() else { return side.empty_cell(key) };
    if block.set.samples.len() <= key.phase {
        let reason = "that run has no such figure".to_owned();
        return Cell::NotReached { reason };
    }
    let notes = block.set.extras.notes.join("; ");
    let unknown = "the environment does not show it, or it was not above zero".to_owned();
    Cell::Skipped(Failure::new(if notes.is_empty() { unknown } else { notes }))
}

fn tax(data: &CellData<'_>, base: &CellData<'_>) -> Option<TaxEvidence> {
    match data.is_paired_with(base) {
        true if data.sessions.len() == 1 => tax_of_rounds(data, base),
        true => tax_of_runs(data, base),
        false => tax_of_sessions(data, base),
    }
}

fn tax_of_rounds(data: &CellData<'_>, base: &CellData<'_>) -> Option<TaxEvidence> {
    let ratios = Contrast::against(&data.sessions, &base.sessions);
    let ends = ratios.quantile(0.1).zip(ratios.quantile(0.9));
    let enough = data.rounds().min(base.rounds()) >= MIN_ROUNDS;
    let mean = ratios.mean_cost()?;
    let tax = of_effect(data.effect(&ratios)?, mean, base, Unit::Rounds, enough)?;
    Some(TaxEvidence {
        range: ends.map(|(low, high)| (low.exp(), high.exp())),
        levels: Level::of(&ratios),
        autocorrelation: ratios.autocorrelation(),
        ..tax
    })
}

/// Several runs of the same environments: rounds are paired within each run, and the run is the
/// unit.
fn tax_of_runs(data: &CellData<'_>, base: &CellData<'_>) -> Option<TaxEvidence> {
    let of_run = |(own, base): (&Series, &Series)| {
        let one = std::slice::from_ref;
        let ratios = Contrast::against(one(own), one(base));
        Some((data.effect(&ratios)?, ratios.mean_cost()?.value))
    };
    let pairs = data.sessions.iter().zip(&base.sessions);
    let (effects, means): (Vec<Effect>, Vec<f64>) = pairs.filter_map(of_run).unzip();
    let logs: Vec<f64> = effects.iter().map(|effect| effect.value).collect();
    let enough =
        logs.len() >= MIN_SESSIONS && data.fewest_rounds().min(base.fewest_rounds()) >= MIN_ROUNDS;
    let unit = Unit::Runs(Runs::of(&effects));
    let mean = Effect::of_runs(&means)?;
    let tax = of_effect(Effect::of_runs(&logs)?, mean, base, unit, enough)?;
    let all = Contrast::against(&data.sessions, &base.sessions);
    let ends = all.quantile(0.1).zip(all.quantile(0.9));
    let range = ends.map(|(low, high)| (low.exp(), high.exp()));
    Some(TaxEvidence { range, levels: Level::of(&all), ..tax })
}

fn tax_of_sessions(data: &CellData<'_>, base: &CellData<'_>) -> Option<TaxEvidence> {
    let (own, own_means) = data.session_values();
    let (other, other_means) = base.session_values();
    let enough = own.len().min(other.len()) >= MIN_SESSIONS
        && data.fewest_rounds().min(base.fewest_rounds()) >= MIN_ROUNDS;
    let mean = Effect::of_sessions(&own_means, &other_means)?;
    let effect = Effect::of_sessions(&own, &other)?;
    of_effect(effect, mean, base, Unit::Sessions { own, base: other }, enough)
}

fn of_effect(
    effect: Effect,
    mean: Effect,
    base: &CellData<'_>,
    unit: Unit,
    enough: bool,
) -> Option<TaxEvidence> {
    Some(TaxEvidence {
        ratio: effect.value.exp(),
        interval: around(effect.value.exp(), Some(effect)),
        all_in_ratio: mean.value.exp(),
        all_in_interval: around(mean.value.exp(), Some(mean)),
        difference: base.costs()?.0 * (effect.value.exp() - 1.0),
        range: None,
        levels: Vec::new(),
        autocorrelation: None,
        between: effect.between,
        estimate: effect.estimate.filter(|_| enough),
        unit,
    })
}

/// The 95 % interval about a value; its width is that of the effect, whose value is a logarithm.
fn around(value: f64, effect: Option<Effect>) -> Option<(f64, f64)> {
    let width = effect?.half_width(0.95)?.exp();
    Some((value / width, value * width))
}
