//! A recording in words: its processes, its operations by class, and what is not re-enacted.

use std::collections::BTreeMap;
use std::path::Path;

use crate::model::visible;
use crate::recording::{Class, Event, Kind, Recording};
use crate::units;

/// Columns of sentences.
const WIDTH: usize = 80;
/// Lines of the process tree that are shown.
const MOST_LINES: usize = 40;

/// What was recorded, after recording it.
pub fn summary(recording: &Recording, path: &Path, bytes: u64) -> String {
    let about = &recording.about;
    let calls: u64 = about.calls.values().sum();
    let what = format!(
        "{}: {} calls of {}, {}; {} on disk",
        path.display(),
        calls,
        processes(recording),
        files(recording),
        units::bytes(bytes as f64),
    );
    let partial = "it did not end in time: the recording has what it did until then".to_owned();
    let partial = about.partial.then_some(partial);
    let sentences = [Some(what), Some(overhead(recording)), disagreement(recording), partial];
    let lines = sentences.into_iter().flatten().flat_map(|it| units::wrapped(&it, WIDTH));
    let text = lines.collect::<Vec<_>>().join("\n");
    text + &left_out(recording, &[])
}

fn processes(recording: &Recording) -> String {
    let threads = events(recording).filter(|it| matches!(it, Event::Thread(_))).count();
    let processes = recording.streams.len() - threads;
    let programs = events(recording).filter(|it| matches!(it, Event::Exec(_))).count();
    let many = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let processes = many(processes, "process").replace("processs", "processes");
    let text = format!("{processes} and {}", many(programs, "program"));
    if threads == 0 { text } else { format!("{text}, {}", many(threads, "thread")) }
}

fn files(recording: &Recording) -> String {
    format!("{} stand-in files and folders", recording.files.len())
}

fn events(recording: &Recording) -> impl Iterator<Item = &Event> {
    recording.streams.iter().flat_map(|stream| stream.events.iter().map(|(_, event)| event))
}

fn median(values: &[u64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).map(|value| *value as f64)
}

/// How much slower the program was while it was recorded.
fn overhead(recording: &Recording) -> String {
    let (alone, recorded) = (&recording.about.alone, &recording.about.recorded_runs);
    let (Some(wall), Some(slow)) = (median(&alone.wall), median(&recorded.wall)) else {
        return "its times without a recorder are unknown".into();
    };
    let again = median(&recording.about.reenacted.wall);
    let again = again.map_or(String::new(), |again| {
        format!(", {} re-enacted ({:+.0} %)", units::time(again), (again / wall - 1.0) * 100.0)
    });
    format!(
        "{} alone (median of {}), {} recorded ({:.1} times){again}",
        units::time(wall),
        alone.wall.len(),
        units::time(slow),
        slow / wall
    )
}

/// How far the recorded runs differ in what they did; nothing if they agree.
fn disagreement(recording: &Recording) -> Option<String> {
    let counts = &recording.about.calls_of_runs;
    let (least, most) = counts.iter().min().zip(counts.iter().max())?;
    let apart = most - least;
    (apart > 0).then(|| {
        let share = units::percent(apart as f64 / (*most).max(1) as f64);
        let runs = counts.len();
        format!(
            "its {runs} recorded runs made {least} to {most} calls ({share} apart): it does not \
             always do the same"
        )
    })
}

/// What is in a recording and not re-enacted.
/// `dropped`: calls that are in it in a form that a stand-in process does not have, by name.
pub(super) fn left_out(recording: &Recording, dropped: &[(&str, u64)]) -> String {
    let about = &recording.about;
    let mut all: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let recorded = about.left_out.iter().map(|(name, it)| (name.as_str(), *it));
    for (name, (count, ns)) in recorded.chain(dropped.iter().map(|it| (it.0, (it.1, 0)))) {
        let sum = all.entry(name).or_default();
        *sum = (sum.0 + count, sum.1 + ns);
    }
    if all.is_empty() {
        return String::new();
    }
    let mut rows: Vec<_> = all.into_iter().collect();
    rows.sort_by_key(|(_, (_, ns))| std::cmp::Reverse(*ns));
    let wall = median(&about.recorded_runs.wall).unwrap_or(f64::NAN);
    let row = |(name, (count, ns)): (&str, (u64, u64))| {
        let share = ns as f64 / wall;
        let share = match ns {
            0 => String::new(),
            _ if share > 1.0 => ", longer than it took, in threads side by side".to_owned(),
            _ if share < 0.0005 => ", less than 0.1\u{a0}% of the recorded time".to_owned(),
            _ => format!(", {} of the recorded time", units::percent(share)),
        };
        format!("\n  {} × {count}{share}", visible(name))
    };
    let rows: String = rows.into_iter().map(row).collect();
    format!("\nnot re-enacted:{rows}")
}

