//! `environments.toml`, and the names that stand for several environments: `auto` and `all`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Done, Place, needs};

/// Time for a round of a few cases in several environments on a busy machine.
const SHORT: [&str; 4] = ["--budget", "4s", "--answer-timeout", "20s"];

/// A place with an `environments.toml` of that text.
fn place(text: &str) -> Place {
    let place = Place::new();
    place.write("environments.toml", text);
    place
}

/// `envtax run` refuses to start with that file and writes nothing.
#[track_caller]
fn refused(text: &str, args: &[&str]) -> Done {
    let place = place(text);
    let done = place.envtax(["run", "-o", "run.jsonl"]).args(args).run().exits(2);
    assert!(done.out.is_empty() && !place.has("run.jsonl"), "{done:?}");
    place.is_clean();
    done
}

#[test]
fn environments_of_the_file_are_measured_by_their_names() {
    if !needs("bwrap") {
        return;
    }
    let place = place(
        "[environments.box]\nkind = 'bwrap'\nargument = '--tmpfs /mnt'\n\n\
         [environments.box.dirs]\ntmp = '/mnt'\n\n\
         [environments.bare]\nkind = 'native'\n",
    );
    let probes = ["syscall.getppid", "file.open"];
    let run = place.run(&["native", "box", "again=box", "bare"], &probes);
    run.args(SHORT).run().exits(0);
    let comparison = place.comparison("run.jsonl");
    for column in ["native", "box", "again", "bare"] {
        comparison.measured("syscall.getppid", column).measured("file.open", column);
    }
    comparison.remarks("`box` differs from native in").remarks("filesystem of tmp");
    let facts = comparison.0["specs"][1]["dir tmp"].as_str().unwrap();
    assert!(facts.starts_with("tmpfs") && facts.ends_with("/mnt"), "{facts}");
    place.is_clean();
}

/// Records when the environment's commands ran, in files that only they write.
pub fn with_commands(place: &Place, more: &str) {
    let mark = place.path("mark");
    place.write(
        "environments.toml",
        format!(
            "[environments.made]\nkind = 'chroot'\nargument = '{mark}'\n\
             setup = ['mkdir {mark}', 'mkdir {mark}/tmp', 'echo x >>{mark}.set']\n\
             cleanup = ['echo x >>{mark}.clean; rm -r {mark}']\n{more}"
        ),
    );
}

/// How often the set-up and the clean-up commands ran.
pub fn counts(place: &Place) -> [usize; 2] {
    ["mark.set", "mark.clean"]
        .map(|name| fs::read_to_string(place.path(name)).unwrap_or_default().lines().count())
}

#[test]
fn commands_run_before_and_after_each_start() {
    let place = Place::new();
    with_commands(&place, "dirs = { tmp = '/tmp' }\n");
    let run = place.run(&["native", "made"], &["file.stat"]).args(SHORT);
    run.args(["--launches", "1"]).run().exits(0);
    place.comparison("run.jsonl").measured("file.stat", "made");
    assert_eq!(counts(&place), [1, 1]);
    assert!(!place.has("mark"));
    place.envtax(["doctor", "--env", "made"]).run().exits(0).prints("made yes");
    assert_eq!(counts(&place), [2, 2]);
    place.is_clean();
}

#[test]
fn commands_that_fail_are_quoted_and_cleaned_up_after() {
    let place = Place::new();
    let mark = place.path("mark");
    place.write(
        "environments.toml",
        format!(
            "[environments.x]\nkind = 'native'\nsetup = ['echo no such device >&2; exit 3']\n\
             cleanup = ['touch {mark}']\n\
             [environments.y]\nkind = 'chroot'\nargument = '/no/such'\nsetup = ['true']\n"
        ),
    );
    let done = place.run(&["native", "x", "y"], &["null"]).args(SHORT).run().exits(3);
    let done = done.complains("set-up command `echo no such device").complains("no such device");
    let done = done.complains("exit status: 3").complains("`/no/such` is not a folder");
    let done = done.complains("remedy: run the environment's `setup` by hand");
    done.prints("not measured").prints("x did not start").prints("exit status: 3: no such device");
    assert!(place.has("mark"), "cleaned up");
    place.comparison("run.jsonl").measured("null", "native").failed("null", "x", "no such device");
    place.is_clean();
}

#[test]
fn target_directories_of_the_file_are_those_of_the_run() {
    let place = Place::new();
    let [target, tmp, third] = ["target", "tmp", "third"].map(|name| place.path(name));
    fs::create_dir(&third).unwrap();
    let file = format!(
        "[dirs]\ndata = '{target}'\n[environments.x]\nkind = 'native'\n\
         dirs = {{ data = '{tmp}' }}\n"
    );
    place.write("environments.toml", &file);
    let run = |args: &[&str]| {
        let run = place.run(&["native", "x"], &["file.stat"]).args(SHORT).args(["--force"]);
        run.args(args).run().exits(0)
    };
    let path = |column: usize| {
        let comparison = place.comparison("run.jsonl");
        comparison.0["specs"][column]["dir data"].as_str().unwrap().to_owned()
    };
    run(&[]).prints("file.stat dir=data");
    assert!(path(0).ends_with(&target) && path(1).ends_with(&tmp));
    // The command line goes before the file, and the environment's own table before both.
    let more = [format!("data={third}"), format!("d={target}")];
    run(&["--dir", &more[0], "--dir", &more[1]]).prints("file.stat dir=d");
    assert!(path(0).ends_with(&third) && path(1).ends_with(&tmp));
}

