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

    /// The first command works if the environment sees this machine's files, the second one sends
    /// the binary to the environment's own shell. The third one does the same through `ssh` and
    /// similar programs, which join their arguments and have another shell split them again.
    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let prefix = words_of(site.argument)?;
        let with = |more: &[String]| Launch::new(prefix.iter().chain(more));
        let sending = |words: &[String]| Launch { send_binary: true, ..with(words) };
        Ok(vec![
            with(&agent_words(site.agent).map(str::to_owned)),
            sending(&staging::shell(std::env::consts::ARCH)),
            sending(&staging::quoted(std::env::consts::ARCH)),
        ])
    }
}
