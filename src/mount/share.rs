//! Folders of this machine that a guest mounts.

use anyhow::{Result, ensure};

use super::{Filesystem, FilesystemInfo, Recipe, Site, Way};

/// A way for a guest to mount a folder of this machine.
pub struct Share(&'static FilesystemInfo);

pub static NINEP: Share = Share(&FilesystemInfo {
    kind: "9p",
    usage: "9p[:CACHE]",
    summary: "a folder of this machine as a guest sees it over 9p (`--env vm`)",
    notes: include_str!("9p.md"),
    way: Way::InGuests,
    over_disk: false,
});

pub static VIRTIOFS: Share = Share(&FilesystemInfo {
    kind: "virtiofs",
    usage: "virtiofs[:CACHE]",
    summary: "a folder of this machine as a guest sees it over virtiofs (`--env vm`)",
    notes: "\
CACHE is the server's, such as `auto` or `always`. As with `9p`, the other
environments have the folder itself.",
    way: Way::InGuests,
    over_disk: false,
});

impl Filesystem for Share {
    fn info(&self) -> &'static FilesystemInfo {
        self.0
    }

    fn recipe(&self, options: &str, _site: &Site) -> Result<Recipe> {
        let plain = options.chars().all(|c| c.is_ascii_alphanumeric());
        ensure!(plain, "`{options}` is not a cache mode: write `{}`", self.0.usage);
        Ok(Recipe::default())
    }
}
