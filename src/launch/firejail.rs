//! Firejail, the sandbox for desktop programs.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, needs_program, words_of};
use crate::model::Availability;

pub struct Firejail;

static INFO: LauncherInfo = LauncherInfo {
    kind: "firejail",
    usage: "firejail[:OPTIONS]",
    summary: "firejail over the host's files, without a profile unless OPTIONS name one",
    notes: include_str!("firejail.md"),
    remedy: "apt-get install firejail; where /etc/firejail/firejail.users is, users other than \
             root must be named in it",
    version_command: &["firejail", "--version"],
    example: Some("firejail"),
    staged: true,
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// Removes the files of a killed firejail's sandbox with that name. Only root may; firejail itself
/// reuses the files when another process gets the same number.
const FORGET: &str = "cd /run/firejail && for f in name/*; do [ \"$(cat \"$f\")\" = \"$1\" ] || \
    continue; rm -rf \"$f\" sandbox/\"${f#name/}\" profile/\"${f#name/}\"; done";

/// The sandbox's name, by which its files are found.
fn name_of(site: &Site<'_>) -> String {
    format!("envtax-{}", site.id)
}

impl Launcher for Firejail {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("firejail", "apt-get install firejail")
    }

    fn check(&self, argument: &str) -> Result<()> {
        words_of(argument).map(drop)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        vec![["sh", "-c", FORGET, "sh", &name_of(site)].map(String::from).to_vec()]
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let options = words_of(site.argument)?;
        let mut words = vec!["firejail".to_owned(), "--quiet".to_owned()];
        words.push(format!("--name={}", name_of(site)));
        if !options.iter().any(|option| option.starts_with("--profile")) {
            words.push("--noprofile".to_owned());
        }
        words.extend(options);
        words.push("--".to_owned());
        words.extend(agent_words(site.agent).map(String::from));
        Ok(vec![Launch::new(words)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_added_and_a_profile_stands_for_none() {
        let text = |argument: &str| {
            let site = crate::launch::tests::site_of(argument);
            Firejail.commands(&site).unwrap()[0].words.join(" ")
        };
        let begin = "firejail --quiet --name=envtax-0000aaaa-1";
        let agent = "-- /x/envtax agent --self /x/envtax";
        assert_eq!(text(""), format!("{begin} --noprofile {agent}"));
        assert_eq!(text("--net=none"), format!("{begin} --noprofile --net=none {agent}"));
        assert_eq!(text("--profile=default"), format!("{begin} --profile=default {agent}"));
        assert!(Firejail.check("--name='a").is_err(), "a quote is missing");
    }
}
