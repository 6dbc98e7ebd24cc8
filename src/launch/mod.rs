//! The environment kinds: one file each, with its notes in a Markdown file, listed once below in
//! the order of the documents. Each kind becomes a command that runs the agent somewhere. May use
//! `cleanup`, `model`, `protocol`, `sys` and `units`. Must not start anything: `control` does.

mod appv;
mod binaries;
mod bwrap;
mod chroot;
mod command;
mod crun;
mod docker;
mod firejail;
mod gvisor;
mod machine;
mod namespace;
mod native;
mod nspawn;
mod oci;
#[cfg(feature = "planted")]
mod planted;
mod podman;
mod proot;
mod ptrace;
mod qemu_user;
mod runc;
mod seccomp;
mod ssh;
mod staging;
mod thinapp;
mod uml;
mod vm;
mod windows;
mod wine;
mod wsl;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::model::{Availability, EnvSpec, Failure, TargetDir, is_name, suggest};
use crate::sys;

/// Every kind of environment.
pub const LAUNCHERS: &[&dyn Launcher] = &[
    &native::Native,
    &namespace::Namespace,
    &chroot::Chroot,
    &bwrap::Bwrap,
    &proot::Proot,
    &seccomp::Seccomp,
    &ptrace::Ptrace,
    &firejail::Firejail,
    &nspawn::Nspawn,
    &crun::Crun,
    &runc::Runc,
    &podman::Podman,
    &docker::Docker,
    &gvisor::Gvisor,
    &qemu_user::QemuUser,
    &uml::Uml,
    &vm::Vm,
    &wine::Wine,
    &ssh::Ssh,
    &wsl::Wsl,
    &windows::Windows,
    &appv::Appv,
    &thinapp::Thinapp,
    &command::Prefix,
    #[cfg(feature = "planted")]
    &planted::Planted,
];

/// The description of an environment kind. `docs/ENVIRONMENTS.md` is made from it.
pub struct LauncherInfo {
    /// The word before the colon in `--env NAME=KIND:ARGUMENT`.
    pub kind: &'static str,
    /// The form of the specification, such as `chroot:DIR`.
    pub usage: &'static str,
    pub summary: &'static str,
    /// What a user should know beyond the summary: every option of the argument, what of the
    /// environment is measured and what is not, what was never run. Markdown, wrapped by hand.
    pub notes: &'static str,
    /// The remedy when an environment of this kind does not start.
    pub remedy: &'static str,
    /// What gives it programs that it does not have.
    pub programs: &'static str,
    /// A command that prints the version of the tool behind this kind; empty if there is no tool.
    pub version_command: &'static [&'static str],
    /// The operating system (`std::env::consts::OS`) that this kind needs; none if it runs on
    /// several.
    pub only_on: Option<&'static str>,
    /// The specification that `doctor` and `--env auto` try; none if only the user can know one.
    pub example: Option<&'static str>,
    /// The launcher's own process takes part in every system call of the agent, as a tracer does.
    /// It is pinned to the round's CPU: where the scheduler placed it freely, costs had two levels
    /// that differed by a factor of ten.
    pub serves_calls: bool,
    /// The launcher traces the agent's processes, which are also processes of this machine. What
    /// pins them inside pins nothing here, so they are pinned to the round's CPU from here.
    pub traces_guest: bool,
    /// Each launch gets a folder of its own on this side, [`Site::stage`].
    pub staged: bool,
    /// The environment boots a kernel of its own, which makes the filesystems of target directories
    /// itself ([`TargetDir::made`]). On this machine there is at most the folder behind a share.
    pub own_kernel: bool,
    /// Shortest time limit for the greeting, in seconds, whatever `--answer-timeout` says: for
    /// environments that boot.
    pub boot_limit_s: u64,
}

impl LauncherInfo {
    /// What to do about a program that an environment does not have.
    pub const INSTALL: &'static str = "install it there";

