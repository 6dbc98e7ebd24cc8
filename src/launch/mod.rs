//! The environment kinds: one file each, listed once below in the order in which documents show
//! them. At bottom every one of them is a command that runs the agent somewhere.

mod bwrap;
mod chroot;
mod command;
mod namespace;
mod native;
#[cfg(feature = "planted")]
mod planted;
mod proot;

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::model::{Availability, EnvSpec};

/// Every kind of environment.
pub const LAUNCHERS: &[&dyn Launcher] = &[
    &native::Native,
    &namespace::Namespace,
    &chroot::Chroot,
    &bwrap::Bwrap,
    &proot::Proot,
    &command::Prefix,
    #[cfg(feature = "planted")]
    &planted::Planted,
];

/// What a kind of environment is, for people.
pub struct LauncherInfo {
    /// The word before the colon in `--env NAME=KIND:ARGUMENT`.
    pub kind: &'static str,
    /// How it is written, such as `chroot:DIR`.
    pub usage: &'static str,
    pub summary: &'static str,
    /// What helps when it does not start.
    pub remedy: &'static str,
    /// Specification that `doctor` tries; none when only the user can know one.
    pub example: Option<&'static str>,
    /// The command's own process takes part in every system call of the agent, as a tracer does. It
    /// is put on the round's CPU: with the tracer wherever the scheduler left it, costs had two
    /// levels tenfold apart.
    pub serves_calls: bool,
}

/// How envtax gets its agent into one kind of environment.
pub trait Launcher: Sync {
    fn info(&self) -> &'static LauncherInfo;

    /// Whether what it needs is installed. Whether it really starts, only starting it tells.
    fn detect(&self) -> Availability {
        Availability::Available
    }

    /// The commands that start the agent, to be tried in order until one greets.
    /// `agent` is the path of the envtax binary on this side.
    fn commands(&self, argument: &str, agent: &str) -> Result<Vec<Launch>>;
}

/// One command that starts an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub words: Vec<String>,
    /// The command expects the agent's binary on its input before anything else.
    pub send_binary: bool,
}

impl Launch {
    fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Launch {
        Launch { words: words.into_iter().map(Into::into).collect(), send_binary: false }
    }

    /// The command as one would type it.
    pub fn by_hand(&self, agent: &str) -> String {
        let words = shell_words::join(&self.words);
        match self.send_binary {
            true => {
                let agent = shell_words::quote(agent);
                format!("cat {agent} - | {words} $(wc -c <{agent})")
            }
            false => words,
        }
    }
}

/// The launcher of that kind.
pub fn find(kind: &str) -> Result<&'static dyn Launcher> {
    LAUNCHERS.iter().find(|launcher| launcher.info().kind == kind).copied().with_context(|| {
        let kinds: Vec<_> = LAUNCHERS.iter().map(|launcher| launcher.info().usage).collect();
        format!("there is no environment kind `{kind}`; there are {}", kinds.join(", "))
    })
}

/// Reads `NAME=KIND:ARGUMENT`, `KIND:ARGUMENT` or `KIND`; without a name, the kind is the name.
pub fn parse_spec(text: &str) -> Result<EnvSpec> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let (name, spec) = match text.split_once('=') {
        Some((name, spec)) if !name.is_empty() && name.chars().all(plain) => (Some(name), spec),
        _ => (None, text),
    };
    let (kind, argument) = spec.split_once(':').unwrap_or((spec, ""));
    let launcher = find(kind).with_context(|| format!("environment `{text}`"))?;
    launcher.commands(argument, "envtax").with_context(|| format!("environment `{text}`"))?;
    let name = name.unwrap_or(kind);
    ensure!(name.chars().all(plain), "environment name `{name}`: use letters, digits, `_-.`");
    Ok(EnvSpec { name: name.into(), kind: kind.into(), argument: argument.into() })
}

/// Available when a program of that name is on the search path.
fn needs_program(program: &str, remedy: &str) -> Availability {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    match found {
        true => Availability::Available,
        false => Availability::Unavailable {
            reason: format!("there is no `{program}` on the search path"),
            remedy: remedy.to_owned(),
        },
    }
}

/// Words of an argument that a user wrote as for a shell.
fn words_of(argument: &str) -> Result<Vec<String>> {
    shell_words::split(argument).with_context(|| format!("the quotes in `{argument}`"))
}

/// An absolute folder, given as the argument.
fn folder_of<'a>(argument: &'a str, usage: &str) -> Result<&'a str> {
    if argument.is_empty() {
        bail!("the folder is missing: write `{usage}`");
    }
    ensure!(Path::new(argument).is_dir(), "`{argument}` is not a folder here");
    Ok(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_unique_and_described() {
        let mut kinds = std::collections::HashSet::new();
        for info in LAUNCHERS.iter().map(|launcher| launcher.info()) {
            assert!(kinds.insert(info.kind), "{} twice", info.kind);
            assert!(info.usage.starts_with(info.kind));
            assert!(!info.summary.is_empty() && !info.remedy.is_empty());
        }
    }

    #[test]
    fn specifications_are_read() {
        let spec = |text: &str| {
            let spec = parse_spec(text).unwrap();
            (spec.name, spec.kind, spec.argument)
        };
        let triple = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
        assert_eq!(spec("native"), triple("native", "native", ""));
        assert_eq!(spec("a=native"), triple("a", "native", ""));
        assert_eq!(spec("box=bwrap:--tmpfs /x"), triple("box", "bwrap", "--tmpfs /x"));
        assert_eq!(spec("cmd:env A=b"), triple("cmd", "cmd", "env A=b"));
        assert_eq!(spec("r=chroot:/"), triple("r", "chroot", "/"));
    }

    #[test]
    fn errors_name_what_was_given() {
        let error = |text: &str| format!("{:#}", parse_spec(text).unwrap_err());
        assert!(error("docker").contains("no environment kind `docker`"));
        assert!(error("docker").contains("proot"), "the kinds there are");
        assert!(error("x=chroot").contains("chroot:DIR"));
        assert!(error("chroot:/no/such").contains("`/no/such` is not a folder"));
        assert!(error("cmd:").contains("cmd:PREFIX"));
        assert!(error("cmd:a 'b").contains("quotes"));
        assert!(error("native:x").contains("takes no argument"));
    }

    #[test]
    fn commands_are_as_they_would_be_typed() {
        let text = |spec: &str| {
            let spec = parse_spec(spec).unwrap();
            let launcher = find(&spec.kind).unwrap();
            launcher.commands(&spec.argument, "/x/envtax").unwrap()[0].by_hand("/x/envtax")
        };
        assert_eq!(text("native"), "/x/envtax agent --self /x/envtax");
        assert_eq!(text("namespace"), "/x/envtax agent --self /x/envtax --enter namespace");
        assert_eq!(text("chroot:/"), "/x/envtax agent --self /x/envtax --enter chroot:/");
        assert_eq!(text("cmd:nice -n 5"), "nice -n 5 /x/envtax agent --self /x/envtax");
        assert!(text("proot").starts_with("proot /x/envtax agent"));
        assert!(text("bwrap:--tmpfs /m").contains("--tmpfs /m -- /x/envtax agent"));
    }
}
