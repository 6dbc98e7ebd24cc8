//! A stage in use: its undo commands are written before anything starts, the guard watches it, and
//! dropping it undoes it.

use std::path::Path;

use anyhow::{Context, Result};

use super::guard::{Guard, Watch};
use super::stage::Stage;

/// A folder for what a launch or a run makes. It exists as long as this value lives. Dropping the
/// value undoes it; the guard undoes it if this process is killed, and the next run if both are.
pub struct HeldStage {
    // Fields are dropped in this order: the guard forgets the stage after it was undone.
    stage: Stage,
    undo: Vec<Vec<String>>,
    _watch: Watch,
}

impl HeldStage {
    /// Makes the stage of that id. `undo` gets its path and returns the commands that undo what
    /// will be started, in the order in which they are to run.
    pub fn make(
        id: &str,
        guard: &Guard,
        undo: impl FnOnce(&Path) -> Result<Vec<Vec<String>>>,
    ) -> Result<HeldStage> {
        let stage = Stage::make(id).with_context(|| {
            format!("making a folder for this run in `{}`", std::env::temp_dir().display())
        })?;
        let undo = undo(stage.path())?;
        stage.write_undo(&undo).context("writing down how the run is undone")?;
        let watch = guard.watch_stage(stage.path());
        Ok(HeldStage { stage, undo, _watch: watch })
    }

    /// The stage's folder.
    pub fn path(&self) -> &Path {
        self.stage.path()
    }

    /// Adds an undo command, which will run before the others.
    pub fn undo_first(&mut self, command: Vec<String>) -> Result<()> {
        self.undo.insert(0, command);
        self.stage.write_undo(&self.undo).context("writing down how the run is undone")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn touch(path: &Path) -> Vec<String> {
        vec!["touch".to_owned(), path.display().to_string()]
    }

    fn append(word: &str, path: &Path) -> Vec<String> {
        let script = format!("echo {word} >>'{}'", path.display());
        ["sh", "-c", &script].map(str::to_owned).to_vec()
    }

    fn id(number: u32) -> String {
        format!("held-{}-{number}", std::process::id())
    }

    #[test]
    fn the_guard_hears_of_a_stage_when_its_commands_are_written_down() {
        let place = tempfile::tempdir().unwrap();
        // A copy of the commands, made when the stage is announced to the guard.
        let script =
            "read -r made; cp \"${made#+}/undo.json\" seen; echo \"$made\" >told; cat >>told";
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(place.path());
        let guard = Guard::run(command).unwrap();
        let proof = place.path().join("undone");
        let stage = HeldStage::make(&id(1), &guard, |_| Ok(vec![touch(&proof)])).unwrap();
        let path = stage.path().display().to_string();
        while !place.path().join("told").exists() {
            std::thread::yield_now();
        }
        assert!(!proof.exists());
        drop(stage);
        drop(guard);
        let seen = fs::read_to_string(place.path().join("seen")).unwrap();
        assert_eq!(seen, format!("[[\"touch\",\"{}\"]]", proof.display()));
        let told = fs::read_to_string(place.path().join("told")).unwrap();
        assert_eq!(told, format!("+{path}\n-{path}\n"));
        assert!(proof.exists() && !Path::new(&path).exists());
    }

    #[test]
    fn what_was_made_last_is_undone_first() {
        let place = tempfile::tempdir().unwrap();
        let log = place.path().join("log");
        let guard = Guard::run(Command::new("true")).unwrap();
        let mut stage = HeldStage::make(&id(2), &guard, |_| Ok(vec![append("a", &log)])).unwrap();
        stage.undo_first(append("b", &log)).unwrap();
        drop(stage);
        assert_eq!(fs::read_to_string(&log).unwrap(), "b\na\n");
    }

    #[test]
    fn a_stage_whose_commands_are_not_known_is_removed() {
        let guard = Guard::run(Command::new("true")).unwrap();
        let mut made = None;
        let failed = HeldStage::make(&id(3), &guard, |path| {
            made = Some(path.to_owned());
            anyhow::bail!("no commands")
        });
        assert!(failed.is_err() && !made.unwrap().exists());
    }
}