    /// Defaults that most kinds use.
    const COMMON: LauncherInfo = LauncherInfo {
        kind: "",
        usage: "",
        summary: "",
        notes: "",
        remedy: "run by hand the command that `envtax doctor --env SPEC` shows",
        programs: LauncherInfo::INSTALL,
        version_command: &[],
        only_on: None,
        example: None,
        serves_calls: false,
        traces_guest: false,
        staged: false,
        own_kernel: false,
        boot_limit_s: 0,
    };
}

/// What a launcher needs to know to make the commands of one launch.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// The text after the colon of the specification.
    pub argument: &'a str,
    /// The path of the envtax binary on this machine.
    pub agent: &'a str,
    /// The target directories of this environment. If it does not see this machine's files, the
    /// launcher makes each directory under its visible path.
    pub dirs: &'a [TargetDir],
    /// An identifier that no other launch on any machine has. It can be part of a file's or
    /// container's name.
    pub id: &'a str,
    /// The launch's own folder. It exists from before [`Launcher::prepare`] until the commands of
    /// [`Launcher::undo`] have run. Empty unless [`LauncherInfo::staged`].
    pub stage: &'a Path,
}

impl<'a> Site<'a> {
    /// Paths of the target directories that are folders of this machine.
    fn host_dirs(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let paths = self.dirs.iter().map(|dir| dir.path.as_str());
        paths.filter(|path| !path.is_empty() && Path::new(path).is_dir())
    }

    /// A path in the stage, as text.
    fn in_stage(&self, name: &str) -> String {
        self.stage.join(name).display().to_string()
    }
}

/// A folder of the user that is the root of an environment.
pub struct UserRoot<'a> {
    pub folder: PathBuf,
    /// The target directories that need a mount point in this folder.
    pub dirs: Vec<&'a str>,
}

/// How envtax gets its agent into one kind of environment.
pub trait Launcher: Sync {
    fn info(&self) -> &'static LauncherInfo;

    /// Whether the programs that it needs are installed. Only a start shows whether they work.
    fn detect(&self) -> Availability {
        Availability::Available
    }

    /// An error that says what is wrong with the argument. It runs no program.
    fn check(&self, argument: &str) -> Result<()>;

    /// The user's folder that the environment works in directly, if it does. Mount points that are
    /// missing there are made before the launch, and removed when the run is over.
    fn user_root<'a>(&self, _site: &Site<'a>) -> Option<UserRoot<'a>> {
        None
    }

    /// The commands that undo a launch, run one after the other when it is over. Its processes may
    /// have been killed at any moment. What is only in the stage needs no command.
    fn undo(&self, _site: &Site<'_>) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Makes the files that the commands need, in [`Site::stage`]. The start-up time does not
    /// include it.
    fn prepare(&self, _site: &Site<'_>) -> Result<()> {
        Ok(())
    }

    /// After the agent did not start: the reason why this machine cannot run the environment at
    /// all, found by an experiment without the agent. None if the experiment works or shows
    /// nothing.
    fn diagnose(&self, _site: &Site<'_>) -> Option<Failure> {
        None
    }

    /// The commands that start the agent. They are tried in order until an agent greets.
    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>>;
}

/// One command that starts an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub words: Vec<String>,
    /// Environment variables in addition to those of envtax itself.
    pub variables: Vec<(String, String)>,
    /// The command first expects the agent's binary on its input.
    pub send_binary: bool,
    /// The build that is started there, if it is not this binary.
    pub build: Option<PathBuf>,
    /// Processes that are started before the command, in this order, and ended after it.
    pub helpers: Vec<Helper>,
    /// The time limit for the greeting, if it is not the usual one.
    pub boot_limit: Option<Duration>,
}

/// A process that the environment needs beside it, such as the server of a shared folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    pub words: Vec<String>,
    /// The helper is ready when this file exists.
    pub ready: PathBuf,
}

impl Launch {
    fn new(words: impl IntoIterator<Item = impl Into<String>>) -> Launch {
        Launch { words: words.into_iter().map(Into::into).collect(), ..Launch::default() }
    }

