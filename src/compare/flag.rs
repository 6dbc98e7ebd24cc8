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
}

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
