//! What was read of files, kept until a file has another size or time stamp.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What tells a changed file from the one that was read.
#[derive(Clone, Copy, PartialEq)]
pub struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub fn of(about: &Metadata) -> Stamp {
        Stamp { bytes: about.len(), modified: about.modified().ok() }
    }
}

/// Values by key, each with the stamp of the file that it is from.
pub struct Kept<K, T> {
    /// Most values, by `size`; with more, all are forgotten.
    most: usize,
    size: fn(&T) -> usize,
    values: Mutex<Values<K, T>>,
}

struct Values<K, T> {
    size: usize,
    by_key: BTreeMap<K, (Stamp, Arc<T>)>,
}

impl<K: Ord, T> Kept<K, T> {
    pub fn new(most: usize, size: fn(&T) -> usize) -> Kept<K, T> {
        Kept { most, size, values: Mutex::new(Values { size: 0, by_key: BTreeMap::new() }) }
    }

    /// The value that was read at that stamp, or the one that `read` gives now. Nobody waits for
    /// another one's reading.
    pub fn of(&self, key: K, stamp: Stamp, read: impl FnOnce() -> T) -> Arc<T> {
        if let Some((own, value)) = self.lock().by_key.get(&key)
            && *own == stamp
        {
            return value.clone();
        }
        let value = Arc::new(read());
        let mut values = self.lock();
        if values.size > self.most {
            *values = Values { size: 0, by_key: BTreeMap::new() };
        }
        values.size += (self.size)(&value);
        if let Some((_, old)) = values.by_key.insert(key, (stamp, value.clone())) {
            values.size -= (self.size)(&old);
        }
        value
    }

    fn lock(&self) -> MutexGuard<'_, Values<K, T>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_read_again_when_its_file_has_changed_or_too_much_is_kept() {
        let kept: Kept<&str, Vec<u8>> = Kept::new(5, Vec::len);
        let old = Stamp { bytes: 1, modified: None };
        let new = Stamp { bytes: 2, modified: None };
        let never = || unreachable!("it is kept");
        assert_eq!(*kept.of("a", old, || vec![1; 3]), [1; 3]);
        assert_eq!(*kept.of("a", old, never), [1; 3]);
        assert_eq!(*kept.of("a", new, || vec![2; 3]), [2; 3]);
        assert_eq!(*kept.of("b", new, || vec![3; 3]), [3; 3]);
        assert_eq!(*kept.of("a", new, never), [2; 3]);
        assert_eq!(*kept.of("c", new, || vec![4]), [4]);
        assert_eq!(*kept.of("a", new, || vec![5]), [5], "six were kept, so all are forgotten");
    }
}
