//! The filesystems that can be made for a run: one file each, with its notes in a Markdown file,
//! listed once below in the order of the documents. A kind describes what is to be done;
//! `control/made_directories.rs` does it. May use `model` and `units`. Must not mount or start
//! anything.

mod fuse;
mod loopback;
mod overlay;
mod share;
mod tmpfs;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::model::suggest;
use crate::units;

/// Every kind of filesystem.
pub const FILESYSTEMS: &[&dyn Filesystem] = &[
    &loopback::Loopback,
    &tmpfs::Tmpfs,
    &overlay::Overlay,
    &fuse::Fuse,
    &share::NINEP,
    &share::VIRTIOFS,
];

/// A folder in the root of every made filesystem. An environment that does not see this folder sees
/// another filesystem.
pub const MARK: &str = "made-by-envtax";

/// The notes on all of them. `docs/FILESYSTEMS.md` begins with them.
pub const NOTES: &str = include_str!("introduction.md");

/// What a kind of filesystem is, for people. `docs/FILESYSTEMS.md` is made of it.
pub struct FilesystemInfo {
    /// The word before the first colon in `--dir NAME=KIND:OPTIONS`.
    pub kind: &'static str,
    /// How it is written, such as `tmpfs[:SIZE]`.
    pub usage: &'static str,
    pub summary: &'static str,
    /// What a user should know beyond the summary: options, what is measured and what is not.
    /// Markdown, wrapped by hand.
    pub notes: &'static str,
    pub way: Way,
    /// Made here, it lies over the disk that `TMPDIR` is on, whose cost it contains.
    pub over_disk: bool,
}

/// How the filesystem comes to be, in environments that use this machine's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It is mounted, which needs root.
    Mounted,
    /// A process serves it to the kernel, which users may start.
    Served,
    /// Only guests mount it. On this machine there is only the folder behind it.
    InGuests,
}

/// How a kind of filesystem is made.
pub trait Filesystem: Sync {
    fn info(&self) -> &'static FilesystemInfo;

    /// How to make the filesystem with these options. Wrong options are an error that says what to
    /// write.
    fn recipe(&self, options: &str, site: &Site) -> Result<Recipe>;
}

/// Where the filesystem is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Everything that belongs to this filesystem lies in this folder.
    pub folder: PathBuf,
    /// The target directory: a folder that exists already.
    pub point: PathBuf,
    /// Root makes it, and may let other users in.
    pub root: bool,
}

impl Site {
    /// A site in that folder.
    pub fn in_folder(folder: &Path, root: bool) -> Site {
        Site { folder: folder.to_owned(), point: folder.join("mnt"), root }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn point(&self) -> String {
        self.point.display().to_string()
    }
}

/// What to do, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipe {
    /// A sparse file of this size in bytes.
    pub image: Option<(PathBuf, u64)>,
    pub folders: Vec<PathBuf>,
    /// Commands that are run to their end, one after the other.
    pub steps: Vec<Step>,
    /// Serves the filesystem until it is ended. It is ready when [`MARK`] is in the target
    /// directory.
    pub server: Option<Step>,
    /// Commands that undo it, in case nothing else does.
    pub undo: Vec<Vec<String>>,
}

/// A command, and the remedy when it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub words: Vec<String>,
    /// The package with the program; empty if every system has it.
    pub package: &'static str,
    pub remedy: String,
}

impl Step {
    fn new<'a>(
        words: impl IntoIterator<Item = &'a str>,
        package: &'static str,
        remedy: &str,
    ) -> Step {
        let words = words.into_iter().map(str::to_owned).collect();
        Step { words, package, remedy: remedy.to_owned() }
    }

    /// A call of mount(8).
    fn mount(kind: &str, options: &[&str], source: &str, site: &Site, remedy: &str) -> Step {
        let options: Vec<&str> = options.iter().filter(|it| !it.is_empty()).copied().collect();
        let (options, point) = (options.join(","), site.point());
        let words = ["mount", "-t", kind, "-o", &options, source, &point];
        Step::new(words, "mount", remedy)
    }
}

/// The kind of filesystem that this text names, and its options.
pub fn find(text: &str) -> Result<(&'static dyn Filesystem, &str)> {
    let (kind, options) = text.split_once(':').unwrap_or((text, ""));
    let found = FILESYSTEMS.iter().find(|filesystem| filesystem.info().kind == kind);
    let found = found.copied().with_context(|| {
        let infos = FILESYSTEMS.iter().map(|filesystem| filesystem.info());
        // A word such as `disk` occurs in many descriptions, so only kinds are suggested.
        let known: Vec<_> = infos.map(|info| (info.kind, "")).collect();
        let unknown = match loopback::TYPES.contains(&kind) {
            true => format!("there is no kind of filesystem `{kind}`; did you mean `loop:{text}`?"),
            false => suggest::unknown("kind of filesystem", kind, &known),
        };
        format!("`{kind}` is not an absolute path, and {unknown}")
    })?;
    Ok((found, options))
}

/// Whether a filesystem that is asked for like this contains the cost of the disk below it.
pub fn is_over_disk(made: &str) -> bool {
    find(made).is_ok_and(|(filesystem, _)| filesystem.info().over_disk)
}

