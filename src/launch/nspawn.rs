//! systemd-nspawn: a container made by systemd's own tool, without systemd inside.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::{
    Launch, Launcher, LauncherInfo, Site, UserRoot, agent_words, is_folder, needs_program,
};
use crate::model::Availability;
use crate::sys;

pub struct Nspawn;

static INFO: LauncherInfo = LauncherInfo {
    kind: "nspawn",
    usage: "nspawn[:DIR]",
    summary: "a systemd-nspawn container with the folder DIR as root, or with an empty one",
    notes: include_str!("nspawn.md"),
    remedy: "run envtax as root; apt-get install systemd-container",
    version_command: &["systemd-nspawn", "--version"],
    example: Some("nspawn"),
    staged: true,
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// With `--register=no` and `--keep-unit`, systemd need not run. The other options keep nspawn from
/// writing into the root folder.
const OPTIONS: [&str; 8] = [
    "systemd-nspawn",
    "--quiet",
    "--pipe",
    "--register=no",
    "--keep-unit",
    "--resolv-conf=off",
    "--timezone=off",
    "--link-journal=no",
];
/// The agent's path inside. It is on a tmpfs, so that no file for it appears in the root folder.
const AGENT: &str = "/run/envtax";
/// Folders that nspawn would make in a root folder that lacks them.
const NEEDED: [&str; 9] = ["dev", "etc", "proc", "root", "run", "sys", "tmp", "usr", "var"];
/// Folders on which nspawn mounts filesystems. Mount points below them leave no trace in the root
/// folder.
const COVERED: [&str; 3] = ["/dev", "/run", "/tmp"];

/// Makes the launch's cgroups, enters them and executes nspawn.
const ENTER: &str = "while [ \"$1\" != -- ]; do mkdir -p \"$1\" && echo $$ >\"$1/cgroup.procs\" || \
    exit; shift; done; shift; exec \"$@\"";
/// Removes a cgroup of the launch with all cgroups below it. If nspawn was killed, its container
/// gets a second to clean up; then the processes that are still in it are killed.
const REMOVE_CGROUP: &str = "for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do \
    [ -d \"$1\" ] || exit 0; find \"$1\" -depth -type d -exec rmdir {} \\;; \
    [ -d \"$1\" ] || exit 0; [ $try -lt 10 ] || \
    find \"$1\" -name cgroup.procs -exec cat {} + | xargs -r kill -9; sleep 0.1; done";

/// The container's name for nspawn.
fn machine(site: &Site<'_>) -> String {
    format!("envtax-{}", site.id)
}

/// The root folder: the user's, or an empty one in the stage.
fn root(site: &Site<'_>) -> PathBuf {
    match site.argument {
        "" => site.stage.join("root"),
        folder => PathBuf::from(folder),
    }
}

/// Target directories whose mount points nspawn needs in the root folder itself.
fn uncovered<'a>(site: &Site<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let is_covered = |dir: &str| COVERED.iter().any(|covered| Path::new(dir).starts_with(covered));
    site.host_dirs().filter(move |dir| !is_covered(dir))
}

/// The launch's own cgroups, made below those of this process: nspawn divides the cgroup in which
/// it is started, and leaves the parts behind.
fn cgroups(site: &Site<'_>) -> Vec<String> {
    let table = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let is_there = |place: &Path| place.join("cgroup.procs").is_file();
    let places = table.lines().filter_map(|line| cgroup_of(line, is_there));
    places.map(|place| place.join(machine(site)).display().to_string()).collect()
}

/// The folder of the cgroup in a line of `/proc/self/cgroup`, if nspawn divides that hierarchy:
/// version 2, or the one of version 1 with systemd's name (cgroups(7)).
fn cgroup_of(line: &str, is_there: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let (hierarchy, path) = line.split_once(':')?.1.split_once(':')?;
    let tops: &[&str] = match hierarchy {
        "" => &["/sys/fs/cgroup/unified", "/sys/fs/cgroup"],
        "name=systemd" => &["/sys/fs/cgroup/systemd"],
        _ => return None,
    };
    let places = tops.iter().map(|top| Path::new(top).join(path.trim_start_matches('/')));
    places.into_iter().find(|place| is_there(place))
}

/// A path for nspawn's options, in which a colon would end it.
fn escaped(path: &str) -> String {
    path.replace('\\', "\\\\").replace(':', "\\:")
}

