//! Formats numbers as text, and reads sizes. Nothing else in the program formats figures.

use unicode_width::UnicodeWidthStr;

/// Nanoseconds as a time with three significant digits in ns, µs, ms or s.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", three_digits(ns / value))
}

/// Bytes with three significant digits and a binary unit: `1.50 KiB`.
pub fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes.abs() {
        size if size < 1024.0 => (1.0, "B"),
        size if size < 1048576.0 => (1024.0, "KiB"),
        size if size < 1073741824.0 => (1048576.0, "MiB"),
        _ => (1073741824.0, "GiB"),
    };
    format!("{} {unit}", three_digits(bytes / value))
}

/// Bytes without rounding, as in parameters: `4KiB`, `250MiB`, `1000B`.
pub fn bytes_exact(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = units.into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    match whole {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => format!("{bytes}B"),
    }
}

/// Reads `512`, `512B`, `4K`, `4KiB`, `250MiB`, `1G`: all binary.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit: u64 = match &text[digits..] {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// A factor such as a tax: `1.013`, `2.41`, `15.2`, `155`. Near one it has one more digit, as
/// readers look at per cents there.
pub fn factor(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) { format!("{ratio:.3}") } else { three_digits(ratio) }
}

/// A number of any size with three significant digits, without an exponent.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || size >= 0.0995 || !size.is_finite() {
        return three_digits(value);
    }
    let decimals = 2 - size.log10().floor() as i32;
    format!("{value:.*}", decimals.clamp(3, 12) as usize)
}

/// A share in per cent, `2.1 %`, with a non-breaking space.
pub fn percent(share: f64) -> String {
    format!("{}\u{a0}%", trimmed(share * 100.0))
}

/// At most one decimal, without a trailing zero.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.0995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The columns that the text takes on a terminal.
pub fn columns(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// As [`wrapped`], with the spaces at the beginning of the text before each line.
pub fn indented(text: &str, width: usize) -> Vec<String> {
    let indent = &text[..text.len() - text.trim_start_matches(' ').len()];
    let lines = wrapped(text, width.saturating_sub(indent.len()));
    lines.into_iter().map(|line| format!("{indent}{line}")).collect()
}

/// Breaks a text into lines of at most `width` columns; a longer word has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        for (at, piece) in pieces(word).into_iter().enumerate() {
            let gap = if at == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if columns(line) + gap.len() + columns(piece) <= width => {
                    line.push_str(gap);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    lines
}

/// Letters that begin no line, and those that end none.
const CLOSING: &str =
    "、。，．・：；？！）」』】〉》〕ー〜ぁぃぅぇぉっゃゅょァィゥェォッャュョ)],.:;?!%";
const OPENING: &str = "（「『【〈《〔〜([";

/// The parts of a word between which a line may be broken: wide letters stand for themselves, as
/// Japanese has no spaces.
fn pieces(word: &str) -> Vec<&str> {
    let is_wide = |letter: char| columns(letter.encode_utf8(&mut [0; 4])) > 1;
    let mut found = Vec::new();
    let mut start = 0;
    let mut before: Option<char> = None;
    for (at, letter) in word.char_indices() {
        let breaks = before.is_some_and(|before| {
            (is_wide(before) || is_wide(letter))
                && !CLOSING.contains(letter)
                && !OPENING.contains(before)
        });
        if breaks {
            found.push(&word[start..at]);
            start = at;
        }
        before = Some(letter);
    }
    found.push(&word[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_their_unit() {
        assert_eq!(time(0.25), "0.25 ns");
        assert_eq!(time(22.41), "22.4 ns");
        assert_eq!(time(128.4), "128 ns");
        assert_eq!(time(61_234.0), "61.2 µs");
        assert_eq!(time(1_500_000.0), "1.50 ms");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(time(-1500.0), "-1.50 µs");
    }

    #[test]
    fn bytes_are_read_as_they_are_written() {
        for text in ["512B", "4KiB", "250MiB", "1GiB", "1025B", "0B"] {
            assert_eq!(bytes_exact(parse_bytes(text).unwrap()), text);
        }
        assert_eq!(parse_bytes("64K"), Some(65_536));
        for wrong in ["", "K", "4KB", "-1", "4 KiB", "99999999999G"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
        assert_eq!(bytes(1536.0), "1.50 KiB");
        assert_eq!(bytes(12.0), "12.0 B");
    }

    #[test]
    fn japanese_is_broken_between_its_letters() {
        assert_eq!(wrapped("日本語の文。", 6), ["日本語", "の文。"]);
        assert_eq!(wrapped("約(1.5倍)です", 4), ["約", "(1.5", "倍)", "です"]);
        assert_eq!(wrapped("比は1〜2倍", 5), ["比は", "1〜2", "倍"]);
        assert_eq!(wrapped("abc defg", 4), ["abc", "defg"]);
        assert_eq!(pieces("file.stat"), ["file.stat"]);
    }

    #[test]
    fn small_numbers_keep_three_digits() {
        assert_eq!(number(0.0123456), "0.0123");
        assert_eq!(number(0.000123456), "0.000123");
        assert_eq!(number(12.345), "12.3");
        assert_eq!(number(0.0), "0.000");
    }

    #[test]
    fn factors_near_one_have_three_decimals() {
        assert_eq!(factor(1.0128), "1.013");
        assert_eq!(factor(0.994), "0.994");
        assert_eq!(factor(2.414), "2.41");
        assert_eq!(factor(15.23), "15.2");
        assert_eq!(factor(154.6), "155");
        assert_eq!(factor(0.31), "0.31");
    }

    #[test]
    fn shares_are_per_cent() {
        assert_eq!(percent(0.03), "3\u{a0}%");
        assert_eq!(percent(0.0214), "2.1\u{a0}%");
    }

    #[test]
    fn lines_are_broken_at_words() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("an immeasurably", 5), ["an", "immeasurably"]);
        assert!(wrapped(" ", 5).is_empty());
        assert_eq!(wrapped("日本 語", 6), ["日本", "語"], "wide letters count twice");
        assert_eq!(indented("  one two", 6), ["  one", "  two"]);
    }
}
