//! How long another process is held up while many processes are created or end.

use std::ops::RangeInclusive;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::process_teardown::{CONSOLES, MEMBERS, possible_tree, starting, weight};
use super::{Param, Probe, ProbeInfo, Setup};
use crate::measure::{Latencies, Responses, Stopwatch, Workload};
use crate::model::{Extras, Phase, Quantity};
use crate::sys::{self, Bystander, Operation, ProcessTree, Shape};

pub struct BystanderLatency;

static INFO: ProbeInfo = ProbeInfo {
    id: "bystander.latency",
    summary: "what another process feels while many start or end",
    timed: "A second process, the bystander, does a tiny operation `rate` times a second at fixed \
            due times: `op=wake` wakes up from a timer, `fork` forks and reaps a process that \
            exits at once, `map` maps, touches and unmaps a page, `open` opens and closes a file \
            in the page cache, `peek` asks for a message of the desktop's window, which needs \
            the global lock of the window system (Windows only). A response \
            lasts from the due time to the end of the operation. \
            Each sample has a calm of 30 due times and then a storm. `storm`: the storm's length, \
            divided by `n`: `during=create` starts `n` processes and waits until all are up, \
            `during=teardown` has `n` sleeping ones exit and reaps them. `calm` and `busy`: the \
            median response in the calm and in the storm; `worst`: the longest in the storm. A \
            response belongs to the storm if any of it does. `blocked`: the share of the storm's \
            time in which an operation had been due for longer than `calm` and was not done. \
            Stalls shorter than the time between two due times are seen in part.",
    excluded: "Starting the bystander and, before a teardown, the processes. All responses begin \
               with the wake-up from the timer, with the timer slack of a normal process (50 us on \
               Linux). Priorities are normal; `cpu=free`: storm and bystander on all CPUs; \
               `cpu=same`: on one. The storm's figure contains what the bystander took from it. \
               `shape`, `dll` and `console` are those of process.teardown.",
    unit: "process",
    source: "Dawson, \"A Not-Called Function Can Cause a 5X Slowdown\" (2018), whose bystander \
             waits for a lock of Windows; `op=wake` is what cyclictest measures, at normal \
             priority",
    phases: FIGURES,
    params: &[
        Param::one_of("op", OPERATIONS),
        Param::one_of("during", &["create", "teardown"]),
        Param::count("n", MEMBERS),
        Param::count("rate", RATES),
        Param::one_of("cpu", &["free", "same"]),
        Param::one_of("shape", &["flat", "tree"]).silent("flat"),
        Param::library("dll"),
        Param::one_of("console", CONSOLES).silent("attached"),
    ],
    cases: &[
        "op=wake during=teardown n=200 rate=1000 cpu=free",
        "op=fork during=teardown n=200 rate=1000 cpu=free",
        "op=map during=teardown n=200 rate=1000 cpu=free",
        "op=open during=teardown n=200 rate=1000 cpu=free",
        "op=wake during=create n=200 rate=1000 cpu=free",
        "op=peek during=teardown n=200 rate=100 cpu=free shape=tree",
    ],
    on_files: false,
};

/// The figures of every bystander probe.
pub(super) const FIGURES: &[Phase] = &[
    Phase::timed("storm"),
    Phase::figure("calm", Quantity::Time),
    Phase::figure("busy", Quantity::Time),
    Phase::figure("blocked", Quantity::Share),
    Phase::figure("worst", Quantity::Time),
];
/// The operations that a bystander can do.
pub(super) const OPERATIONS: &[&str] = &["wake", "fork", "map", "open", "peek"];
/// Due times a second, for the parameter `rate`.
pub(super) const RATES: RangeInclusive<u64> = 50..=10_000;
/// Due times in the calm before a storm.
const CALM: u32 = 30;

/// A bystander and the response times of its operations.
pub(super) struct Watched {
    bystander: Bystander,
    responses: Responses,
    /// Start and end of the last storm, in ns of the clock.
    start: u64,
    end: u64,
    calm: Latencies,
    storm: Latencies,
    operations: u64,
    missed: u64,
    /// Whether some sample had no calm response, and whether some storm had no due time.
    restless: bool,
    unseen: bool,
}

