//! Bubblewrap, the sandbox of Flatpak.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, needs_program, words_of};
use crate::model::Availability;

pub struct Bwrap;

static INFO: LauncherInfo = LauncherInfo {
    kind: "bwrap",
    usage: "bwrap[:OPTIONS]",
    summary: "bubblewrap with all namespaces unshared, over the host's files; OPTIONS are added",
    notes: "OPTIONS are bubblewrap's own, behind `--bind / / --dev /dev --proc /proc --unshare-\n\
            all`: `bwrap:--tmpfs /tmp` measures a tmpfs where temporary files are.",
    remedy: "apt-get install bubblewrap; if it is there, allow user namespaces (see `namespace`)",
    version_command: &["bwrap", "--version"],
    example: Some("bwrap"),
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// `--die-with-parent` is left out on purpose: the agent ends by itself when its input closes, and
/// cleans up first. An agent that is killed with its parent could not clean up.
const OPTIONS: &[&str] =
    &["bwrap", "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"];

impl Launcher for Bwrap {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("bwrap", "apt-get install bubblewrap")
    }

    fn check(&self, argument: &str) -> Result<()> {
        words_of(argument).map(drop)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let mut launch = Launch::new(OPTIONS.iter().copied());
        launch.words.extend(words_of(site.argument)?);
        launch.words.push("--".into());
        launch.words.extend(agent_words(site.agent).map(String::from));
        Ok(vec![launch])
    }
}
