//! Remarks on the conditions under which figures were taken, as the probes reported them: lowered
//! numbers, caches that could not be emptied, writes that no device saw. Also checks the controls,
//! which must not differ.

use std::collections::BTreeMap;

use super::cell_data::{CellData, RowData, RowKey};
use super::flag::Flag;
use super::remark::{Remark, RemarkKind, named};
use super::row::{Cell, Row, tax_of};
use super::sides::Side;
use super::verdict::Verdict;
use crate::units;
use crate::words::Message;

/// Probes of what no environment should change: the CPU itself.
const CONTROLS: [&str; 4] = ["cpu.integer", "cpu.float", "memory.latency", "memory.bandwidth"];
/// Share of samples that must be verified to be cold.
const COLD: f64 = 0.99;
/// Share of what is said to be durable that a device must have written.
const DURABLE: f64 = 0.9;
/// Filesystems without any device below.
const IN_MEMORY: [&str; 2] = ["tmpfs", "ramfs"];
/// No device makes a write durable in so few ns: the fastest with protected caches take longer.
const FASTEST_SYNC_NS: f64 = 5_000.0;

/// Sum of a counter over the blocks; none when no block has it.
fn total(data: &CellData<'_>, name: &str) -> Option<u64> {
    let counts = data.blocks.iter().filter_map(|block| block.set.extras.counters.get(name));
    counts.copied().reduce(u64::saturating_add)
}

/// Doubts that the probe's own counters raise.
pub(super) fn flags(data: &CellData<'_>) -> Vec<Flag> {
    let mut flags = Vec::new();
    let cold = total(data, "cold_verified").zip(total(data, "cold_checked"));
    if cold.is_some_and(|(verified, checked)| (verified as f64) < COLD * checked as f64) {
        flags.push(Flag::NotCold);
    }
    if dishonest(data).is_some() {
        flags.push(Flag::NotDurable);
    }
    flags
}

/// Why nothing is durable where the case's target directory lies, if that is in memory.
fn in_memory(side: &Side<'_>, key: &RowKey) -> Option<Message> {
    let dir = key.planned.case.dir.as_deref()?;
    let kinds = side.sessions.iter().filter_map(|session| session.dir_fact(dir, "filesystem"));
    let kind = kinds.into_iter().find(|kind| IN_MEMORY.contains(kind))?;
    Some(Message::new("in-memory").with("kind", kind))
}

/// The evidence that data reported as durable was not, if there is any.
fn dishonest(data: &CellData<'_>) -> Option<Message> {
    let claimed = total(data, "claimed_bytes")?;
    if let Some(written) = total(data, "device_bytes") {
        let short = (written as f64) < DURABLE * claimed as f64;
        return short.then(|| {
            let (written, claimed) = (units::bytes(written as f64), units::bytes(claimed as f64));
            Message::new("not-durable").with("claimed", claimed).with("written", written)
        });
    }
    let (syncs, time) = (total(data, "syncs")?, total(data, "durable_ns")?);
    let each = time as f64 / syncs.max(1) as f64;
    // The same words for all cases: the figures are in the rows.
    let fastest = units::time(FASTEST_SYNC_NS);
    (each < FASTEST_SYNC_NS).then(|| Message::new("durable-too-fast").with("time", fastest))
}

/// What a reader must know of how the rows were measured, each sentence once a column.
pub(super) fn remarks(sides: &[Side<'_>], data: &[&RowData<'_>], rows: &[Row]) -> Vec<Remark> {
    let labels: Vec<&str> = sides.iter().map(|side| side.label.as_str()).collect();
    let mut said: BTreeMap<(usize, Message, RemarkKind), Vec<String>> = BTreeMap::new();
    for RowData { key, cells } in data.iter().copied().filter(|row| row.key.phase == 0) {
        for (column, data) in cells.iter().enumerate() {
            let case = key.planned.case.to_string();
            let mut notes: BTreeMap<&String, usize> = BTreeMap::new();
            for note in data.blocks.iter().flat_map(|block| &block.set.extras.notes) {
                *notes.entry(note).or_default() += 1;
            }
            for (note, count) in notes {
                // Probes measure in one way; commands may do another thing each time.
                let note = match key.planned.is_command() && count < data.blocks.len() {
                    true => Message::new("in-some-runs")
                        .with("text", note)
                        .with("count", count)
                        .with("all", data.blocks.len()),
                    false => Message::verbatim(note),
                };
                let at = (column, note, RemarkKind::Condition);
                said.entry(at).or_default().push(case.clone());
            }
            let in_memory = in_memory(&sides[column], key);
            if let Some(evidence) = dishonest(data).map(|evidence| in_memory.unwrap_or(evidence)) {
                let at = (column, evidence, RemarkKind::NotDurable);
                said.entry(at).or_default().push(case);
            }
        }
    }
    let remark = |((column, text, kind), cases): ((usize, Message, RemarkKind), Vec<String>)| {
        let label = labels[column];
        let cases = match cases.len() {
            1 => Message::verbatim(&cases[0]),
            count => Message::new("and-more").with("first", &cases[0]).with("count", count - 1),
        };
        let text = Message::new("of-cases").with("cases", cases).with("text", text);
        Remark::on_column(kind, label, named(label, text))
    };
    let mut remarks: Vec<Remark> = controls(&labels, rows).into_iter().collect();
    remarks.extend(said.into_iter().map(remark));
    remarks
}

/// Controls that differ make every other row suspect.
fn controls(labels: &[&str], rows: &[Row]) -> Option<Remark> {
    let different = |cell: &Cell| {
        tax_of(cell).is_some_and(|tax| matches!(tax.verdict, Verdict::Slower | Verdict::Faster))
    };
    let mut found = Vec::new();
    for row in rows.iter().filter(|row| CONTROLS.contains(&row.probe.as_str())) {
        for (column, cell) in row.cells.iter().enumerate().filter(|(_, cell)| different(cell)) {
            let ratio = tax_of(cell).map_or(f64::NAN, |tax| tax.ratio);
            found.push(
                Message::new("control-ratio")
                    .with("row", row.name())
                    .with("ratio", units::factor(ratio))
                    .with("column", labels[column]),
            );
        }
    }
    (!found.is_empty()).then(|| {
        Remark::on_all(RemarkKind::Control, Message::new("control-differs").with("rows", found))
    })
}
