//! Another machine, over OpenSSH.

use anyhow::{Context, Result, bail, ensure};

use super::binaries;
use super::{Launch, Launcher, LauncherInfo, Site, needs_program, staging, unknown_option};
use crate::model::Availability;
use crate::sys;

pub struct Ssh;

static INFO: LauncherInfo = LauncherInfo {
    kind: "ssh",
    usage: "ssh:[USER@]HOST[,OPTION=VALUE...]",
    summary: "another machine over ssh, with keys and hosts as ssh itself knows them",
    notes: include_str!("ssh.md"),
    remedy: "make `ssh -o BatchMode=yes HOST true` work: accept the host's key by hand once \
             (`ssh HOST`), put a key there (`ssh-copy-id HOST`), have its passphrase in ssh-agent",
    version_command: &["ssh", "-V"],
    ..LauncherInfo::COMMON
};

/// Options that the user's configuration must not change: ssh must not ask, and the streams are for
/// the agent only. ssh takes the first value that it is given, so these come first.
const ALWAYS: &[&str] = &[
    "BatchMode=yes",
    "RequestTTY=no",
    "RemoteCommand=none",
    "ControlMaster=no",
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "ForwardAgent=no",
    "PermitLocalCommand=no",
];

struct Wanted<'a> {
    words: Vec<String>,
    arch: &'a str,
}

fn wanted(argument: &str) -> Result<Wanted<'_>> {
    let mut parts = argument.split(',');
    let host = parts.next().unwrap_or_default();
    ensure!(!host.is_empty(), "the host is missing: write `{}`", INFO.usage);
    ensure!(
        !host.starts_with('-') && !host.contains(char::is_whitespace),
        "`{host}` is not the name of a host: write `{}`",
        INFO.usage
    );
    let mut arch = std::env::consts::ARCH;
    let mut words = vec!["ssh".to_owned()];
    let mut put = |option: &str, value: &str| words.extend([option, value].map(str::to_owned));
    ALWAYS.iter().for_each(|option| put("-o", option));
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        ensure!(!value.is_empty(), "`{part}` has no value: write `{name}=VALUE`");
        match name {
            "port" => {
                let port = value.parse::<u16>();
                port.with_context(|| format!("`{value}` is not the number of a port"))?;
                put("-p", value);
            }
            "identity" => {
                put("-i", value);
                put("-o", "IdentitiesOnly=yes");
            }
            "config" => put("-F", value),
            "option" if value.contains('=') => put("-o", value),
            "option" => bail!("write `option=KEY=VALUE`, not `{part}`"),
            "arch" if value == "x86_64" || value == "aarch64" => arch = value,
            "arch" => bail!("`arch` is `x86_64` or `aarch64`, not `{value}`"),
            _ => {
                let known = ["port", "identity", "config", "arch", "option"];
                bail!(unknown_option(name, &known))
            }
        }
    }
    put("-o", "ConnectTimeout=10");
    put("--", host);
    Ok(Wanted { words, arch })
}

impl Launcher for Ssh {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program(
            "ssh",
            match sys::HAS_UNIX_SHELL {
                true => "apt-get install openssh-client",
                false => "add the optional feature `OpenSSH Client` in the settings of Windows",
            },
        )
    }

    fn check(&self, argument: &str) -> Result<()> {
        wanted(argument).map(drop)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let Wanted { words, arch } = wanted(site.argument)?;
        // ssh joins its arguments, and the user's shell there splits them again.
        let mut launch = Launch::new(words.into_iter().chain(staging::quoted(arch)));
        launch.send_binary = true;
        launch.build = binaries::find_linux(arch, site.agent)?;
        Ok(vec![launch])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    #[test]
    fn options_become_those_of_ssh() {
        let argument = "me@there,port=2222,identity=/k,config=/c,option=HostKeyAlias=x";
        let launch = Ssh.commands(&site_of(argument)).unwrap().remove(0);
        let line = launch.words.join(" ");
        assert!(line.starts_with("ssh -o BatchMode=yes -o RequestTTY=no "), "{line}");
        let options = "-p 2222 -i /k -o IdentitiesOnly=yes -F /c -o HostKeyAlias=x -o \
                       ConnectTimeout=10 -- me@there sh -c ";
        assert!(line.contains(options), "{line}");
        assert!(launch.send_binary && launch.build.is_none());
        assert_eq!(launch.words.last().unwrap(), std::env::consts::ARCH);
    }

    #[test]
    fn arguments_are_checked() {
        let error = |argument: &str| format!("{:#}", Ssh.check(argument).unwrap_err());
        assert!(error("").contains("the host is missing"));
        assert!(error("-oProxyCommand=x").contains("not the name of a host"));
        assert!(error("a b").contains("not the name of a host"));
        assert!(error("h,port=x").contains("`x` is not the number of a port"));
        assert!(error("h,port").contains("`port` has no value"));
        assert!(error("h,colour=red").contains("no option `colour`"));
        assert!(error("h,option=Compression").contains("option=KEY=VALUE"));
        assert!(error("h,arch=sparc").contains("not `sparc`"));
    }
}
