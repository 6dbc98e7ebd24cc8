//! Suites, copies and layouts: which cases they select, and how they are shown.

use crate::support::{Place, SHORT};

#[track_caller]
fn refused(args: &[&str], words: &str) {
    let place = Place::new();
    let done = place.envtax(["run", "-o", "run.jsonl"]).args(args).run().exits(2);
    assert_eq!(done.out, "", "{args:?}");
    done.complains(words);
    place.is_clean();
}

#[test]
fn mistakes_are_named() {
    refused(&["--suite", "teardown", "--probe", "file.stat"], "matches no case");
    refused(&["--suite", "fast"], "'fast'");
    refused(
        &["--suite", "quick", "--probe", "process.hold n=20"],
        "process.hold n=20` is not in `quick`",
    );
    refused(&["--probe", "file.read size=3X"], "`size` may be 512B to 64MiB, not `3X`");
    refused(&["--probe", "file.read colour=red"], "no parameter `colour`");
    refused(&["--copies", "0"], "`--copies 0`: from 1 to 1024");
    refused(&["--copies", "two"], "write numbers");
    refused(
        &["--probe", "null", "--dll", "user32"],
        "none of the cases starts processes that load",
    );
    refused(&["--suite", "teardown", "--dll", "a b.dll"], "`--dll a b.dll`: give a path without");
    refused(&["--suite", "teardown", "--dll", "a*"], "`dll` may be the name or path of a library");
    refused(&["--layout", "r9"], "'r9'");
    refused(&["--layout", "appvirt-files", "--format", "csv"], "use `--format text` or `markdown`");
}

#[test]
fn a_spelled_case_may_have_any_value() {
    let place = Place::new();
    let run = place.run(&["native"], &["file.read size=12K", "memory.map size=16KiB"]);
    run.args(SHORT).run().exits(0);
    let comparison = place.comparison("run.jsonl");
    comparison.measured("file.read size=12KiB", "native");
    comparison.measured("memory.map size=16KiB", "native");
    place.is_clean();
}

/// Two copies, and more copies than this machine has CPUs.
#[test]
fn copies_are_measured_beside_one_and_reported_as_scaling() {
    let place = Place::new();
    let probes = ["syscall.getppid", "file.create"];
    let run = place.run(&["native", "b=native"], &probes).args(["--copies", "1,2,5"]);
    let done = run.args(["--budget", "15s"]).run().exits(0);
    done.prints("Several copies at a time").prints("of what is possible");
    let comparison = place.comparison("run.jsonl");
    comparison.measured("syscall.getppid copies=2", "b");
    comparison.measured("file.create copies=5", "b");
    let scalings = comparison.0["scalings"].as_array().unwrap();
    assert_eq!(scalings.len(), 10, "{scalings:#?}");
    for scaling in scalings {
        let (copies, reached) =
            (scaling["copies"].as_f64(), scaling["columns"][0]["value"].as_f64());
        let (copies, reached) = (copies.unwrap(), reached.unwrap());
        assert!(reached > 0.0 && reached.is_finite() && copies > 1.0, "{scaling}");
    }
    place.is_clean();
}

#[test]
fn layouts_need_their_rows_and_name_the_suite_that_has_them() {
    let place = Place::new();
    place.run(&["native"], &["syscall.getppid"]).args(SHORT).run().exits(0);
    let suites = ["appvirt-files", "process-cost", "teardown", "unixbench", "mounts"];
    let aliases = [("r1", suites[0]), ("r2", suites[1]), ("r3", suites[2]), ("r4", suites[3])];
    for (layout, suite) in suites.into_iter().map(|suite| (suite, suite)).chain(aliases) {
        let compare = place.envtax(["compare", "run.jsonl", "--layout", layout]);
        compare.run().exits(2).complains(&format!("envtax run --suite {suite}"));
    }
}

/// The cases of the suites with small sizes: their tables have all rows.
#[test]
fn layouts_print_the_published_tables() {
    let place = Place::new();
    let probes = [
        "file.write size=4KiB total=64KiB mode=buffered",
        "file.write size=8KiB total=64KiB mode=buffered",
        "file.write size=16KiB total=64KiB mode=buffered",
        "file.scan size=512B total=64KiB cache=warm",
        "process.hold n=20",
        "thread.hold n=20",
        "process.fork",
        "process.ballast kind=mapped amount=1MiB",
        "process.teardown n=10 shape=tree",
        "bystander.latency op=wake during=create n=20",
        "cpu.integer",
        "syscall.mix",
        "script.shell jobs=1 cpu=same",
    ];
    let run = place.run(&["native", "other=native"], &probes).args(["--budget", "20s"]);
    let done = run.args(["--layout", "appvirt-files"]).run();
    done.prints("Write (64KiB), seconds").prints("other: Write").prints("Block sizes");
    let show =
        |layout: &str| place.envtax(["compare", "run.jsonl", "--layout", layout]).run().exits(0);
    show("process-cost")
        .prints("memory per process [MB] n=20")
        .prints("Kernel")
        .prints("mapped 1MiB");
    show("teardown").prints("destruction of 10 (tree), s").prints("share of time blocked");
    show("unixbench").prints("Dhrystone 2 [lps]").prints("no index of all");
    show("mounts").prints("write tmp bs=4KiB buffered");
    // An alias works, too.
    let compare = place.envtax(["compare", "run.jsonl", "--layout", "r4", "--format", "markdown"]);
    compare
        .run()
        .exits(0)
        .prints("| Dhrystone 2 \\[lps\\] |")
        .prints("| write tmp bs=4KiB buffered |");
    place.is_clean();
}

