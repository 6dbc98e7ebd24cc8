//! One plan carried out as several runs.

use crate::support::Place;

#[test]
fn a_plan_is_repeated_and_a_run_that_fails_leaves_the_others() {
    let place = Place::new();
    // Its second and third start fail: that of the second run, and the one that sends the agent
    // after it.
    let flaky = place.fake(
        "flaky",
        "starts=$(cat starts 2>/dev/null || echo 0)\necho $((starts + 1)) >starts\n\
         [ $starts = 1 ] || [ $starts = 2 ] || exec \"$@\"\nexit 9",
    );
    let args =
        ["run", "--long", "-o", "name.jsonl", "--repeat", "3", "--seed", "5", "--budget", "1s"];
    let rest = ["--launches", "1", "--probe", "null", "--env", &flaky, "--env", "native"];
    let done = place.envtax(args).args(rest).run().exits(3);
    let done = done.complains("run 1 of 3: name-1.jsonl   (seed 5)").complains("run 2 failed");
    done.complains("run 3 of 3: name-3.jsonl   (seed 7)").prints("native (2 sessions)");
    assert!(place.has("name-1.jsonl") && !place.has("name-2.jsonl") && place.has("name-3.jsonl"));
    place.is_clean();
}

#[test]
fn an_interrupt_between_runs_ends_with_what_was_measured() {
    let place = Place::new();
    let args =
        ["run", "--long", "-o", "name.jsonl", "--repeat", "2", "--every", "1h", "--budget", "1s"];
    let mut run = place.envtax(args).args(["--probe", "null"]).start();
    let ended = || place.has("name-1.jsonl") && place.read("name-1.jsonl").contains("\"end\"");
    run.until("the end of the first run", |_| ended());
    run.signal("INT");
    run.wait_clean().exits(3).prints("null").complains("run 1 of 2: name-1.jsonl");
    place.envtax(["run", "--every", "1h"]).run().exits(2).complains("--repeat");
}
