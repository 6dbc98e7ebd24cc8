//! QEMU's user mode: the programs of one machine on the kernel of another.

use std::env::consts::ARCH;

use anyhow::{Context, Result, bail, ensure};

use super::binaries::{self, AARCH64, Target, X86_64};
use super::{Launch, Launcher, LauncherInfo, Site, agent_words};
use crate::model::Availability;
use crate::sys;

pub struct QemuUser;

static INFO: LauncherInfo = LauncherInfo {
    kind: "qemu-user",
    usage: "qemu-user[:MACHINE[,binfmt=yes]]",
    summary: "QEMU's user mode: every instruction translated, system calls passed on",
    notes: include_str!("qemu_user.md"),
    remedy: "apt-get install qemu-user-static; for another machine also the build of envtax for it",
    example: Some("qemu-user"),
    boot_limit_s: 30,
    version_command: &["qemu-x86_64-static", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

const REMEDY: &str = "apt-get install qemu-user-static";

/// The machines that can be emulated, each with its build.
const MACHINES: [(&str, &Target); 2] = [("x86_64", &X86_64), ("aarch64", &AARCH64)];

/// Mounts a table of foreign programs for this namespace alone, and enters the emulator `$1` for
/// programs of aarch64. The flag `F` opens the emulator now, so that it needs no path later. The
/// kernel interprets the escapes.
const REGISTER: &str = "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && \
    printf '%s' ':envtax:M::\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\
    \\x02\\x00\\xb7\\x00:\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\
    \\xff\\xff\\xfe\\xff\\xff\\xff:'\"$1\"':F' >/proc/sys/fs/binfmt_misc/register && \
    exec \"$@\"; echo 'binfmt=yes needs Linux 6.7 or newer, with binfmt_misc' >&2; exit 1";

struct Wanted {
    machine: &'static str,
    target: &'static Target,
    binfmt: bool,
}

fn wanted(argument: &str) -> Result<Wanted> {
    let mut parts = argument.split(',');
    let name = parts.next().filter(|name| !name.is_empty()).unwrap_or("x86_64");
    let found = MACHINES.into_iter().find(|(machine, _)| *machine == name);
    let (machine, target) = found.with_context(|| {
        format!(
            "`qemu-user` emulates x86_64 and aarch64 here, not `{name}`: write `{}`",
            INFO.usage
        )
    })?;
    let binfmt = match (parts.next(), parts.next()) {
        (None, None) => false,
        (Some("binfmt=yes"), None) => true,
        _ => bail!("`qemu-user:{argument}` is not understood: write `{}`", INFO.usage),
    };
    ensure!(
        !binfmt || machine != ARCH,
        "`binfmt=yes` is for other machines than this one: here the kernel would start QEMU by \
         QEMU"
    );
    Ok(Wanted { machine, target, binfmt })
}

/// The names that distributions give to the static build and to the other one.
fn names(machine: &str) -> [String; 2] {
    [format!("qemu-{machine}-static"), format!("qemu-{machine}")]
}

/// The command that starts this emulator with this build of envtax.
fn words(emulator: &str, agent: &str, binfmt: bool) -> Vec<String> {
    let prefix = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", REGISTER, "sh"];
    let prefix = if binfmt { &prefix[..] } else { &[] };
    let [path, rest @ ..] = agent_words(agent);
    let words = prefix.iter().copied().chain([emulator, path]).chain(rest);
    words.chain(["--via", emulator]).map(str::to_owned).collect()
}

impl Launcher for QemuUser {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        let found = MACHINES.iter().flat_map(|(machine, _)| names(machine));
        match found.into_iter().any(|name| sys::find_program(&name).is_some()) {
            true => Availability::Available,
            false => Availability::Unavailable {
                reason: "there is no `qemu-x86_64-static` on the search path".into(),
                remedy: REMEDY.into(),
            },
        }
    }

    fn check(&self, argument: &str) -> Result<()> {
        wanted(argument).map(drop)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let Wanted { machine, target, binfmt } = wanted(site.argument)?;
        let emulator = names(machine).iter().find_map(|name| sys::find_program(name));
        let emulator = emulator.with_context(|| {
            let [name, _] = names(machine);
            format!("there is no `{name}` on the search path: {REMEDY}")
        })?;
        let emulator = emulator.to_str().context("the emulator's path is not UTF-8")?;
        let agent = match machine == ARCH {
            true => site.agent.to_owned(),
            false => {
                let path = binaries::find(target, site.agent)?;
                path.into_os_string().into_string().ok().context("the path is not UTF-8")?
            }
        };
        Ok(vec![Launch::new(words(emulator, &agent, binfmt))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_told_their_emulator() {
        let plain = words("/usr/bin/qemu-x86_64-static", "/x/envtax", false).join(" ");
        let by = "/usr/bin/qemu-x86_64-static";
        assert_eq!(plain, format!("{by} /x/envtax agent --self /x/envtax --via {by}"));
        let foreign = words("/q", "/x/envtax-aarch64", true);
        assert_eq!(foreign[..4], ["unshare", "--user", "--map-root-user", "--mount"]);
        assert!(REGISTER.contains(r"\x7fELF\x02") && REGISTER.contains(r"\x02\x00\xb7\x00:\xff"));
        assert_eq!(foreign[7..10], ["sh", "/q", "/x/envtax-aarch64"]);
    }

    #[test]
    fn arguments_are_checked() {
        let error = |argument: &str| format!("{:#}", QemuUser.check(argument).unwrap_err());
        assert!(error("riscv64").contains("not `riscv64`"));
        assert!(error("aarch64,static").contains("qemu-user[:MACHINE[,binfmt=yes]]"));
        assert!(error(&format!("{ARCH},binfmt=yes")).contains("other machines than this one"));
        assert!(QemuUser.check("").is_ok() && QemuUser.check("aarch64").is_ok());
    }
}
