//! The crate in `fuzz/` compiles the program's own sources, so it needs what the program needs.

use std::collections::BTreeSet;
use std::path::Path;

use toml::{Table, Value};

use super::{ROOT, report, text};

/// What a machine of Linux gets, by names: version and features.
fn dependencies(manifest: &str) -> Table {
    let manifest: Table = text(&Path::new(ROOT).join(manifest)).parse().unwrap();
    let of = |table: &Table| table.get("dependencies").and_then(Value::as_table).cloned();
    let mut found = of(&manifest).unwrap();
    for (target, table) in manifest.get("target").and_then(Value::as_table).into_iter().flatten() {
        if !target.contains("windows") {
            found.extend(of(table.as_table().unwrap()).unwrap_or_default());
        }
    }
    // What only builds with a feature have is not fuzzed.
    found.retain(|_, wanted| wanted.get("optional").is_none());
    found
}

#[test]
fn the_fuzzed_crate_has_the_same_dependencies() {
    let (own, fuzzed) = (dependencies("Cargo.toml"), dependencies("fuzz/Cargo.toml"));
    assert!(own.len() > 10, "{own:?}");
    let mut problems = Vec::new();
    for (name, wanted) in &own {
        if fuzzed.get(name) != Some(wanted) {
            problems.push(format!("fuzz/Cargo.toml: write `{name}` as in Cargo.toml: {wanted:?}"));
        }
    }
    for name in fuzzed.keys().filter(|name| *name != "libfuzzer-sys" && !own.contains_key(*name)) {
        problems.push(format!("fuzz/Cargo.toml: the program does not need `{name}`"));
    }
    report(problems);
}

/// The layers of the program that other layers use; verbs and their arguments are used by none.
#[test]
fn the_fuzzed_crate_has_the_same_layers() {
    let modules = |file: &str| -> BTreeSet<String> {
        let code = text(&Path::new(ROOT).join(file));
        let names = code.lines().filter_map(|line| {
            line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';')
        });
        names.map(str::to_owned).collect()
    };
    let mut own = modules("src/main.rs");
    own.retain(|name| !["cli", "cmd", "exit"].contains(&name.as_str()));
    assert!(own.len() > 10, "{own:?}");
    assert_eq!(own, modules("fuzz/src/lib.rs"), "list every layer in fuzz/src/lib.rs");
}
