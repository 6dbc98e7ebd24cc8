//! The kernel's overlay filesystem, which containers run on.

use anyhow::Result;

use super::{Filesystem, FilesystemInfo, Recipe, Site, Step, Way, mount_options};

pub struct Overlay;

const USAGE: &str = "overlay[:OPTIONS]";

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "overlay",
    usage: USAGE,
    summary: "the kernel's overlay of an empty lower and an upper folder",
    notes: include_str!("overlay.md"),
    way: Way::Mounted,
    over_disk: true,
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

/// The layers, written as a mount option.
pub(super) fn layers(site: &Site) -> String {
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| site.path(name));
    format!("lowerdir={lower},upperdir={upper},workdir={work}")
}

/// The folders of the layers.
pub(super) fn layer_folders(site: &Site) -> Vec<std::path::PathBuf> {
    ["lower", "upper", "work"].map(|name| site.folder.join(name)).to_vec()
}
