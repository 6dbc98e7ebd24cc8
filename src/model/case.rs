//! A case: a probe with its parameters and its target directory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Parameters of a probe as text, `name=value` pairs separated by spaces; empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Params(String);

impl Params {
    /// Takes `name=value name=value` unchecked; the registry's cases are the valid ones.
    pub fn new(text: &str) -> Self {
        Params(text.to_owned())
    }

    /// The value of `name`, if given.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.split(' ').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The text as it is written in run files and tables.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One thing to measure: a probe with its parameters and, for file probes, a target directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Case {
    pub probe: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    pub params: Params,
    /// Name of the target directory (`--dir NAME=PATH`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
}

fn is_empty(params: &Params) -> bool {
    params.as_str().is_empty()
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.probe)?;
        if !self.params.as_str().is_empty() {
            write!(f, " {}", self.params.as_str())?;
        }
        match &self.dir {
            Some(dir) => write!(f, " dir={dir}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_by_name() {
        let params = Params::new("size=4KiB cpu=same");
        assert_eq!(params.get("size"), Some("4KiB"));
        assert_eq!(params.get("cpu"), Some("same"));
        assert_eq!(params.get("siz"), None);
        assert_eq!(Params::default().get("size"), None);
    }

    #[test]
    fn a_case_prints_what_it_is() {
        let mut case = Case {
            probe: "file.read".into(),
            params: Params::new("size=4KiB"),
            dir: Some("data".into()),
        };
        assert_eq!(case.to_string(), "file.read size=4KiB dir=data");
        case.dir = None;
        case.params = Params::default();
        assert_eq!(case.to_string(), "file.read");
    }
}