impl Watched {
    /// Starts the bystander on `cpus`.
    pub(super) fn start(setup: &Setup<'_>, cpus: &[usize]) -> Result<Watched> {
        let operation = match setup.param("op")? {
            "wake" => Operation::Wake,
            "fork" => Operation::Fork,
            "map" => Operation::Map,
            "peek" => Operation::Peek,
            "open" => {
                let path = setup.scratch.folder()?.join("bystander");
                std::fs::write(&path, "x")
                    .with_context(|| format!("creating `{}`", path.display()))?;
                Operation::Open(sys::FilePath::new(&path)?)
            }
            other => bail!("a bystander has no operation `{other}`"),
        };
        let period_ns = 1_000_000_000 / setup.count("rate")?.max(1);
        Ok(Watched {
            bystander: Bystander::start(&operation, cpus).context("starting the bystander")?,
            responses: Responses::new(sys::MOST_DUE, period_ns),
            start: 0,
            end: 0,
            calm: Latencies::new(),
            storm: Latencies::new(),
            operations: 0,
            missed: 0,
            restless: false,
            unseen: false,
        })
    }

    /// Starts the due times and waits for as long as the calm lasts.
    pub(super) fn calm(&mut self) {
        let period_ns = self.responses.period_ns;
        self.responses.first_due_ns = self.bystander.begin(period_ns);
        thread::sleep(Duration::from_nanos(period_ns) * (CALM + 1));
    }

    /// Runs the storm and gives its figures.
    pub(super) fn during(
        &mut self,
        watch: &mut Stopwatch,
        storm: impl FnOnce(&mut Bystander) -> Result<()>,
    ) -> Result<()> {
        watch.skip();
        self.start = sys::now_ns();
        let result = storm(&mut self.bystander);
        watch.lap(0);
        self.end = sys::now_ns();
        result?;
        self.bystander
            .finish(self.end, &mut self.responses.ns)
            .context("watching a storm; if it was too long for the record, lower `n` or `rate`")?;
        self.figures(watch);
        watch.skip();
        Ok(())
    }

    fn figures(&mut self, watch: &mut Stopwatch) {
        let touched = self.responses.touched(self.start, self.end);
        let calm = self.responses.median(0..touched.start);
        let busy = self.responses.median(touched.clone());
        watch.put(1, calm.unwrap_or(0) as f64);
        watch.put(2, busy.unwrap_or(0) as f64);
        if let (Some(calm), Some(_)) = (calm, busy) {
            let share = self.responses.blocked(self.start, self.end, calm);
            // Zero would mean that the figure is not known.
            watch.put(3, (share * 1e6).max(1.0));
        }
        watch.put(4, self.responses.worst(touched).unwrap_or(0) as f64);
        self.restless |= calm.is_none_or(|calm| calm > self.responses.period_ns);
        self.unseen |= busy.is_none();
    }

    /// Adds the last storm's responses to the distribution.
    pub(super) fn keep(&mut self) {
        let touched = self.responses.touched(self.start, self.end);
        for ns in &self.responses.ns[..touched.start] {
            self.calm.record(*ns);
        }
        for ns in &self.responses.ns[touched.clone()] {
            self.storm.record(*ns);
        }
        self.operations += touched.len() as u64;
        self.missed += self.responses.missed(touched);
    }

    pub(super) fn extras(&self) -> Extras {
        let mut extras = Extras::default();
        if self.restless {
            let text = "the bystander's operation takes longer than the time between two due \
                        times even in the calm; lower `rate=`";
            extras.notes.push(text.to_owned());
        }
        if self.unseen {
            let text = "a storm was over before the bystander's operation was due, and has no \
                        `busy`, `blocked` and `worst`; raise `n=` or `rate=`";
            extras.notes.push(text.to_owned());
        }
        extras.counters.insert("bystander_operations".into(), self.operations);
        extras.counters.insert("bystander_missed".into(), self.missed);
        extras.latencies.insert("calm".into(), self.calm.buckets());
        extras.latencies.insert("storm".into(), self.storm.buckets());
        extras
    }
}

struct Storm {
    // Ended before the bystander, because it has many processes.
    tree: ProcessTree,
    watched: Watched,
    n: u64,
    teardown: bool,
}

impl Probe for BystanderLatency {
    fn info(&self) -> &'static ProbeInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Box<dyn Workload>> {
        let teardown = match setup.param("during")? {
            "create" => false,
            "teardown" => true,
            other => bail!("`bystander.latency` has no storm `{other}`"),
        };
        let shape = match setup.option("shape", "flat") {
            "tree" => Shape::Tree,
            _ => Shape::Flat,
        };
        let cpus = setup.peer_cpus()?;
        let n = setup.count("n")?;
        let tree = possible_tree(n, shape, &weight(setup)?)?;
        let watched = Watched::start(setup, &cpus)?;
        Ok(Box::new(Storm { tree, watched, n, teardown }))
    }
}

impl Storm {
    fn create(&mut self) -> Result<()> {
        self.tree.create().with_context(|| starting(self.n, &self.tree))
    }
}

impl Workload for Storm {
    fn before_sample(&mut self, _: u64) -> Result<()> {
        if self.teardown {
            self.create()?;
        }
        self.watched.calm();
        Ok(())
    }