/// An error that says what is wrong, if this text names no filesystem.
pub fn check(text: &str) -> Result<()> {
    let (filesystem, options) = find(text)?;
    filesystem.recipe(options, &Site::in_folder(Path::new("/"), true)).map(drop)
}

/// The first field as a size, if it is one, and the rest unchanged, for mount options.
fn size_and_rest<'a>(fields: &'a str, usage: &str) -> Result<(Option<u64>, &'a str)> {
    let (size, rest) = fields.split_once(':').unwrap_or((fields, ""));
    if size.is_empty() {
        return Ok((None, rest));
    }
    let bytes = units::parse_bytes(size).filter(|bytes| *bytes > 0);
    let bytes = bytes.with_context(|| {
        format!("`{size}` is no size: write `{usage}`, with a SIZE such as `512MiB` or `2GiB`")
    })?;
    Ok((Some(bytes), rest))
}

/// The text, if it has nothing but options of mount(8), joined by commas.
fn mount_options<'a>(text: &'a str, usage: &str) -> Result<&'a str> {
    let fits = |c: char| c.is_ascii_graphic() && !"'\"`\\".contains(c);
    if text.starts_with(',') || text.ends_with(',') || text.contains(",,") {
        bail!("`{text}`: an option is empty; write `{usage}`, with OPTIONS such as `noatime`");
    }
    ensure!(text.chars().all(fits), "`{text}` are no mount options; write `{usage}`");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(text: &str) -> Recipe {
        let (filesystem, options) = find(text).unwrap();
        filesystem.recipe(options, &Site::in_folder(Path::new("/s"), true)).unwrap()
    }

    fn commands(text: &str) -> Vec<String> {
        let recipe = recipe(text);
        recipe.steps.iter().chain(&recipe.server).map(|step| step.words.join(" ")).collect()
    }

    fn error(text: &str) -> String {
        format!("{:#}", check(text).unwrap_err())
    }

    #[test]
    fn kinds_are_unique_and_described() {
        let mut kinds = std::collections::HashSet::new();
        for info in FILESYSTEMS.iter().map(|filesystem| filesystem.info()) {
            assert!(kinds.insert(info.kind), "{} twice", info.kind);
            assert!(info.usage.starts_with(info.kind));
            assert!(!info.summary.is_empty() && !info.notes.is_empty());
        }
    }

    #[test]
    fn commands_are_as_they_would_be_typed() {
        let xfs = ["mkfs.xfs -q -f /s/image", "mount -t xfs -o loop /s/image /s/mnt"];
        assert_eq!(commands("loop:xfs"), xfs);
        let zstd = "mount -t btrfs -o loop,compress=zstd /s/image /s/mnt";
        assert_eq!(commands("loop:btrfs:2GiB:compress=zstd")[1], zstd);
        assert_eq!(commands("loop:minix")[0], "mkfs.minix /s/image");
        assert_eq!(recipe("loop:ext4").image.unwrap().1, 1 << 30);
        assert_eq!(recipe("loop:ext4:64MiB").image.unwrap().1, 64 << 20);
        assert_eq!(commands("tmpfs"), ["mount -t tmpfs -o mode=1777 envtax /s/mnt"]);
        let huge = ["mount -t tmpfs -o mode=1777,size=1048576,huge=always envtax /s/mnt"];
        assert_eq!(commands("tmpfs:1MiB:huge=always"), huge);
        let layers = "lowerdir=/s/lower,upperdir=/s/upper,workdir=/s/work";
        let overlay = format!("mount -t overlay -o {layers} overlay /s/mnt");
        assert_eq!(commands("overlay"), [overlay]);
        assert_eq!(commands("fuse"), ["bindfs -f /s/source /s/mnt"]);
        assert_eq!(commands("fuse:bindfs:direct_io"), ["bindfs -f -o direct_io /s/source /s/mnt"]);
        let mut users = Site::in_folder(Path::new("/s"), false);
        users.point = "/p".into();
        let server = find("fuse").unwrap().0.recipe("", &users).unwrap().server.unwrap();
        assert_eq!(server.words.join(" "), "bindfs -f --no-allow-other /s/source /p");
        let fuse = format!("fuse-overlayfs -f -o {layers} /s/mnt");
        assert_eq!(commands("fuse:fuse-overlayfs"), [fuse]);
        assert!(commands("9p").is_empty() && commands("virtiofs:always").is_empty());
    }

    #[test]
    fn errors_name_what_was_given() {
        assert!(error("disk").contains("`disk` is not an absolute path, and there is no kind"));
        assert!(error("disk").contains("loop") && error("disk").contains("virtiofs"));
        assert!(error("ext4").contains("did you mean `loop:ext4`?"));
        assert!(error("xfs:2GiB").contains("did you mean `loop:xfs:2GiB`?"));
        assert!(error("loop").contains("write `loop:TYPE"));
        assert!(error("loop:../x").contains("`../x` is not a type of filesystem"));
        assert!(error("loop:ext4:big").contains("`big` is no size"));
        assert!(error("loop:ext4:0").contains("`0` is no size"));
        assert!(error("loop:ext4:1GiB:a b").contains("no mount options"));
        assert!(error("loop:ext4::,noatime").contains("an option is empty"));
        assert!(error("tmpfs:-1").contains("`-1` is no size"));
        assert!(error("fuse:sshfs").contains("fuse:fuse-overlayfs"));
        assert!(error("9p:a b").contains("`a b`"));
    }
}
