//! The list that a program's loader prints of the libraries that it would load (`--list`). Pure.

use std::path::PathBuf;

/// The most libraries that are read.
const MOST: usize = 2000;

/// One library of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name by which a program or a library asks for it.
    pub name: String,
    /// None if the loader did not find it.
    pub path: Option<PathBuf>,
}

/// Reads the list in its order, which is the order in which the loader maps the libraries. The
/// kernel's own library, which is no file, is left out.
pub fn read_listing(text: &str) -> Vec<Listed> {
    let listed = |line: &str| {
        let line = line.trim();
        let (name, place) = line.split_once(" => ").unwrap_or((line, line));
        // glibc says `not found`; musl prints an error in another form, which ends the list.
        let place = place.trim();
        let path = match place.rsplit_once(" (0x") {
            Some((path, _)) => Some(path.trim()),
            None if place == "not found" => None,
            None => return None,
        };
        let name = name.rsplit_once(" (0x").map_or(name, |(name, _)| name);
        if path.is_some_and(|path| !path.starts_with('/')) || name.is_empty() {
            return None;
        }
        Some(Listed { name: name.to_owned(), path: path.map(PathBuf::from) })
    };
    text.lines().filter_map(listed).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_both_loaders_are_read() {
        let text = "\tlinux-vdso.so.1 (0x00007ffc0b5f2000)\n\
                    \tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f0e0a1f0000)\n\
                    \tlibgone.so => not found\n\
                    \tlibodd.so => /with space (0x1)/libodd.so (0x00007f0e0a1f1000)\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x00007f0e0a400000)\n";
        let found = read_listing(text);
        let of = |index: usize| {
            let listed: &Listed = &found[index];
            (listed.name.as_str(), listed.path.as_deref().and_then(|path| path.to_str()))
        };
        assert_eq!(found.len(), 4);
        assert_eq!(of(0), ("libz.so.1", Some("/lib/x86_64-linux-gnu/libz.so.1")));
        assert_eq!(of(1), ("libgone.so", None));
        assert_eq!(of(2), ("libodd.so", Some("/with space (0x1)/libodd.so")));
        let loader = "/lib64/ld-linux-x86-64.so.2";
        assert_eq!(of(3), (loader, Some(loader)));
        let musl = "\t/lib/ld-musl-x86_64.so.1 (0x7f1000)\n\
                    \tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f1000)\n";
        assert_eq!(read_listing(musl).len(), 2);
        assert!(
            read_listing("Error loading shared library libx.so: no such file\n\0 => \n").is_empty()
        );
    }
}
