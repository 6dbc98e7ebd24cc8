//! `envtax redact`: copies a run file without the facts that show who made it and where.

use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cli::RedactArgs;
use crate::exit::Exit;
use crate::runfile::{self, Redactor};

/// Writes the redacted copy, line by line.
pub fn run(args: &RedactArgs) -> Result<Exit> {
    // A damaged file gets the reader's own words.
    runfile::read(&args.file)?;
    let name = args.file.display();
    let input = fs::File::open(&args.file).with_context(|| format!("reading `{name}`"))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(args.force).create_new(!args.force);
    let output = args.output.display();
    if args.force && fs::canonicalize(&args.output).ok() == fs::canonicalize(&args.file).ok() {
        bail!("`{output}` is the file itself; choose another name with `-o`");
    }
    let file = options
        .open(&args.output)
        .with_context(|| format!("creating `{output}`; `--force` replaces a file that is there"))?;
    let mut file = BufWriter::new(file);
    let mut redactor = Redactor::default();
    for line in BufReader::new(input).split(b'\n') {
        let line = line.with_context(|| format!("reading `{name}`"))?;
        // Only a last line that was cut off is no JSON here.
        let Ok(mut record) = serde_json::from_slice::<Value>(&line) else { continue };
        redactor.record(&mut record);
        writeln!(file, "{record}").with_context(|| format!("writing `{output}`"))?;
    }
    file.flush().with_context(|| format!("writing `{output}`"))?;
    println!("redacted: {output}");
    Ok(Exit::Done)
}