#[test]
fn a_target_directory_must_be_somewhere_in_each_environment() {
    let text = "[environments.x]\nkind = 'native'\ndirs = { data = '/tmp' }\n";
    let done = refused(text, &["--env", "native", "--env", "x"]);
    done.complains("`native` has no path for the target directory `data`")
        .complains("--dir data=PATH");
    let place = place(text);
    place.run(&["x"], &["file.stat"]).args(SHORT).run().exits(0).prints("file.stat dir=data");
}

#[test]
fn mistakes_in_the_file_are_named_with_their_place() {
    let wrong = |text: &str| refused(text, &["--env", "native"]);
    let of = |line: &str| wrong(&format!("[environments.x]\nkind = 'native'\n{line}\n"));
    of("colour = 'red'").complains("environments.toml:3:1:").complains("`colour`, expected one of");
    of("argument = 3").complains("environments.toml:3:12:").complains("expected a string");
    of("setup = 'x'").complains("environments.toml:3:9:").complains("expected a list");
    of("cleanup = [1]").complains("environments.toml:3:12:").complains("expected a string");
    of("dirs = ['/a']").complains("environments.toml:3:8:").complains("expected a map");
    of("dirs = { a = 'b' }").complains("environments.toml:3:14:").complains("must be absolute");
    of("[environments.x]").complains("environments.toml:3:").complains("duplicate key");
    of("this is no TOML").complains("environments.toml:3:");
    wrong("[environments.x]\n").complains("environments.toml:1:").complains("missing field `kind`");
    let done = wrong("[environments.x]\nkind = 'dokker'\n");
    done.complains("environments.toml:2:8:").complains("no environment kind `dokker`");
    let done = wrong("[environments.chroot]\nkind = 'native'\n");
    done.complains("environments.toml:2:8:").complains("`chroot` is the name of another kind");
    let done = wrong("[dirs]\nd = 'some/where'\n");
    done.complains("environments.toml:2:5: `--dir d=some/where`").complains("absolute");
    let done = wrong("[enviroments.x]\nkind = 'native'\n");
    done.complains("environments.toml:1:2:").complains("expected `environments` or `dirs`");
}

#[test]
fn an_argument_that_is_wrong_is_named_with_its_place_when_it_is_used() {
    let text = "[environments.x]\nkind = 'chroot'\nargument = '/no/such'\n\
                [environments.y]\nkind = 'native'\nargument = 'z'\n";
    let done = refused(text, &["--env", "x"]);
    done.complains("environments.toml:3:12: environment `x`: `/no/such` is not a folder");
    refused(text, &["--env", "y"]).complains("environments.toml:6:12:").complains("no argument");
    refused(text, &["--env", "all"]).complains("environments.toml:3:12:");
    let place = place(text);
    place.run(&["native"], &["null"]).args(SHORT).run().exits(0);
}

#[test]
fn names_that_are_nowhere_are_told_beside_those_there_are() {
    let text = "[environments.box]\nkind = 'native'\n[environments.bag]\nkind = 'native'\n";
    let done = refused(text, &["--env", "bos"]);
    done.complains("has no environment `bos`; it has box, bag").complains("there are native");
    refused(text, &["--env", "box", "--env", "box"]).complains("two environments are called `box`");
    refused("", &["--env", "all"]).complains("`environments.toml` has no environment");
    let place = Place::new();
    let done = place.envtax(["run", "--env", "all"]).run().exits(2);
    done.complains("there is no environments.toml here").complains("--environments");
    let done = place.envtax(["run", "--environments", "no.toml"]).run().exits(2);
    done.complains("`no.toml`").complains("No such file");
}

#[test]
fn a_file_of_another_name_is_read_when_it_is_named() {
    let place = place("this is no TOML");
    place.write(
        "mine.toml",
        "[environments.a]\nkind = 'native'\n[environments.b]\nkind = 'cmd'\n\
                              argument = 'env'\n",
    );
    let args = ["--environments", "mine.toml"];
    let run = place.run(&["all"], &["null"]).args(SHORT).args(args);
    run.run().exits(0).prints("cost divided by that of a");
    place.comparison("run.jsonl").measured("null", "a").measured("null", "b");
    let done = place.envtax(["list", "environments"]).args(args).run().exits(0);
    done.prints("native").prints("b cmd:env (in mine.toml)");
    let done = place.envtax(["doctor"]).args(args).run().exits(0);
    done.prints("a yes starts in").prints("b yes starts in");
    place.envtax(["list", "environments"]).run().exits(2).complains("environments.toml:1:6:");
}

