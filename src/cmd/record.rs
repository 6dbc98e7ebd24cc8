//! `envtax record`: records a command, or shows a recording.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::measure::{self, fresh_seed};
use crate::cleanup::leftovers;
use crate::cleanup::stage::{self, Stage};
use crate::cli::{PathNames, RecordArgs};
use crate::exit::Exit;
use crate::explain;
use crate::record::{self, Order};
use crate::recording::{self, Recording};
use crate::reenact;

pub fn run(args: &RecordArgs) -> Result<Exit> {
    if let Some(path) = &args.show {
        let recording = read(path)?;
        io::stdout().write_all(explain::shown(&recording).as_bytes())?;
        return Ok(Exit::Done);
    }
    let program = Path::new(&args.command[0]).file_name().unwrap_or_default().to_string_lossy();
    let output = match &args.output {
        Some(output) => output.clone(),
        None => PathBuf::from(format!("{program}.rec")),
    };
    if !args.force && output.exists() {
        bail!("`{}` exists already; replace it with `--force`", output.display());
    }
    stage::undo_leftovers();
    let stage = Stage::make(&leftovers::fresh_token()).context("a folder for the runs")?;
    let mut recording = record::record(&Order {
        words: &args.command,
        folder: stage.path(),
        recordings: args.recordings,
        alone: args.runs,
        limit: args.timeout,
        ignore_failure: args.ignore_failure,
    })?;
    let place = stage.path().join("calibration");
    std::fs::create_dir(&place)?;
    reenact::calibrate(&mut recording, &place, args.timeout)?;
    let about = &mut recording.about;
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    about.name = stem.chars().take(40).collect();
    about.id = fresh_seed();
    about.recorded = measure::date();
    about.real_paths = args.paths == PathNames::Keep;
    if args.keep_command {
        about.command = args.command.clone();
    }
    if args.paths == PathNames::Replace {
        record::replace_names(&mut recording);
    }
    recording::check(&recording).context("the recording that was made")?;
    write(&recording, &output)?;
    // A closed stderr is no reason to fail.
    let size = fs::metadata(&output).map_or(0, |about| about.len());
    let _ = writeln!(io::stderr(), "{}", explain::summary(&recording, &output, size));
    let failed = recording.about.partial;
    Ok(if failed { Exit::Partial } else { Exit::Done })
}

/// Reads a recording that the user named.
pub(super) fn read(path: &Path) -> Result<Recording> {
    let shown = path.display();
    let file = File::open(path).with_context(|| format!("reading `{shown}`"))?;
    ensure!(!path.is_dir(), "`{shown}` is a folder, and no recording");
    recording::read(file).with_context(|| format!("the recording `{shown}` cannot be used"))
}

/// Writes it beside its place first, so that nobody sees half of it.
fn write(recording: &Recording, output: &Path) -> Result<()> {
    let shown = output.display();
    let mut name = output.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = output.with_file_name(name);
    let file = File::create(&part).with_context(|| format!("writing `{shown}`"))?;
    let done = recording::write(recording, io::BufWriter::new(file))
        .and_then(|()| Ok(fs::rename(&part, output)?));
    if done.is_err() {
        let _ = fs::remove_file(&part);
    }
    done.with_context(|| format!("writing `{shown}`"))
}
