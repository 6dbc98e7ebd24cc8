//! Wine: Windows programs on another system, their calls translated in user space.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{Launch, Launcher, LauncherInfo, Site, binaries, cache_folder, needs_program};
use crate::cleanup::child;
use crate::model::Availability;
use crate::sys;

pub struct Wine;

static INFO: LauncherInfo = LauncherInfo {
    kind: "wine",
    usage: "wine[:prefix=DIR]",
    summary: "the Windows build of envtax under Wine, without a display",
    notes: include_str!("wine.md"),
    remedy: "apt-get install wine64 wine, and have `envtax.exe`, the Windows build, beside \
             envtax; then try `wine cmd /c ver`",
    example: Some("wine"),
    staged: true,
    boot_limit_s: 60,
    version_command: &["wine", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

/// The files of a prefix other than its drives: the registry, and the time of its last update.
const REGISTRY: [&str; 4] = ["system.reg", "user.reg", "userdef.reg", ".update-timestamp"];
/// A library that programs made by Rust need, and that Wine has from version 9 on.
const RANDOM: &str = "bcryptprimitives.dll";
/// How long making a prefix may take.
const TIME_LIMIT: Duration = Duration::from_secs(180);
/// Ends all processes in the prefix `$2`. `$1` is the folder in which the prefix's server has a
/// folder of its own. Unmodified Wine uses another place, with a name made from the prefix's inode.
/// Processes whose server was killed would wait for ever.
const END: &str = r#"
[ -d "$2" ] || exit 0
TMPDIR=$1 WINEPREFIX=$2 wineserver -k
ids=$(grep -lszxF "WINEPREFIX=$2" /proc/[0-9]*/environ | cut -d / -f 3)
[ -z "$ids" ] || kill -9 $ids
servers=/tmp/.wine-$(id -u)
rm -rf "$servers/server-$(stat -c %D "$2")-$(printf %x "$(stat -c %i "$2")")"
[ ! -d "$servers" ] || rmdir "$servers"
"#;

impl Launcher for Wine {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        match needs_program("wine", INFO.remedy) {
            Availability::Available => needs_program("wineserver", INFO.remedy),
            missing => missing,
        }
    }

    fn check(&self, argument: &str) -> Result<()> {
        given_prefix(argument).map(drop)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        let (stage, prefix) = (site.stage.display().to_string(), site.in_stage("prefix"));
        let end =
            |prefix: &str| ["sh", "-c", END, "sh", &stage, prefix].map(str::to_owned).to_vec();
        let making = being_made(site.id).display().to_string();
        vec![end(&prefix), end(&making), ["rm", "-rf", &making].map(str::to_owned).to_vec()]
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let program = binaries::find(&binaries::WINDOWS, site.agent)?;
        let own = match given_prefix(site.argument)? {
            Some(prefix) => prefix,
            None => own_prefix(site)?,
        };
        let registry = fs::read_to_string(own.join("system.reg")).unwrap_or_default();
        ensure!(
            !registry.lines().take(5).any(|line| line == "#arch=win32"),
            "`{}` is a 32-bit prefix, and the agent a 64-bit program; make one with \
             `WINEARCH=win64`",
            own.display()
        );
        let place = site.stage;
        borrow_prefix(&own, &place.join("prefix"))
            .with_context(|| format!("using the Wine prefix `{}`", own.display()))?;
        fs::copy(&program, place.join("envtax.exe"))
            .with_context(|| format!("copying `{}`", program.display()))?;
        if !own.join("drive_c/windows/system32").join(RANDOM).exists() {
            let library = sys::pe::forwarder(RANDOM, "ProcessPrng", "advapi32.SystemFunction036");
            fs::write(place.join(RANDOM), library)?;
        }
        Ok(())
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let program = site.in_stage("envtax.exe");
        let prefix = site.in_stage("prefix");
        let mut words = vec!["env", "--unset=DISPLAY"];
        let own = given_prefix(site.argument)?.unwrap_or_else(|| cache_folder().join("wine"));
        if !std::env::current_dir().is_ok_and(|here| is_on_root(&here, &own)) {
            words.push("--chdir=/");
        }
        words.extend(["wine", &program, "agent"]);
        let launch = Launch::new(words).with_variable("WINEPREFIX", &prefix);
        let launch = launch.with_variable("TMPDIR", &site.stage.display().to_string());
        Ok(vec![
            VARIABLES
                .iter()
                .fold(launch, |launch, (name, value)| launch.with_variable(name, value)),
        ])
    }
}

/// No messages on the error output, and no entries in the user's menus.
const VARIABLES: [(&str, &str); 2] =
    [("WINEDEBUG", "-all"), ("WINEDLLOVERRIDES", "winemenubuilder.exe=d")];

/// Whether Wine places the folder on the drive of `/`, which it does if no other drive contains it.
/// An agent that starts there can use absolute paths of this machine; one that starts in the same
/// folder can use relative paths, too.
fn is_on_root(folder: &Path, prefix: &Path) -> bool {
    let drive = prefix.join("drive_c");
    !folder.starts_with(fs::canonicalize(&drive).unwrap_or(drive))
}

/// The prefix that the argument names, if it names one.
fn given_prefix(argument: &str) -> Result<Option<PathBuf>> {
    if argument.is_empty() {
        return Ok(None);
    }
    let Some(folder) = argument.strip_prefix("prefix=").filter(|folder| !folder.is_empty()) else {
        bail!("`{argument}` is not an option of `wine`: write `wine` or `wine:prefix=DIR`");
    };
    let path = fs::canonicalize(folder).unwrap_or_else(|_| folder.into());
    ensure!(
        path.join("system.reg").is_file(),
        "`{folder}` is not a Wine prefix, as it has no `system.reg`: make one with \
         `WINEPREFIX={folder} wineboot -i`, or leave `prefix=` out for envtax's own"
    );
    Ok(Some(path))
}

fn being_made(id: &str) -> PathBuf {
    cache_folder().join(format!("wine-{id}"))
}

/// envtax's own prefix, which is made when it is needed first.
fn own_prefix(site: &Site<'_>) -> Result<PathBuf> {
    let own = cache_folder().join("wine");
    if own.join("system.reg").is_file() {
        return Ok(own);
    }
    let making = being_made(site.id);
    fs::create_dir_all(&making).with_context(|| format!("making `{}`", making.display()))?;
    // Without Mono and Gecko, which would ask whether to download them.
    let overrides = ("WINEDLLOVERRIDES", "winemenubuilder.exe=d;mscoree,mshtml=");
    // The registry is written when the last program has ended; the second command waits for that.
    for words in [["wineboot", "-i"], ["wineserver", "-w"]] {
        let mut command = Command::new(words[0]);
        command.arg(words[1]).env("WINEPREFIX", &making).env("WINEARCH", "win64");
        command.envs(VARIABLES).envs([overrides]).env_remove("DISPLAY").env("TMPDIR", site.stage);
        let made = ends_well(&mut command);
        made.with_context(|| format!("making the Wine prefix by `{}`", words.join(" ")))?;
    }
    // Another run may have made the prefix meanwhile; it is as good.
    if fs::rename(&making, &own).is_err() {
        ensure!(own.join("system.reg").is_file(), "`{}` cannot be made", own.display());
    }
    Ok(own)
}

/// Runs a command to its end, in a session of its own. An error unless it succeeds.
fn ends_well(command: &mut Command) -> Result<()> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    sys::new_session(command);
    let mut child = command.spawn()?;
    match child::ended_within(&mut child, TIME_LIMIT, &|| false)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("it ended with {status}"),
        None => {
            sys::end_group(child.id());
            child.wait()?;
            bail!("it is not finished after {} s", TIME_LIMIT.as_secs());
        }
    }
}

