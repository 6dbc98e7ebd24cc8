//! docs/SECURITY.md says what a run writes; a traced run shows what it does write.

use std::collections::BTreeSet;
use std::path::Path;

use crate::support::{Place, needs};

/// Calls that make a name, and those that change a mode.
const CALLS: &str = "trace=open,openat,creat,mkdir,mkdirat,symlink,symlinkat,link,linkat,mknod,\
                     mknodat,rename,renameat,renameat2,chmod,fchmodat";

/// Something that a process made.
#[derive(Debug)]
struct Made {
    path: String,
    /// In octal, as strace prints it; empty if the call has no mode.
    mode: String,
    /// The call fails if the name exists.
    is_new: bool,
}

/// What was made, according to a line of strace; none for other lines.
fn made(line: &str) -> Option<Made> {
    let (_, call) = line.split_once(' ')?;
    let (name, rest) = call.trim_start().split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.trim_start().starts_with('-') {
        return None;
    }
    let path = arguments.split('"').nth(1)?.to_owned();
    let last = arguments.trim_end().trim_end_matches(')').rsplit(", ").next()?.to_owned();
    match name {
        "mkdir" | "mkdirat" => Some(Made { path, mode: last, is_new: true }),
        "open" | "openat" if arguments.contains("O_CREAT") => {
            Some(Made { path, mode: last, is_new: arguments.contains("O_EXCL") })
        }
        "open" | "openat" => None,
        // A rename replaces a file: the new name counts.
        "rename" | "renameat" | "renameat2" => {
            let path = arguments.split('"').nth(3)?.to_owned();
            Some(Made { path, mode: String::new(), is_new: false })
        }
        _ => Some(Made { path, mode: String::new(), is_new: true }),
    }
}

/// The path in the words of the document's table: `TMP/envtax-stage-TOKEN-N/`, `below …`.
fn in_words(path: &str, dir: &str, temporary: &str) -> String {
    let below = |folder: &Path| Path::new(path).strip_prefix(folder).ok().map(Path::to_owned);
    let (name, rest) = match (below(Path::new(dir)), below(Path::new(temporary))) {
        (Some(rest), _) => ("DIR", rest),
        (None, Some(rest)) => ("TMP", rest),
        _ if path == "run.jsonl" => return "RUN.jsonl".into(),
        _ => return path.to_owned(),
    };
    let mut parts = rest.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let Some(first) = parts.next() else { return format!("{name}/") };
    // Without `--dir`, the folder for temporary files is the target directory.
    let name = if first.starts_with(".envtax-") { "DIR" } else { name };
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let token = |text: &str| text.len() == 8 && text.chars().all(|c| c.is_ascii_hexdigit());
    let words: Vec<&str> = first
        .split('-')
        .map(|word| match word {
            _ if token(word) => "TOKEN",
            _ if digits(word) => "N",
            _ => word,
        })
        .collect();
    let folder = format!("{name}/{}/", words.join("-"));
    if parts.next().is_some() { format!("below {folder}") } else { folder }
}

#[test]
fn a_traced_run_writes_what_the_document_says() {
    if !needs("strace") {
        return;
    }
    let document = include_str!("../../docs/SECURITY.md");
    let table = document.split("## What a run writes").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("| below"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 6, "{rows:?}");

    let place = Place::new();
    let log = place.path("trace.log");
    let dir = place.path("target");
    let probes = ["file.create", "file.read size=4KiB", "syscall.getppid", "process.exec"];
    // Set-up commands need a stage of their own.
    place
        .write("environments.toml", "[environments.b]\nkind = \"namespace\"\nsetup = [\"true\"]\n");
    let run = place.run(&["native", "b"], &probes).own_binary();
    let dir_argument = format!("d={dir}");
    let words = ["strace", "-f", "-qq", "-s", "4096", "-e", CALLS, "-o", &log];
    let run = run.through(&words).args(["--dir", &dir_argument, "--budget", "2s"]);
    let done = run.run();
    assert!(matches!(done.status.code(), Some(0 | 3)), "{done:?}");
    let trace = place.read("trace.log");
    let mut seen = BTreeSet::new();
    for made in trace.lines().filter_map(made) {
        let words = in_words(&made.path, &dir, &place.path("tmp"));
        let row = rows.iter().find(|row| {
            let bare = row[1].replace('`', "");
            bare.split(", ").any(|path| path == words)
        });
        let row = row.unwrap_or_else(|| panic!("{made:?} ({words}) is not in docs/SECURITY.md"));
        let fits = row[3] == "any" || row[3] == made.mode || made.mode.is_empty();
        assert!(fits, "{made:?}: the document says mode {}", row[3]);
        let must_be_new = row[4].starts_with("must not exist");
        assert!(!must_be_new || made.is_new, "{made:?} may exist already");
        seen.insert(row[1].to_owned());
    }
    // Other users than root also write the id maps of a namespace; some kernels let root omit them.
    let unseen: Vec<&Vec<&str>> =
        rows.iter().filter(|row| !seen.contains(row[1]) && !row[1].contains("/proc/")).collect();
    assert!(unseen.is_empty(), "a run writes none of {unseen:?}");
}
