//! The flags: what makes a single figure doubtful, each with its letter and its explanation.
//!
//! A flag never removes a figure: it stands beside it. `flags.rs` finds them.

use serde::Serialize;

/// A doubt about one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// The cost is below what any operation takes.
    OptimisedAway,
    /// The mean tells another story than the floor.
    HeavyTail,
    /// The worker waited for a CPU during much of its blocks.
    Contended,
    /// Faults or switches an operation differ from the reference's.
    DifferentWork,
    /// The worker could not be pinned to the round's CPU.
    NotPinned,
    /// One reading of the clock is a visible part of a sample.
    ClockShare,
    /// Fewer rounds than the plan asks for.
    FewRounds,
    /// The rounds lie at several levels.
    Modes,
    /// A cold read whose pages may have been in the cache.
    NotCold,
    /// Durable writes that no device saw.
    NotDurable,
    /// Launches differ by more than their rounds do.
    Launches,
    /// The program is not the reference's.
    OtherProgram,
    /// The peak memory may be that of the process that started the command.
    Floor,
    /// A difference of so few steps of CPU time that there may be none.
    Ticks,
    /// Rounds resemble the ones before them.
    Autocorrelated,
    /// The ratio changes with what else wants a CPU.
    FollowsLoad,
    /// A whole command was run while others wanted all CPUs.
    BesideLoad,
    /// The target directory lies on another kind of filesystem than the reference's.
    OtherFilesystem,
}

impl Flag {
    /// Every flag, in the order of docs/RUN-FILE.md.
    pub const ALL: &[Flag] = &[
        Flag::OptimisedAway,
        Flag::HeavyTail,
        Flag::Contended,
        Flag::DifferentWork,
        Flag::NotPinned,
        Flag::ClockShare,
        Flag::FewRounds,
        Flag::Modes,
        Flag::NotCold,
        Flag::Launches,
        Flag::OtherProgram,
        Flag::Floor,
        Flag::Ticks,
        Flag::NotDurable,
        Flag::Autocorrelated,
        Flag::FollowsLoad,
        Flag::BesideLoad,
        Flag::OtherFilesystem,
    ];

    /// One letter that stands in the table.
    pub fn letter(self) -> char {
        match self {
            Flag::OptimisedAway => 'o',
            Flag::HeavyTail => 't',
            Flag::Contended => 'c',
            Flag::DifferentWork => 'w',
            Flag::NotPinned => 'p',
            Flag::ClockShare => 'k',
            Flag::FewRounds => 'r',
            Flag::Modes => 'm',
            Flag::NotCold => 'u',
            Flag::NotDurable => 'd',
            Flag::Launches => 'l',
            Flag::OtherProgram => 'x',
            Flag::Floor => 'f',
            Flag::Ticks => 'q',
            Flag::Autocorrelated => 'a',
            Flag::FollowsLoad => 'b',
            Flag::BesideLoad => 'n',
            Flag::OtherFilesystem => 's',
        }
    }

    /// What it means and what to do, for under the table.
    pub fn explanation(self) -> &'static str {
        match self {
            Flag::OptimisedAway => {
                "below a nanosecond: no operation is that fast, so it was not done"
            }
            Flag::HeavyTail => {
                "tail: the taxes of the floor and of the mean cost differ by more than 10 % and \
                 by more than both intervals; slow operations are more frequent than in the \
                 reference, or rarer"
            }
            Flag::Contended => {
                "contended: other programs took more than 5 % of the time; this changes the mean \
                 cost, but hardly the floor"
            }
            Flag::DifferentWork => {
                "different work: page faults or context switches an operation differ by more than \
                 10 % from the reference's: part of the tax is other work, not slower work"
            }
            Flag::NotPinned => "not pinned to one CPU: changes of its CPU make the cost vary more",
            Flag::ClockShare => {
                "clock: one reading of the clock takes more than 1\u{a0}% of a sample of this \
                 phase; a part of the cost is the clock's"
            }
            Flag::FewRounds => {
                "few rounds: fewer than the plan's min_rounds (15 unless the file says otherwise); \
                 the interval is less reliable than that of a finished case, and below 5 rounds \
                 there is no verdict"
            }
            Flag::Modes => {
                "levels: the ratio jumps between the levels that are listed below; the verdict is \
                 slower or faster only if all levels are"
            }
            Flag::NotCold => {
                "unverified: the file was to be cold, but some of its pages may have been in a \
                 cache"
            }
            Flag::NotDurable => {
                "not durable: the device did not write data that was reported as durable"
            }
            Flag::OtherProgram => {
                "another program: the file of that name differs from the reference's; the text \
                 below says how"
            }
            Flag::Floor => {
                "at the floor: the process that starts the command has this much memory, and is \
                 counted until the command's program is executed; the command itself had at most \
                 this much"
            }
            Flag::Launches => {
                "launches differ: from one start of the environment to the next the ratio changes \
                 by more than its rounds explain; the interval covers it, and more launches make \
                 it narrower (`--launches N`)"
            }
            Flag::Autocorrelated => {
                "autocorrelated: each round resembles the one before it, so the rounds tell less \
                 than their number suggests; the interval is too narrow, and a longer run helps"
            }
            Flag::FollowsLoad => FOLLOWS_LOAD,
            Flag::BesideLoad => BESIDE_LOAD,
            Flag::OtherFilesystem => OTHER_FILESYSTEM,
            Flag::Ticks => {
                "ticks: CPU time is counted in steps, and this difference is less than three of \
                 them, or some runs show no such time at all; it does not count as a change"
            }
        }
    }
}

// Explanations that are long.
const BESIDE_LOAD: &str = "\
    beside load: in half of the runs or more, other programs wanted as many CPUs as there are; \
    commands then wait for a CPU, in some environments longer than in others, so that the \
    verdict may be another one on a quiet machine";
const OTHER_FILESYSTEM: &str = "\
    another filesystem: the target directory lies on another kind of filesystem than in the \
    reference, as the table of differences shows; the tax is that of both together";
const FOLLOWS_LOAD: &str = "\
    follows the load: beside other programs the ratio is another one than without them, by more \
    than 5 %; measure again when the machine is quiet, or beside a known load (`--load N`)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_unique() {
        let letters: std::collections::HashSet<char> =
            Flag::ALL.iter().map(|flag| flag.letter()).collect();
        assert_eq!(letters.len(), Flag::ALL.len());
    }
}