impl Launcher for Nspawn {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        match sys::own_ids() {
            Ok((_, 0)) | Err(_) => {
                needs_program("systemd-nspawn", "apt-get install systemd-container")
            }
            Ok(_) => Availability::Unavailable {
                reason: "systemd-nspawn needs root".to_owned(),
                remedy: "run envtax as root".to_owned(),
            },
        }
    }

    fn check(&self, argument: &str) -> Result<()> {
        if argument.is_empty() {
            return Ok(());
        }
        is_folder(argument, INFO.usage)?;
        let is_root = fs::canonicalize(argument).is_ok_and(|path| path == Path::new("/"));
        ensure!(
            !is_root,
            "nspawn takes every folder as root but the machine's own: use `crun:rootfs=/` or \
             `bwrap`"
        );
        let lacks = |name: &&&str| !Path::new(argument).join(name).is_dir();
        let missing: Vec<&str> = NEEDED.iter().filter(lacks).copied().collect();
        ensure!(
            missing.is_empty(),
            "nspawn would make folders in `{argument}`; make them before: cd {} && mkdir {}",
            shell_words::quote(argument),
            missing.join(" ")
        );
        Ok(())
    }

    fn user_root<'a>(&self, site: &Site<'a>) -> Option<UserRoot<'a>> {
        let dirs = uncovered(site).collect();
        (!site.argument.is_empty()).then(|| UserRoot { folder: root(site), dirs })
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        let dissolve =
            |cgroup: String| ["sh", "-c", REMOVE_CGROUP, "sh", &cgroup].map(String::from).to_vec();
        let mut commands: Vec<Vec<String>> = cgroups(site).into_iter().map(dissolve).collect();
        let passage = format!("/run/systemd/nspawn/propagate/{}", machine(site));
        commands.push(vec!["rmdir".to_owned(), passage]);
        commands
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let root = root(site);
        if site.argument.is_empty() {
            for name in NEEDED {
                fs::create_dir_all(root.join(name)).context("making a root folder")?;
            }
        }
        for dir in uncovered(site) {
            let point = root.join(dir.trim_start_matches('/'));
            if site.argument.is_empty() {
                fs::create_dir_all(&point).context("making a root folder")?;
            }
            let command = format!("mkdir -p {}", shell_words::quote(&point.display().to_string()));
            ensure!(point.is_dir(), "there is no place for the target directory: {command}");
        }
        Ok(())
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let mut words = ["sh", "-c", ENTER, "sh"].map(String::from).to_vec();
        words.extend(cgroups(site));
        words.push("--".to_owned());
        words.extend(OPTIONS.iter().copied().map(String::from));
        words.push(format!("--machine={}", machine(site)));
        words.push(format!("--directory={}", root(site).display()));
        words.push(format!("--bind-ro={}:{AGENT}", escaped(site.agent)));
        words.extend(site.host_dirs().map(|dir| format!("--bind={}", escaped(dir))));
        words.push("--".to_owned());
        words.extend(agent_words(AGENT).map(String::from));
        // Two containers may use one folder at the same time: neither writes there.
        Ok(vec![Launch::new(words).with_variable("SYSTEMD_NSPAWN_LOCK", "0")])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_are_found_where_they_are_mounted() {
        let of = |line: &str, there: &str| cgroup_of(line, |place| place.starts_with(there));
        let found = |path: &str| Some(PathBuf::from(path));
        assert_eq!(of("0::/a/b", "/sys/fs/cgroup/a"), found("/sys/fs/cgroup/a/b"));
        assert_eq!(of("0::/", "/sys/fs/cgroup/unified"), found("/sys/fs/cgroup/unified"));
        assert_eq!(of("9:name=systemd:/x", "/"), found("/sys/fs/cgroup/systemd/x"));
        assert_eq!(of("4:memory:/x", "/"), None);
        assert_eq!(of("0::/", "/elsewhere"), None);
    }

    #[test]
    fn the_container_sees_the_agent_and_the_target_directories() {
        let dirs = [crate::model::TargetDir { path: "/".into(), ..Default::default() }];
        let site = Site { dirs: &dirs, ..crate::launch::tests::site_of("/r") };
        let launches = Nspawn.commands(&site).unwrap();
        let text = launches[0].words.join(" ");
        assert!(text.contains(" -- systemd-nspawn --quiet --pipe "), "{text}");
        assert!(text.contains("--directory=/r --bind-ro=/x/envtax:/run/envtax --bind=/ -- "));
        assert!(text.ends_with("/run/envtax agent --self /run/envtax"), "{text}");
        let root = Nspawn.user_root(&Site { dirs: &[], ..site }).unwrap();
        assert_eq!(root.folder, Path::new("/r"));
        assert!(Nspawn.user_root(&crate::launch::tests::site_of("")).is_none());
        assert_eq!(escaped("/a:b\\c"), "/a\\:b\\\\c");
    }

    #[test]
    fn a_root_folder_must_be_whole() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().to_str().unwrap();
        for name in ["usr", "proc", "tmp"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        let error = Nspawn.check(folder).unwrap_err().to_string();
        assert!(error.contains("mkdir dev etc root run sys var"), "{error}");
        assert!(Nspawn.check("").is_ok());
        assert!(Nspawn.check("/").unwrap_err().to_string().contains("use `crun:rootfs=/`"));
    }
}
