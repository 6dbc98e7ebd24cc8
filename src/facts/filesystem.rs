//! The filesystem behind a target directory, and the device behind that.

use std::fs;
use std::path::Path;

use super::Sheet;
use super::root::{Root, chosen};
use crate::model::Facts;
use crate::sys;

/// Options that name places: they differ from run to run and affect no cost.
const PLACES: &[&str] = &["lowerdir", "upperdir", "workdir", "fd", "rfdno", "wfdno"];

/// The facts of the filesystem that serves `path`, from the mount table. `statfs` is not asked,
/// because 9p answers with the type of the filesystem behind it.
pub fn filesystem(path: &Path) -> Facts {
    let canonical = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut facts = facts_of(&Root(Path::new("/")), &canonical);
    if let Ok(volume) = sys::volume(&canonical)
        && volume.size > 0
    {
        facts.insert("size".into(), volume.size.to_string());
    }
    facts.extend(sys::volume_facts(path).into_iter().map(|(name, value)| (name.to_owned(), value)));
    facts
}

fn facts_of(root: &Root<'_>, path: &Path) -> Facts {
    let mut facts = Sheet::default();
    // Read as a whole: the tables of machines with many containers are long.
    let table = fs::read_to_string(root.path("/proc/self/mountinfo")).unwrap_or_default();
    let Some(mount) = mount_of(&table, path) else { return facts.0 };
    facts.put("filesystem", Some(mount.kind.to_owned()));
    facts.put("source", Some(mount.source.to_owned()));
    facts.put("options", Some(mount.options.to_owned()));
    let own = |option: &&str| {
        !PLACES.contains(&option.split(['=', '+']).next().unwrap_or_default())
            // A word in both lists is one fact.
            && !mount.options.split(',').any(|other| other == *option)
    };
    let options: Vec<&str> = mount.filesystem_options.split(',').filter(own).collect();
    facts.put("filesystem_options", Some(options.join(",")));
    put_device(&mut facts, root, &mount);
    if let Some(file) = facts.0.get("backing_file").cloned() {
        let below = mount_of(&table, Path::new(&file)).map(|below| below.kind.to_owned());
        facts.put("backing_filesystem", below);
    }
    facts.0
}

/// Facts of the block device behind the mount, if there is one.
fn put_device(facts: &mut Sheet, root: &Root<'_>, mount: &Mount<'_>) {
    let by_number = format!("/sys/dev/block/{}", mount.device);
    // Some filesystems number their volumes by themselves, but name the device.
    let name = mount.source.strip_prefix("/dev/").unwrap_or_default();
    let by_name = format!("/sys/class/block/{name}");
    let known = if root.has(&by_number) {
        by_number
    } else if !name.is_empty() && root.has(&by_name) {
        by_name
    } else {
        return;
    };
    let whole = match root.has(&format!("{known}/partition")) {
        true => format!("{known}/.."),
        false => known,
    };
    let line = |file: &str| root.first_line(&format!("{whole}/{file}"));
    facts.put("device_model", line("device/model"));
    facts.put("backing_file", line("loop/backing_file"));
    facts.put("rotational", line("queue/rotational"));
    facts.put("scheduler", line("queue/scheduler").map(|text| chosen(&text)));
    facts.put("write_cache", line("queue/write_cache"));
}

/// A line of the mount table (proc(5), mountinfo).
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mount<'a> {
    /// Major and minor number.
    pub device: &'a str,
    /// The folder of the filesystem that is mounted.
    pub root: &'a str,
    pub point: String,
    pub options: &'a str,
    pub kind: &'a str,
    pub source: &'a str,
    pub filesystem_options: &'a str,
}

impl<'a> Mount<'a> {
    fn read(line: &'a str) -> Option<Mount<'a>> {
        let (left, right) = line.split_once(" - ")?;
        let (mut left, mut right) = (left.split(' ').skip(2), right.split(' '));
        Some(Mount {
            device: left.next()?,
            root: left.next()?,
            point: left.next()?.replace("\\040", " "),
            options: left.next()?,
            kind: right.next()?,
            source: right.next()?,
            filesystem_options: right.next().unwrap_or_default(),
        })
    }
}

/// Every mount of the table.
pub(super) fn mounts(table: &str) -> impl Iterator<Item = Mount<'_>> {
    table.lines().filter_map(Mount::read)
}

/// The deepest mount that holds `path`. A later mount on the same point hides the earlier one.
fn mount_of<'a>(table: &'a str, path: &Path) -> Option<Mount<'a>> {
    mounts(table)
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.len())
}

#[cfg(test)]
mod tests {
    use super::super::root::made;
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime - ext4 /dev/root rw,relatime,discard
40 22 0:30 / /proc rw - proc proc rw
41 22 0:31 / /mnt/with\\040space ro,nodev shared:5 - tmpfs none rw
42 22 0:32 / /mnt rw - 9p host rw
43 22 0:33 / /mnt rw - fuse.x top rw
44 22 0:34 / /over rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/c,workdir=/d,xino=off
45 22 0:35 /@home /home rw - btrfs /dev/sdb2 rw,subvol=/@home
";

    #[test]
    fn the_deepest_and_last_mount_counts() {
        let kind = |path: &str| mount_of(TABLE, Path::new(path)).unwrap().kind;
        assert_eq!(kind("/etc/x"), "ext4");
        assert_eq!(kind("/mnt/with space/x"), "tmpfs");
        assert_eq!(kind("/mnt/other"), "fuse.x");
        assert_eq!(kind("/mntx"), "ext4");
        assert_eq!(mount_of("", Path::new("/")), None);
    }

    #[test]
    fn options_and_devices_are_told_without_places() {
        let system = made::system(&[
            ("/proc/self/mountinfo", TABLE),
            ("/sys/dev/block/8:1/queue/scheduler", "none [mq-deadline] bfq\n"),
            ("/sys/dev/block/8:1/queue/rotational", "0\n"),
            ("/sys/class/block/sdb2/partition", "2\n"),
            ("/sys/class/block/device/model", "a disk\n"),
        ]);
        let of = |path: &str| facts_of(&Root(system.path()), Path::new(path));
        let root = of("/x");
        assert_eq!(
            (root["options"].as_str(), root["filesystem_options"].as_str()),
            ("rw,relatime", "discard")
        );
        assert_eq!((root["scheduler"].as_str(), root["rotational"].as_str()), ("mq-deadline", "0"));
        assert_eq!(of("/over")["filesystem_options"], "xino=off");
        let home = of("/home/x");
        assert_eq!(home["filesystem_options"], "subvol=/@home");
        assert_eq!(home["device_model"], "a disk", "of the disk that the partition is of");
        assert!(!of("/mnt").contains_key("scheduler"));
    }
}