    fn with_variable(mut self, name: &str, value: &str) -> Launch {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The command as a user would type it.
    pub fn by_hand(&self, agent: &str) -> String {
        let set =
            |(name, value): &(String, String)| format!("{name}={} ", shell_words::quote(value));
        let variables: String = self.variables.iter().map(set).collect();
        let words = format!("{variables}{}", shell_words::join(&self.words));
        match self.send_binary {
            true => {
                let build = self.build.as_ref().map(|path| path.to_string_lossy());
                let agent = build.as_deref().unwrap_or(agent);
                let agent = shell_words::quote(agent);
                format!("cat {agent} - | {words} $(wc -c <{agent})")
            }
            false => words,
        }
    }
}

/// The launcher of a kind.
pub fn find(kind: &str) -> Result<&'static dyn Launcher> {
    LAUNCHERS.iter().find(|launcher| launcher.info().kind == kind).copied().with_context(|| {
        let infos = LAUNCHERS.iter().map(|launcher| launcher.info());
        let known: Vec<_> = infos.map(|info| (info.kind, info.summary)).collect();
        suggest::unknown("environment kind", kind, &known)
    })
}

/// That an environment's argument has an option that its kind does not know.
fn unknown_option(name: &str, known: &[&str]) -> String {
    // What other kinds and programs call it.
    let also = |name: &str| match name {
        "rootfs" => "root dir folder chroot",
        "root" => "rootfs dir folder chroot",
        "identity" => "key",
        "memory" => "ram",
        _ => "",
    };
    let described: Vec<(&str, &str)> = known.iter().map(|it| (*it, also(it))).collect();
    suggest::unknown("option", name, &described)
}

/// The operating system that the kind needs, if this machine has another one.
pub fn other_system(info: &LauncherInfo) -> Option<&'static str> {
    let system = info.only_on.filter(|system| *system != std::env::consts::OS)?;
    Some(if system == "windows" { "Windows" } else { "Linux" })
}

/// Whether the kind's operating system and its programs are here.
pub fn availability(launcher: &dyn Launcher) -> Availability {
    match other_system(launcher.info()) {
        None => launcher.detect(),
        Some(system) => Availability::Unavailable {
            reason: format!("envtax starts `{}` on {system} only", launcher.info().kind),
            remedy: format!("run envtax on {system}"),
        },
    }
}

/// Reads `NAME=KIND:ARGUMENT`, `KIND:ARGUMENT` or `KIND`; without a name, the kind is the name.
pub fn parse_spec(text: &str) -> Result<EnvSpec> {
    let (name, spec) = split_name(text);
    let (kind, argument) = spec.split_once(':').unwrap_or((spec, ""));
    let launcher = find(kind).with_context(|| format!("environment `{text}`"))?;
    launcher.check(argument).with_context(|| format!("environment `{text}`"))?;
    Ok(EnvSpec::new(name.unwrap_or(kind), kind, argument))
}

/// Splits `NAME=SPEC` in two. Without a name, all of it is the specification.
pub fn split_name(text: &str) -> (Option<&str>, &str) {
    match text.split_once('=') {
        Some((name, spec)) if is_name(name) => (Some(name), spec),
        _ => (None, text),
    }
}

/// The folder in the user's caches where envtax keeps what it downloads or makes once.
fn cache_folder() -> PathBuf {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || std::env::home_dir().unwrap_or_default().join(".cache");
    // The XDG base directory specification says to ignore relative paths.
    named.filter(|path| path.is_absolute()).unwrap_or_else(usual).join("envtax")
}

/// Available when a program of that name is on the search path.
fn needs_program(program: &str, remedy: &str) -> Availability {
    match sys::find_program(program) {
        Some(_) => Availability::Available,
        None => Availability::Unavailable {
            reason: format!("there is no `{program}` on the search path"),
            remedy: remedy.to_owned(),
        },
    }
}

