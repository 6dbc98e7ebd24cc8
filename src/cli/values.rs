//! Values of options: paths and times.

use std::path::PathBuf;
use std::time::Duration;

/// A path as text: one that is no UTF-8 is refused, for writing as for reading.
pub fn path(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(text))
}

/// Longest time that an option takes; sums of longer times with the clock could overflow.
pub const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Reads a number of seconds, or numbers with units.
pub fn duration(text: &str) -> Result<Duration, String> {
    let hint = "write `90s`, `2m` or `1h 30m`";
    let too_long = || String::from("longer than 365 days");
    let found = match text.parse::<f64>() {
        Ok(seconds) if seconds > LONGEST.as_secs_f64() => return Err(too_long()),
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            Some(humantime::parse_duration(text).map_err(|error| format!("{error}; {hint}"))?)
        }
    };
    match found {
        Some(found) if found > LONGEST => Err(too_long()),
        Some(found) if !found.is_zero() => Ok(found),
        _ => Err(format!("a time must be more than zero; {hint}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(duration("90").unwrap(), Duration::from_secs(90));
        assert_eq!(duration("0.5").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("2m").unwrap(), Duration::from_secs(120));
        assert_eq!(duration("365d").unwrap(), LONGEST);
        for none in ["-1", "0", "0s", "NaN", "-inf", "1e-300"] {
            assert!(duration(none).unwrap_err().contains("more than zero"), "{none}");
        }
        for long in ["1e300", "inf", "31536001", "366d"] {
            assert!(duration(long).unwrap_err().contains("365 days"), "{long}");
        }
        assert!(duration("soon").unwrap_err().contains("90s"));
    }
}
