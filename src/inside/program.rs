//! Inspects programs and files: hashes, by which a later session recognises the same program, and
//! headers, which name interpreter and libraries.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use object::elf;
use object::endian::{Endianness, LittleEndian};
use object::pe::{
    IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64, IMAGE_FILE_MACHINE_I386, ImageNtHeaders32,
    ImageNtHeaders64,
};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::read::pe::{ImageNtHeaders, PeFile};
use object::read::{FileKind, ReadCache, ReadRef};
use sha2::{Digest, Sha256};

use crate::model::Facts;
use crate::sys;

/// A script's first line is read up to this length.
const LONGEST_LINE: u64 = 256;

/// The most libraries that are named, and the most bytes of a name: the limit of a path on Linux.
const MOST_LIBRARIES: usize = 1000;
const LONGEST_NAME: usize = 4096;
/// The most bytes that one part of a program's headers may have.
const LARGEST_PART: u64 = 16 << 20;

/// Reads only parts of a file up to [`LARGEST_PART`]: headers may claim gigabytes, and sparse files
/// have them.
struct Bounded<'a, R: Read + Seek>(&'a ReadCache<R>);

impl<R: Read + Seek> Clone for Bounded<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Read + Seek> Copy for Bounded<'_, R> {}

impl<'a, R: Read + Seek> ReadRef<'a> for Bounded<'a, R> {
    fn len(self) -> Result<u64, ()> {
        self.0.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        if size > LARGEST_PART { Err(()) } else { self.0.read_bytes_at(offset, size) }
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.0.read_bytes_at_until(range, delimiter)
    }
}

/// Facts about the program that this word of a command would start.
pub fn program(word: &str) -> Facts {
    let Some(path) = sys::find_program(word) else { return Facts::new() };
    let mut facts = file(&path);
    let canonical = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    // Windows puts a prefix before a path whose links are resolved; it is no part of the name.
    let canonical = canonical.display().to_string();
    let canonical = canonical.strip_prefix(r"\\?\").unwrap_or(&canonical);
    if Path::new(canonical) != path {
        facts.insert("file".into(), canonical.to_owned());
    }
    facts.insert("path".into(), path.display().to_string());
    // A file that cannot be read as a program still has a size and a hash. Only regular files are
    // opened, because reading a pipe or a device may never end.
    if path.is_file() {
        facts.extend(File::open(&path).ok().and_then(|it| headers(it).ok()).unwrap_or_default());
    }
    facts
}

/// Size and hash of a file; no facts if it cannot be read.
pub fn file(path: &Path) -> Facts {
    let size = fs::metadata(path).ok().filter(|it| it.is_file()).map(|it| it.len().to_string());
    let hash = size.as_ref().and_then(|_| hash_of(path).ok());
    let facts = [("size", size), ("sha256", hash)];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// SHA-256 of the file as hexadecimal digits.
pub fn hash_of(path: &Path) -> Result<String> {
    let open = || -> io::Result<File> {
        // Opening a pipe waits for its writer, and a device may have no end.
        match fs::metadata(path)?.is_file() {
            true => File::open(path),
            false => Err(io::Error::other("it is not a file")),
        }
    };
    let mut file = open().with_context(|| format!("opening `{}`", path.display()))?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            read => hash.update(&chunk[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the file's first bytes and headers say, as facts.
pub fn headers<R: Read + Seek>(file: R) -> Result<Facts> {
    let found = read(file)?;
    let mut facts = found.facts;
    if !found.libraries.is_empty() {
        facts.insert("libraries".into(), found.libraries.join(" "));
    }
    Ok(facts)
}

/// What the headers of a program or a library say.
#[derive(Debug, Default)]
pub struct Headers {
    /// Format, machine, type and interpreter.
    pub facts: Facts,
    /// Names of the libraries that it is linked with, in their order.
    pub libraries: Vec<String>,
    /// Names of those that are only loaded when they are first used (Windows).
    pub delayed: Vec<String>,
}

/// Reads the file's first bytes and headers. Headers may be damaged or malicious: what they point
/// to is read only within the limits above.
pub fn read<R: Read + Seek>(mut file: R) -> Result<Headers> {
    let mut line = Vec::new();
    BufReader::new((&mut file).take(LONGEST_LINE)).read_until(b'\n', &mut line)?;
    if let Some(interpreter) = line.strip_prefix(b"#!") {
        let interpreter = String::from_utf8_lossy(interpreter).trim().to_owned();
        let facts = named([("format", "script".into()), ("interpreter", interpreter)]);
        return Ok(Headers { facts, ..Headers::default() });
    }
    file.rewind()?;
    let data = Bounded(&ReadCache::new(file));
    match FileKind::parse(data)? {
        FileKind::Elf32 => elf::<elf::FileHeader32<Endianness>, _>(data, "ELF32"),
        FileKind::Elf64 => elf::<elf::FileHeader64<Endianness>, _>(data, "ELF64"),
        FileKind::Pe32 => pe::<ImageNtHeaders32, _>(data, "PE32"),
        FileKind::Pe64 => pe::<ImageNtHeaders64, _>(data, "PE32+"),
        other => {
            let facts = named([("format", format!("{other:?}"))]);
            Ok(Headers { facts, ..Headers::default() })
        }
    }
}

fn named<const N: usize>(facts: [(&str, String); N]) -> Facts {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn elf<'a, Elf, R>(data: R, format: &str) -> Result<Headers>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'a>,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let mut facts = named([("format", format.into()), ("machine", elf_machine(header, endian))]);
    let mut interpreter = None;
    let mut libraries = Vec::new();
    for segment in segments {
        if let Some(name) = segment.interpreter(endian, data)? {
            interpreter = Some(library_name(name));
        }
        if let Some(entries) = segment.dynamic(endian, data)? {
            libraries = needed::<Elf, _>(entries, segments, endian, data);
        }
    }
    let position_independent = header.e_type(endian) == elf::ET_DYN;
    let kind = if position_independent { "position-independent executable" } else { "executable" };
    let linked = if interpreter.is_some() { "dynamically" } else { "statically" };
    facts.extend(named([("type", kind.into()), ("linked", linked.into())]));
    facts.extend(interpreter.map(|name| ("interpreter".to_owned(), name)));
    Ok(Headers { facts, libraries, delayed: Vec::new() })
}

fn library_name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_NAME)]).into_owned()
}

fn elf_machine<Elf: FileHeader>(header: &Elf, endian: Elf::Endian) -> String {
    let machine = header.e_machine(endian);
    let name = match machine {
        elf::EM_X86_64 => "x86-64",
        elf::EM_386 => "x86",
        elf::EM_AARCH64 => "aarch64",
        elf::EM_ARM => "arm",
        elf::EM_RISCV => "riscv",
        elf::EM_PPC64 => "ppc64",
        elf::EM_S390 => "s390",
        other => return format!("ELF machine {}", other.0),
    };
    name.to_owned()
}

/// The libraries that the dynamic section names (DT_NEEDED). Their names are read through the
/// loaded segments, because section headers may have been stripped.
fn needed<'a, Elf, R>(
    entries: &[Elf::Dyn],
    segments: &[Elf::ProgramHeader],
    endian: Endianness,
    data: R,
) -> Vec<String>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'a>,
{
    let value = |tag| entries.iter().find(|it| it.tag(endian) == tag).map(|it| it.val(endian));
    let Some((address, size)) = value(elf::DT_STRTAB).zip(value(elf::DT_STRSZ)) else {
        return Vec::new();
    };
    let offset = segments.iter().find_map(|segment| {
        let start: u64 = segment.p_vaddr(endian).into();
        let within = address.checked_sub(start)?;
        let loaded = segment.p_type(endian) == elf::PT_LOAD;
        let stored: u64 = segment.p_filesz(endian).into();
        let offset: u64 = segment.p_offset(endian).into();
        (loaded && within < stored).then(|| offset.checked_add(within)).flatten()
    });
    let table = offset.and_then(|offset| data.read_bytes_at(offset, size).ok()).unwrap_or_default();
    let name = |entry: &Elf::Dyn| {
        let rest = table.get(usize::try_from(entry.val(endian)).ok()?..)?;
        let name = rest.split(|byte| *byte == 0).next()?;
        Some(library_name(name))
    };
    let entries = entries.iter().filter(|it| it.tag(endian) == elf::DT_NEEDED);
    entries.take(MOST_LIBRARIES).filter_map(name).collect()
}

