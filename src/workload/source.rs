//! Draws the data of workloads, texts and trees, with a seed that never changes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use rand::RngCore;
use rand_pcg::Pcg32;

/// All files were last changed then: the start of 2020.
const CHANGED: Duration = Duration::from_secs(1_577_836_800);
/// Words that texts are made of; a text of real words compresses about as well.
const WORDS: usize = 3000;

/// Draws texts.
pub struct Source {
    random: Pcg32,
    words: Vec<String>,
}

impl Source {
    /// The source of the workload of that number: each has texts of its own.
    pub fn new(stream: u64) -> Source {
        let mut source = Source { random: Pcg32::new(0x656e_7674_6178, stream), words: Vec::new() };
        let word = |source: &mut Source| -> String {
            let length = 2 + source.below(9);
            (0..length).map(|_| char::from(b'a' + source.below(26) as u8)).collect()
        };
        source.words = (0..WORDS).map(|_| word(&mut source)).collect();
        source
    }

    /// A number below that one.
    pub fn below(&mut self, limit: u32) -> u32 {
        // The upper half of a product: no division, and hardly a bias for small limits.
        ((u64::from(self.random.next_u32()) * u64::from(limit)) >> 32) as u32
    }

    /// Lines of words, exactly `bytes` bytes in all; few words are frequent, as in real texts.
    pub fn text(&mut self, bytes: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(bytes + 16);
        let mut line = 0;
        while text.len() < bytes {
            let rare = self.below(WORDS as u32);
            let word = &self.words[self.random.next_u32() as usize % (rare as usize + 1)];
            text.extend_from_slice(word.as_bytes());
            line += word.len() + 1;
            text.push(if line > 72 { b'\n' } else { b' ' });
            line *= usize::from(line <= 72);
        }
        text.truncate(bytes);
        text
    }

    /// A tree of text files in folders of two levels, of sizes from `shortest` up to `longest`.
    pub fn tree(
        &mut self,
        root: &Path,
        (folders, files): (usize, usize),
        (shortest, longest): (u32, u32),
    ) -> io::Result<()> {
        for number in 0..files {
            let folder = number % folders;
            let path = root.join(format!("part{:02}/section{:02}", folder / 10, folder % 10));
            if number < folders {
                fs::create_dir_all(&path)?;
            }
            let size = shortest + self.below(longest - shortest);
            let text = self.text(size as usize);
            write(&path.join(format!("file{number:04}.txt")), &text)?;
        }
        Ok(())
    }
}

/// Writes a file with the time of change that all have.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.set_modified(SystemTime::UNIX_EPOCH + CHANGED)
}