/// The remedy for such a failure, if it is more specific than the kind's own.
pub fn remedy_for(failure: &Failure) -> Option<&'static str> {
    let foreign = [
        "Exec format error",
        "cannot execute binary file",
        "Invalid ELF image for this architecture",
        "the agent that is sent is built for",
    ];
    let mut told = failure.details.printed.iter().chain([&failure.what]);
    told.any(|line| foreign.iter().any(|words| line.contains(words))).then_some(
        "the agent is built for another processor than the environment has: builds for others go \
         beside this binary or into the folder that ENVTAX_AGENTS names, and are used by `ssh` and \
         `qemu-user`; or run the envtax of that processor there",
    )
}

/// An error if the kind takes no argument and got one.
fn no_argument(argument: &str, kind: &str) -> Result<()> {
    ensure!(argument.is_empty(), "`{kind}` takes no argument");
    Ok(())
}

/// The words that start the agent, which has that path inside.
fn agent_words(agent: &str) -> [&str; 4] {
    [agent, "agent", "--self", agent]
}

/// Splits an argument that the user wrote as for a shell.
fn words_of(argument: &str) -> Result<Vec<String>> {
    shell_words::split(&sys::quoted_backslashes(argument))
        .with_context(|| format!("the quotes in `{argument}`"))
}

/// An error unless the argument is an existing folder.
fn is_folder(argument: &str, usage: &str) -> Result<()> {
    if argument.is_empty() {
        bail!("the folder is missing: write `{usage}`");
    }
    ensure!(Path::new(argument).is_dir(), "`{argument}` is not a folder here");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch with that argument, for tests of a launcher's commands.
    pub(super) fn site_of(argument: &str) -> Site<'_> {
        let stage = Path::new("/stage");
        Site { argument, agent: "/x/envtax", dirs: &[], id: "0000aaaa-1", stage }
    }

    #[test]
    fn kinds_of_another_system_are_unavailable_and_not_asked_for_programs() {
        let own = std::env::consts::OS;
        for launcher in LAUNCHERS {
            let info = launcher.info();
            assert!(
                [None, Some("linux"), Some("windows")].contains(&info.only_on),
                "{}",
                info.kind
            );
            let Some(system) = other_system(info) else { continue };
            assert_ne!(info.only_on, Some(own));
            let Availability::Unavailable { reason, .. } = availability(*launcher) else {
                panic!()
            };
            assert_eq!(reason, format!("envtax starts `{}` on {system} only", info.kind));
        }
        let (linux, windows) = (find("seccomp").unwrap(), find("appv").unwrap());
        assert_eq!(other_system(linux.info()).is_some(), own != "linux");
        assert_eq!(other_system(windows.info()).is_some(), own != "windows");
    }

    #[test]
    fn kinds_are_unique_and_described() {
        let mut kinds = std::collections::HashSet::new();
        for info in LAUNCHERS.iter().map(|launcher| launcher.info()) {
            assert!(kinds.insert(info.kind), "{} twice", info.kind);
            assert!(info.usage.starts_with(info.kind));
            assert!(!info.summary.is_empty() && !info.remedy.is_empty() && !info.notes.is_empty());
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
        assert!(error("lxd").contains("no environment kind `lxd`"));
        assert!(error("lxd").contains("proot"), "the kinds there are");
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
            let site = site_of(&spec.argument);
            let launches = find(&spec.kind).unwrap().commands(&site).unwrap();
            launches[0].by_hand(site.agent)
        };
        assert_eq!(text("native"), "/x/envtax agent --self /x/envtax");
        assert_eq!(text("namespace"), "/x/envtax agent --self /x/envtax --enter namespace");
        assert_eq!(text("chroot:/"), "/x/envtax agent --self /x/envtax --enter chroot:/");
        assert_eq!(text("cmd:nice -n 5"), "nice -n 5 /x/envtax agent --self /x/envtax");
        assert!(text("proot").starts_with("proot /x/envtax agent"));
        assert!(text("bwrap:--tmpfs /m").contains("--tmpfs /m -- /x/envtax agent"));
        let enters = |spec: &str, place: &str| {
            let typed = format!("/x/envtax agent --self /x/envtax --enter {place}");
            assert_eq!(text(spec), typed);
        };
        enters("seccomp", "seccomp:container");
        enters("seccomp:allow", "seccomp:allow");
        enters("ptrace", "ptrace");
    }
}
