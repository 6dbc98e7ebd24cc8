//! Shared by kinds with their own kernel: the options of their arguments, the filesystems of their
//! guests, and the initramfs. May use what `launch` uses. Must not know one of the kinds.

mod archive;
pub(super) mod control_boot;
pub(super) mod kernel;
mod options;

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

pub(super) use options::Options;

use super::Site;
use crate::model::DATA_DIR;
use crate::protocol::guest::{AGENT, Mount, ORDERS, Orders};
use crate::units::parse_bytes;
use archive::Archive;

/// Size of a disk when none is given. It takes as much space on this machine as is written to it.
const DISK: u64 = 1 << 30;
/// Filesystems that a disk can have, with the options that make one without questions. They leave
/// nothing to be initialised later, while the guest is measured.
const DISK_FILESYSTEMS: &[(&str, &[&str])] = &[
    ("ext4", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]),
    ("xfs", &["-q", "-f"]),
    ("btrfs", &["-q", "-f"]),
];

/// The last words of the kernel's command line, which start the agent.
pub(super) fn init_words() -> [String; 6] {
    ["--", "agent", "--self", AGENT, "--enter", &format!("guest:{ORDERS}")].map(str::to_owned)
}

/// The first word of the kernel's command line: the program to start.
pub(super) fn init_program() -> String {
    format!("rdinit={AGENT}")
}

/// The kernel's word for a guest with a root folder. The kernel passes words that it does not know
/// on to its first process, as variables.
pub(super) fn root_words(options: &Options<'_>) -> Result<Option<String>> {
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    Ok(options.root()?.map(|_| path.to_owned()))
}

/// The contents of a folder in a guest.
#[derive(Debug, PartialEq)]
pub(super) enum Made<'a> {
    /// A disk of its own: an image in the stage.
    Disk { filesystem: &'a str, bytes: u64 },
    /// Memory of the guest.
    Memory { size: &'a str },
    /// A folder of this machine, shared in the way `how`.
    Share { how: &'a str, option: &'a str },
    /// Nothing is made: the guest's own folder of that path, if it exists.
    Nothing,
}

impl<'a> Made<'a> {
    /// Parses `loop:FILESYSTEM[:SIZE]`, `tmpfs[:SIZE]` and `SHARE[:OPTION]`.
    pub(super) fn of(text: &'a str) -> Result<Made<'a>> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        Ok(match kind {
            "" => Made::Nothing,
            "tmpfs" => Made::Memory { size: rest },
            "loop" => {
                let (filesystem, size) = rest.split_once(':').unwrap_or((rest, ""));
                let kinds: Vec<_> = DISK_FILESYSTEMS.iter().map(|(kind, _)| *kind).collect();
                ensure!(
                    kinds.contains(&filesystem),
                    "`{text}`: a guest's disk can have {}",
                    kinds.join(", ")
                );
                let bytes = if size.is_empty() { Some(DISK) } else { parse_bytes(size) };
                let bytes = bytes.with_context(|| format!("`{text}`: write a size as `1GiB`"))?;
                Made::Disk { filesystem, bytes }
            }
            // The folder of workloads. It is shared in the same way as a root folder.
            DATA_DIR => Made::Share { how: "9p", option: "loose" },
            how => Made::Share { how, option: rest },
        })
    }
}

/// A folder of a guest that its kernel does not provide.
pub(super) struct Folder<'a> {
    /// Path in the guest.
    pub(super) point: &'a str,
    pub(super) made: Made<'a>,
    /// The folder of this machine that a share shows.
    pub(super) host: PathBuf,
    /// Name of the disk's image in the stage.
    pub(super) image: String,
}

impl Folder<'_> {
    pub(super) fn image_in(&self, site: &Site<'_>) -> String {
        site.in_stage(&self.image)
    }

    /// Whether this machine has the folder. A folder in the stage will be made before it is needed.
    pub(super) fn is_shareable(&self, site: &Site<'_>) -> bool {
        self.host.starts_with(site.stage) || self.host.is_dir()
    }
}

/// A filesystem in the guest's memory.
pub(super) fn memory_mount(point: &str, size: &str) -> Mount {
    let options = if size.is_empty() { String::new() } else { format!("size={size}") };
    Mount::new("tmpfs", "tmpfs", point, &options)
}

