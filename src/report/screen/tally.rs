//! What the verdicts of some rows come to in one column: what a cell of the matrix and a sentence
//! are made of.

use super::grid::Piece;
use crate::compare::{Cell, Open, Row, Tax, Verdict, tax_of};
use crate::report::notes;
use crate::report::table::{self, Ends};
use crate::words::Words;

/// A row with its tax.
pub type Found<'a> = (&'a Row, &'a Tax);

/// The verdicts of rows in one column.
#[derive(Default)]
pub struct Tally<'a> {
    /// Slower or faster.
    pub decided: Vec<Found<'a>>,
    pub same: usize,
    /// Neither a difference nor its absence is shown.
    pub open: Vec<Found<'a>>,
    /// The cost jumps between levels.
    pub levels: Vec<Found<'a>>,
    /// Too few starts of the environment for a verdict.
    pub few_starts: Vec<Found<'a>>,
    /// Measured without any verdict.
    pub untested: Vec<Found<'a>>,
    pub failed: usize,
    /// Not measured, for another reason than a failure.
    pub empty: usize,
}

impl<'a> Tally<'a> {
    pub fn of(rows: &[&'a Row], column: usize) -> Tally<'a> {
        let mut tally = Tally::default();
        for row in rows.iter().copied() {
            let Some(tax) = tax_of(&row.cells[column]) else {
                match row.cells[column] {
                    Cell::Failed(_) => tally.failed += 1,
                    _ => tally.empty += 1,
                }
                continue;
            };
            match tax.verdict {
                Verdict::Slower | Verdict::Faster => tally.decided.push((row, tax)),
                Verdict::Same => tally.same += 1,
                Verdict::Inconclusive { why: Open::Levels, .. } => tally.levels.push((row, tax)),
                Verdict::Inconclusive { why: Open::FewLaunches, .. } => {
                    tally.few_starts.push((row, tax));
                }
                Verdict::Inconclusive { .. } => tally.open.push((row, tax)),
                Verdict::Descriptive => tally.untested.push((row, tax)),
            }
        }
        tally
    }

    pub fn rows(&self) -> usize {
        let open = self.open.len() + self.levels.len() + self.few_starts.len();
        self.decided.len() + open + self.same + self.untested.len() + self.failed + self.empty
    }

    /// The decided row that is farthest from the reference.
    pub fn worst(&self) -> Option<Found<'a>> {
        farthest(&self.decided)
    }

    /// Decided rows that are on the same side of the reference as the worst one.
    pub fn like_worst(&self) -> usize {
        let Some((_, worst)) = self.worst() else { return 0 };
        self.decided.iter().filter(|(_, tax)| tax.verdict == worst.verdict).count()
    }

    /// A number or a mark, with `3of8` where it holds for 3 of 8 rows only: `46 3/8` would be read
    /// as a fraction.
    pub fn piece(&self) -> Piece {
        let of_rows = |count: usize| match self.rows() {
            all if all == count => String::new(),
            all => format!(" {count}of{all}"),
        };
        let taxes = [&self.decided, &self.open, &self.levels, &self.few_starts, &self.untested];
        let single = match self.rows() {
            1 => taxes.into_iter().flatten().next().map(|(_, tax)| *tax),
            _ => None,
        };
        let number = |mark: &str| match single {
            Some(tax) => format!("{}{mark}", number(tax.ratio)),
            None => mark.to_owned(),
        };
        // Only what is decided has a colour: the taxes are to be seen.
        if let Some((_, worst)) = self.worst() {
            let text = self::number(worst.ratio) + &of_rows(self.like_worst());
            return Piece { verdict: Some(worst.verdict), ..Piece::plain(text) };
        }
        let text = match () {
            () if self.same > 0 => format!("={}", of_rows(self.same)),
            () if !self.levels.is_empty() => match single {
                Some(tax) => table::ratio(tax).replace('×', "") + "?",
                None => "?".into(),
            },
            () if !self.open.is_empty() || !self.few_starts.is_empty() => number("~"),
            () => match farthest(&self.untested) {
                Some((_, tax)) => format!("({})", self::number(tax.ratio)),
                None if self.failed > 0 => "!".into(),
                None => "–".into(),
            },
        };
        Piece::plain(text)
    }
}

fn farthest<'a>(found: &[Found<'a>]) -> Option<Found<'a>> {
    let size = |tax: &Tax| tax.ratio.ln().abs();
    found.iter().copied().max_by(|a, b| size(a.1).total_cmp(&size(b.1)))
}

/// A factor in few letters: `0.92`, `1.06`, `6.9`, `14`, `141`, `12k`.
fn number(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 9_999.5 => format!("{:.0}k", ratio / 1e3),
        ratio if ratio >= 9.95 => format!("{ratio:.0}"),
        ratio if ratio >= 1.995 => format!("{ratio:.1}"),
        ratio if ratio >= 0.095 => format!("{ratio:.2}"),
        ratio => format!("{ratio:.3}"),
    }
}

/// What figures and verdicts mean that many readers take for something else.
pub fn remarks(words: &Words, taxes: &[&Tax]) -> Vec<String> {
    let is = |tax: &Tax, wanted: Open| match tax.verdict {
        Verdict::Inconclusive { why, .. } => why == wanted,
        _ => false,
    };
    let has = |wanted: Open| taxes.iter().any(|tax| is(tax, wanted));
    let ends = |tax: &Tax| table::range(tax).map(|(ends, _)| ends);
    let is_of = |wanted: Ends| taxes.iter().any(|tax| ends(tax) == Some(wanted));
    let ranges = [
        (Ends::Rounds, "range-of-rounds"),
        (Ends::Levels, "range-of-levels"),
        (Ends::Runs, "range-of-runs"),
    ];
    let ranges = ranges.into_iter().filter(|it| is_of(it.0)).map(|it| words.say(it.1));
    let open = [Open::FewLaunches, Open::ManyRows].into_iter().filter(|open| has(*open));
    ranges.chain(open.map(|open| notes::why(words, open))).collect()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn factors_have_few_letters() {
        let all = [0.0123, 0.925, 1.0, 1.058, 2.0, 6.94, 9.96, 14.2, 141.3, 12_345.0];
        let all = all.map(number);
        let expected = ["0.012", "0.93", "1.00", "1.06", "2.0", "6.9", "10", "14", "141", "12k"];
        assert_eq!(all, expected);
    }
}
