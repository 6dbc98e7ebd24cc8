//! A table of short cells that never breaks a line: names are cut so that it fits the width.

use crate::compare::Verdict;
use crate::units::columns;

/// A cell with how it is to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    pub text: String,
    /// Its colour.
    pub verdict: Option<Verdict>,
    pub bold: bool,
}

impl Piece {
    pub fn plain(text: impl Into<String>) -> Piece {
        Piece { text: text.into(), ..Piece::default() }
    }

    pub fn bold(text: impl Into<String>) -> Piece {
        Piece { bold: true, ..Piece::plain(text) }
    }

    /// The text, padded to the width, with the escape sequences around it.
    fn drawn(&self, width: usize, right: bool, colour: bool) -> String {
        let text = cut_name(&self.text, width);
        let space = " ".repeat(width - columns(&text));
        let codes = match (colour, self.bold, self.verdict) {
            (false, ..) => None,
            (true, true, _) => Some("1"),
            // Colours that are legible on light and on dark; the text says the same without them.
            (true, _, Some(Verdict::Slower)) => Some("31"),
            (true, _, Some(Verdict::Faster)) => Some("32"),
            (true, _, Some(Verdict::Inconclusive { .. })) => Some("33"),
            _ => None,
        };
        let text = match codes {
            Some(codes) if !text.is_empty() => format!("\x1b[{codes}m{text}\x1b[0m"),
            _ => text,
        };
        if right { space + &text } else { text + &space }
    }
}

/// Lines of cells. The first cell of each line is a name.
pub struct Grid {
    /// The lines with the names of the columns.
    pub header: Vec<Vec<Piece>>,
    pub lines: Vec<Vec<Piece>>,
    /// The last column is text, aligned on the left.
    pub words_last: bool,
    /// Fewest columns of a cut name and of a cut heading that still tell it from others.
    pub shortest: (usize, usize),
}

impl Grid {
    /// How many letters of names and headings are cut at least so that lines fit the width, and
    /// the columns that each cell of a line then takes. None where they do not fit. Figures are
    /// never cut.
    fn cutting(&self, width: usize) -> Option<(usize, Vec<usize>)> {
        let count = self.lines.iter().chain(&self.header).map(Vec::len).max()?;
        let widest = |lines: &[Vec<Piece>], column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| columns(&cell.text)).max().unwrap_or(0)
        };
        let figures: Vec<usize> = (1..count).map(|column| widest(&self.lines, column)).collect();
        let names: Vec<usize> = self.lines.iter().map(|line| columns(&line[0].text)).collect();
        let titles: Vec<usize> = self.header.iter().map(|line| columns(&line[0].text)).collect();
        let headings: Vec<Vec<usize>> = self
            .header
            .iter()
            .map(|line| line[1..].iter().map(|cell| columns(&cell.text)).collect())
            .collect();
        let longest_name = names.iter().chain(&titles).copied().max().unwrap_or(0);
        let longest_heading = headings.iter().flatten().copied().max().unwrap_or(0);
        let from = |shortest: usize, longest: usize| {
            let longest = longest.min(width);
            (shortest.min(longest)..=longest).rev()
        };
        let mut best: Option<(usize, Vec<usize>)> = None;
        for name in from(self.shortest.0, longest_name) {
            for heading in from(self.shortest.1, longest_heading) {
                let most = |at: usize| headings.iter().filter_map(|line| line.get(at)).max();
                let others = figures
                    .iter()
                    .enumerate()
                    .map(|(at, figure)| most(at).map_or(0, |most| heading.min(*most)).max(*figure));
                let widths: Vec<usize> = std::iter::once(name).chain(others).collect();
                if widths.iter().sum::<usize>() + 2 * (count - 1) > width {
                    continue;
                }
                let of_headings = headings.iter().flat_map(|line| line.iter().zip(&widths[1..]));
                let lost: usize = names
                    .iter()
                    .chain(&titles)
                    .map(|own| own.saturating_sub(name))
                    .chain(of_headings.map(|(own, width)| own.saturating_sub(*width)))
                    .sum();
                if best.as_ref().is_none_or(|best| lost < best.0) {
                    best = Some((lost, widths));
                }
                if lost == 0 {
                    return best;
                }
            }
        }
        best
    }

    /// Letters that are cut so that it fits the width; none where it does not fit.
    pub fn lost(&self, width: usize) -> Option<usize> {
        self.cutting(width).map(|it| it.0)
    }

    /// The lines, each no wider than `width` columns where it fits.
    pub fn drawn(&self, width: usize, colour: bool) -> Vec<String> {
        let found = self.cutting(width).or_else(|| self.cutting(usize::MAX));
        let Some((_, widths)) = found else { return Vec::new() };
        let line = |cells: &Vec<Piece>| {
            let last = widths.len() - 1;
            let cell = |(at, cell): (usize, &Piece)| {
                let right = at > 0 && !(self.words_last && at == last);
                cell.drawn(widths[at], right, colour)
            };
            let cells: Vec<String> = cells.iter().enumerate().map(cell).collect();
            cells.join("  ").trim_end().to_owned()
        };
        self.header.iter().chain(&self.lines).map(line).collect()
    }
}

/// The text within so many columns, with `…` where something is left out.
pub fn cut(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if columns(&kept) + columns(letter.encode_utf8(&mut [0; 4])) + 1 > most {
            break;
        }
        kept.push(letter);
    }
    if most > 0 { kept.trim_end().to_owned() + "…" } else { kept }
}

/// A name within so many columns. Names often differ at their end only: what is left out is in the
/// middle.
fn cut_name(name: &str, most: usize) -> String {
    if columns(name) <= most {
        return name.to_owned();
    }
    let end = most / 3;
    let mut kept = 0;
    let is_kept = |letter: &char| {
        kept += columns(letter.encode_utf8(&mut [0; 4]));
        kept <= end
    };
    let last: Vec<char> = name.chars().rev().take_while(is_kept).collect();
    let last: String = last.into_iter().rev().collect();
    cut(name, most - columns(&last)) + &last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<Piece> {
        words.iter().map(|word| Piece::plain(*word)).collect()
    }

    #[test]
    fn names_are_cut_and_figures_are_not() {
        let names = ["", "a-heading-that-is-long", "b"];
        let rows = [["a-name-that-is-very-long-indeed", "1.234", "5"], ["x", "2", "3"]];
        let lines = rows.iter().map(|row| line(row)).collect();
        let grid = Grid { header: vec![line(&names)], lines, words_last: false, shortest: (8, 6) };
        for width in [24, 30, 40, 60, 80] {
            assert!(grid.lost(width).is_some(), "{width}");
            let drawn = grid.drawn(width, false);
            assert!(drawn.iter().all(|line| columns(line) <= width), "{width}: {drawn:#?}");
            assert!(drawn[1].contains("1.234"), "{drawn:#?}");
        }
        assert_eq!((grid.lost(18), grid.lost(80)), (None, Some(0)));
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("name", 0), "");
        assert_eq!(cut_name("environment-1", 10), "enviro…t-1");
        assert_eq!(cut_name("日本語の環境", 9), "日本語…境");
    }
}
