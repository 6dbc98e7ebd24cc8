//! `envtax explain` beside one prediction: recordings that come with envtax, parts of the extra
//! time, changes that are tried, and recordings that cannot be used.

use std::fs;

use serde_json::Value;

use crate::support::{Place, needs};

const FEW: [&str; 4] = ["--runs", "1", "--recordings", "2"];

fn record<'a>(place: &'a Place, command: &[&str]) -> crate::support::Envtax<'a> {
    place.envtax(["record", "-o", "it.rec", "--paths", "keep"]).args(FEW).args(["--"]).args(command)
}

fn explained(place: &Place, args: &[&str]) -> Value {
    let done = place.envtax(["explain"]).args(args).args(["--json", "--rounds", "3"]);
    let done = done.args(["-o", "run.jsonl", "--force"]).start().wait_clean().exits(0);
    serde_json::from_str(&done.out).expect("JSON")
}

#[test]
fn recordings_come_with_envtax() {
    let place = Place::new();
    let listed = place.envtax(["list", "recordings"]).run().exits(0);
    listed.prints("git-status").prints("sqlite");
    let found = explained(&place, &["gcc", "--env", "again=native"]);
    assert_eq!(found["name"], "gcc");
    let all = found["environments"].as_array().unwrap();
    assert_eq!((all.len(), &all[0]["name"], &all[0]["rounds"]), (1, &"again".into(), &3.into()));
    // Without the program, its re-enactment stands for it.
    assert_eq!(found["real_native"], found["reenacted_native"], "{found:#}");
    let of = |figure: &Value| figure["value"].as_f64().unwrap();
    let (native, there) = (of(&found["real_native"]), of(&all[0]["wall"]));
    let slowdown = of(&all[0]["slowdown"]);
    assert!((there / native / slowdown - 1.0).abs() < 1e-9, "{found:#}");
    let classes = all[0]["classes"].as_array().unwrap();
    let calls: u64 = classes.iter().map(|class| class["count"].as_u64().unwrap()).sum();
    assert!(calls > 200, "{found:#}");
    assert_eq!(all[0]["unlike"], serde_json::json!({}), "{found:#}");
    let none = place.envtax(["explain", "gitstatus"]).run().exits(2);
    none.complains("`git-status`").complains("there is no file of that name either");
    place.is_clean();
}

/// Every recording that comes with envtax, on one screen.
#[test]
fn the_suite_of_programs_is_one_screen() {
    let place = Place::new();
    let args = ["explain", "--suite", "programs", "--env", "again=native", "--rounds", "2"];
    let done = place.envtax(args).args(["-o", "run.jsonl"]).start().wait_clean().exits(0);
    let done = done.prints("What again costs recorded programs");
    for name in ["configure", "gcc", "git-status", "node-modules", "python", "sqlite", "tar"] {
        assert!(done.out.contains(&format!("  {name} ")), "{}", done.out);
    }
    assert!(done.out.lines().count() <= 24, "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let again = ["explain", "--suite", "programs", "run.jsonl"];
    assert_eq!(place.envtax(again).run().exits(0).out, done.out);
    place.is_clean();
}

#[test]
fn extra_time_is_told_by_place_and_program() {
    if !needs("proot") {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path("many")).unwrap();
    for file in 0..200 {
        place.write(&format!("many/{file}"), "x");
    }
    let script = format!("ls -l {} | cat", place.path("many"));
    record(&place, &["sh", "-c", &script]).run().exits(0);
    let found = explained(&place, &["it.rec", "--env", "proot", "--svg", "flame.svg"]);
    let there = &found["environments"][0];
    let names = |list: &str| {
        let all = there[list].as_array().unwrap().iter();
        all.map(|part| part["names"][0].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(names("places").iter().any(|name| name.ends_with("many/…")), "{there:#}");
    let programs = names("programs");
    for program in ["sh", "sh › ls", "sh › cat"] {
        assert!(programs.iter().any(|name| name == program), "{programs:?}");
    }
    let picture = fs::read_to_string(place.path("flame.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("<title>sh: "), "{picture}");
    let text = place.envtax(["explain", "it.rec", "run.jsonl", "--long"]).run().exits(0);
    let text = text.prints("by place").prints("by program, class and place");
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    place.is_clean();
}

#[test]
fn changes_are_tried() {
    let place = Place::new();
    let file = place.write("file", vec![b'x'; 400_000]);
    record(&place, &["dd", &format!("if={file}"), "of={out}", "bs=1k"]).run().exits(0);
    let dir = format!("dir={}", place.path(""));
    let args = ["it.rec", "--env", "again=native", "--try", "reads=64K", "--try", &dir];
    let found = explained(&place, &args);
    let tried = found["environments"][0]["tried"].as_array().unwrap();
    assert_eq!(tried.len(), 2, "{found:#}");
    assert_eq!((&tried[0]["change"], &tried[1]["change"]), (&"reads=64K".into(), &dir.into()));
    assert!(tried.iter().all(|it| it["gain"]["value"].is_number()), "{found:#}");
    let text = place.envtax(["explain", "it.rec", "run.jsonl"]).run().exits(0);
    text.prints("With `reads=64K`: ");
    // 400 reads of 1 KiB are 7 of 64 KiB, and the one that finds the end.
    let run = fs::read_to_string(place.path("run.jsonl")).unwrap();
    let reads = |case: u64| {
        let blocks = run.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut of_case = blocks.filter(|it| it["record"] == "block" && it["case"] == case);
        of_case.next().expect("a block")["extras"]["classes"]["read"][0].as_u64().expect("a count")
    };
    assert!(reads(0) > reads(1) + 300, "{} and {}", reads(0), reads(1));
    for (change, why) in [
        ("reads", "write dir=PATH"),
        ("reads=much", "a size up to 256K"),
        ("reads=1M", "a size up to 256K"),
        ("speed=1", "write dir=PATH"),
        ("without=stats", "`stat`"),
        ("dir=nowhere", "name a folder that exists"),
    ] {
        let refused = place.envtax(["explain", "it.rec", "--try", change]).run().exits(2);
        refused.complains(why);
    }
    place.is_clean();
}
