//! An image file on a loop device.

use anyhow::{Result, ensure};

use super::{Filesystem, FilesystemInfo, Recipe, Site, Step, Way, mount_options, size_and_rest};

pub struct Loopback;

const USAGE: &str = "loop:TYPE[:SIZE[:OPTIONS]]";
/// Size of an image when none is given. It is above the smallest size of ext4, XFS and Btrfs.
const SIZE: u64 = 1 << 30;

/// Types that are known by name: words that a user may write without `loop:`.
pub(super) const TYPES: [&str; 10] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "ntfs", "minix"];

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "loop",
    usage: USAGE,
    summary: "a fresh ext4, xfs, btrfs or other filesystem in an image file",
    notes: include_str!("loopback.md"),
    way: Way::Mounted,
    over_disk: true,
};

impl Filesystem for Loopback {
    fn info(&self) -> &'static FilesystemInfo {
        &INFO
    }

    fn recipe(&self, options: &str, site: &Site) -> Result<Recipe> {
        let (kind, rest) = options.split_once(':').unwrap_or((options, ""));
        ensure!(!kind.is_empty(), "the type is missing: write `{USAGE}`, such as `loop:ext4`");
        let plain = kind.chars().all(|c| c.is_ascii_alphanumeric());
        ensure!(
            plain,
            "`{kind}` is not a type of filesystem: write `{USAGE}`, such as `loop:ext4`"
        );
        let (size, rest) = size_and_rest(rest, USAGE)?;
        let own = mount_options(rest, USAGE)?;
        let image = site.path("image");
        let (package, first): (_, &[&str]) = match kind {
            "ext2" | "ext3" | "ext4" => {
                ("e2fsprogs", &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"])
            }
            "xfs" => ("xfsprogs", &["-q", "-f"]),
            "btrfs" => ("btrfs-progs", &["-q", "-f"]),
            _ => ("", &[]),
        };
        let program = format!("mkfs.{kind}");
        let words = [program.as_str()].into_iter().chain(first.iter().copied()).chain([&*image]);
        let another = "another SIZE (`loop:TYPE:2GiB`), if that is what it complains about";
        let make = Step::new(words, package, another);
        let known = "a TYPE that this kernel has (`/proc/filesystems`, `modprobe TYPE`) and \
            OPTIONS that it takes";
        let mount = Step::mount(kind, &["loop", own], &image, site, known);
        Ok(Recipe {
            image: Some((site.folder.join("image"), size.unwrap_or(SIZE))),
            steps: vec![make, mount],
            ..Recipe::default()
        })
    }
}
