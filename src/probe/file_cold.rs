//! Brings a file into the page cache or evicts it, and checks that this happened.

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};

use super::incompressible;
use crate::sys::{self, CacheView};

/// Attempts to bring a file into the cache, or to evict it.
const TRIES: usize = 3;
/// Most bytes of the file on which a view is tried.
const TRIAL: u64 = 1 << 20;

/// Evicts files and checks that they are gone, with a view of the cache that was tried before.
pub struct Cold {
    means: Option<CacheView>,
    /// The view that tells, or why none does.
    pub note: String,
}

impl Cold {
    /// Tries the views on a file of `folder` that was just read, and then evicted. The file is no
    /// longer than the one that is to be measured, for which there is room.
    pub fn by_trial(folder: &Path, total: u64) -> Result<Cold> {
        let path = folder.join("trial");
        let made = fs::write(&path, incompressible(total.min(TRIAL) as usize));
        made.with_context(|| format!("creating `{}`", path.display()))?;
        let tried = CacheView::ALL.map(|view| (view, tells(view, &path)));
        fs::remove_file(&path)?;
        if let Some((view, _)) = tried.iter().find(|(_, told)| told.is_ok()) {
            let note = format!("cold, as {} tells", view.name());
            return Ok(Cold { means: Some(*view), note });
        }
        let why = |(view, told): &(CacheView, Result<(), String>)| {
            Some(format!("{} {}", view.name(), told.as_ref().err()?))
        };
        let why: Vec<String> = match sys::volume(folder)?.in_memory {
            Some(name) => vec![format!("the folder is in memory ({name})")],
            None if tried.is_empty() => vec!["this system does not tell what is cached".into()],
            None => tried.iter().filter_map(why).collect(),
        };
        let note = format!("requested cold, not verified: {}", why.join("; "));
        Ok(Cold { means: None, note })
    }

    /// Evicts the file by `evict`; returns whether it is known to be gone.
    pub fn put_out(&self, file: &File, evict: impl Fn() -> std::io::Result<()>) -> Result<bool> {
        for _ in 0..TRIES {
            evict().context("evicting the file from the cache")?;
            let Some(means) = self.means else { return Ok(false) };
            let (resident, looked_at) = means.resident(file)?;
            if means.brings_in() {
                evict()?;
            }
            if resident * 100 <= looked_at {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Checks that this view tells a file that was just read from one that was just evicted. The error
/// says what it did instead, as the end of a sentence.
fn tells(view: CacheView, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("fails ({error})");
    let file = File::open(path).map_err(failed)?;
    file.sync_data().map_err(failed)?;
    fs::read(path).map_err(failed)?;
    let (hot, looked_at) = view.resident(&file).map_err(failed)?;
    if hot * 100 < looked_at * 99 {
        return Err("does not see what was just read".into());
    }
    for _ in 0..TRIES {
        sys::evict(&file).map_err(failed)?;
        let (left, _) = view.resident(&file).map_err(failed)?;
        if left * 100 <= looked_at {
            return Ok(());
        }
    }
    Err("still sees what was evicted".into())
}

/// Reads the file by `pass` until all of it is in the cache, where that can be told. Returns a
/// sentence if it is not known to be there.
pub fn warm(path: &Path, mut pass: impl FnMut() -> Result<()>) -> Result<Option<&'static str>> {
    let file = File::open(path)?;
    for _ in 0..TRIES {
        pass()?;
        // Where nothing tells, one pass has to do.
        let Some(missing) = missing(&file) else {
            return Ok(Some("requested warm, not verified: what is cached cannot be told here"));
        };
        if missing == 0 {
            return Ok(None);
        }
    }
    Ok(Some("requested warm, but a part of the file is not in the page cache after reading it"))
}

/// Pages of the file that are not in the cache, by the first view that answers.
pub fn missing(file: &File) -> Option<u64> {
    let exact = CacheView::ALL.into_iter().filter(|view| !view.brings_in());
    let (resident, of) = exact.flat_map(|view| view.resident(file)).next()?;
    Some(of - resident)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_warmed_and_put_out() {
        // The temporary folder may be in memory; the build folder seldom is.
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let cold = Cold::by_trial(dir.path(), 1 << 20).unwrap();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "the trial is removed");
        let path = dir.path().join("f");
        fs::write(&path, incompressible(1 << 20)).unwrap();
        let file = File::open(&path).unwrap();
        let note = warm(&path, || Ok(fs::read(&path).map(drop)?)).unwrap();
        assert!(note.is_none_or(|note| note.starts_with("requested warm")));
        let gone = cold.put_out(&file, || sys::evict(&file)).unwrap();
        assert_eq!(gone, cold.note.starts_with("cold, as"), "{}", cold.note);
    }

    #[test]
    fn memory_is_never_called_cold() {
        let shared = Path::new("/dev/shm");
        let Some(dir) = tempfile::tempdir_in(shared).ok() else { return };
        if sys::volume(shared).unwrap().in_memory.is_some() {
            let cold = Cold::by_trial(dir.path(), 1 << 20).unwrap();
            let words = "requested cold, not verified: the folder is in memory (tmpfs)";
            assert_eq!(cold.note, words);
            let file = File::create(dir.path().join("f")).unwrap();
            assert!(!cold.put_out(&file, || sys::evict(&file)).unwrap());
        }
    }
}
