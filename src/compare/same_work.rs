//! Checks whether columns did the same work: the same program with the same arguments on the same
//! inputs, with the same result. Otherwise a row is refused, or a remark names what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cell_data::{RowData, RowKey};
use super::remark::{Remark, RemarkKind, named};
use super::sides::{Session, Side};
use crate::model::{CommandCase, CommandRules, Facts};
use crate::runfile::{Block, Inspected};
use crate::units;
use crate::words::Message;

/// What is known of a program, in the order in which it is named.
const FACTS: [&str; 9] =
    ["path", "size", "sha256", "format", "type", "machine", "linked", "interpreter", "libraries"];
/// Characters from which a value is no longer printed.
const LONG: usize = 60;
/// Digits of a hash that are printed.
const DIGITS: usize = 12;

/// What a session ran for a row.
struct Work<'a> {
    session: Session<'a>,
    index: usize,
    case: &'a CommandCase,
    template: &'a [String],
    rules: &'a CommandRules,
    inspected: Option<&'a Inspected>,
}

impl<'a> Work<'a> {
    fn of(session: &Session<'a>, key: &RowKey) -> Option<Work<'a>> {
        let plan = &session.run.header.plan;
        let index = session.case_index(key)?;
        let spec = plan.environments.iter().find(|spec| spec.name == session.env)?;
        let case = plan.cases[index].command()?;
        Some(Work {
            session: *session,
            index,
            case,
            template: case.template(&spec.command),
            rules: plan.commands.as_ref()?,
            inspected: session.run.inspected.iter().find(|it| it.env == session.env),
        })
    }

    fn program(&self) -> Option<&'a Facts> {
        self.inspected?.programs.get(&self.case.program(self.template))
    }

    /// The inputs with what is known of them.
    fn files(&self) -> Vec<(String, Option<&'a Facts>)> {
        let known = |path: &String| self.inspected.and_then(|it| it.files.get(path));
        let files = self.case.files(self.rules).into_iter();
        files.map(|path| (path.clone(), known(&path))).collect()
    }

    /// The hashes of its outputs, with the runs that they are of.
    fn outputs(&self) -> impl Iterator<Item = (&'a Block, &'a String)> {
        let (env, index) = (self.session.env, self.index);
        let own = self.session.run.blocks.iter();
        let own = own.filter(move |block| block.env == env && block.case == index);
        own.filter_map(|block| Some((block, block.set.extras.output.as_ref()?)))
    }
}

fn works<'a>(side: &Side<'a>, key: &RowKey) -> Vec<Work<'a>> {
    side.sessions.iter().filter_map(|session| Work::of(session, key)).collect()
}

