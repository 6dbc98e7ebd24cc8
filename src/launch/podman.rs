//! Podman, the container engine without a daemon.

use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::oci::engine::{self, AGENT};
use super::oci::{self, Options, root, seccomp};
use super::{Launch, Launcher, LauncherInfo, Site, agent_words, gvisor, needs_program};
use crate::model::Availability;
use crate::sys;

pub struct Podman;

static INFO: LauncherInfo = LauncherInfo {
    kind: "podman",
    usage: "podman[:IMAGE][,OPTIONS]",
    summary: "a container of podman, from a local IMAGE, a folder or a minimal root file system",
    notes: include_str!("podman.md"),
    remedy: "apt-get install podman runc; as another user than root, `apt-get install uidmap` \
             and `usermod --add-subuids 100000-165535 --add-subgids 100000-165535 USER`",
    programs: "name an image that has it, or give the container the files of this machine: \
               `--env podman:rootfs=/`",
    example: Some("podman"),
    staged: true,
    version_command: &["podman", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

const OPTIONS: [&str; 3] = ["rootfs", "runtime", "seccomp"];

fn options(argument: &str) -> Result<Options<'_>> {
    let options = Options::read(argument, INFO.usage, &OPTIONS)?;
    root::check(&options)?;
    seccomp::check(&options)?;
    Ok(options)
}

fn podman(words: &[&str]) -> Vec<String> {
    ["podman"].iter().chain(words).map(|word| (*word).to_owned()).collect()
}

/// The options that choose the runtime below podman.
fn runtime_words(site: &Site<'_>, options: &Options<'_>) -> Result<Vec<String>> {
    let runtime = match options.get("runtime") {
        Some(name) => name,
        // Podman would take crun, which refuses these control groups.
        None if oci::mixed_cgroups() => "runc",
        None => return Ok(Vec::new()),
    };
    if runtime != "runsc" {
        return Ok(vec!["--runtime".into(), runtime.to_owned()]);
    }
    let path = gvisor::runsc().context("there is no `runsc`; see the kind `gvisor`")?;
    let path = path.to_str().context("the path of runsc is not UTF-8")?;
    // In the stage: its removal unmounts what runsc leaves mounted there.
    let state = format!("root={}", site.in_stage("state"));
    let flags = ["network=none", "ignore-cgroups", &state];
    let flags = flags.iter().flat_map(|flag| ["--runtime-flag", flag]);
    Ok(["--runtime", path].into_iter().chain(flags).map(str::to_owned).collect())
}

/// Limits that podman may set: without the right to raise them, it fails on its own defaults. It
/// lowers the limit of processes to the limit of process ids itself.
fn limit_words(limits: &str, processes: &str) -> Vec<String> {
    let hard = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let most = processes.trim().parse::<u64>().ok();
    let files = hard("Max open files").map(|files| format!("nofile={files}:{files}"));
    let processes = hard("Max processes").into_iter().chain(most).min();
    let processes = processes.map(|most| format!("nproc={most}:{most}"));
    let limits = files.into_iter().chain(processes);
    limits.flat_map(|limit| ["--ulimit".to_owned(), limit]).collect()
}

/// Podman without root needs subordinate user ids, unless another service assigns them. Without
/// them it starts incompletely, and leaves a process and files behind.
fn may_start() -> bool {
    if sys::is_root() {
        return true;
    }
    let words = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let served = words("/etc/nsswitch.conf").lines().any(|line| line.starts_with("subid:"));
    let (user, _) = sys::own_user_and_group();
    let user = user.to_string();
    let users = words("/etc/passwd");
    let name = users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2) == Some(&user.as_str())).then(|| fields[0].to_owned())
    });
    let ranges = words("/etc/subuid");
    let mut owners = ranges.lines().filter_map(|line| line.split(':').next());
    served || owners.any(|owner| owner == user || Some(owner) == name.as_deref())
}

impl Launcher for Podman {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("podman", INFO.remedy)
    }

    fn check(&self, argument: &str) -> Result<()> {
        options(argument).map(drop)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        if !may_start() {
            return Vec::new();
        }
        let remove = podman(&["rm", "--force", "--time", "0", &oci::name(site)]);
        // The first command stops a container whose monitor is gone and reports an error; the
        // second one then removes it.
        let twice = ["sh", "-c", "\"$@\" || \"$@\"", "sh"].map(str::to_owned);
        let remove = twice.into_iter().chain(remove).collect();
        vec![remove, oci::forget(site), oci::remove_cgroups(site)]
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        ensure!(
            may_start(),
            "podman needs user ids of your own when you are not root, and /etc/subuid gives you \
             none"
        );
        let Some(image) = options(site.argument)?.image else { return root::make(site) };
        match engine::error_of(site, &podman(&["image", "exists", image]))? {
            None => Ok(()),
            Some(why) if why.is_empty() => bail!(
                "podman has no image `{image}` here, and envtax fetches none: podman pull {image}"
            ),
            Some(why) => bail!("podman does not look for the image `{image}`: {why}"),
        }
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let options = options(site.argument)?;
        let mut words = podman(&[]);
        if sys::is_root() {
            words.push("--cgroup-manager=cgroupfs".into());
        }
        words.extend(runtime_words(site, &options)?);
        words.extend(engine::run_words(site)?);
        if sys::is_root() {
            words.push(format!("--cgroup-parent=/{}", oci::name(site)));
        }
        let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let processes = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap_or_default();
        words.extend(limit_words(&limits, &processes));
        words.extend(engine::filter_words(options.get("seccomp")));
        match options.image {
            Some(image) => {
                words.extend(["--entrypoint", AGENT, image].map(str::to_owned));
                words.extend(agent_words(AGENT)[1..].iter().map(|word| (*word).to_owned()));
            }
            None => {
                let root = root::folder(site, &options)?.display().to_string();
                words.extend(["--rootfs".to_owned(), format!("{root}:O")]);
                words.extend(agent_words(AGENT).map(str::to_owned));
            }
        }
        Ok(vec![Launch::new(words)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;

    #[test]
    fn limits_are_those_that_may_be_set() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
            Max processes             9000                 96365                processes \n\
            Max open files            1024                 20000                files     \n";
        let words = limit_words(limits, "32768\n").join(" ");
        assert_eq!(words, "--ulimit nofile=20000:20000 --ulimit nproc=32768:32768");
        assert!(limit_words("Max open files unlimited unlimited files", "").is_empty());
    }

    #[test]
    fn an_image_is_started_by_the_agent_and_a_folder_is_covered() {
        let words =
            |argument: &str| Podman.commands(&site_of(argument)).unwrap()[0].words.join(" ");
        let image = words("localhost/a:b,runtime=/x/y,seccomp=unconfined");
        assert!(image.starts_with("podman "), "{image}");
        assert!(image.contains(" --runtime /x/y run --rm -i --name envtax-0000aaaa-1 "), "{image}");
        assert!(image.contains(" --security-opt seccomp=unconfined "), "{image}");
        assert!(
            image.ends_with("--entrypoint /.envtax localhost/a:b agent --self /.envtax"),
            "{image}"
        );
        assert!(image.contains("--pull never") && image.contains("-v /x/envtax:/.envtax:ro"));
        let bare = words("");
        assert!(bare.ends_with("--rootfs /stage/root:O /.envtax agent --self /.envtax"), "{bare}");
    }
}
