//! `--fail-above`: the limits as they are typed, and the words in which a gate ends.

use anyhow::{Context, Result, ensure};

use super::show;
use crate::cli::{FailOn, GateArgs, ShowArgs};
use crate::compare::{Comparison, GateOn, GateRules, Limit};
use crate::exit::Exit;
use crate::model::PlannedCase;
use crate::report;
use crate::words::Words;

/// The gate that the arguments ask for, if they do.
pub(super) fn rules(args: &GateArgs) -> Result<Option<GateRules>> {
    let limits = args.fail_above.iter().map(|text| limit(text)).collect::<Result<Vec<_>>>()?;
    let on = match args.fail_on {
        FailOn::Bound => GateOn::Bound,
        FailOn::Estimate => GateOn::Estimate,
    };
    let rules = GateRules { limits, on, allow_unjudged: args.allow_unjudged };
    Ok((!rules.limits.is_empty()).then_some(rules))
}

/// Every limit must be one of some row, which is known before anything is measured.
pub(super) fn check<'a>(
    rules: Option<&GateRules>,
    cases: impl IntoIterator<Item = &'a PlannedCase> + Clone,
) -> Result<()> {
    for limit in rules.iter().flat_map(|rules| &rules.limits) {
        let fits = cases.clone().into_iter().any(|planned| limit.fits_case(planned));
        let glob = limit.rows.as_deref().unwrap_or_default();
        ensure!(fits, "`--fail-above {glob}=…` fits no row; `envtax list probes` shows the probes");
    }
    Ok(())
}

/// `[PROBE=]LIMIT`. Parameters of a probe have equals signs, too: the limit is behind the last one.
fn limit(text: &str) -> Result<Limit> {
    let (rows, number) = match text.rsplit_once('=') {
        Some((rows, number)) => (Some(rows.to_owned()), number),
        None => (None, text),
    };
    let hint = || {
        format!("`--fail-above {text}`: write `1.5x` or `50%`, behind `PROBE=` for some rows only")
    };
    let (digits, is_factor) = match (number.strip_suffix(['x', '×']), number.strip_suffix('%')) {
        (Some(digits), _) => (digits, true),
        (_, Some(digits)) => (digits, false),
        _ => (number, rows.is_some()),
    };
    let number: f64 = digits.trim().parse().ok().with_context(hint)?;
    let ratio = if is_factor { number } else { 1.0 + number / 100.0 };
    // So that 15 per cent are 1.15, and not one more in the last of 17 digits.
    let ratio = (ratio * 1e9).round() / 1e9;
    ensure!(ratio.is_finite() && ratio >= 1.0, "{}: at least `1x` or `0%`", hint());
    Ok(Limit { rows, ratio })
}

/// Tells what the gate found, where there is one, and how envtax ends. The words come last: behind
/// a table for people on standard output, behind other formats where they are not part of these.
pub(super) fn finish(comparison: &Comparison, args: &ShowArgs, otherwise: Exit) -> Result<Exit> {
    let Some(gate) = &comparison.gate else { return Ok(otherwise) };
    // A gate that judges nothing never closes, which is worse than no gate.
    ensure!(
        gate.judged > 0 || gate.failed(),
        "`--fail-above` judged no figure, so that the gate can never close"
    );
    let words = Words::of(show::language(args.lang.as_deref())?);
    show::behind(args, &report::gate::lines(&words, comparison, gate).join("\n"))?;
    Ok(if gate.failed() { Exit::Gate } else { otherwise })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_factor_or_per_cent() {
        for (text, rows, ratio) in [
            ("10", None, 1.1),
            ("15%", None, 1.15),
            ("1.5x", None, 1.5),
            ("0", None, 1.0),
            ("file.*=1.5", Some("file.*"), 1.5),
            ("file.*=2×", Some("file.*"), 2.0),
            ("file.read size=4KiB=7%", Some("file.read size=4KiB"), 1.07),
        ] {
            let rows = rows.map(str::to_owned);
            assert_eq!(limit(text).unwrap(), Limit { rows, ratio }, "{text}");
        }
        for wrong in ["", "x", "NaN", "inf", "-5", "0.5x", "file.*", "file.*=", "file.*=0.9", "a=b"]
        {
            let error = limit(wrong).unwrap_err().to_string();
            assert!(error.contains("--fail-above") && error.contains("1.5x"), "{wrong}: {error}");
        }
    }
}
