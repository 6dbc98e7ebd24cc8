//! `environments.toml`: named environments with their target directories, set-up and clean-up
//! commands. Pure: text in, environments out, every mistake with its line and column.
//! `docs/ENVIRONMENT-FILE.md` describes it.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use toml::Spanned;

use crate::launch;
use crate::model::{EnvSpec, is_name};

/// The file that is read if none is named.
pub const DEFAULT: &str = "environments.toml";
/// Names that stand for several environments on the command line.
pub const AUTO: &str = "auto";
pub const ALL: &str = "all";

/// The contents of a file.
#[derive(Debug)]
pub struct EnvFile {
    /// Its path, for messages.
    pub path: String,
    /// Target directories of all environments.
    pub dirs: Vec<FileDir>,
    entries: Vec<Entry>,
}

/// A target directory as it is written.
#[derive(Debug)]
pub struct FileDir {
    pub name: String,
    /// The text that would follow the `=` of `--dir`.
    pub path: String,
    /// `FILE:LINE:COLUMN`.
    pub at: String,
}

#[derive(Debug)]
struct Entry {
    spec: EnvSpec,
    /// Where its argument is, or its kind if there is none.
    at: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    environments: BTreeMap<Spanned<String>, Table>,
    #[serde(default)]
    dirs: Paths,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    kind: Spanned<String>,
    argument: Option<Spanned<String>>,
    #[serde(default)]
    dirs: Paths,
    #[serde(default)]
    setup: Vec<String>,
    #[serde(default)]
    cleanup: Vec<String>,
}

type Paths = BTreeMap<Spanned<String>, Spanned<String>>;

/// A file's text, with the line and column of everything in it.
struct Source<'a> {
    path: &'a str,
    text: &'a str,
}

impl Source<'_> {
    /// `FILE:LINE:COLUMN` of that place.
    fn at(&self, span: Range<usize>) -> String {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.path)
    }
}

/// Parses the text of a file. Arguments are checked only when an environment is picked: one that
/// this machine cannot start does not prevent measuring the others.
pub fn parse(path: &str, text: &str) -> Result<EnvFile> {
    let source = Source { path, text };
    let document: Document = toml::from_str(text).map_err(|error| {
        let at = source.at(error.span().unwrap_or_default());
        let text = error.message().replace('\n', "; ").replace("a sequence", "a list of strings");
        anyhow!("{at}: {text}")
    })?;
    let mut tables: Vec<_> = document.environments.into_iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    let entries: Result<_> =
        tables.into_iter().map(|(name, table)| entry(&source, &name, table)).collect();
    let dir = |(name, path): (Spanned<String>, Spanned<String>)| {
        known_as(&source, &name)?;
        let at = source.at(path.span());
        Ok(FileDir { name: name.into_inner(), path: path.into_inner(), at })
    };
    let dirs: Result<_> = document.dirs.into_iter().map(dir).collect();
    Ok(EnvFile { path: path.to_owned(), dirs: dirs?, entries: entries? })
}

fn entry(source: &Source<'_>, name: &Spanned<String>, table: Table) -> Result<Entry> {
    known_as(source, name)?;
    let kind = table.kind.get_ref();
    let at = || source.at(table.kind.span());
    launch::find(kind).with_context(at)?;
    let name = name.get_ref();
    ensure!(
        name == kind || launch::find(name).is_err(),
        "{}: `{name}` is the name of another kind: name this environment otherwise, or write \
         `kind = \"{name}\"`",
        at()
    );
    let mut dirs = BTreeMap::new();
    for (name, path) in table.dirs {
        known_as(source, &name)?;
        let at = source.at(path.span());
        let path = path.into_inner();
        ensure!(
            is_absolute(&path),
            "{at}: `{path}`: the path of a target directory in the environment must be absolute"
        );
        dirs.insert(name.into_inner(), path);
    }
    let at = source.at(table.argument.as_ref().map_or(table.kind.span(), Spanned::span));
    let argument = table.argument.map(Spanned::into_inner).unwrap_or_default();
    let (setup, cleanup) = (table.setup, table.cleanup);
    let spec = EnvSpec { dirs, setup, cleanup, ..EnvSpec::new(name, kind, &argument) };
    Ok(Entry { spec, at })
}

fn known_as(source: &Source<'_>, name: &Spanned<String>) -> Result<()> {
    let text = name.get_ref();
    let at = || source.at(name.span());
    ensure!(is_name(text), "{}: a name consists of letters, digits and `_-.`: `{text}`", at());
    ensure!(text != AUTO && text != ALL, "{}: `{text}` stands for several on `--env`", at());
    Ok(())
}

/// Whether the environment, which may be Windows, takes the path as absolute.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'\\' | b'/'));
    path.starts_with('/') || path.starts_with("\\\\") || drive
}

