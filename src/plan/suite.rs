//! Named sets of cases. Some reproduce a published protocol.

use anyhow::{Context, Result, bail, ensure};

use crate::model::{Case, suggest};
use crate::probe::{self, PROBES};

/// A set of cases, with the budget and the layout that suit it.
pub struct Suite {
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    pub cases: Cases,
    /// Seconds of measuring without `--budget`.
    pub budget_s: f64,
    /// The layout of the published table it reproduces (`compare --layout`).
    pub layout: Option<&'static str>,
}

/// Which cases a suite has.
pub enum Cases {
    /// Every standard case of every probe.
    All,
    /// Probes with the sets of parameters to measure. A parameter that a set leaves out is as in
    /// the probe's first standard case.
    Of(&'static [(&'static str, &'static [&'static str])]),
}

/// The suite that is measured without `--suite`.
pub const DEFAULT: &str = "quick";

/// Every suite.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "quick",
        summary: "what an environment costs, at a glance: every area in about a minute",
        cases: Cases::Of(&[
            ("null", &[""]),
            ("clock.read", &[""]),
            ("syscall.getppid", &[""]),
            ("process.fork", &[""]),
            ("process.exec", &["target=tiny", "target=dynamic", "target=shell"]),
            ("thread.create", &[""]),
            ("pipe.roundtrip", &["cpu=same", "cpu=other", "cpu=free"]),
            ("file.stat", &[""]),
            ("file.open", &[""]),
            ("file.create", &[""]),
            ("file.read", &["size=4KiB", "size=1MiB"]),
            ("memory.fault", &[""]),
        ]),
        budget_s: 60.0,
        layout: None,
    },
    Suite {
        name: "full",
        summary: "every standard case of every probe",
        cases: Cases::All,
        budget_s: 1800.0,
        layout: None,
    },
    Suite {
        name: "appvirt-files",
        summary: "250 MiB written and read by the C library in four block sizes",
        cases: Cases::Of(&[
            (
                "file.write",
                &[
                    "size=4KiB total=250MiB mode=buffered data=text by=stdio",
                    "size=32KiB total=250MiB mode=buffered data=text by=stdio",
                    "size=512KiB total=250MiB mode=buffered data=text by=stdio",
                    "size=1MiB total=250MiB mode=buffered data=text by=stdio",
                ],
            ),
            (
                "file.scan",
                &[
                    "size=4KiB total=250MiB cache=cold data=text by=stdio",
                    "size=32KiB total=250MiB cache=cold data=text by=stdio",
                    "size=512KiB total=250MiB cache=cold data=text by=stdio",
                    "size=1MiB total=250MiB cache=cold data=text by=stdio",
                    "size=4KiB total=250MiB cache=warm data=text by=stdio",
                    "size=32KiB total=250MiB cache=warm data=text by=stdio",
                    "size=512KiB total=250MiB cache=warm data=text by=stdio",
                    "size=1MiB total=250MiB cache=warm data=text by=stdio",
                ],
            ),
        ]),
        budget_s: 300.0,
        layout: Some("appvirt-files"),
    },
    Suite {
        name: "process-cost",
        summary: "processes and threads, what they take, and 1 GiB of file",
        cases: Cases::Of(&[
            (
                "process.hold",
                &["n=100", "n=300", "n=1000", "n=1000 mapped=256MiB", "n=1000 written=256MiB"],
            ),
            ("thread.hold", &["n=1000"]),
            (
                "file.scan",
                &[
                    "size=1MiB total=1GiB cache=warm data=zero",
                    "size=1MiB total=1GiB cache=cold data=zero",
                ],
            ),
            (
                "file.write",
                &[
                    "size=1MiB total=1GiB mode=buffered data=zero",
                    "size=1MiB total=1GiB mode=direct data=zero",
                    "size=1MiB total=1GiB mode=fdatasync data=zero",
                ],
            ),
        ]),
        budget_s: 900.0,
        layout: Some("process-cost"),
    },
    Suite {
        name: "teardown",
        summary: "1000 processes start and end, and what bystanders feel",
        cases: Cases::Of(&[
            ("process.teardown", &["n=1000 shape=tree pause_ms=500", "n=1000 shape=flat"]),
            (
                "bystander.latency",
                &[
                    "op=wake during=teardown n=1000",
                    "op=fork during=teardown n=1000",
                    "op=map during=teardown n=1000",
                    "op=open during=teardown n=1000",
                    "op=wake during=create n=1000",
                    "op=fork during=create n=1000",
                    "op=map during=create n=1000 rate=100 shape=tree",
                    "op=map during=teardown n=1000 rate=100 shape=tree",
                    "op=peek during=create n=1000 rate=100 shape=tree",
                    "op=peek during=teardown n=1000 rate=100 shape=tree",
                ],
            ),
        ]),
        budget_s: 300.0,
        layout: Some("teardown"),
    },
    Suite {
        name: "unixbench",
        summary: "the operations of UnixBench's twelve tests, and its index",
        cases: Cases::Of(&[
            ("cpu.integer", &[""]),
            ("cpu.float", &[""]),
            ("process.replace", &["", "program=dynamic"]),
            (
                "file.copy",
                &["buffer=1KiB blocks=2000", "buffer=256B blocks=2000", "buffer=4KiB blocks=2000"],
            ),
            ("pipe.throughput", &["size=512B reader=self"]),
            ("pipe.roundtrip", &["cpu=same", "cpu=free"]),
            ("process.fork", &[""]),
            ("script.shell", &["jobs=1 cpu=same", "jobs=8 cpu=free"]),
            ("syscall.mix", &[""]),
        ]),
        budget_s: 180.0,
        layout: Some("unixbench"),
    },
    Suite {
        name: "mounts",
        summary: "dd and metadata in each --dir, with the cost of a call and of a byte",
        cases: Cases::Of(&[
            ("file.write", &["size=64KiB total=2GiB mode=fdatasync data=zero"]),
            (
                "file.scan",
                &[
                    "size=512B total=2GiB cache=warm data=zero",
                    "size=512B total=16MiB cache=warm",
                    "size=4KiB total=16MiB cache=warm",
                    "size=64KiB total=16MiB cache=warm",
                    "size=1MiB total=16MiB cache=warm",
                ],
            ),
            ("file.stat", &[""]),
            ("file.open", &[""]),
            ("file.create", &[""]),
            ("file.walk", &[""]),
        ]),
        budget_s: 600.0,
        layout: Some("mounts"),
    },
];