/// The C library's calls, held processes by their parent's memory, and the other execl.
#[test]
fn layouts_print_what_the_originals_measured_beside_the_usual() {
    let place = Place::new();
    let probes = [
        "file.write size=4KiB total=64KiB mode=buffered data=text by=stdio",
        "process.hold n=20",
        "process.hold n=20 written=1MiB",
        "process.replace",
    ];
    let run = place.run(&["native", "other=native"], &probes);
    let run = run.args(["--precision", "1000", "--budget", "2m"]);
    let done = run.args(["--layout", "appvirt-files"]).run();
    done.prints("4KiB buffered stdio").prints(" from `native` (");
    let show =
        |layout: &str| place.envtax(["compare", "run.jsonl", "--layout", layout]).run().exits(0);
    show("process-cost")
        .prints("process creation [ms] n=20, no extra memory")
        .prints("memory per process [MB] n=20, 1MiB written");
    show("unixbench").prints("Execl, tiny and static [lps]");
    place.is_clean();
}

/// Children share what their parent has written, and have page tables of their own for it: a byte
/// for each 512 bytes.
#[test]
fn what_a_parent_has_written_is_in_the_page_tables_of_its_children() {
    let place = Place::new();
    let cases = ["n=10", "n=10 mapped=64MiB", "n=10 written=64MiB"];
    let probes = cases.map(|params| format!("process.hold {params}"));
    let probes: Vec<&str> = probes.iter().map(String::as_str).collect();
    place.run(&["native"], &probes).args(["--precision", "1000", "--budget", "2m"]).run().exits(0);
    let comparison = place.comparison("run.jsonl");
    let [plain, mapped, written] = cases.map(|params| {
        let rows = comparison.0["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["params"] == params && row["phase"] == "tables");
        row.unwrap()["cells"][0]["measured"]["cost"].as_f64().unwrap()
    });
    let half = (64 << 20) as f64 / 512.0 / 2.0;
    assert!(mapped < plain + half, "{plain} {mapped}");
    assert!(written > plain + half, "{plain} {written}");
    place.is_clean();
}

/// With one copy and with several, the tests have a table each.
#[test]
fn the_index_has_a_table_for_each_number_of_copies() {
    let place = Place::new();
    let run = place.run(&["native", "b=native"], &["syscall.mix"]).args(["--copies", "1,2"]);
    let done = run.args(["--budget", "10s", "--layout", "unixbench"]).run();
    done.prints("score, index, and ratio").prints("2 copies at a time: score of all");
    place.is_clean();
}

#[test]
fn cases_are_measured_in_the_order_given_if_that_is_asked_for() {
    let place = Place::new();
    let probes = ["syscall.getppid", "null", "clock.read clock=monotonic", "file.stat"];
    let spelled: Vec<String> = probes.iter().map(|probe| probe.to_string()).collect();
    let spelled: Vec<&str> = spelled.iter().map(String::as_str).collect();
    place.run(&["native"], &spelled).args(SHORT).args(["--fixed-order"]).run().exits(0);
    let text = place.read("run.jsonl");
    let records: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records[0]["plan"]["fixed_order"], true);
    let blocks = records.iter().filter(|it| it["record"] == "block" && it["round"] != 0);
    let order: Vec<(u64, u64)> =
        blocks.map(|it| (it["round"].as_u64().unwrap(), it["case"].as_u64().unwrap())).collect();
    assert!(order.len() >= probes.len() && order.is_sorted(), "{order:?}");
}

/// Where processes of a tree load nothing, the rows say so, and the plain ones are measured.
#[test]
fn a_library_adds_rows_that_need_windows() {
    let place = Place::new();
    let probes = ["process.teardown n=4 shape=tree pause_ms=0"];
    let run = place.run(&["native"], &probes).args(["--dll", "user32", "--budget", "5s"]);
    run.args(["--precision", "1000", "--layout", "teardown"]).run().prints("creation of 4 (tree)");
    let text = place.envtax(["compare", "run.jsonl", "--section", "notes"]).run().out;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("load libraries (`dll`)") && text.contains("on Windows only"), "{text}");
    place.is_clean();
}
