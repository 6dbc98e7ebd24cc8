//! The argument of a machine: `NAME=VALUE,NAME=VALUE`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::Made;
use crate::launch::unknown_option;
use crate::units::parse_bytes;

/// A kernel with the agent in it does not start with less memory.
const LEAST_MEMORY: u64 = 128 << 20;
const MEMORY: u64 = 1 << 30;

/// Options by name, in the order given.
pub(in super::super) struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    /// Parses the argument: all names must be known, and the values of options that all machines
    /// have must be valid.
    pub(in super::super) fn read(argument: &'a str, known: &[&str]) -> Result<Options<'a>> {
        let mut found = Vec::new();
        for option in argument.split(',').filter(|_| !argument.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            if !known.contains(&name) {
                bail!(unknown_option(name, known));
            }
            ensure!(!value.is_empty(), "option `{name}` has no value: write `{name}=VALUE`");
            found.push((name, value));
        }
        let options = Options(found);
        options.memory_mib()?;
        options.boot_limit()?;
        options.root()?;
        Made::of(options.get("tmp").unwrap_or_default()).context("option `tmp`")?;
        Ok(options)
    }

    /// The value of that option; the last one if it was given more than once.
    pub(in super::super) fn get(&self, name: &str) -> Option<&'a str> {
        self.all(name).last()
    }

    /// Every value of that option.
    pub(in super::super) fn all(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(given, _)| *given == name).map(|(_, value)| *value)
    }

    pub(in super::super) fn memory_mib(&self) -> Result<u64> {
        let Some(text) = self.get("memory") else { return Ok(MEMORY >> 20) };
        let bytes = parse_bytes(text).with_context(|| {
            format!("option `memory={text}`: write a number and its unit, `memory=512MiB`")
        })?;
        ensure!(
            bytes >= LEAST_MEMORY,
            "option `memory={text}`: at least 128MiB are needed to boot"
        );
        Ok(bytes >> 20)
    }

    /// The folder of this machine that is the guest's root, if one is given.
    pub(in super::super) fn root(&self) -> Result<Option<&'a str>> {
        let Some(root) = self.get("root") else { return Ok(None) };
        let given = format!("option `root={root}`");
        ensure!(root.starts_with('/'), "{given}: write an absolute path, `root=/`");
        ensure!(Path::new(root).is_dir(), "{given}: there is no such folder");
        Ok(Some(root))
    }

    /// The time limit for the guest's greeting, if one is given.
    pub(in super::super) fn boot_limit(&self) -> Result<Option<Duration>> {
        let Some(text) = self.get("boot") else { return Ok(None) };
        let limit = humantime::parse_duration(text);
        limit.map(Some).with_context(|| format!("option `boot={text}`: write `boot=90s`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["memory", "boot", "tmp", "append", "root"];

    #[test]
    fn options_are_read() {
        let options = Options::read("memory=256MiB,boot=5s,append=a=b,append=c", KNOWN).unwrap();
        assert_eq!(options.memory_mib().unwrap(), 256);
        assert_eq!(options.boot_limit().unwrap(), Some(Duration::from_secs(5)));
        assert_eq!(options.all("append").collect::<Vec<_>>(), ["a=b", "c"]);
        let options = Options::read("", KNOWN).unwrap();
        assert_eq!((options.memory_mib().unwrap(), options.get("tmp")), (1024, None));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let error = |text| format!("{:#}", Options::read(text, KNOWN).err().unwrap());
        assert!(error("cpu=2").contains("no option `cpu`; there are memory, boot"));
        assert!(error("rootfs=/").contains("did you mean `root`?"));
        assert!(error("memory").contains("write `memory=VALUE`"));
        assert!(error("memory=lots").contains("`memory=lots`"));
        assert!(error("memory=5MiB").contains("at least 128MiB"));
        assert!(error("boot=soon").contains("boot=90s"));
        assert!(error("tmp=loop:ntfs").contains("ext4, xfs, btrfs"));
        assert!(error("memory=1GiB,").contains("no option ``"));
        assert!(error("root=usr").contains("an absolute path"));
        assert!(error("root=/no/such").contains("`root=/no/such`: there is no such folder"));
    }
}
