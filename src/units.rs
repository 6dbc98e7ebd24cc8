//! The one place where numbers become text.

/// Nanoseconds as a time with three significant digits and the unit that suits it.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", three_digits(ns / value))
}

/// A factor such as a tax: `1.013`, `2.41`, `15.2`, `155`. Near one, where a reader looks at
/// per cents, it has one digit more.
pub fn factor(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) { format!("{ratio:.3}") } else { three_digits(ratio) }
}

/// A share as per cent, `2.1 %`, with a space at which no line breaks.
pub fn percent(share: f64) -> String {
    format!("{}\u{a0}%", trimmed(share * 100.0))
}

/// At most one decimal, and none that is zero.
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
}