impl EnvFile {
    /// Names and specifications, in the order in which they are written.
    pub fn environments(&self) -> impl Iterator<Item = &EnvSpec> {
        self.entries.iter().map(|entry| &entry.spec)
    }

    /// The environment of that name with its argument checked; none if there is no such
    /// environment.
    pub fn pick(&self, name: &str) -> Option<Result<EnvSpec>> {
        let entry = self.entries.iter().find(|entry| entry.spec.name == name)?;
        Some(entry.checked())
    }

    /// All of them.
    pub fn all(&self) -> Result<Vec<EnvSpec>> {
        self.entries.iter().map(Entry::checked).collect()
    }
}

impl Entry {
    /// Set-up commands may make what the argument names. It can be checked only after they ran, at
    /// the start.
    fn checked(&self) -> Result<EnvSpec> {
        let EnvSpec { name, kind, argument, setup, .. } = &self.spec;
        if setup.is_empty() {
            let launcher = launch::find(kind)?;
            let wrong = || format!("{}: environment `{name}`", self.at);
            launcher.check(argument).with_context(wrong)?;
        }
        Ok(self.spec.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        format!("{:#}", parse("e.toml", text).unwrap_err())
    }

    #[test]
    fn a_file_is_read_in_its_order() {
        let text = "[dirs]\ndata = '/srv'\n\n[environments.z]\nkind = 'bwrap'\nargument = \
                    '--tmpfs /x'\nsetup = ['true']\ncleanup = ['true', 'false']\n\
                    dirs = { data = 'C:\\d' }\n\n[environments.native]\nkind = 'native'\n";
        let file = parse("e.toml", text).unwrap();
        let names: Vec<&str> = file.environments().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["z", "native"]);
        let z = file.pick("z").unwrap().unwrap();
        assert_eq!(z.spec(), "bwrap:--tmpfs /x");
        assert_eq!((z.setup.len(), z.cleanup.len(), z.dirs["data"].as_str()), (1, 2, "C:\\d"));
        assert_eq!((file.dirs[0].name.as_str(), file.dirs[0].at.as_str()), ("data", "e.toml:2:8"));
        assert!(file.pick("y").is_none() && file.all().unwrap().len() == 2);
        assert!(parse("e.toml", "").unwrap().environments().next().is_none());
    }

    #[test]
    fn mistakes_have_a_place() {
        let says = |text: &str, words: &[&str]| {
            let error = error(text);
            words.iter().for_each(|words| assert!(error.contains(words), "{words}: {error}"));
        };
        let box_of = |line: &str| format!("[environments.box]\nkind = 'native'\n{line}\n");
        says("[enviroments.x]\n", &["e.toml:1:2: ", "`enviroments`", "`environments` or `dirs`"]);
        says(&box_of("knid = 1"), &["e.toml:3:1: ", "`knid`", "`argument`", "`cleanup`"]);
        says(&box_of("argument = 3"), &["e.toml:3:12: ", "integer `3`", "string"]);
        says(&box_of("setup = 'x'"), &["e.toml:3:9: ", "a list of strings"]);
        says(&box_of("kind = 'native'"), &["e.toml:3:1: ", "duplicate key"]);
        says(&box_of("[environments.box]"), &["e.toml:3:", "duplicate key"]);
        says(&box_of("dirs = { d = 'rel' }"), &["e.toml:3:14: ", "`rel`", "absolute"]);
        says(&box_of("argument = 'x"), &["e.toml:3:"]);
        says("[environments.box]\n", &["e.toml:1:", "missing field `kind`"]);
        says(
            "[environments.x]\nkind = 'dokker'\n",
            &["e.toml:2:8: ", "`dokker`", "did you mean `docker`?"],
        );
        says("[environments.bwrap]\nkind = 'native'\n", &["e.toml:2:8: ", "another kind"]);
        says("[environments.auto]\nkind = 'native'\n", &["e.toml:1:15: ", "`auto`"]);
        says("[environments.'a b']\nkind = 'native'\n", &["e.toml:1:15: ", "`a b`", "letters"]);
        says("[dirs]\n'a b' = '/'\n", &["e.toml:2:1: ", "`a b`"]);
    }

    #[test]
    fn an_argument_is_checked_when_it_is_wanted_and_complete() {
        let text = "[environments.x]\nkind = 'chroot'\nargument = '/no/such'\n";
        let error = parse("e.toml", text).unwrap().pick("x").unwrap().unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains("e.toml:3:12: environment `x`: `/no/such`"), "{error}");
        let made = format!("{text}setup = ['mkdir -p /no/such']\n");
        assert!(parse("e.toml", &made).unwrap().pick("x").unwrap().is_ok());
    }
}
