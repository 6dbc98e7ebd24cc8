//! Text that `time` printed: of bash, dash, ksh and BusyBox, of `time -p`, of zsh, of BSD's and
//! GNU's programs, the latter with `-v` too. Lines `# NAME` name the input of what follows.

use anyhow::{Context, Result};

use super::{FIGURES, Found, Run, Series, nanoseconds};
use crate::model::CommandCase;

const LACKS: &str = "output of `time`, which does not say when, where and in which order it was \
                     printed, nor for which program";

/// Lines of `time -v` with the figure that each has.
const VERBOSE: [(&str, usize); 8] = [
    ("User time (seconds)", 1),
    ("System time (seconds)", 2),
    ("Elapsed (wall clock) time (h:mm:ss or m:ss)", 0),
    ("Maximum resident set size (kbytes)", 3),
    ("Major (requiring I/O) page faults", 4),
    ("Minor (reclaiming a frame) page faults", 4),
    ("Voluntary context switches", 5),
    ("Involuntary context switches", 5),
];
/// The last line of `time -v`.
const VERBOSE_END: &str = "Exit status";

pub(super) fn read(text: &str, stem: &str) -> Result<Option<Found>> {
    let mut reading = Reading { column: stem.to_owned(), ..Reading::default() };
    for (index, line) in text.lines().enumerate() {
        let read = reading.line(line.trim());
        read.with_context(|| format!("line {}", index + 1))?;
    }
    reading.done();
    let series = reading.series;
    Ok((!series.is_empty()).then(|| Found { series, by_command: false, lacks: LACKS.into() }))
}

#[derive(Default)]
struct Reading {
    column: String,
    input: Option<String>,
    /// What is known of the run whose lines are being read.
    run: Run,
    series: Vec<Series>,
}

impl Reading {
    /// Takes what is a line of `time`. All others are the output of the program that was timed.
    fn line(&mut self, line: &str) -> Result<()> {
        if let Some(name) = line.strip_prefix("# ") {
            self.done();
            self.input = Some(name.trim().to_owned());
        } else if let Some((name, value)) = shell_line(line) {
            // Shells begin with the elapsed time.
            if name == 0 {
                self.done();
            }
            self.run[name] = Some(nanoseconds(value)?);
        } else if line.starts_with("Command being timed: ") {
            self.done();
        } else if let Some((name, value)) = verbose_line(line) {
            let ns = if name < 3 { nanoseconds(value)? } else { value as u64 };
            let value = if name == 3 { ns.saturating_mul(1024) } else { ns };
            self.run[name] = Some(self.run[name].unwrap_or(0).saturating_add(value));
        } else if line.starts_with(VERBOSE_END) {
            self.done();
        } else if let Some([wall, user, system]) = words_line(line) {
            self.done();
            for (figure, seconds) in self.run.iter_mut().zip([wall, user, system]) {
                *figure = Some(nanoseconds(seconds)?);
            }
            self.run[3] = number_before(line, "maxresident").map(|kib| kib as u64 * 1024);
        } else if let (Some(major), Some(minor)) =
            (number_before(line, "major"), number_before(line, "minor"))
        {
            self.run[4] = self.run[0].map(|_| major as u64 + minor as u64);
        }
        Ok(())
    }

    /// The run that was read is complete, if there is one.
    fn done(&mut self) {
        let run = std::mem::replace(&mut self.run, [None; FIGURES]);
        if run[0].is_none() {
            return;
        }
        let case = CommandCase { input: self.input.clone(), ..CommandCase::default() };
        match self.series.iter_mut().find(|series| series.case == case) {
            Some(series) => series.runs.push(run),
            None => {
                let column = self.column.clone();
                self.series.push(Series { column, case, runs: vec![run], notes: Vec::new() });
            }
        }
    }
}

/// `real 0m2.672s`, `user 7.05`: which figure, and its seconds.
fn shell_line(line: &str) -> Option<(usize, f64)> {
    let (name, value) = line.split_once([' ', '\t'])?;
    let figure = ["real", "user", "sys"].iter().position(|known| *known == name)?;
    Some((figure, seconds(value)?))
}

fn verbose_line(line: &str) -> Option<(usize, f64)> {
    let (_, figure, rest) = VERBOSE.iter().find_map(|(name, figure)| {
        Some((name, *figure, line.strip_prefix(name)?.strip_prefix(": ")?))
    })?;
    Some((figure, seconds(rest)?))
}

/// All in one line: elapsed, user and system seconds.
fn words_line(line: &str) -> Option<[f64; 3]> {
    // GNU: `0.00user 0.00system 0:00.01elapsed`.
    let gnu = ["elapsed", "user", "system"].map(|name| word_before(line, name).and_then(seconds));
    // zsh: `0.00s user 0.00s system 14% cpu 0.014 total`.
    let zsh = ["total", "user", "system"].map(|name| word_ahead_of(line, name).and_then(seconds));
    // BSD: `2.67 real 7.05 user 0.42 sys`.
    let bsd = ["real", "user", "sys"].map(|name| word_ahead_of(line, name).and_then(seconds));
    [gnu, zsh, bsd].into_iter().find_map(|[wall, user, system]| Some([wall?, user?, system?]))
}

