//! The counts of the block device under a folder.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use super::super::shared::types::Written;

/// A block device, watched through sysfs.
pub struct Device {
    stat: File,
    /// The counts of the disk that a partition is on: flushes are counted for the whole disk.
    disk: Option<File>,
    /// Whether the device has a cache of its own that has to be flushed.
    caches: bool,
}

/// Unit of the counts in bytes, whatever the size of the device's own sectors.
const SECTOR: u64 = 512;
/// Indices of the fields of `stat` (Documentation/block/stat.rst), from zero.
const SECTORS_WRITTEN: usize = 6;
const FLUSHES: usize = 15;

impl Device {
    /// The device of the filesystem that the folder is on. None where the filesystem has no device
    /// of its own (memory, networks, overlays, btrfs), or sysfs does not show it.
    pub fn under(folder: &Path) -> io::Result<Option<Device>> {
        let id = fs::metadata(folder)?.dev();
        let name = format!("/sys/dev/block/{}:{}", libc::major(id), libc::minor(id));
        let Ok(stat) = File::open(format!("{name}/stat")) else { return Ok(None) };
        let partition = Path::new(&name).join("partition").exists();
        let whole = if partition { format!("{name}/..") } else { name };
        let disk = partition.then(|| File::open(format!("{whole}/stat")).ok()).flatten();
        let cache = fs::read_to_string(format!("{whole}/queue/write_cache"));
        let caches = cache.is_ok_and(|text| text.trim() == "write back");
        let device = Device { stat, disk, caches };
        Ok(device.written().is_ok().then_some(device))
    }

    /// Its counts now. Allocates nothing.
    pub fn written(&self) -> io::Result<Written> {
        let [sectors, own_flushes] = fields(&self.stat, [SECTORS_WRITTEN, FLUSHES])?;
        let flushes = match &self.disk {
            Some(disk) => fields(disk, [FLUSHES])?[0],
            None => own_flushes,
        };
        let bytes = sectors.ok_or(io::ErrorKind::InvalidData)? * SECTOR;
        // A device that never counted a flush, such as a mapped one, passes flushes on uncounted.
        let flushes = flushes.filter(|flushes| self.caches && *flushes > 0);
        Ok(Written { bytes, flushes })
    }
}

/// The fields of a `stat` file with these indices.
fn fields<const N: usize>(stat: &File, places: [usize; N]) -> io::Result<[Option<u64>; N]> {
    let mut text = [0; 512];
    let length = stat.read_at(&mut text, 0)?;
    let text = std::str::from_utf8(&text[..length]).map_err(|_| io::ErrorKind::InvalidData)?;
    let at = |place| text.split_ascii_whitespace().nth(place).and_then(|field| field.parse().ok());
    Ok(places.map(at))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    #[test]
    fn a_device_counts_what_is_written_to_it() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(device) = Device::under(dir.path()).unwrap() else {
            println!("not tested: no device is visible here");
            return;
        };
        let before = device.written().unwrap();
        let path = dir.path().join("f");
        let mut options = fs::OpenOptions::new();
        let file = options.create(true).write(true).custom_flags(libc::O_DSYNC).open(path).unwrap();
        file.write_all_at(&[1; 100_000], 0).unwrap();
        let after = device.written().unwrap();
        assert!(after.bytes >= before.bytes + 100_000, "{before:?} {after:?}");
    }

    #[test]
    fn memory_has_no_device() {
        assert!(Device::under(Path::new("/proc")).unwrap().is_none());
    }
}
