//! The parameters of probes: the values that they may have, and reading them from text.

use std::ops::RangeInclusive;

use anyhow::{Context, Result, bail, ensure};

use super::ProbeInfo;
use crate::model::Params;
use crate::units;

/// One parameter of a probe.
pub struct Param {
    pub name: &'static str,
    pub values: Values,
    /// The value with which the parameter is left out of the texts of cases: what was measured
    /// before the parameter was there. None for a parameter that every case names.
    pub silent: Option<&'static str>,
}

/// The values that a parameter may have.
pub enum Values {
    OneOf(&'static [&'static str]),
    Count(RangeInclusive<u64>),
    /// The name or path of a library, or `none`. Parameters are words, so it has no space.
    Library,
    /// Written `512B`, `4KiB`, `250MiB`, `1GiB`.
    Bytes(RangeInclusive<u64>),
}

impl Param {
    pub const fn one_of(name: &'static str, values: &'static [&'static str]) -> Param {
        Param { name, values: Values::OneOf(values), silent: None }
    }

    pub const fn count(name: &'static str, values: RangeInclusive<u64>) -> Param {
        Param { name, values: Values::Count(values), silent: None }
    }

    pub const fn bytes(name: &'static str, values: RangeInclusive<u64>) -> Param {
        Param { name, values: Values::Bytes(values), silent: None }
    }

    /// A library that is loaded; left out without one.
    pub const fn library(name: &'static str) -> Param {
        Param { name, values: Values::Library, silent: Some("none") }
    }

    /// The same parameter, left out of the texts of cases when it has that value.
    pub const fn silent(self, value: &'static str) -> Param {
        Param { silent: Some(value), ..self }
    }

    /// The values that may be written, for messages and documents.
    pub fn range(&self) -> String {
        match &self.values {
            Values::OneOf(values) => values.join(", "),
            Values::Count(range) => format!("{} to {}", range.start(), range.end()),
            Values::Library => "the name or path of a library, without spaces".into(),
            Values::Bytes(range) => {
                format!(
                    "{} to {}",
                    units::bytes_exact(*range.start()),
                    units::bytes_exact(*range.end())
                )
            }
        }
    }

    /// The value in the form in which it is written everywhere.
    fn canonical(&self, text: &str) -> Option<String> {
        match &self.values {
            Values::OneOf(values) => values.contains(&text).then(|| text.to_owned()),
            Values::Count(range) => {
                let value: u64 = text.parse().ok()?;
                range.contains(&value).then(|| value.to_string())
            }
            Values::Library => {
                let odd = |c: char| c.is_whitespace() || c.is_control() || "=\"<>|*?,".contains(c);
                (!text.is_empty() && !text.contains(odd)).then(|| text.to_owned())
            }
            Values::Bytes(range) => {
                let value = units::parse_bytes(text)?;
                range.contains(&value).then(|| units::bytes_exact(value))
            }
        }
    }
}

/// The parameters that `text` (`size=64K mode=direct`) gives for this probe. Parameters that it
/// leaves out have the values of the probe's first case. Errors name the parameter.
pub fn complete(info: &ProbeInfo, text: &str) -> Result<Params> {
    let standard = Params::new(info.cases.first().copied().unwrap_or_default());
    let mut given = Vec::new();
    for word in text.split_whitespace() {
        let (name, value) = word
            .split_once('=')
            .with_context(|| format!("`{word}`: write parameters as NAME=VALUE"))?;
        let Some(param) = info.params.iter().find(|param| param.name == name) else {
            let names: Vec<&str> = info.params.iter().map(|param| param.name).collect();
            match names.is_empty() {
                true => bail!("`{}` has no parameters", info.id),
                false => {
                    bail!("`{}` has no parameter `{name}`; it has {}", info.id, names.join(", "))
                }
            }
        };
        let canonical = param.canonical(value).with_context(|| {
            format!("`{}`: `{name}` may be {}, not `{value}`", info.id, param.range())
        })?;
        ensure!(given.iter().all(|(other, _)| *other != name), "`{name}` is given twice");
        given.push((name, canonical));
    }
    let word = |param: &Param| {
        let own = given.iter().find(|(name, _)| *name == param.name);
        let value = own.map(|(_, value)| value.as_str()).or(standard.get(param.name))?;
        (param.silent != Some(value)).then(|| format!("{}={value}", param.name))
    };
    let words: Vec<String> = info.params.iter().filter_map(word).collect();
    Ok(Params::new(&words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::super::PROBES;
    use super::*;

    #[test]
    fn standard_cases_are_complete_and_canonical() {
        for info in PROBES.iter().map(|probe| probe.info()) {
            for case in info.cases {
                let complete =
                    complete(info, case).unwrap_or_else(|e| panic!("{}: {e:#}", info.id));
                assert_eq!(complete.as_str(), *case, "{}", info.id);
            }
        }
    }

    #[test]
    fn free_values_are_checked_by_name() {
        let info = super::super::find("file.read").unwrap().info();
        assert_eq!(complete(info, "size=64K").unwrap().as_str(), "size=64KiB");
        assert_eq!(complete(info, "").unwrap().as_str(), info.cases[0]);
        let error = |text| complete(info, text).unwrap_err().to_string();
        assert!(error("size=0").contains("`size` may be 512B to"), "{}", error("size=0"));
        assert!(error("colour=red").contains("no parameter `colour`; it has size"));
        assert!(error("size").contains("NAME=VALUE"));
        assert!(error("size=4K size=4K").contains("twice"));
    }

    #[test]
    fn a_silent_value_is_left_out() {
        let info = super::super::find("file.write").unwrap().info();
        let standard = info.cases[0];
        assert_eq!(complete(info, "by=call").unwrap().as_str(), standard);
        assert_eq!(complete(info, "by=stdio").unwrap().as_str(), format!("{standard} by=stdio"));
        assert!(complete(info, "by=hand").is_err());
    }
}