/// The beginning of the word that ends so: `0.01` of `0.01elapsed`.
fn word_before<'a>(line: &'a str, ending: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_suffix(ending).filter(|rest| !rest.is_empty()))
}

/// The word ahead of that one.
fn word_ahead_of<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|found| *found == word)?;
    words.get(at.checked_sub(1)?).copied()
}

/// The number directly ahead of that name: 1644 of `0avgdata 1644maxresident)k`.
fn number_before(line: &str, name: &str) -> Option<u32> {
    let before = &line[..line.find(name)?];
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    before[before.len() - digits..].parse().ok()
}

/// `1h2m3.4s`, `0m 2.672s`, `1:02:03`, `0:00.01`, `2.67`, `0,42` of a locale with commas.
fn seconds(text: &str) -> Option<f64> {
    let text = text.trim().replace(',', ".");
    let mut parts = Vec::new();
    let mut rest = text.strip_suffix('s').unwrap_or(&text);
    while let Some(at) = rest.find([':', 'h', 'm']) {
        parts.push(rest[..at].trim());
        rest = rest[at + 1..].trim_start();
    }
    parts.push(rest);
    let number = |part: &str| {
        let plain = part.chars().all(|c| c.is_ascii_digit() || c == '.');
        part.parse::<f64>().ok().filter(|_| plain)
    };
    parts.into_iter().try_fold(0.0, |sum, part| Some(sum * 60.0 + number(part)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<Run> {
        let found = read(text, "x").unwrap();
        found
            .map(|found| found.series.into_iter().flat_map(|it| it.runs).collect())
            .unwrap_or_default()
    }

    fn ms(times: [u64; 3]) -> [Option<u64>; 3] {
        times.map(|ms| Some(ms * 1_000_000))
    }

    /// Each text as the program printed it.
    #[test]
    fn every_dialect_is_read() {
        let dialects = [
            "\nreal\t0m2.672s\nuser\t0m7.047s\nsys\t0m0.422s\n",
            "real\t0m 2.672s\nuser\t0m 7.047s\nsys\t0m 0.422s\n",
            "real 2.672\nuser 7.047\nsys 0.422\n",
            "real\t0m2,672s\nuser\t0m7,047s\nsys\t0m0,422s\n",
            "( lepton a.jpg; )  7.047s user 0.422s system 279% cpu 2.672 total\n",
            "        2.672 real         7.047 user         0.422 sys\n",
            "hello real people\r\nreal\t0m2.672s\r\nuser\t0m7.047s\r\nsys\t0m0.422s\r\n",
        ];
        for text in dialects {
            let runs = runs(text);
            assert_eq!(runs.len(), 1, "{text}");
            assert_eq!(runs[0][..3], ms([2672, 7047, 422]), "{text}");
        }
    }

    #[test]
    fn gnus_program_knows_more() {
        let short = "0.01user 0.02system 1:02.03elapsed 11%CPU \
                     (0avgtext+0avgdata 1644maxresident)k\n\
                     0inputs+0outputs (1major+99minor)pagefaults 0swaps\n";
        let long = "\tCommand being timed: \"sleep 0.01\"\n\tUser time (seconds): 0.01\n\
                    \tSystem time (seconds): 0.02\n\
                    \tElapsed (wall clock) time (h:mm:ss or m:ss): 1:02.03\n\
                    \tMaximum resident set size (kbytes): 1644\n\
                    \tMajor (requiring I/O) page faults: 1\n\
                    \tMinor (reclaiming a frame) page faults: 99\n\
                    \tVoluntary context switches: 2\n\tInvoluntary context switches: 1\n\
                    \tExit status: 0\n";
        let [wall, user, system] = ms([62_030, 10, 20]);
        let memory = Some(1644 * 1024);
        assert_eq!(runs(short), [[wall, user, system, memory, Some(100), None]]);
        assert_eq!(runs(long), [[wall, user, system, memory, Some(100), Some(3)]]);
        assert_eq!(runs(&(long.to_owned() + long)).len(), 2);
    }

    #[test]
    fn inputs_are_named_by_lines_of_their_own() {
        let one = "real 1\nuser 1\nsys 0\n";
        let text = format!("# a.jpg\n{one}{one}# b.jpg\nsome output\n{one}");
        let series = read(&text, "x").unwrap().unwrap().series;
        let found: Vec<_> =
            series.iter().map(|it| (it.case.input.as_deref(), it.runs.len())).collect();
        assert_eq!(found, [(Some("a.jpg"), 2), (Some("b.jpg"), 1)]);
    }

    #[test]
    fn hours_minutes_and_seconds() {
        let cases = [("1h2m3.5s", 3723.5), ("1:02:03", 3723.0), ("0:00.01", 0.01), ("7.05", 7.05)];
        for (text, truth) in cases {
            assert_eq!(seconds(text), Some(truth), "{text}");
        }
        for wrong in ["", "fast", "-1", "1e5", "m", "1:x"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        assert_eq!(runs("user 5\nsys 1\nthe real thing\n"), Vec::<Run>::new());
    }
}
