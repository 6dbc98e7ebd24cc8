//! A filesystem in memory.

use anyhow::Result;

use super::{Filesystem, FilesystemInfo, Recipe, Site, Step, Way, mount_options, size_and_rest};

pub struct Tmpfs;

const USAGE: &str = "tmpfs[:SIZE[:OPTIONS]]";

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "tmpfs",
    usage: USAGE,
    summary: "a filesystem in memory",
    notes: "\
SIZE is the most that it may hold; if not given, what the kernel takes: half of the
memory. OPTIONS are those of mount(8), such as `huge=always`.

Nothing in it is durable, and nothing can be made cold. Direct access is accepted
since Linux 6.6 and goes to memory all the same. It is the floor of what a
filesystem of this kernel can cost, except in reads of large blocks: 1 MiB took 1.7
to 2.5 times as long as from ext4, whose pages in the cache are larger, and as long
(1.01×, 0.96–1.06) with `huge=always`.",
    way: Way::Mounted,
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
