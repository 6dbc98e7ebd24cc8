//! Compares what an environment called durable with what the device under it wrote meanwhile.

use std::path::Path;

use anyhow::{Context, Result};

use crate::model::Extras;
use crate::sys::{self, Written};

/// The times during which something was made durable.
pub struct Durable {
    device: Option<sys::Device>,
    notes: Vec<String>,
    before: Written,
    start_ns: u64,
    claimed_bytes: u64,
    durable_ns: u64,
    device_bytes: u64,
    device_flushes: Option<u64>,
}

impl Durable {
    /// For files in this folder.
    pub fn under(folder: &Path) -> Result<Durable> {
        let asked = || format!("asking for the device under `{}`", folder.display());
        let device = sys::Device::under(folder).with_context(asked)?;
        let mut notes = Vec::new();
        match sys::volume(folder).with_context(asked)?.in_memory {
            Some(name) => notes.push(format!(
                "the folder is in memory ({name}): nothing written there is durable"
            )),
            None if device.is_none() => notes.push(
                "the device under the folder does not show what it writes: whether durable data \
                 reaches one is not checked"
                    .into(),
            ),
            None => {}
        }
        let mut durable = Durable {
            device,
            notes,
            before: Written::default(),
            start_ns: 0,
            claimed_bytes: 0,
            durable_ns: 0,
            device_bytes: 0,
            device_flushes: None,
        };
        durable.begin()?;
        durable.device_flushes = durable.before.flushes.map(|_| 0);
        Ok(durable)
    }

    /// Starts an interval: everything is written in it that the next [`Durable::end`] calls
    /// durable.
    pub fn begin(&mut self) -> Result<()> {
        self.before = self.written()?;
        self.start_ns = sys::now_ns();
        Ok(())
    }

    /// Ends the interval: `bytes` are said to be durable now.
    pub fn end(&mut self, bytes: u64) -> Result<()> {
        self.durable_ns += sys::now_ns().saturating_sub(self.start_ns);
        self.claimed_bytes += bytes;
        let written = self.written()?;
        self.device_bytes += written.bytes.saturating_sub(self.before.bytes);
        if let (Some(sum), Some(after), Some(before)) =
            (&mut self.device_flushes, written.flushes, self.before.flushes)
        {
            *sum += after.saturating_sub(before);
        }
        Ok(())
    }

    fn written(&self) -> Result<Written> {
        let written = self.device.as_ref().map(sys::Device::written).transpose();
        Ok(written.context("reading the device's counts")?.unwrap_or_default())
    }

    /// Adds the counters, and why some are missing.
    pub fn report(&self, extras: &mut Extras) {
        let counters = [
            ("claimed_bytes", Some(self.claimed_bytes)),
            ("durable_ns", Some(self.durable_ns)),
            ("device_bytes", self.device.as_ref().map(|_| self.device_bytes)),
            ("device_flushes", self.device_flushes),
        ];
        let known = counters.into_iter().filter_map(|(name, count)| Some((name.into(), count?)));
        extras.counters.extend(known);
        extras.notes.extend(self.notes.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    #[test]
    fn memory_is_said_to_be_memory() {
        let shared = Path::new("/dev/shm");
        if sys::volume(shared).is_ok_and(|volume| volume.in_memory == Some("tmpfs")) {
            let mut durable = Durable::under(shared).unwrap();
            durable.end(10).unwrap();
            let mut extras = Extras::default();
            durable.report(&mut extras);
            let note = "the folder is in memory (tmpfs): nothing written there is durable";
            assert_eq!(extras.notes, [note]);
            assert_eq!(extras.counters["claimed_bytes"], 10);
            assert!(!extras.counters.contains_key("device_bytes"));
        }
    }

    #[test]
    fn a_synced_file_is_seen_on_the_device_where_there_is_one() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let mut durable = Durable::under(dir.path()).unwrap();
        durable.begin().unwrap();
        let mut file = File::create(dir.path().join("f")).unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        file.sync_all().unwrap();
        durable.end(1 << 20).unwrap();
        let mut extras = Extras::default();
        durable.report(&mut extras);
        match extras.counters.get("device_bytes") {
            Some(bytes) => assert!(*bytes >= extras.counters["claimed_bytes"]),
            None => assert_eq!(extras.notes.len(), 1, "it says why"),
        }
    }
}
