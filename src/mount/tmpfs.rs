//! A filesystem in memory.

use anyhow::Result;

use super::{Filesystem, FilesystemInfo, Recipe, Site, Step, Way, mount_options, size_and_rest};

pub struct Tmpfs;

const USAGE: &str = "tmpfs[:SIZE[:OPTIONS]]";

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "tmpfs",
    usage: USAGE,
    summary: "a filesystem in memory",
    notes: include_str!("tmpfs.md"),
    way: Way::Mounted,
    over_disk: false,
};

impl Filesystem for Tmpfs {
    fn info(&self) -> &'static FilesystemInfo {
        &INFO
    }

    fn recipe(&self, options: &str, site: &Site) -> Result<Recipe> {
        let (size, rest) = size_and_rest(options, USAGE)?;
        let own = mount_options(rest, USAGE)?;
        let size = size.map(|bytes| format!("size={bytes}")).unwrap_or_default();
        let remedy = "another SIZE and OPTIONS that this kernel takes";
        let mount = Step::mount("tmpfs", &["mode=1777", &size, own], "envtax", site, remedy);
        Ok(Recipe { steps: vec![mount], ..Recipe::default() })
    }
}