fn pe<'a, Pe, R>(data: R, format: &str) -> Result<Headers>
where
    Pe: ImageNtHeaders,
    R: ReadRef<'a>,
{
    let file = PeFile::<Pe, _>::parse(data)?;
    let machine = match file.nt_headers().file_header().machine.get(LittleEndian) {
        IMAGE_FILE_MACHINE_AMD64 => "x86-64".to_owned(),
        IMAGE_FILE_MACHINE_I386 => "x86".to_owned(),
        IMAGE_FILE_MACHINE_ARM64 => "aarch64".to_owned(),
        other => format!("PE machine {}", other.0),
    };
    let (mut libraries, mut delayed) = (Vec::new(), Vec::new());
    if let Some(table) = file.import_table()? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()?
            && libraries.len() < MOST_LIBRARIES
        {
            libraries.push(library_name(table.name(descriptor.name.get(LittleEndian))?));
        }
    }
    if let Some(table) = file.delay_load_import_table()? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()?
            && delayed.len() < MOST_LIBRARIES
        {
            delayed.push(library_name(table.name(descriptor.dll_name_rva.get(LittleEndian))?));
        }
    }
    let facts = named([("format", format.into()), ("machine", machine)]);
    Ok(Headers { facts, libraries, delayed })
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::io::Cursor;

    use super::*;

    /// Copies the bytes into the file at that place.
    fn put(file: &mut [u8], at: usize, bytes: &[u8]) {
        file[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// A dynamically linked ELF file of one loaded segment, which needs `liba.so` and `libb.so`.
    fn dynamic_elf() -> Vec<u8> {
        const TABLE: u64 = 0x200;
        let mut file = vec![0; 0x300];
        put(&mut file, 0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
        put(&mut file, 16, &[3, 0, 62, 0, 1]); // ET_DYN, x86-64
        put(&mut file, 32, &64u64.to_le_bytes()); // program headers
        put(&mut file, 52, &[64, 0, 56, 0, 3, 0, 64, 0]);
        // Kind, offset, and size: loaded, interpreter, dynamic.
        for (index, (kind, offset, size)) in
            [(1u32, 0u64, 0x300u64), (3, 0x280, 11), (2, 0x100, 80)].into_iter().enumerate()
        {
            let header = 64 + 56 * index;
            put(&mut file, header, &kind.to_le_bytes());
            for field in [8, 16, 24] {
                put(&mut file, header + field, &offset.to_le_bytes());
            }
            for field in [32, 40] {
                put(&mut file, header + field, &size.to_le_bytes());
            }
        }
        // DT_STRTAB, DT_STRSZ, DT_NEEDED twice, DT_NULL.
        let entries = [(5u64, TABLE), (10, 32), (1, 1), (1, 9), (0, 0)];
        for (index, (tag, value)) in entries.into_iter().enumerate() {
            put(&mut file, 0x100 + 16 * index, &tag.to_le_bytes());
            put(&mut file, 0x108 + 16 * index, &value.to_le_bytes());
        }
        put(&mut file, TABLE as usize, b"\0liba.so\0libb.so\0");
        put(&mut file, 0x280, b"/lib/ld.so\0");
        file
    }

    /// A Windows program that imports from `kernel32.dll`.
    fn importing_pe() -> Vec<u8> {
        use sys::pe::{HEADERS, Image, SECTION};
        let mut section = [0; 96];
        put(&mut section, 12, &(SECTION + 64).to_le_bytes());
        put(&mut section, 16, &(SECTION + 48).to_le_bytes());
        put(&mut section, 64, b"kernel32.dll");
        let directories = &[(1, SECTION, 40)];
        let image = Image { section: &section, library: false, entry: SECTION, directories };
        image.file::<{ 2 * HEADERS }>().to_vec()
    }

    #[test]
    fn libraries_and_interpreter_are_read_from_the_dynamic_section() {
        let facts = headers(Cursor::new(dynamic_elf())).unwrap();
        assert_eq!((&*facts["libraries"], &*facts["linked"]), ("liba.so libb.so", "dynamically"));
        assert_eq!(facts["interpreter"], "/lib/ld.so");
        let facts = headers(Cursor::new(importing_pe())).unwrap();
        assert_eq!((&*facts["libraries"], &*facts["format"]), ("kernel32.dll", "PE32+"));
    }

    #[test]
    fn an_offset_beyond_all_numbers_is_no_library() {
        let mut file = dynamic_elf();
        put(&mut file, 64 + 8, &u64::MAX.to_le_bytes());
        let facts = headers(Cursor::new(file)).unwrap();
        assert!(!facts.contains_key("libraries") && facts["linked"] == "dynamically");
    }

    /// Damaged headers give fewer facts, and neither a panic nor gigabytes.
    #[test]
    fn damaged_headers_are_read_without_harm() {
        let seeds = [
            dynamic_elf(),
            sys::TINY_EXECUTABLE.to_vec(),
            sys::pe::forwarder("a.dll", "Own", "other.Real").to_vec(),
            importing_pe(),
        ];
        let mut random = rand_pcg::Pcg32::new(14, 1);
        for round in 0..4_000usize {
            let mut file = seeds[round % seeds.len()].clone();
            sys::mutate(&mut file, &mut random);
            let text: usize = headers(Cursor::new(file))
                .map(|facts| facts.values().map(String::len).sum())
                .unwrap_or_default();
            assert!(text <= (MOST_LIBRARIES + 2) * (3 * LONGEST_NAME + 1), "{round}: {text}");
        }
    }

    #[test]
    fn a_program_is_known_by_its_headers() {
        let own = env::current_exe().unwrap();
        let facts = program(own.to_str().unwrap());
        assert_eq!(facts["format"], "ELF64");
        assert_eq!(facts["linked"], "statically");
        assert_eq!(facts["machine"], env::consts::ARCH.replace('_', "-"));
        assert_eq!(facts["sha256"].len(), 64);
        assert!(facts["size"].parse::<u64>().unwrap() > 100_000);
    }

    #[test]
    fn scripts_and_other_files_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let facts = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            program(path.to_str().unwrap())
        };
        let script = facts(b"#! /usr/bin/env python3\nprint()\n");
        assert_eq!(script["format"], "script");
        assert_eq!(script["interpreter"], "/usr/bin/env python3");
        let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(facts(b"hello")["sha256"], hash);
        // Headers that promise more bytes than the file has give no facts and no error.
        assert!(!facts(b"\x7fELF\x02\x01\x01garbage").contains_key("machine"));
        assert!(!facts(b"MZ").contains_key("machine"));
        assert!(!program("/no/such/program").contains_key("sha256"));
        assert_eq!(program("no-such-program-anywhere"), Facts::new());
        assert!(program("sh")["path"].ends_with("/sh"));
    }
}
