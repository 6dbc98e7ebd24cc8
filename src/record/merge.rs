//! Several recordings of one command as one: that of the middle size, with the middle of the
//! computing times of all that did the same.

use crate::recording::{Event, Recording};

/// The recording with the middle number of calls. Where the others made the same calls, the times
/// between are the medians of all.
pub fn merged(mut runs: Vec<Recording>) -> Recording {
    let counts: Vec<u64> = runs.iter().flat_map(|run| run.about.calls_of_runs.clone()).collect();
    runs.sort_by_key(|run| run.about.calls_of_runs.iter().sum::<u64>());
    let mut middle = runs.remove((runs.len() - 1) / 2);
    let shape = |run: &Recording, stream: usize| -> Vec<u64> {
        run.streams.get(stream).into_iter().flat_map(|it| &it.events).map(of_event).collect()
    };
    for number in 0..middle.streams.len() {
        let own = shape(&middle, number);
        let alike: Vec<&Recording> = runs.iter().filter(|it| shape(it, number) == own).collect();
        for (at, event) in middle.streams[number].events.iter_mut().enumerate() {
            let mut gaps: Vec<u64> =
                alike.iter().map(|run| run.streams[number].events[at].0).chain([event.0]).collect();
            gaps.sort_unstable();
            event.0 = gaps[(gaps.len() - 1) / 2];
        }
    }
    middle.about.calls_of_runs = counts;
    middle
}

/// What makes two events the same: their sort, and the kind of a call.
fn of_event(event: &(u64, Event)) -> u64 {
    match &event.1 {
        Event::Call(call) => call.kind as u64,
        Event::Fork(..) => 1000,
        Event::Thread(_) => 1001,
        Event::Exec(_) => 1002,
        Event::Wait(_) => 1003,
        Event::Join(_) => 1004,
        Event::Pages(_) => 1005,
        Event::Sleep(_) => 1006,
        Event::Exit(_) => 1007,
    }
}

/// Stops for a tracer make every gap longer by about the same time: it is taken off.
pub fn without_stops(recording: &mut Recording) {
    let events = || recording.streams.iter().flat_map(|stream| stream.events.iter());
    let mut gaps: Vec<u64> = events().map(|event| event.0).filter(|gap| *gap > 0).collect();
    gaps.sort_unstable();
    // Most gaps have hardly more.
    let least = gaps.get(gaps.len() / 4).copied().unwrap_or(0);
    for event in recording.streams.iter_mut().flat_map(|stream| &mut stream.events) {
        event.0 = event.0.saturating_sub(least);
    }
}
