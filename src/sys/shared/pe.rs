//! Programs and libraries of Windows of a few bytes, as files (PE/COFF specification).
//!
//! They are assembled here rather than shipped as files, so that what they do can be read in their
//! source.

/// Address of the one section, relative to the image.
pub const SECTION: u32 = 0x1000;

/// A program or a library of one section, which may be read and executed.
pub struct Image<'a> {
    pub section: &'a [u8],
    pub library: bool,
    /// Address of a program's first instruction, relative to the image.
    pub entry: u32,
    /// Data directories: index, address relative to the image, and bytes.
    pub directories: &'a [(usize, u32, u32)],
}

/// Index of the data directory of exports.
const EXPORTS: usize = 0;
const PE: usize = 64;
const COFF: usize = PE + 4;
const OPTIONAL: usize = COFF + 20;
const DIRECTORIES: usize = OPTIONAL + 112;
const TABLE: usize = DIRECTORIES + 16 * 8;
/// Bytes before the section; files are multiples of it.
pub const HEADERS: usize = 512;
const MACHINE_X86_64: u16 = 0x8664;

impl Image<'_> {
    /// The file, for 64-bit x86, in `BYTES` bytes: a multiple of [`HEADERS`].
    pub const fn file<const BYTES: usize>(&self) -> [u8; BYTES] {
        let mut file = [0; BYTES];
        let data = BYTES - HEADERS;
        put(&mut file, 0, b"MZ");
        put(&mut file, 60, &(PE as u32).to_le_bytes());
        put(&mut file, PE, b"PE\0\0");
        put(&mut file, COFF, &MACHINE_X86_64.to_le_bytes());
        put(&mut file, COFF + 2, &1u16.to_le_bytes()); // sections
        put(&mut file, COFF + 16, &((TABLE - OPTIONAL) as u16).to_le_bytes());
        // An executable image for large addresses; a library or not.
        let kind: u16 = if self.library { 0x2022 } else { 0x22 };
        put(&mut file, COFF + 18, &kind.to_le_bytes());
        put(&mut file, OPTIONAL, &0x20bu16.to_le_bytes()); // PE32+
        put(&mut file, OPTIONAL + 4, &(data as u32).to_le_bytes()); // code
        put(&mut file, OPTIONAL + 16, &self.entry.to_le_bytes());
        put(&mut file, OPTIONAL + 20, &SECTION.to_le_bytes());
        let base: u64 = if self.library { 0x1_8000_0000 } else { 0x1_4000_0000 };
        put(&mut file, OPTIONAL + 24, &base.to_le_bytes());
        put(&mut file, OPTIONAL + 32, &0x1000u32.to_le_bytes()); // alignment in memory
        put(&mut file, OPTIONAL + 36, &(HEADERS as u32).to_le_bytes()); // and in the file
        put(&mut file, OPTIONAL + 40, &6u16.to_le_bytes()); // Windows 6.0 and later
        put(&mut file, OPTIONAL + 48, &6u16.to_le_bytes());
        let end = SECTION + (data as u32).next_multiple_of(0x1000);
        put(&mut file, OPTIONAL + 56, &end.to_le_bytes());
        put(&mut file, OPTIONAL + 60, &(HEADERS as u32).to_le_bytes());
        put(&mut file, OPTIONAL + 68, &3u16.to_le_bytes()); // console
        put(&mut file, OPTIONAL + 70, &0x160u16.to_le_bytes()); // anywhere, data is no code
        put(&mut file, OPTIONAL + 72, &0x10_0000u64.to_le_bytes()); // stack: reserved
        put(&mut file, OPTIONAL + 80, &0x1000u64.to_le_bytes()); // and committed
        put(&mut file, OPTIONAL + 88, &0x10_0000u64.to_le_bytes()); // heap, likewise
        put(&mut file, OPTIONAL + 96, &0x1000u64.to_le_bytes());
        put(&mut file, OPTIONAL + 108, &16u32.to_le_bytes()); // data directories
        let mut next = 0;
        while next < self.directories.len() {
            let (index, start, bytes) = self.directories[next];
            put(&mut file, DIRECTORIES + index * 8, &start.to_le_bytes());
            put(&mut file, DIRECTORIES + index * 8 + 4, &bytes.to_le_bytes());
            next += 1;
        }
        put(&mut file, TABLE, b".text");
        put(&mut file, TABLE + 8, &(self.section.len() as u32).to_le_bytes());
        put(&mut file, TABLE + 12, &SECTION.to_le_bytes());
        put(&mut file, TABLE + 16, &(data as u32).to_le_bytes());
        put(&mut file, TABLE + 20, &(HEADERS as u32).to_le_bytes());
        put(&mut file, TABLE + 36, &0x6000_0020u32.to_le_bytes()); // code, execute, read
        put(&mut file, HEADERS, self.section);
        file
    }
}

/// Copies the bytes into the file, from that place on.
pub const fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
    let mut i = 0;
    while i < bytes.len() {
        file[at + i] = bytes[i];
        i += 1;
    }
}

/// A library `name` that exports `function`, which is the function `target` of another library
/// (`library.function`). It contains no instruction. The three texts have to be short.
pub fn forwarder(name: &str, function: &str, target: &str) -> [u8; 2 * HEADERS] {
    // The directory, then the table of functions (one), that of names, that of their numbers, and
    // the texts.
    const TABLES: u32 = SECTION + 40;
    let texts = [name, function, target];
    let mut places = [SECTION + 52; 3];
    for i in 1..texts.len() {
        places[i] = places[i - 1] + texts[i - 1].len() as u32 + 1;
    }
    let [own, exported, forwarded] = places;
    let mut section = Vec::new();
    let numbers = [0, 0, 0, own, 1, 1, 1, TABLES, TABLES + 4, TABLES + 8, forwarded, exported, 0];
    numbers.iter().for_each(|number| section.extend_from_slice(&number.to_le_bytes()));
    for text in texts {
        section.extend_from_slice(text.as_bytes());
        section.push(0);
    }
    // A function that lies inside of the export directory is a forwarder.
    let directory = (EXPORTS, SECTION, section.len() as u32);
    Image { section: &section, library: true, entry: 0, directories: &[directory] }.file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forwarder_names_its_target_inside_the_export_directory() {
        let file = forwarder("a.dll", "Own", "other.Real");
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let text = |address: u32| {
            let start = (address - SECTION) as usize + HEADERS;
            let text = file[start..].split(|byte| *byte == 0).next().unwrap();
            std::str::from_utf8(text).unwrap().to_owned()
        };
        let in_memory = |address: u32| number((address - SECTION) as usize + HEADERS);
        assert_eq!((number(DIRECTORIES), &file[..2]), (SECTION, &b"MZ"[..]));
        let function = in_memory(in_memory(SECTION + 28));
        assert!(function > SECTION && function < SECTION + number(DIRECTORIES + 4));
        assert_eq!(text(function), "other.Real");
        assert_eq!(text(in_memory(in_memory(SECTION + 32))), "Own");
        assert_eq!(text(in_memory(SECTION + 12)), "a.dll");
        assert_eq!(file.len() % HEADERS, 0);
    }
}