/// With almost nothing on the search path, most kinds cannot start.
#[test]
fn auto_takes_what_starts_and_says_what_does_not() {
    let place = Place::new();
    let broken = place.fake("x", "echo no such container >&2; exit 1");
    let run = place.run(&["y=cmd:/bin/sh -c '\"$@\"' sh", "auto", &broken], &["null"]);
    let done = run.args(SHORT).variable("PATH", "/nowhere").run().exits(3);
    let done = done.complains("`--env auto` leaves out `bwrap`: there is no `bwrap` on the search");
    let done = done.complains("`envtax doctor` shows the remedies");
    // An environment that is named on the command line stays, with its reason.
    done.prints("cost divided by that of native").prints("x did not start");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("null", "native").measured("null", "chroot").measured("null", "y");
    let columns = comparison.0["columns"].to_string();
    assert!(columns.starts_with("[\"native\",\"y\","), "{columns}");
    assert!(columns.ends_with(",\"x\"]") && !columns.contains("bwrap"), "{columns}");
    place.is_clean();
}

/// A bubblewrap that never answers, as the only program on the search path.
fn hanging_bwrap(place: &Place) -> String {
    fs::create_dir(place.path("bin")).unwrap();
    let program = place.write("bin/bwrap", "#!/bin/sh\nexec /bin/sleep 600\n");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    place.path("bin")
}

#[test]
fn auto_does_not_wait_for_ever() {
    let place = Place::new();
    let path = hanging_bwrap(&place);
    let run = place.run(&["auto"], &["null"]).args(["--budget", "1s"]).variable("PATH", &path);
    let done = run.args(["--answer-timeout", "2s"]).run().exits(0);
    done.complains("leaves out `bwrap`: no answer within 2 s");
    place.is_clean();
}

#[test]
fn auto_can_be_interrupted_while_it_tries() {
    let place = Place::new();
    let path = hanging_bwrap(&place);
    let mut run = place.run(&["auto"], &["null"]).variable("PATH", &path).start();
    run.until("a launch that hangs", |run| {
        run.processes().iter().any(|process| process.words.iter().any(|word| word == "600"))
    });
    run.signal("INT");
    run.wait_clean().exits(2).complains("interrupted before anything was measured");
    assert!(!place.has("run.jsonl"));
}

#[test]
fn environments_that_do_not_start_have_one_row_each() {
    let place = Place::new();
    let first = place.fake("first", "echo no such container >&2; exit 1");
    let probes = ["null", "syscall.getppid", "process.fork"];
    let run = place.run(&["native", &first, "second=cmd:false"], &probes).args(SHORT);
    let done = run.run().exits(3).complains("environment `second`");
    assert_eq!(done.out.matches("did not start").count(), 4, "a row and a remark each");
    let done = done.prints("first did not start").prints("second did not start");
    let done = done.prints("no such container").prints("remedy: check by hand that");
    assert!(!done.out.contains("failed"), "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    let markdown = place.envtax(["compare", "run.jsonl", "--format", "markdown"]).run().exits(0);
    markdown.prints("| &emsp;first |  |  |  |  | did not start |");
    let comparison = place.comparison("run.jsonl");
    let second = &comparison.cell("process.fork", "second")["failed"];
    assert!(second["by_hand"].as_str().unwrap().starts_with("false "), "{second:#}");
    assert!(second["remedy"].as_str().unwrap().starts_with("check by hand that"), "{second:#}");
    comparison.failed("null", "first", "no such container");
}

#[test]
fn the_doctor_is_short_of_many_and_tells_everything_of_one() {
    let place = Place::new();
    let done = place.envtax(["doctor"]).variable("PATH", "/nowhere").run().exits(0);
    let place_of = |words: &str| done.out.find(words).unwrap_or_else(|| panic!("{}", done.out));
    assert!(place_of("native           yes") < place_of("bwrap            no"));
    assert!(done.out.lines().all(|line| line.chars().count() <= 80), "{}", done.out);
    assert_eq!(done.err, "", "progress is for terminals");
    let done = done.prints("remedy: apt-get install bubblewrap");
    done.prints("`envtax doctor --env SPEC` shows all details of one");
    let broken = place.fake("x", "echo one >&2; echo two >&2; exit 1");
    let done = place.envtax(["doctor", "--env", &broken]).run().exits(0);
    done.prints("it printed: one").prints("it printed: two").prints("by hand:").prints("remedy:");
    let slow = place.fake("slow", "exec sleep 600");
    let hangs = place.envtax(["doctor", "--env", &slow, "--answer-timeout", "500ms"]);
    hangs.run().exits(0).prints("slow no").prints("no answer within 0.5 s");
    place.is_clean();
}

#[test]
fn the_doctor_looks_at_target_directories_of_the_file() {
    let place = place("[environments.x]\nkind = 'native'\ndirs = { data = '/no/such/folder' }\n");
    let done = place.envtax(["doctor", "--env", "x"]).run().exits(0);
    done.prints("x yes").prints("without target directory data: ").prints("/no/such/folder");
}