/// Makes a prefix at `place` with the drives of another one and a copy of its registry.
///
/// All processes of a prefix depend on its one server. With a prefix of its own, a launch can be
/// ended without harm to others, and the registry that was copied stays unchanged.
fn borrow_prefix(from: &Path, place: &Path) -> Result<()> {
    sys::make_private_folder(place)?;
    for file in REGISTRY {
        if from.join(file).exists() {
            fs::copy(from.join(file), place.join(file))?;
        }
    }
    let drives = place.join("dosdevices");
    fs::create_dir(&drives)?;
    sys::make_link(&from.join("drive_c"), &drives.join("c:"))?;
    sys::make_link(&from.join("drive_c"), &place.join("drive_c"))?;
    sys::make_link(Path::new("/"), &drives.join("z:"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::site_of;
    use super::*;

    #[test]
    fn the_agent_starts_in_this_folder_in_a_prefix_of_its_own() {
        let launch = Wine.commands(&site_of("")).unwrap().remove(0);
        let text = launch.by_hand("/x/envtax");
        assert!(
            text.starts_with("WINEPREFIX=/stage/prefix TMPDIR=/stage WINEDEBUG=-all "),
            "{text}"
        );
        assert!(text.ends_with(" env '--unset=DISPLAY' wine /stage/envtax.exe agent"), "{text}");
        assert_eq!(Wine.undo(&site_of(""))[0][4..], ["/stage", "/stage/prefix"]);
    }

    #[test]
    fn folders_of_the_other_drive_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let real = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(real.join("drive/x")).unwrap();
        sys::make_link(&real.join("drive"), &dir.path().join("drive_c")).unwrap();
        assert!(is_on_root(&real, dir.path()) && is_on_root(Path::new("/"), dir.path()));
        assert!(!is_on_root(&real.join("drive/x"), dir.path()));
    }

    #[test]
    fn a_bad_argument_says_what_to_write() {
        let error = |argument: &str| Wine.check(argument).unwrap_err().to_string();
        assert!(Wine.check("").is_ok());
        assert!(
            error("fast").contains("`fast` is not an option") && error("prefix=").contains("DIR")
        );
        let dir = tempfile::tempdir().unwrap();
        assert!(error(&format!("prefix={}", dir.path().display())).contains("wineboot -i"));
    }

    #[test]
    fn a_borrowed_prefix_has_the_drives_and_a_registry_of_its_own() {
        let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(dir.path().join("drive_c/windows")).unwrap();
        fs::write(dir.path().join("system.reg"), "x").unwrap();
        let own = place.path().join("p");
        borrow_prefix(dir.path(), &own).unwrap();
        fs::write(own.join("system.reg"), "y").unwrap();
        assert_eq!(fs::read(dir.path().join("system.reg")).unwrap(), b"x");
        assert!(own.join("dosdevices/c:/windows").is_dir() && own.join("dosdevices/z:/").is_dir());
    }
}
