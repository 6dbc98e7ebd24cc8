//! `envtax record` and `envtax explain`: real programs, recorded and re-enacted in real
//! environments.

use std::fs;

use serde_json::Value;

use crate::support::{Place, needs};

/// Records in few runs; the tests ask what is there, not what it costs.
const FEW: [&str; 4] = ["--runs", "2", "--recordings", "2"];

/// A small tree of files.
fn tree(place: &Place) -> String {
    for folder in ["tree", "tree/a", "tree/b"] {
        fs::create_dir(place.path(folder)).unwrap();
        for file in 0..5 {
            place.write(&format!("{folder}/{file}"), vec![b'x'; 3000 * file]);
        }
    }
    place.path("tree")
}

fn record<'a>(place: &'a Place, command: &[&str]) -> crate::support::Envtax<'a> {
    place.envtax(["record", "-o", "it.rec"]).args(FEW).args(["--"]).args(command)
}

fn explained(place: &Place, args: &[&str]) -> Value {
    let done = place.envtax(["explain", "it.rec", "--json", "--rounds", "3"]);
    let done = done.args(["-o", "run.jsonl", "--force"]).args(args).start().wait_clean().exits(0);
    serde_json::from_str(&done.out).expect("JSON")
}

fn class<'a>(explanation: &'a Value, name: &str) -> &'a Value {
    let classes = explanation["environments"][0]["classes"].as_array().unwrap();
    classes.iter().find(|it| it["class"] == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn a_program_is_recorded_and_reenacted_elsewhere() {
    if !needs("proot") {
        return;
    }
    let place = Place::new();
    let tree = tree(&place);
    let done = record(&place, &["tar", "-cf", "{out}", "-C", &tree, "."]).start().wait_clean();
    done.exits(0).complains("1 process and 1 program");
    let found = explained(&place, &["--env", "proot"]);
    let there = &found["environments"][0];
    assert_eq!(there["failure"], Value::Null, "{found:#}");
    assert!(there["slowdown"]["value"].as_f64().unwrap() > 0.0, "{found:#}");
    assert_eq!(there["unlike"], serde_json::json!({}), "every call ends as it was recorded");
    // Three folders and fifteen files are looked at, and their contents read and written.
    assert!(class(&found, "stat")["count"].as_u64().unwrap() >= 18, "{found:#}");
    assert!(class(&found, "write")["count"].as_u64().unwrap() >= 4, "{found:#}");
    place.envtax(["explain", "it.rec", "run.jsonl"]).run().exits(0).prints("proot:");
}

#[test]
fn processes_pipes_and_programs_are_reenacted() {
    if !needs("bwrap") {
        return;
    }
    let place = Place::new();
    let script = "for i in 1 2 3; do echo $i | cat | wc -c; done; mkdir made; rmdir made";
    record(&place, &["sh", "-c", script]).run().exits(0).complains("9 programs");
    let found = explained(&place, &["--env", "bwrap"]);
    assert_eq!(found["environments"][0]["unlike"], serde_json::json!({}), "{found:#}");
    assert_eq!(class(&found, "exec")["count"], 8);
    assert_eq!(class(&found, "change")["count"], 2, "{found:#}");
    let without = explained(&place, &["--env", "bwrap", "--without", "change"]);
    let classes = without["environments"][0]["classes"].as_array().unwrap();
    assert!(classes.iter().all(|it| it["class"] != "change"), "{without:#}");
}

#[test]
fn stand_in_files_are_made_where_the_user_wants() {
    let place = Place::new();
    record(&place, &["sh", "-c", "echo x >made; rm made"]).run().exits(0);
    explained(&place, &["--dir", "target", "--env", "again=native"]);
    let run = fs::read_to_string(place.path("run.jsonl")).unwrap();
    let folder = fs::canonicalize(place.path("target")).unwrap();
    assert!(run.contains(&format!("{}/.", folder.display())), "{run}");
    let none = place.envtax(["explain", "it.rec", "--dir", "nowhere"]).run().exits(2);
    none.complains("--dir nowhere").complains("name a folder that exists");
    place.is_clean();
}

#[test]
fn the_real_program_runs_beside() {
    let place = Place::new();
    let args = ["--verify", "--env", "again=native", "--", "true"];
    record(&place, &["true"]).run().exits(0);
    let found = explained(&place, &args);
    assert!(found["environments"][0]["real_slowdown"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(found["real_native_from"], "same_rounds");
    let none = place.envtax(["explain", "it.rec", "--verify"]).run().exits(2);
    none.complains("record with `--keep-command`");
}

#[test]
fn a_recording_tells_no_names_unless_asked() {
    let place = Place::new();
    let secret = place.write("secretplans", "x");
    record(&place, &["cat", &secret]).run().exits(0);
    let text = unpacked(&place);
    assert!(!text.contains("secretplans") && !text.contains("\"bin\""), "it has names");
    let shown = place.envtax(["record", "--show", "it.rec"]).run().exits(0);
    shown.prints("process tree").prints("opening files");
    record(&place, &["cat", &secret])
        .run()
        .exits(2)
        .complains("exists already; replace it with `--force`");
    let keep = ["record", "-o", "it.rec", "--force", "--paths", "keep", "--keep-command"];
    place.envtax(keep).args(FEW).args(["--", "cat", &secret]).run().exits(0);
    assert!(unpacked(&place).contains("secretplans"));
}

/// What `zcat` shows.
fn unpacked(place: &Place) -> String {
    let output = std::process::Command::new("zcat").arg(place.path("it.rec")).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_cannot_be_recorded_says_why() {
    let place = Place::new();
    record(&place, &["no-such-program"]).run().exits(2).complains("`no-such-program`");
    record(&place, &["false"]).run().exits(2).complains("record it nevertheless");
    let done = record(&place, &["sh", "-c", "echo why >&2; exit 3"]).run().exits(2);
    done.complains("it printed `why`");
    assert!(!place.has("it.rec"));
    if needs("strace") {
        let traced = record(&place, &["true"]).through(&["strace", "-f", "-qq", "-o", "/dev/null"]);
        traced.run().exits(2).complains("another tracer has it");
    }
}

#[test]
fn what_is_recorded_in_part_says_so() {
    let place = Place::new();
    let daemon = record(&place, &["sh", "-c", "sleep 60 & exit 0"]).start().wait_clean().exits(3);
    daemon.complains("did not end in time");
    let program = place.write_program("raising", fs::read("/bin/true").unwrap());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o4755);
    fs::set_permissions(&program, mode).unwrap();
    let args = ["record", "-o", "raising.rec", "--runs", "1", "--recordings", "1", "--", &program];
    place.envtax(args).run().exits(0).complains("set-uid programs");
}

/// A recording that somebody else made: it removes files by a relative path before it goes
/// anywhere, and through a descriptor that it never opened.
#[test]
fn a_hostile_recording_reaches_nothing() {
    let place = Place::new();
    record(&place, &["true"]).run().exits(0);
    let victim = place.write("victim", "precious");
    let text = unpacked(&place);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let about = lines[0].find("\"folder\":").unwrap();
    let end = about + lines[0][about..].find(',').unwrap() + 1;
    lines[0].replace_range(about..end, "");
    lines[1] = r#"{"names":["victim","target"]}"#.into();
    lines[2] = r#"{"paths":[{"base":"relative","parts":[0]},{"base":"root","parts":[1]}]}"#.into();
    lines[3] = r#"{"files":[]}"#.into();
    let mut events = vec!["[0,{\"exec\":0}]".to_owned()];
    for fd in [-100, 0, 3, 4, 5, 6, 7, 8] {
        events.push(format!("[0,{{\"call\":[\"unlink\",0,{fd},-1,0,-1,0,0,0]}}]"));
    }
    lines[4] = format!("{{\"stream\":{{\"events\":[{}]}}}}", events.join(","));
    place.write("evil.jsonl", lines.join("\n") + "\n");
    let packed = std::process::Command::new("gzip").arg(place.path("evil.jsonl")).status();
    assert!(packed.unwrap().success());
    let args = ["explain", "evil.jsonl.gz", "--env", "b=native", "--rounds", "3", "--json"];
    let done = place.envtax(args).args(["-o", "run.jsonl"]).start().wait_clean().exits(0);
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
    let found: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(found["environments"][0]["unlike"]["unlink"], 8.0, "{found:#}");
    for (from, to, why) in [
        ("victim\",\"target", "..\",\"target", "leaves its folder"),
        ("\"unlink\"", "\"mount\"", "unknown variant `mount`"),
        (":[\"unlink\",0,-100", ":[\"unlink\",0,700", "too large"),
    ] {
        let changed = lines.join("\n").replacen(from, to, 1) + "\n";
        let name = format!("{}.jsonl", why.replace([' ', '`'], ""));
        place.write(&name, changed);
        std::process::Command::new("gzip").arg(place.path(&name)).status().unwrap();
        let args = ["explain", &format!("{name}.gz")];
        place.envtax(args).run().exits(2).complains(why);
    }
}

#[test]
fn a_recording_that_cannot_be_used_says_why() {
    let place = Place::new();
    place.envtax(["explain", "none.rec"]).run().exits(2).complains("none.rec");
    place.write("it.rec", "hello");
    place.envtax(["explain", "it.rec"]).run().exits(2).complains("cannot be used");
    record(&place, &["true"]).args::<&str>([]).run().exits(2);
    fs::remove_file(place.path("it.rec")).unwrap();
    record(&place, &["true"]).run().exits(0);
    let whole = fs::read(place.path("it.rec")).unwrap();
    place.write("it.rec", &whole[..whole.len() - 30]);
    place.envtax(["record", "--show", "it.rec"]).run().exits(2).complains("damaged");
}