    fn run(&mut self, _: u64, watch: &mut Stopwatch) -> Result<u64> {
        let (tree, n) = (&mut self.tree, self.n);
        self.watched.during(watch, |_| match self.teardown {
            true => tree.end().context("ending the processes"),
            false => tree.create().with_context(|| starting(n, tree)),
        })?;
        Ok(n)
    }

    fn after_sample(&mut self) -> Result<()> {
        self.tree.end().context("ending the processes")?;
        self.watched.keep();
        Ok(())
    }

    fn iterations(&self) -> RangeInclusive<u64> {
        self.n..=self.n
    }

    fn extras(&mut self) -> Result<Extras> {
        Ok(self.watched.extras())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Scratch, complete};
    use super::*;
    use crate::measure::{BlockSettings, run_block};

    /// Stops the bystander for a while, within a storm that lasts twice as long.
    struct Planted(Watched);

    const STALL: Duration = Duration::from_millis(60);

    impl Workload for Planted {
        fn before_sample(&mut self, _: u64) -> Result<()> {
            self.0.calm();
            Ok(())
        }

        fn run(&mut self, iterations: u64, watch: &mut Stopwatch) -> Result<u64> {
            self.0.during(watch, |bystander| {
                bystander.stopped_during(|| thread::sleep(STALL))?;
                thread::sleep(STALL);
                Ok(())
            })?;
            Ok(iterations)
        }

        fn after_sample(&mut self) -> Result<()> {
            self.0.keep();
            Ok(())
        }

        fn extras(&mut self) -> Result<Extras> {
            Ok(self.0.extras())
        }
    }

    fn run(params: &str, planted: bool) -> crate::model::SampleSet {
        let temporary = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(temporary.path().join("block"));
        let params = complete(&INFO, params).unwrap();
        let cpus = sys::allowed_cpus().unwrap();
        let cpu = cpus.first().copied();
        let setup =
            Setup { params: &params, scratch: &scratch, cpu, other_cpu: None, allowed_cpus: &cpus };
        let watched = || Planted(Watched::start(&setup, &cpus).unwrap());
        let mut workload: Box<dyn Workload> = match planted {
            true => Box::new(watched()),
            false => BystanderLatency.prepare(&setup).unwrap(),
        };
        let iterations = setup.count("n").unwrap();
        let settings = BlockSettings { iterations, discard: false, ..BlockSettings::of(FIGURES) };
        run_block(workload.as_mut(), &settings, None).unwrap()
    }

    #[test]
    fn a_planted_stall_is_seen() {
        // The others exist on Windows only.
        for op in &OPERATIONS[..4] {
            let block = run(&format!("op={op} n=2"), true);
            let figure = |phase: usize| block.samples[phase][0] as f64 / 2.0;
            let (storm, calm, busy, worst) = (figure(0) * 2.0, figure(1), figure(2), figure(4));
            let period = 1e6;
            let stall = STALL.as_nanos() as f64;
            assert!(storm >= 2.0 * stall, "{op}: {storm}");
            // One was due within a period of the stall's start, and was done after the stall's end.
            assert!(worst >= stall - period, "{op}: {worst}");
            assert!(busy > 0.0 && busy <= worst, "{op}: {busy}");
            if calm > 0.0 {
                let least = (stall - period - calm).max(0.0) / storm * 1e6;
                assert!((least - 1.0..=1e6 + 1.0).contains(&figure(3)), "{op}: {}", figure(3));
            } else {
                // On a busy machine the bystander may not run at all before the storm.
                assert_eq!(figure(3), 0.0, "{op}: what is blocked is not known");
                assert!(block.extras.notes[0].contains("in the calm"), "{op}");
            }
            // Of those that were due in the stall, all but the last were not done when the next was
            // due.
            let missed = block.extras.counters["bystander_missed"];
            assert!(missed >= 50, "{op}: {missed}");
            let seen: u64 = block.extras.latencies["storm"].iter().map(|(_, times)| times).sum();
            assert_eq!(seen, block.extras.counters["bystander_operations"], "{op}");
            assert!(seen >= 110, "{op}: what was due in the stall was made up for");
            assert!(block.extras.latencies["storm"].iter().any(|(ns, _)| *ns as f64 >= worst));
        }
    }

    #[test]
    fn a_storm_that_nobody_could_see_has_no_figures_but_its_length() {
        let block = run("op=wake during=teardown n=2 rate=50", false);
        assert!(block.samples[0][0] > 0 && block.samples[1][0] > 0);
        if block.samples[2][0] == 0 {
            assert_eq!((block.samples[3][0], block.samples[4][0]), (0, 0));
            assert!(block.extras.notes[0].contains("before the bystander's operation was due"));
        }
    }
}