/// The suite of that name.
pub fn find(name: &str) -> Result<&'static Suite> {
    let found = SUITES.iter().find(|suite| suite.name == name);
    found.with_context(|| {
        let known: Vec<_> = SUITES.iter().map(|suite| (suite.name, suite.summary)).collect();
        suggest::unknown("suite", name, &known)
    })
}

impl Suite {
    /// Its cases; those of file probes once for each target directory.
    pub fn cases(&self, dirs: &[&str]) -> Result<Vec<Case>> {
        let Cases::Of(picks) = self.cases else { return Ok(probe::all_cases(dirs)) };
        let mut cases = Vec::new();
        for (id, sets) in picks {
            let info = probe::find(id)?.info();
            for set in *sets {
                cases.extend(probe::cases_of(info, &probe::complete(info, set)?, dirs));
            }
        }
        Ok(cases)
    }
}

/// The cases that `--probe TEXT` spells out: a probe's id followed by parameters, without globs.
/// None if the text is something else.
pub fn spelled_case(text: &str, dirs: &[&str]) -> Result<Option<Vec<Case>>> {
    let (id, params) = text.split_once(' ').unwrap_or((text, ""));
    let Some(probe) = PROBES.iter().find(|probe| probe.info().id == id) else { return Ok(None) };
    // A bare id means all its cases. `dir=` and `copies=` occur in the names of rows, not in cases.
    let of_rows = |word: &str| word.starts_with("dir=") || word.starts_with("copies=");
    let glob = text.contains(['*', '?', '[', '{']);
    if params.is_empty() || glob || params.split(' ').any(of_rows) {
        return Ok(None);
    }
    let params = probe::complete(probe.info(), params)?;
    Ok(Some(probe::cases_of(probe.info(), &params, dirs)))
}

/// Reads `1,2,N`; N is the number of CPUs.
pub fn parse_copies(text: &str, cpus: u32) -> Result<Vec<u32>> {
    let mut copies = Vec::new();
    for word in text.split(',') {
        let count = match word.trim() {
            "N" | "n" => cpus,
            word => word.parse().with_context(|| {
                format!("`--copies {text}`: write numbers, and N for that of CPUs: `1,2,N`")
            })?,
        };
        ensure!(
            (1..=MOST_COPIES).contains(&count),
            "`--copies {text}`: from 1 to {MOST_COPIES} copies"
        );
        if !copies.contains(&count) {
            copies.push(count);
        }
    }
    if copies.is_empty() {
        bail!("`--copies` is empty");
    }
    Ok(copies)
}

/// The most copies of a probe at a time; each copy is a process.
const MOST_COPIES: u32 = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_has_cases_that_exist_once() {
        for suite in SUITES {
            let cases = suite.cases(&["d"]).unwrap_or_else(|e| panic!("{}: {e:#}", suite.name));
            let mut seen = std::collections::HashSet::new();
            for case in cases {
                assert!(seen.insert(case.to_string()), "{}: {case} twice", suite.name);
            }
            assert!(suite.summary.len() <= 76 && suite.budget_s > 0.0, "{}", suite.name);
        }
        assert!(find(DEFAULT).is_ok());
        assert!(find("fast").map(|_| ()).unwrap_err().to_string().contains("quick"));
    }

    #[test]
    fn a_spelled_case_may_have_free_values() {
        let cases = |text| spelled_case(text, &["a", "b"]).unwrap();
        let found = cases("file.read size=64K").unwrap();
        assert_eq!(found[1].to_string(), "file.read size=64KiB dir=b");
        assert!(cases("file.*").is_none() && cases("nothing").is_none());
        assert!(cases("file.read").is_none() && cases("file.read size=4KiB dir=a").is_none());
        assert!(spelled_case("file.read size=x", &[]).is_err());
    }

    #[test]
    fn copies_are_numbers_within_reason() {
        assert_eq!(parse_copies("1,2,N", 2).unwrap(), [1, 2]);
        for wrong in ["", "0", "x", "2000"] {
            assert!(parse_copies(wrong, 2).unwrap_err().to_string().contains("--copies"));
        }
    }
}
