//! `envtax time` with the Windows build: whole commands beside native ones, their failures, and
//! that nothing of them is left.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::env_wine::{needs_wine, shared_cache, windows_build, with_prefix};
use crate::processes;
use crate::support::{Comparison, Done, Envtax, Place, data, missing, needs};
use crate::traces;

/// The code by which envtax makes its substitute for that library.
#[path = "../../src/sys/shared/pe.rs"]
#[allow(dead_code)]
mod pe;

/// `envtax time … -o run.jsonl` natively and under Wine, with two runs.
fn time<'a>(place: &'a Place, args: &[&str]) -> Envtax<'a> {
    let time = place.envtax(["time", "--long", "-o", "run.jsonl", "--runs", "3", "--force"]);
    with_prefix(time.args(["--env", "native", "--env", "wine"]).args(args))
}

/// Runs it to its end, after which nothing is left.
fn ends(place: &Place, args: &[&str], code: i32) -> Done {
    time(place, args).start().wait_clean().exits(code)
}

fn wall(place: &Place) -> Comparison {
    place.comparison("run.jsonl")
}

/// The path of a program that both have: envtax, and `envtax.exe` with the library that it needs.
fn both(place: &Place) -> String {
    fs::hard_link(env!("CARGO_BIN_EXE_envtax"), place.path("both"))
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_envtax"), place.path("both")).map(drop))
        .unwrap();
    fs::copy(windows_build().join("envtax.exe"), place.path("both.exe")).unwrap();
    place.write("bcryptprimitives.dll", library());
    place.path("both")
}

/// A library that programs made by Rust need, and that Wine has from version 9 on.
fn library() -> [u8; 1024] {
    pe::forwarder("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036")
}

/// A program that waits, natively and under Wine, until the listener is dropped.
struct Endless {
    listener: TcpListener,
    path: String,
}

impl Endless {
    fn new(place: &Place) -> Endless {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Endless { listener, path: both(place) }
    }

    /// The words that start it under Wine.
    fn line(&self) -> String {
        let port = self.listener.local_addr().unwrap().port();
        format!("{}.exe peer tcp:{port} x", self.path)
    }

    /// The connection of the next program that starts.
    fn came(&self) -> Option<TcpStream> {
        self.listener.accept().ok().map(|(stream, _)| stream)
    }
}

#[test]
fn a_command_is_timed_beside_the_native_one() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let done = ends(&place, &["--", "hostname"], 0);
    done.prints("`hostname` is not the program of native");
    let comparison = wall(&place);
    comparison.measured("command", "native").measured("command", "wine");
    let file = place.read("run.jsonl");
    assert!(file.contains("hostname.exe") && file.contains("\"format\":\"PE32+\""), "{file}");
    // Wine counts none of these, and they are not shown as zero.
    let rows = comparison.0["rows"].as_array().unwrap();
    for phase in ["user", "system", "cpu", "faults", "switches", "read", "written"] {
        let row = rows.iter().find(|row| row["phase"] == phase).unwrap();
        let cells = (&row["cells"][0]["measured"], &row["cells"][1]["measured"]);
        assert!(cells.0.is_object() || phase != "faults", "{row:#}");
        assert!(cells.1.is_null(), "{row:#}");
    }
}

/// An input is the same file by an absolute path, by a relative path, and when it was sent. The
/// output is the same, too.
#[test]
fn inputs_are_the_same_files() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let program = both(&place);
    let [here, there] = ["here.jsonl", "there.jsonl"].map(|name| {
        fs::copy(data("run-v1.jsonl"), place.path(name)).unwrap();
        place.path(name)
    });
    let words = ["--verify-output", "--", &program, "compare", "{}", "--format", "csv"];
    ends(&place, &[&["--input", "here.jsonl", "--input", &there][..], &words].concat(), 0);
    let both_measured = |row: &str, outputs: usize| {
        wall(&place).measured(row, "native").measured(row, "wine");
        let file = place.read("run.jsonl");
        assert_eq!(file.matches("\"output\":\"").count(), outputs, "{file}");
    };
    both_measured("command input=here.jsonl", 16);
    both_measured("command input=there.jsonl", 16);
    ends(&place, &[&["--stage", "--input", &here][..], &words].concat(), 0);
    both_measured("command input=here.jsonl", 8);
    let missing = ["--input", "/no/such/file", "ls {}"];
    ends(&place, &missing, 3).complains(
        "is not there in this environment; if it is where envtax was started, `--stage` sends it",
    );
}