/// By column: why its figures of a row are no answer to the same question.
pub(super) fn refusals(sides: &[Side<'_>], key: &RowKey) -> Vec<Option<String>> {
    if !key.planned.is_command() {
        return vec![None; sides.len()];
    }
    let works: Vec<Vec<Work<'_>>> = sides.iter().map(|side| works(side, key)).collect();
    let reference = sides.first().map_or("", |side| &side.label);
    let inputs = works.iter().map(|own| other_input(own, &works[0], reference));
    let outputs = other_outputs(&works, reference);
    inputs.zip(outputs).map(|(input, output)| input.or(output)).collect()
}

/// The first input that is not what the reference had.
fn other_input(own: &[Work<'_>], base: &[Work<'_>], reference: &str) -> Option<String> {
    let hash = |facts: Option<&Facts>| facts.and_then(|it| it.get("sha256")).cloned();
    // Paths may be others: the first input is held against the first one.
    let known = |at: usize| {
        base.iter().find_map(|work| {
            let files = work.files();
            let (_, facts) = files.get(at)?;
            hash(*facts).map(|hash| (hash, size_of(*facts)))
        })
    };
    let mut files = own.iter().flat_map(|work| work.files().into_iter().enumerate());
    files.find_map(|(at, (path, facts))| {
        let (wanted, size) = known(at)?;
        let found = hash(facts).filter(|found| *found != wanted)?;
        Some(format!(
            "its input `{path}` is not what `{reference}` had: {}, sha256 {} instead of {size}, {}",
            size_of(facts),
            short(&found),
            short(&wanted)
        ))
    })
}

fn size_of(facts: Option<&Facts>) -> String {
    let size = facts.and_then(|facts| facts.get("size")?.parse::<u64>().ok());
    match size {
        None => "unknown size".into(),
        Some(size) if size < 1 << 10 => format!("{size} B"),
        Some(size) => units::bytes(size as f64),
    }
}

fn short(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}

/// By column: the first run whose output is not the reference's. A faster wrong answer is no gain.
fn other_outputs(works: &[Vec<Work<'_>>], reference: &str) -> Vec<Option<String>> {
    let all = |column: usize| {
        works[column]
            .iter()
            .flat_map(|work| work.outputs().map(move |(block, hash)| (work, block, hash)))
    };
    let Some((_, first, wanted)) = all(0).next() else { return vec![None; works.len()] };
    let of_column = |column: usize| {
        let (work, block, found) = all(column).find(|(_, _, hash)| *hash != wanted)?;
        let (what, found, wanted) = differing(found, wanted);
        let (found, wanted, run) = (short(found), short(wanted), run_name(work, block));
        Some(match column {
            0 => format!(
                "{what} changes from run to run (sha256 {wanted} in {}, {found} in {run}): there \
                 is nothing to hold against; leave out what changes, or do without \
                 `--verify-output`",
                run_name(work, first)
            ),
            _ => format!(
                "{run} wrote something else than `{reference}`: {what} has sha256 {found} \
                 instead of {wanted}"
            ),
        })
    };
    (0..works.len()).map(of_column).collect()
}

/// Which of the hashes differ: that of standard output comes first.
fn differing<'a>(found: &'a str, wanted: &'a str) -> (&'static str, &'a str, &'a str) {
    let split = |text: &'a str| text.split_once(' ').unwrap_or((text, "none"));
    let (found, wanted) = (split(found), split(wanted));
    match found.0 == wanted.0 {
        true => ("the file at {out}", found.1, wanted.1),
        false => ("standard output", found.0, wanted.0),
    }
}

fn run_name(work: &Work<'_>, block: &Block) -> String {
    let file = work.session.file.map_or(String::new(), |file| format!(" of `{file}`"));
    match block.round {
        0 => format!("the first run{file}"),
        round => format!("run {round}{file}"),
    }
}

/// Whether the row's program there is not the reference's, though its name is.
pub(super) fn other_program(side: &Side<'_>, reference: &Side<'_>, key: &RowKey) -> bool {
    key.planned.is_command()
        && !program_differences(&works(reference, key), &works(side, key)).is_empty()
}

fn program_differences(base: &[Work<'_>], own: &[Work<'_>]) -> Vec<Message> {
    let name = |works: &[Work<'_>]| {
        let program = works.first()?.case.program(works.first()?.template);
        Some(Path::new(&program).file_name()?.to_owned())
    };
    // Two commands beside each other are meant to be two.
    if name(base) != name(own) {
        return Vec::new();
    }
    let facts = |works: &[Work<'_>]| -> Vec<Facts> {
        let found = works.iter().filter_map(Work::program).filter(|it| it.contains_key("sha256"));
        found
            .map(|facts| {
                let shorten = |(name, value): (&String, &String)| {
                    let value = if name == "sha256" { short(value) } else { value };
                    (name.clone(), value.to_owned())
                };
                facts.iter().map(shorten).collect()
            })
            .collect()
    };
    let (base, own) = (facts(base), facts(own));
    let (Some(first), false) = (base.first(), own.is_empty()) else { return Vec::new() };
    if base.iter().chain(&own).all(|it| it["sha256"] == first["sha256"]) {
        return Vec::new();
    }
    let of_fact = |name: &&str| difference(name, &base, &own);
    FACTS.iter().filter_map(of_fact).collect()
}

/// `size 20 / 29`: the reference's value first, and those of several sessions each once.
fn difference(name: &str, base: &[Facts], own: &[Facts]) -> Option<Message> {
    let text = |facts: &[Facts]| {
        let values: BTreeSet<&str> =
            facts.iter().filter_map(|it| it.get(name)).map(String::as_str).collect();
        values.into_iter().collect::<Vec<_>>().join(", ")
    };
    let (base, own) = (text(base), text(own));
    if base == own {
        return None;
    }
    Some(match base.chars().count().max(own.chars().count()) > LONG {
        true => Message::new("differs-long").with("name", name),
        false => differs(name, [base, own].map(|text| known(text, "unknown"))),
    })
}

/// The text, or the message of that name where there is none.
fn known(text: String, otherwise: &'static str) -> Message {
    if text.is_empty() { Message::new(otherwise) } else { Message::verbatim(text) }
}

/// What differs, the reference's value first.
fn differs(name: &str, [base, own]: [Message; 2]) -> Message {
    Message::new("differs").with("name", name).with("base", base).with("own", own)
}

/// What differs in what the columns ran, each difference once a column.
pub(super) fn remarks(sides: &[Side<'_>], rows: &[&RowData<'_>]) -> Vec<Remark> {
    let Some((reference, others)) = sides.split_first() else { return Vec::new() };
    let mut remarks: Vec<Remark> = Vec::new();
    let keys = rows.iter().map(|row| &row.key);
    for key in keys.filter(|key| key.phase == 0 && key.planned.is_command()) {
        let base = works(reference, key);
        for side in others {
            let own = works(side, key);
            let (Some(first), Some(other)) = (base.first(), own.first()) else { continue };
            let (label, to) = (&side.label, &reference.label);
            let mut say = |kind, text: Message| {
                let remark = Remark::on_column(kind, label, named(label, text));
                if !remarks.contains(&remark) {
                    remarks.push(remark);
                }
            };
            let found = program_differences(&base, &own);
            if !found.is_empty() {
                let name = other.case.program(other.template);
                let text = Message::new("other-program").with("name", name);
                say(RemarkKind::OtherProgram, text.with("reference", to).with("found", found));
            }
            if std::ptr::eq(first.session.run, other.session.run) {
                continue;
            }
            if first.template != other.template {
                let [one, two] = [first, other].map(|work| shell_words::join(work.template));
                let text = Message::new("other-command").with("own", two).with("base", one);
                say(RemarkKind::OtherCommand, text.with("reference", to));
            }
            let found = rule_differences(first.rules, other.rules);
            if !found.is_empty() {
                let text = Message::new("other-way").with("reference", to).with("found", found);
                say(RemarkKind::OtherCommand, text);
            }
        }
    }
    remarks
}

/// The options that were not the same, the reference's first.
fn rule_differences(base: &CommandRules, own: &CommandRules) -> Vec<Message> {
    let values = |rules: &CommandRules| {
        let lines =
            |all: &[Vec<String>]| all.iter().map(shell_words::join).collect::<Vec<_>>().join("; ");
        let text = |text: String| known(text, "none");
        BTreeMap::from([
            ("--prepare", text(lines(&rules.prepare))),
            ("--conclude", text(lines(&rules.conclude))),
            ("--stdin", text(rules.stdin.clone().unwrap_or_default())),
            ("--cold", on_or_off(rules.cold)),
            ("--settle", on_or_off(rules.settle)),
            ("--ignore-failure", on_or_off(rules.ignore_failure)),
            // Output that is kept is written, and not discarded.
            ("--verify-output", on_or_off(rules.verify_output)),
        ])
    };
    let (base, own) = (values(base), values(own));
    let pairs = base.iter().zip(own.values()).filter(|((_, base), own)| base != own);
    pairs.map(|((name, base), own)| differs(name, [base, own].map(Message::clone))).collect()
}

fn on_or_off(on: bool) -> Message {
    Message::new(if on { "on" } else { "off" })
}

/// The programs of a session for the table of what its environment is.
fn programs(session: &Session<'_>) -> Facts {
    let inspected = session.run.inspected.iter().find(|it| it.env == session.env);
    let programs = inspected.iter().flat_map(|it| &it.programs);
    let text = |facts: &Facts| {
        let size = facts.get("size").map(|_| size_of(Some(facts)));
        let hash = facts.get("sha256").map(|hash| format!("sha256 {}", short(hash)));
        let others = ["path", "format", "machine", "type", "linked"].map(|it| facts.get(it));
        let others = others.into_iter().flatten().cloned();
        others.chain(size).chain(hash).collect::<Vec<_>>().join(", ")
    };
    programs.map(|(name, facts)| (format!("program {name}"), text(facts))).collect()
}

/// Facts of a side's environment in its first session, with those of its programs and of its target
/// directories.
pub(super) fn facts(side: &Side<'_>) -> Facts {
    let Some(session) = side.sessions.first() else { return Facts::new() };
    let mut environments = session.run.environments.iter();
    let Some(own) = environments.find(|own| own.name == session.env) else {
        return Facts::new();
    };
    let mut facts = own.facts.clone();
    facts.extend(programs(session));
    for (name, dir) in &own.dirs {
        let words =
            ["filesystem", "source", "path", "device_model"].map(|fact| dir.get(fact).cloned());
        let words: Vec<String> = words.into_iter().flatten().collect();
        facts.insert(format!("dir {name}"), words.join(" "));
    }
    facts
}
