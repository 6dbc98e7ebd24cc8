//! A slowdown that is known, in builds with the feature `planted` only.

use crate::support::Place;

/// Twice the work is far beyond any noise. `bench/honesty` measures how well small differences are
/// found, with hundreds of runs.
#[test]
fn twice_the_work_is_twice_the_cost() {
    let place = Place::new();
    let run = place.run(&["native", "double=planted:100"], &["syscall.getppid"]);
    run.args(["--budget", "10s"]).run().exits(0).prints("slower");
    let comparison = place.comparison("run.jsonl");
    let ratio = comparison.ratio("syscall.getppid", "double");
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}