/// The shell of Windows takes `/` for the beginning of an option, so the paths of sent files have
/// none.
#[test]
fn commands_of_windows_work_on_what_is_sent() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let input = place.write("in put", "something\r\n");
    let log = place.path("log");
    let log = format!("Z:{}", log.replace('/', "\\"));
    let line = |word: &str| format!("cmd /d /c 'echo {word}>>{log}'");
    let around = ["--prepare", &line("prepare"), "--conclude", &line("conclude")];
    let words = ["--verify-output", "--stage", "--input", &input, "cmd /d /c copy {} {out}"];
    let time = place.envtax(["time", "--long", "-o", "run.jsonl", "--runs", "3", "--env", "wine"]);
    with_prefix(time.args(around).args(words)).start().wait_clean().exits(0);
    let lines: Vec<String> = place.read("log").lines().map(|line| line.trim().to_owned()).collect();
    assert_eq!(lines, ["prepare", "conclude"].repeat(1 + 3));
    // The second hash is that of the written file.
    let hash = "45aad2fe9636e92a19f6deeef9cb2392847ac33d6d3d4b1fb36eb9ef8c3d5a66";
    assert!(place.read("run.jsonl").contains(hash));
    place.comparison("run.jsonl").measured("command input=in_put", "wine");
}

#[test]
fn what_goes_wrong_is_said_as_elsewhere() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let fails = |args: &[&str], words: &str| {
        ends(&place, args, 3).complains(words);
        wall(&place).failed("command", "wine", words);
    };
    fails(&["--", "no-such-program"], "there is no program `no-such-program` in this environment");
    let here = ["--", "/bin/sh", "-c", "true"];
    fails(&here, "`/bin/sh` is no program of this environment");
    fails(&["--", &place.path("target")], "may not be executed in this environment");
    let batch = place.write("x.bat", "rem\r\n");
    fails(&["--", &batch], "a batch file is no program: write `cmd /c FILE`");
    fails(&["--", "cmd", "/d", "/c", "echo why 1>&2 & exit 3"], "ended with exit code: 3");
    let cold = place.write("cold", "x");
    let words = ["--cold", "--input", &cold, "ls {}"];
    ends(&place, &words, 3).complains("Windows does not say what of a file is in the cache");
    // The time until the output is durable is missing; the command's own row exists.
    ends(&place, &["--settle", "--", "hostname"], 0).prints("durable is unknown");
    wall(&place).measured("command", "wine");
}

#[test]
fn a_command_that_does_not_end_is_ended_with_what_it_started() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let endless = Endless::new(&place);
    let line = endless.line();
    let wine = |args: &[&str]| {
        let time = place.envtax(["time", "--long", "-o", "run.jsonl", "--runs", "3", "--force"]);
        with_prefix(time.args(["--env", "wine"]).args(args)).start().wait_clean()
    };
    let done = wine(&["--timeout", "300ms", &line]).exits(3);
    done.complains("was not finished after 0.3 s").complains("--timeout");
    let start = format!("cmd /d /c 'start /b {}'", line.replace('/', "\\"));
    let done = wine(&[&start]).exits(0);
    done.prints("the command left processes behind, which were ended after it");
    wall(&place).measured("command", "wine");
    // It repeats its question without end, because nobody answers.
    let flood = "xcopy /y both.exe neither";
    let done = wine(&["--timeout", "90s", "--verify-output", flood]).exits(3);
    done.complains("wrote more than 1 GiB and was killed");
}

#[test]
fn commands_end_with_a_run_that_is_interrupted_or_killed() {
    if !needs_wine() {
        return;
    }
    for signal in ["INT", "KILL"] {
        let place = Place::new();
        let endless = Endless::new(&place);
        let line = endless.line();
        let time =
            place.envtax(["time", "--long", "-o", "run.jsonl", "--env", "wine", "--runs", "3"]);
        let mut run = with_prefix(time.args([&line])).start();
        let mut one = None;
        run.until("the command", |run| {
            run.processes();
            one = endless.came();
            one.is_some()
        });
        run.signal(signal);
        let done = run.wait_clean();
        drop(one);
        assert_eq!(done.status.code(), if signal == "KILL" { None } else { Some(3) }, "{done:?}");
    }
}

