//! Filesystems that a process serves.

use anyhow::{Result, bail};

use super::{Filesystem, FilesystemInfo, MARK, Recipe, Site, Step, Way, mount_options, overlay};

pub struct Fuse;

const USAGE: &str = "fuse[:PROGRAM[:OPTIONS]]";

static INFO: FilesystemInfo = FilesystemInfo {
    kind: "fuse",
    usage: USAGE,
    summary: "a folder of the same disk through a FUSE process: bindfs or fuse-overlayfs",
    notes: include_str!("fuse.md"),
    way: Way::Served,
    over_disk: true,
};

impl Filesystem for Fuse {
    fn info(&self) -> &'static FilesystemInfo {
        &INFO
    }

    fn recipe(&self, options: &str, site: &Site) -> Result<Recipe> {
        let (program, own) = options.split_once(':').unwrap_or((options, ""));
        let own = mount_options(own, USAGE)?;
        let (source, point) = (site.path("source"), site.point());
        let remedy = "a `/dev/fuse` that this user may open (`modprobe fuse`), and OPTIONS that \
            the program takes; without root, the package fuse3";
        let (folders, package, words) = match program {
            "" | "bindfs" => {
                let own: &[&str] = if own.is_empty() { &[] } else { &["-o", own] };
                // Users may let other users in only where the administrator allows it.
                let others: &[&str] = if site.root { &[] } else { &["--no-allow-other"] };
                let words = [&["bindfs", "-f"], others, own, &[&source, &point]].concat();
                (vec![site.folder.join("source").join(MARK)], "bindfs", owned(&words))
            }
            "fuse-overlayfs" => {
                let mut layers = overlay::layers(site);
                if !own.is_empty() {
                    layers.push_str(&format!(",{own}"));
                }
                let mut folders = overlay::layer_folders(site);
                folders.push(site.folder.join("lower").join(MARK));
                let words = ["fuse-overlayfs", "-f", "-o", &layers, &point];
                (folders, "fuse-overlayfs", owned(&words))
            }
            other => bail!(
                "there is no FUSE filesystem `{other}`: write `fuse:bindfs` or \
                 `fuse:fuse-overlayfs`; another one can be mounted by hand and given by its path"
            ),
        };
        Ok(Recipe {
            folders,
            server: Some(Step { words, package, remedy: remedy.to_owned() }),
            undo: vec![owned(&["fusermount3", "-u", "-z", &point])],
            ..Recipe::default()
        })
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