/// The folders of a guest: the one for temporary files, then the target directories.
pub(super) fn folders<'a>(site: &Site<'a>, tmp: &'a str) -> Result<Vec<Folder<'a>>> {
    let own = ("/tmp", tmp, site.stage.join("tmp"));
    let dirs = site.dirs.iter().filter(|dir| !dir.path.is_empty());
    let dirs = dirs.map(|dir| (dir.path.as_str(), dir.made.as_str(), PathBuf::from(&dir.path)));
    let all = std::iter::once(own).chain(dirs).enumerate();
    all.map(|(number, (point, made, host))| {
        let image = format!("disk-{number}.img");
        Ok(Folder { point, made: Made::of(made)?, host, image })
    })
    .collect()
}

/// Makes the files that the guest starts from: the disks of its folders, and the archive with the
/// agent, its orders and these modules.
pub(super) fn make_boot_files(
    site: &Site<'_>,
    folders: &[Folder<'_>],
    modules: &[PathBuf],
    mut orders: Orders,
) -> Result<()> {
    ensure!(
        cfg!(target_feature = "crt-static"),
        "this build of envtax needs a C library, which the guest does not have: take the released \
         binary, or build for x86_64-unknown-linux-musl"
    );
    let own = site.stage.join("tmp");
    fs::create_dir(&own).with_context(|| format!("making `{}`", own.display()))?;
    for folder in folders {
        if let Made::Disk { filesystem, bytes } = folder.made {
            make_disk(&site.stage.join(&folder.image), filesystem, bytes)?;
        }
    }
    let path = archive_in(site);
    let mut archive = Archive::create(Path::new(&path))?;
    archive.add_file(AGENT, Path::new(site.agent))?;
    archive.add_folder("/modules")?;
    for module in modules {
        let name = module.file_name().context("a module without a name")?.to_string_lossy();
        let inside = format!("/modules/{name}");
        archive.add_file(&inside, module)?;
        orders.modules.push(inside);
    }
    archive.add(ORDERS, &serde_json::to_vec(&orders)?)?;
    archive.finish()
}

/// Ends what is left of a machine whose controller and guard were both killed: the machine does not
/// notice that its input has ended. Each of its processes has the stage's path in its command.
pub(super) fn kill_command(site: &Site<'_>) -> Vec<String> {
    // With a slash at its end, the path of one launch is not the beginning of another's.
    ["pkill", "-KILL", "-f", &site.in_stage("")].map(str::to_owned).to_vec()
}

/// The archive's path.
pub(super) fn archive_in(site: &Site<'_>) -> String {
    site.in_stage("initramfs")
}

/// Makes an image with an empty filesystem.
fn make_disk(path: &Path, filesystem: &str, bytes: u64) -> Result<()> {
    let image = File::create(path).and_then(|image| image.set_len(bytes));
    image.with_context(|| format!("making the disk `{}`", path.display()))?;
    let options = DISK_FILESYSTEMS.iter().find(|(kind, _)| *kind == filesystem);
    let (_, options) = options.context("an unknown filesystem")?;
    let program = format!("mkfs.{filesystem}");
    // Not every user's search path has the folder of these programs.
    let mut search = std::env::var_os("PATH").unwrap_or_default();
    search.push(OsString::from(":/usr/sbin:/sbin"));
    let mut command = Command::new(&program);
    command.args(*options).arg(path).env("PATH", search).stdin(Stdio::null());
    let done = command.output().with_context(|| {
        let package = if filesystem == "ext4" { "e2fs" } else { filesystem };
        format!("starting `{program}`: apt-get install {package}progs")
    })?;
    if !done.status.success() {
        bail!("{program} ended with {}: {}", done.status, last_line(&done.stderr));
    }
    Ok(())
}

fn last_line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_what_they_are_made_of() {
        let disk = Made::Disk { filesystem: "ext4", bytes: 1 << 30 };
        assert_eq!(Made::of("loop:ext4").unwrap(), disk);
        let disk = Made::Disk { filesystem: "xfs", bytes: 300 << 20 };
        assert_eq!(Made::of("loop:xfs:300MiB").unwrap(), disk);
        assert_eq!(Made::of("tmpfs:1G").unwrap(), Made::Memory { size: "1G" });
        assert_eq!(Made::of("9p:loose").unwrap(), Made::Share { how: "9p", option: "loose" });
        assert_eq!(Made::of(DATA_DIR).unwrap(), Made::of("9p:loose").unwrap());
        assert_eq!(Made::of("").unwrap(), Made::Nothing);
        let error = |text| Made::of(text).unwrap_err().to_string();
        assert!(error("loop:ntfs").contains("ext4, xfs, btrfs"));
        assert!(error("loop:ext4:big").contains("1GiB"));
    }
}
