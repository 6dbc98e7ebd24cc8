//! Reading and writing: JSON Lines in a gzip file, so that `zcat` shows everything.

use std::io::{BufRead, BufReader, Read, Write};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use super::{About, FORMAT, FileState, PathText, Recording, Stream, check};

/// The most bytes of a recording once it is unpacked.
const LARGEST: u64 = 256 << 20;

/// One line after the first.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Names(Vec<String>),
    Paths(Vec<PathText>),
    Files(Vec<FileState>),
    Stream(Stream),
    /// The last line: how many streams there are.
    End(usize),
}

/// Writes the recording.
pub fn write(recording: &Recording, output: impl Write) -> Result<()> {
    let mut packed = GzEncoder::new(output, Compression::best());
    let mut put = |text: String| packed.write_all((text + "\n").as_bytes());
    put(serde_json::to_string(&recording.about)?)?;
    put(serde_json::to_string(&Line::Names(recording.names.clone()))?)?;
    put(serde_json::to_string(&Line::Paths(recording.paths.clone()))?)?;
    put(serde_json::to_string(&Line::Files(recording.files.clone()))?)?;
    for stream in &recording.streams {
        put(serde_json::to_string(&Line::Stream(stream.clone()))?)?;
    }
    put(serde_json::to_string(&Line::End(recording.streams.len()))?)?;
    packed.finish()?.flush()?;
    Ok(())
}

/// Reads a recording and checks everything in it.
pub fn read(input: impl Read) -> Result<Recording> {
    parse(BufReader::new(GzDecoder::new(input).take(LARGEST + 1)))
}

/// Reads an unpacked recording and checks everything in it.
pub fn parse(mut lines: impl BufRead) -> Result<Recording> {
    let (mut read, mut line) = (0, String::new());
    let mut next = || -> Result<Option<String>> {
        line.clear();
        let length = lines.read_line(&mut line).context("unpacking it; it is cut or damaged")?;
        read += length as u64;
        ensure!(read <= LARGEST, "it has more than {} MiB", LARGEST >> 20);
        Ok((length > 0).then(|| line.clone()))
    };
    let first = next()?.context("it is empty")?;
    let version: Version = serde_json::from_str(&first).context("it is no recording")?;
    ensure!(
        version.recording <= FORMAT,
        "it has format {}, and this envtax reads up to {FORMAT}: take a newer envtax",
        version.recording
    );
    let about: About = serde_json::from_str(&first).context("its header is damaged")?;
    let mut recording = Recording { about, ..Recording::default() };
    let mut number = 1;
    let mut ended = None;
    while let Some(text) = next()? {
        number += 1;
        let line = serde_json::from_str(&text).with_context(|| format!("line {number}"))?;
        match line {
            Line::Names(names) => recording.names = names,
            Line::Paths(paths) => recording.paths = paths,
            Line::Files(files) => recording.files = files,
            Line::Stream(stream) => recording.streams.push(stream),
            Line::End(count) => ended = Some(count),
        }
    }
    match ended {
        Some(count) if count == recording.streams.len() => check(&recording)?,
        _ => bail!("it is cut: its last line is missing"),
    }
    Ok(recording)
}

#[derive(Deserialize)]
struct Version {
    recording: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Call, Event, Kind};

    fn small() -> Recording {
        let events = vec![(10, Event::Call(Call::new(Kind::Ids, 7))), (20, Event::Exit(0))];
        let about = About { recording: FORMAT, name: "x".into(), ..About::default() };
        let streams = vec![Stream { program: String::new(), events }];
        Recording { about, streams, ..Recording::default() }
    }

    fn bytes(recording: &Recording) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(recording, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_recording_survives_its_file() {
        assert_eq!(read(&bytes(&small())[..]).unwrap(), small());
    }

    #[test]
    fn damage_is_told() {
        let error = |bytes: &[u8]| format!("{:#}", read(bytes).unwrap_err());
        let whole = bytes(&small());
        assert!(error(&whole[..whole.len() / 2]).contains("damaged"));
        assert!(error(b"hello").contains("damaged"));
        assert!(error(b"").contains("damaged") || error(b"").contains("empty"));
        let mut newer = small();
        newer.about.recording = FORMAT + 1;
        assert!(error(&bytes(&newer)).contains("take a newer envtax"));
    }
}
