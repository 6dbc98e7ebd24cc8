//! Why a program may take another path there: what it asked its system, where the environment
//! answers otherwise than the machine itself.

use std::collections::BTreeSet;

use super::rounds::Rounds;
use crate::recording::{Base, Event, Kind, Recording};
use crate::runfile::RunFile;

/// How often a program asked for something, and by which calls or files.
struct Asked {
    by: BTreeSet<String>,
    count: usize,
}

/// A property of the system that programs ask for: by these calls, and in these files.
struct Property {
    calls: &'static [Kind],
    files: &'static [&'static str],
    /// The fact that shows whether it differs.
    fact: &'static str,
    /// What is other there, with `{here}` and `{there}`, and what a program may do then.
    words: &'static str,
}

const STATE: &[Kind] = &[Kind::Stat, Kind::Fstat, Kind::Statx];

const PROPERTIES: &[Property] = &[
    Property {
        calls: &[Kind::System],
        files: &["/proc/version", "/proc/sys/kernel/osrelease"],
        fact: "kernel",
        words: "another kernel ({there}, here {here}): a program that looks at its version may use \
                other calls",
    },
    Property {
        calls: &[Kind::System],
        files: &["/proc/meminfo"],
        fact: "memory",
        words: "another amount of memory ({there}, here {here}): a program that sizes its buffers \
                by it may use others",
    },
    Property {
        calls: &[],
        files: &[
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
        ],
        fact: "huge_pages",
        words: "other huge pages ({there}, here {here}): an allocator may touch memory otherwise",
    },
    Property {
        calls: &[Kind::Ids],
        files: &[],
        fact: "uid",
        words: "another user ({there}, here {here}): what it may do and where its settings are may \
                be other",
    },
];

/// Calls and files by which a program learns the number of CPUs.
const CPUS: Property = Property {
    calls: &[Kind::Affinity],
    files: &[
        "/proc/cpuinfo",
        "/proc/stat",
        "/sys/devices/system/cpu/online",
        "/sys/devices/system/cpu/possible",
    ],
    fact: "cpus",
    words: "",
};

/// The sentences, without their points.
pub fn differs(
    recording: &Recording,
    run: &RunFile,
    (native, reference): (&Rounds<'_>, &str),
    (there, name): (&Rounds<'_>, &str),
) -> Vec<String> {
    let mut sentences = Vec::new();
    let identities = |rounds: &Rounds<'_>| {
        let all = rounds.blocks.values().filter_map(|block| block.set.extras.identity);
        all.collect::<BTreeSet<(u64, u64)>>()
    };
    let (here, other) = (identities(native), identities(there));
    let inodes = |of: &BTreeSet<(u64, u64)>| of.iter().map(|it| it.0).collect::<BTreeSet<_>>();
    let times = |of: &BTreeSet<(u64, u64)>| of.iter().map(|it| it.1).collect::<BTreeSet<_>>();
    let state = Property { calls: STATE, files: &[], fact: "", words: "" };
    if let Some(asked) = state.asked(recording) {
        if inodes(&here) != inodes(&other) {
            let how = match inodes(&other).len() > 1 {
                true => "inode numbers that change from run to run",
                false => "other inode numbers",
            };
            sentences.push(format!(
                "{asked} tells {how} there: a program that remembers them, as git does in its \
                 index, will distrust what it knows and may read every file again"
            ));
        }
        if times(&here) != times(&other) {
            sentences.push(format!(
                "{asked} tells other or coarser times of files there: a program that compares \
                 them, such as make, may do other work"
            ));
        }
    }
    let environment = |name: &str| run.environments.iter().find(|it| it.name == name);
    let Some((here, there)) = environment(reference).zip(environment(name)) else {
        return sentences;
    };
    let (cpus_here, cpus_there) = (here.cpus.len(), there.cpus.len());
    if let Some(asked) = CPUS.asked(recording).filter(|_| cpus_there > 0)
        && cpus_here != cpus_there
    {
        sentences.push(format!(
            "{asked} tells {cpus_there} CPUs there and {cpus_here} here: a program that asks for \
             their number may start as many threads"
        ));
    }
    for property in PROPERTIES {
        let facts = here.facts.get(property.fact).zip(there.facts.get(property.fact));
        let Some((here, there)) = facts.filter(|(here, there)| here != there) else { continue };
        if let Some(asked) = property.asked(recording) {
            let words = property.words.replace("{here}", here).replace("{there}", there);
            sentences.push(format!("{asked} tells {words}"));
        }
    }
    sentences
}

impl Property {
    /// By what a program asks for it, if it does.
    fn asked(&self, recording: &Recording) -> Option<Asked> {
        let mut asked = Asked { by: BTreeSet::new(), count: 0 };
        let events = recording.streams.iter().flat_map(|stream| &stream.events);
        for (_, event) in events {
            let Event::Call(call) = event else { continue };
            if self.calls.contains(&call.kind) {
                asked.by.insert(call.kind.name().to_owned());
                asked.count += 1;
            }
            if call.kind == Kind::Open
                && let Some(file) = system_file(recording, call.path)
                && self.files.contains(&file.as_str())
            {
                asked.by.insert(file);
                asked.count += 1;
            }
        }
        (asked.count > 0).then_some(asked)
    }
}

/// The name of a file of the system.
fn system_file(recording: &Recording, path: u32) -> Option<String> {
    let path = recording.paths.get(path as usize).filter(|path| path.base == Base::System)?;
    let part = |part: &u32| recording.names.get(*part as usize).map_or("", String::as_str);
    Some(format!("/{}", path.parts.iter().map(part).collect::<Vec<_>>().join("/")))
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let by: Vec<String> = self.by.iter().map(|it| format!("`{it}`")).collect();
        let times = if self.count == 1 { "once".into() } else { format!("{} times", self.count) };
        write!(f, "{} (asked {times})", by.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Call, PathText, Stream};

    #[test]
    fn it_is_said_by_which_calls_a_program_asks() {
        let names = ["proc", "cpuinfo"].map(str::to_owned).to_vec();
        let paths = vec![PathText { base: Base::System, parts: vec![0, 1] }];
        let open = Call { path: 0, ..Call::new(Kind::Open, 3) };
        let events = [open, Call::new(Kind::Affinity, 0), Call::new(Kind::Read, 0)];
        let events = events.map(|call| (0, Event::Call(call))).to_vec();
        let streams = vec![Stream { program: String::new(), events }];
        let recording = Recording { names, paths, streams, ..Recording::default() };
        let asked = CPUS.asked(&recording).unwrap().to_string();
        assert_eq!(asked, "`/proc/cpuinfo` or `sched_getaffinity` (asked 2 times)");
        assert!(PROPERTIES.iter().all(|property| property.asked(&recording).is_none()));
    }
}
