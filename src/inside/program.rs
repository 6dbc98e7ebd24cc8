//! Inspects programs and files: hashes, by which a later session recognises the same program, and
//! headers, which name interpreter and libraries.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek};
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

/// Longest first line of a script that is read.
const LONGEST_LINE: u64 = 256;

/// What is known of the program that this word of a command would start.
pub fn program(word: &str) -> Facts {
    let Some(path) = sys::find_program(word) else { return Facts::new() };
    let mut facts = file(&path);
    let canonical = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    // What Windows puts before a path whose links are resolved is no part of its name.
    let canonical = canonical.display().to_string();
    let canonical = canonical.strip_prefix(r"\\?\").unwrap_or(&canonical);
    if Path::new(canonical) != path {
        facts.insert("file".into(), canonical.to_owned());
    }
    facts.insert("path".into(), path.display().to_string());
    // What cannot be read as a program is still known by its size and hash.
    facts.extend(headers(&path).unwrap_or_default());
    facts
}

/// Size and hash of a file; nothing where it cannot be read.
pub fn file(path: &Path) -> Facts {
    let size = fs::metadata(path).ok().filter(|it| it.is_file()).map(|it| it.len().to_string());
    let hash = size.as_ref().and_then(|_| hash_of(path).ok());
    let facts = [("size", size), ("sha256", hash)];
    facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// SHA-256 of the file as hexadecimal digits.
pub fn hash_of(path: &Path) -> Result<String> {
    let mut file = File::open(path).with_context(|| format!("opening `{}`", path.display()))?;
    let (mut hash, mut chunk) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            read => hash.update(&chunk[..read]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What the file's first bytes and headers say.
fn headers(path: &Path) -> Result<Facts> {
    let mut line = Vec::new();
    let reader = BufReader::new(File::open(path)?);
    reader.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if let Some(interpreter) = line.strip_prefix(b"#!") {
        let interpreter = String::from_utf8_lossy(interpreter).trim().to_owned();
        return Ok(named([("format", "script".into()), ("interpreter", interpreter)]));
    }
    let data = &ReadCache::new(File::open(path)?);
    match FileKind::parse(data)? {
        FileKind::Elf32 => elf::<elf::FileHeader32<Endianness>, _>(data, "ELF32"),
        FileKind::Elf64 => elf::<elf::FileHeader64<Endianness>, _>(data, "ELF64"),
        FileKind::Pe32 => pe::<ImageNtHeaders32, _>(data, "PE32"),
        FileKind::Pe64 => pe::<ImageNtHeaders64, _>(data, "PE32+"),
        other => Ok(named([("format", format!("{other:?}"))])),
    }
}

fn named<const N: usize>(facts: [(&str, String); N]) -> Facts {
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn elf<Elf, R>(data: &ReadCache<R>, format: &str) -> Result<Facts>
where
    Elf: FileHeader<Endian = Endianness>,
    R: Read + Seek,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, data)?;
    let mut facts = named([("format", format.into()), ("machine", elf_machine(header, endian))]);
    let mut interpreter = None;
    let mut libraries = Vec::new();
    for segment in segments {
        if let Some(name) = segment.interpreter(endian, data)? {
            interpreter = Some(String::from_utf8_lossy(name).into_owned());
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
    facts.extend((!libraries.is_empty()).then(|| ("libraries".to_owned(), libraries.join(" "))));
    Ok(facts)
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

/// The libraries that the dynamic section names (DT_NEEDED). Their names are read where the segment
/// that is loaded there has them: section headers may have been stripped.
fn needed<Elf, R>(
    entries: &[Elf::Dyn],
    segments: &[Elf::ProgramHeader],
    endian: Endianness,
    data: &ReadCache<R>,
) -> Vec<String>
where
    Elf: FileHeader<Endian = Endianness>,
    R: Read + Seek,
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
        (loaded && within < stored).then(|| segment.p_offset(endian).into() + within)
    });
    let table = offset.and_then(|offset| data.read_bytes_at(offset, size).ok()).unwrap_or_default();
    let name = |entry: &Elf::Dyn| {
        let rest = table.get(usize::try_from(entry.val(endian)).ok()?..)?;
        let name = rest.split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(name).into_owned())
    };
    entries.iter().filter(|it| it.tag(endian) == elf::DT_NEEDED).filter_map(name).collect()
}

fn pe<Pe, R>(data: &ReadCache<R>, format: &str) -> Result<Facts>
where
    Pe: ImageNtHeaders,
    R: Read + Seek,
{
    let file = PeFile::<Pe, _>::parse(data)?;
    let machine = match file.nt_headers().file_header().machine.get(LittleEndian) {
        IMAGE_FILE_MACHINE_AMD64 => "x86-64".to_owned(),
        IMAGE_FILE_MACHINE_I386 => "x86".to_owned(),
        IMAGE_FILE_MACHINE_ARM64 => "aarch64".to_owned(),
        other => format!("PE machine {}", other.0),
    };
    let mut libraries = Vec::new();
    if let Some(table) = file.import_table()? {
        let mut descriptors = table.descriptors()?;
        while let Some(descriptor) = descriptors.next()? {
            let name = table.name(descriptor.name.get(LittleEndian))?;
            libraries.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    let mut facts = named([("format", format.into()), ("machine", machine)]);
    facts.extend((!libraries.is_empty()).then(|| ("libraries".to_owned(), libraries.join(" "))));
    Ok(facts)
}

#[cfg(test)]
mod tests {
    use std::env;

    use super::*;

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
        // Headers that promise more than there is are no error, but no facts either.
        assert!(!facts(b"\x7fELF\x02\x01\x01garbage").contains_key("machine"));
        assert!(!facts(b"MZ").contains_key("machine"));
        assert!(!program("/no/such/program").contains_key("sha256"));
        assert_eq!(program("no-such-program-anywhere"), Facts::new());
        assert!(program("sh")["path"].ends_with("/sh"));
    }
}