/// The whole page of `--show`.
pub fn shown(recording: &Recording) -> String {
    let about = &recording.about;
    let mut text = format!(
        "{}, recorded {} on {} by {}\n",
        visible(&about.name),
        visible(&about.recorded),
        visible(&about.machine),
        visible(&about.method)
    );
    if !about.command.is_empty() {
        text += &format!("command: {}\n", visible(&shell_words::join(&about.command)));
    }
    let calls: u64 = about.calls.values().sum();
    text += &format!(
        "{calls} calls of {}; {}; {} page faults\n{}\n",
        processes(recording),
        files(recording),
        about.faults,
        overhead(recording)
    );
    let of_runs: Vec<String> = about.calls_of_runs.iter().map(u64::to_string).collect();
    text += &format!("calls of each recorded run: {}\n", of_runs.join(", "));
    text.extend(disagreement(recording).map(|sentence| sentence + "\n"));
    text += "\nprocess tree\n";
    tree(recording, 0, 1, &mut text);
    text += &by_class(recording);
    text + left_out(recording, &[]).trim_start_matches('\n') + "\n"
}

fn tree(recording: &Recording, stream: usize, depth: usize, text: &mut String) {
    let lines = text.lines().count();
    if lines > MOST_LINES + 8 {
        if !text.ends_with("…\n") {
            *text += "  …\n";
        }
        return;
    }
    let events = &recording.streams[stream].events;
    let program = &recording.streams[stream].program;
    let name = if program.is_empty() {
        format!("process {stream}")
    } else {
        visible(program).into_owned()
    };
    let calls = events.iter().filter(|(_, event)| matches!(event, Event::Call(_))).count();
    let computed: u64 = events.iter().map(|(gap, _)| *gap).sum();
    let computed = units::time(computed as f64);
    *text +=
        &format!("{}{name}: {calls} calls, {computed} computing\n", "  ".repeat(depth.min(20)));
    for (_, event) in events {
        if let Event::Fork(child, _) | Event::Thread(child) = event {
            tree(recording, *child as usize, depth + 1, text);
        }
    }
}

/// A table of the operations.
fn by_class(recording: &Recording) -> String {
    let mut counts: BTreeMap<Class, (u64, u64)> = BTreeMap::new();
    let mut add = |class: Class, count: u64, bytes: u64| {
        let entry = counts.entry(class).or_default();
        *entry = (entry.0 + count, entry.1.saturating_add(bytes));
    };
    for event in events(recording) {
        match event {
            Event::Call(call) => {
                let moved = [
                    Kind::Read,
                    Kind::Write,
                    Kind::Pread,
                    Kind::Pwrite,
                    Kind::ReadPipe,
                    Kind::WritePipe,
                ];
                let bytes = if moved.contains(&call.kind) { call.result.max(0) as u64 } else { 0 };
                add(call.kind.class(), 1, bytes);
            }
            Event::Fork(..) => add(Class::Fork, 1, 0),
            Event::Thread(_) => add(Class::Thread, 1, 0),
            Event::Exec(_) => add(Class::Exec, 1, 0),
            Event::Pages(pages) => {
                let count =
                    u64::from(pages.fresh) + u64::from(pages.file) + u64::from(pages.copied);
                add(Class::Faults, count, 0);
            }
            Event::Wait(_) | Event::Join(_) | Event::Sleep(_) => add(Class::Wait, 1, 0),
            Event::Exit(_) => {}
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let mut text = String::from("\noperations\n");
    for (class, (count, bytes)) in rows {
        let bytes = match bytes {
            0 => String::new(),
            bytes => format!(", {}", units::bytes(bytes as f64)),
        };
        text += &format!("  {:11}{count:8}  {}{bytes}\n", class.name(), class.words());
    }
    let computed: u64 =
        recording.streams.iter().flat_map(|stream| &stream.events).map(|(gap, _)| *gap).sum();
    text += &format!("  {:11}{:>8}\n", "compute", units::time(computed as f64));
    text
}