#[test]
fn a_command_ends_with_its_agent() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    let endless = Endless::new(&place);
    let args = ["-o", "run.jsonl", "--runs", "3", "--timeout", "5s", "--env", "wine"];
    let time = place.envtax([&["time"], &args[..]].concat()).args([endless.line()]);
    let mut run = with_prefix(time).start();
    let mut one = None;
    run.until("the command", |run| {
        run.processes();
        one = endless.came();
        one.is_some()
    });
    let all = run.processes();
    let agent = all.iter().find(|process| process.is_agent()).expect("an agent");
    processes::signal(agent.pid, "KILL");
    // The command's job belongs to the agent and closes with it, long before the next agent's
    // command reaches its time limit.
    let stream = one.unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    match (&stream).read(&mut [0]) {
        Ok(bytes) => assert_eq!(bytes, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "it goes on"),
    }
    run.wait_clean().exits(3).complains("starting `wine` again").complains("--timeout");
}

#[test]
fn the_windows_build_controls_runs_of_its_own() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    both(&place);
    let args = ["both.exe", "time", "--long", "-o", "run.jsonl", "--runs", "3", "--env", "native"];
    by_hand(&place, &[&args[..], &["--", "hostname"]].concat());
    wall(&place).measured("command", "native");
    assert!(place.read("run.jsonl").contains("hostname.exe"));
}

/// Runs the unit tests of the Windows build, which call Windows.
#[test]
fn the_unit_tests_of_the_windows_build_pass() {
    if !needs_wine() {
        return;
    }
    let Some(program) = unit_tests() else {
        let how = "`cargo test --no-run --target x86_64-pc-windows-gnu --bin envtax` makes them";
        return missing(&format!("there are no unit tests newer than their source: {how}"));
    };
    let place = Place::new();
    fs::copy(program, place.path("units.exe")).unwrap();
    place.write("bcryptprimitives.dll", library());
    let done = by_hand(&place, &["units.exe", "sys::"]);
    assert!(done.contains("test result: ok. ") && !done.contains("ok. 0 passed"), "{done}");
}

/// The program of the unit tests, if it was built after the last change.
fn unit_tests() -> Option<PathBuf> {
    let changed = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let files = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sys");
    let folders = ["", "shared", "windows", "windows/command"].map(|name| source.join(name));
    let last = folders.iter().flat_map(|it| files(it)).map(|path| changed(&path)).max()?;
    // Cargo gives the program itself a second name in this folder.
    let inode = |path: &Path| fs::metadata(path).unwrap().ino();
    let envtax = inode(&windows_build().join("envtax.exe"));
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("envtax-") && name.ends_with(".exe") && inode(path) != envtax
    };
    let built = files(&windows_build().join("deps")).filter(is_it);
    built.max_by_key(|path| changed(path)).filter(|path| changed(path) > last)
}

/// Kinds that Windows does not have are no errors there.
#[test]
fn the_windows_build_knows_the_kinds_of_other_systems() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    both(&place);
    let doctor = by_hand(&place, &["both.exe", "doctor"]);
    assert!(doctor.contains("on Linux") && doctor.contains("seccomp"), "{doctor}");
    let place = Place::new();
    both(&place);
    let auto = ["both.exe", "run", "-o", "auto.jsonl", "--env", "auto", "--budget", "2s"];
    let told = by_hand(&place, &[&auto[..], &["--probe", "null"]].concat());
    assert!(told.contains("null") && !told.contains("seccomp"), "{told}");
}

/// Lines of the file of environments are run by the shell of Windows.
#[test]
fn set_up_lines_on_windows_are_for_cmd() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    both(&place);
    let lines = "setup = [\"echo made>made\"]\ncleanup = [\"if exist made echo gone>gone\"]";
    let file = format!("[environments.here]\nkind = \"native\"\n{lines}\n");
    place.write("environments.toml", file);
    let run = ["both.exe", "run", "-o", "run.jsonl", "--env", "here", "--budget", "2s"];
    let told = by_hand(&place, &[&run[..], &["--probe", "null"]].concat());
    assert_eq!((place.read("made").trim(), place.read("gone").trim()), ("made", "gone"), "{told}");
}

