//! Any command that runs its arguments somewhere: the universal kind.

use anyhow::{Result, ensure};

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, staging, words_of};

pub struct Prefix;

static INFO: LauncherInfo = LauncherInfo {
    kind: "cmd",
    usage: "cmd:PREFIX...",
    summary: "any command that runs its arguments: `ssh host`, `docker exec -i c`, `wsl.exe --`",
    notes: include_str!("command.md"),
    remedy: "check by hand that `PREFIX... echo hello` prints hello and asks for nothing",
    ..LauncherInfo::COMMON
};

impl Launcher for Prefix {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        let prefix = words_of(argument)?;
        ensure!(!prefix.is_empty(), "the command is missing: write `{}`", INFO.usage);
        Ok(())
    }

    /// First as if the environment saw this machine's files; failing that, through the
    /// environment's own shell, which is sent the binary. The third way is for `ssh` and its like,
    /// which join their arguments and have another shell split them again.
    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let prefix = words_of(site.argument)?;
        let with = |more: &[&str]| {
            Launch::new(prefix.iter().map(String::as_str).chain(more.iter().copied()))
        };
        let sending = |words: &[&str]| Launch { send_binary: true, ..with(words) };
        let shell = staging::shell(std::env::consts::ARCH);
        let quoted = staging::quoted(std::env::consts::ARCH);
        Ok(vec![
            with(&agent_words(site.agent)),
            sending(&shell),
            sending(&quoted.each_ref().map(String::as_str)),
        ])
    }
}
