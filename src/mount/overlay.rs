//! The kernel's overlay filesystem, which containers run on.

use anyhow::Result;

use super::{Filesystem, FilesystemInfo, Recipe, Site, Step, Way, mount_options};

pub struct Overlay;

const USAGE: &str = "overlay[:OPTIONS]";

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "overlay",
    usage: USAGE,
    summary: "the kernel's overlay of an empty lower and an upper folder",
    notes: "\
OPTIONS are those of mount(8), such as `volatile`. The layers are folders in
`TMPDIR`: compare with `--dir disk=PATH` on the same filesystem to see what the
overlay adds.

Files that a probe makes are in the upper layer, as those that a container made are:
figures are those of such files. The first write to a file of the lower layer, which
copies it, is not measured. Opening a file took twice as long as without it.

An overlay over an overlay is refused by the kernel: inside a container, set
`TMPDIR` to a volume.",
    way: Way::Mounted,
};

impl Filesystem for Overlay {
    fn info(&self) -> &'static FilesystemInfo {
        &INFO
    }

    fn recipe(&self, options: &str, site: &Site) -> Result<Recipe> {
        let own = mount_options(options, USAGE)?;
        let remedy = "a `TMPDIR` on a filesystem that can be an upper layer (ext4, XFS, Btrfs, \
            tmpfs; no overlay), and OPTIONS that this kernel takes";
        let layers = layers(site);
        let mount = Step::mount("overlay", &[&layers, own], "overlay", site, remedy);
        Ok(Recipe { folders: layer_folders(site), steps: vec![mount], ..Recipe::default() })
    }
}

/// The layers as a mount option.
pub(super) fn layers(site: &Site) -> String {
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| site.path(name));
    format!("lowerdir={lower},upperdir={upper},workdir={work}")
}

/// The layers as folders.
pub(super) fn layer_folders(site: &Site) -> Vec<std::path::PathBuf> {
    ["lower", "upper", "work"].map(|name| site.folder.join(name)).to_vec()
}