/// A suite of which Windows can measure nothing says so, and does not exit with 0.
#[test]
fn what_windows_cannot_measure_is_skipped_with_a_reason() {
    if !needs_wine() {
        return;
    }
    let place = Place::new();
    both(&place);
    let run = ["both.exe", "run", "-o", "none.jsonl", "--env", "native", "--budget", "2s"];
    let rows = ["--probe", "process.replace", "--probe", "script.shell"];
    let told = by_hand_ends(&place, &[&run[..], &rows[..]].concat(), 3);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("nothing was measured"), "{told}");
    assert!(told.contains("executes another program in its own place"), "{told}");
    assert!(told.contains("no Unix shell on Windows") && !told.contains("/dev/null"), "{told}");
}

/// Under Wine: a program that imports from `user32`, which pulls in others.
#[test]
fn libraries_of_windows_are_measured_under_wine() {
    if !needs_wine() || !needs("x86_64-w64-mingw32-gcc") {
        return;
    }
    let place = Place::new();
    both(&place);
    place.write("source.c", "#include <windows.h>\nint main(void) { return !MessageBeep(0); }");
    let mut gcc = Command::new("x86_64-w64-mingw32-gcc");
    gcc.current_dir(place.path("")).args(["source.c", "-o", "my tool.exe", "-luser32"]);
    assert!(gcc.status().unwrap().success());
    let done = by_hand(&place, &["both.exe", "deps", ".\\my tool.exe", "--rounds", "3", "--json"]);
    let start = done.find("{\n").unwrap();
    let end = done.rfind("\n}").unwrap() + 2;
    let found: serde_json::Value = serde_json::from_str(&done[start..end]).unwrap();
    let rows = found["added"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert!(row("user32.dll")["alone"]["half_width"].is_f64(), "{done}");
    assert!(found["imports"][0]["import"] == "user32.dll", "{done}");
    assert!(found["nothing"][2]["ns"].as_f64().unwrap() > 0.0, "{done}");
    let present = found["present"].as_array().unwrap();
    assert!(present.contains(&"kernel32.dll".into()), "{done}");
    let place = Place::new();
    both(&place);
    fs::copy(env!("CARGO_BIN_EXE_envtax"), place.path("linux")).unwrap();
    let done = by_hand_ends(&place, &["both.exe", "deps", ".\\linux"], 2);
    assert!(done.contains("is a program of Linux"), "{done}");
}

/// Runs a program of the place under Wine, without envtax. Returns what it prints.
fn by_hand(place: &Place, words: &[&str]) -> String {
    by_hand_ends(place, words, 0)
}

/// As [`by_hand`], for a program that ends with this exit code.
fn by_hand_ends(place: &Place, words: &[&str], code: i32) -> String {
    // Makes the prefix if that was not done yet.
    with_prefix(place.envtax(["list", "probes"])).run().exits(0);
    let prefix = place.path("prefix");
    borrow(&shared_cache().join("envtax/wine"), Path::new(&prefix));
    let of = |program: &str| {
        let mut command = Command::new(program);
        command.current_dir(place.path("")).stdin(Stdio::null()).env_remove("DISPLAY");
        command.env("WINEPREFIX", &prefix).env("TMPDIR", place.path("tmp"));
        command.env("WINEDEBUG", "-all").env("WINEDLLOVERRIDES", "winemenubuilder.exe=d");
        command
    };
    let done = of("wine").args(words).output().unwrap();
    of("wineserver").arg("-k").status().unwrap();
    traces::no_wine_server(Path::new(&prefix));
    let text = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert_eq!(done.status.code(), Some(code), "{text}");
    text
}

/// A prefix at `place` with the drives of another and a copy of its registry.
fn borrow(from: &Path, place: &Path) {
    fs::create_dir_all(place.join("dosdevices")).unwrap();
    for file in ["system.reg", "user.reg", "userdef.reg", ".update-timestamp"] {
        if from.join(file).exists() {
            fs::copy(from.join(file), place.join(file)).unwrap();
        }
    }
    let link = |to: &Path, name: &str| symlink(to, place.join(name)).unwrap();
    link(&from.join("drive_c"), "dosdevices/c:");
    link(&from.join("drive_c"), "drive_c");
    link(Path::new("/"), "dosdevices/z:");
}
