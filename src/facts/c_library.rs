//! The C library of an environment's programs. envtax itself brings its own.

use std::fs;

use super::root::Root;

/// `glibc 2.36`, `musl`, or both. They are recognised by their loaders, whose paths every program
/// names.
pub(super) fn versions(root: &Root<'_>, architecture: &str) -> Option<String> {
    let glibc = match architecture {
        "x86_64" => "/lib64/ld-linux-x86-64.so.2",
        "aarch64" => "/lib/ld-linux-aarch64.so.1",
        _ => "",
    };
    let mut found = Vec::new();
    if !glibc.is_empty() && root.has(glibc) {
        let bytes = fs::read(root.path(glibc)).unwrap_or_default();
        let version = glibc_version(&bytes).or_else(|| version_in_link(&root.link(glibc)?));
        found.push(format!("glibc {}", version.unwrap_or_default()).trim_end().to_owned());
    }
    if root.has(&format!("/lib/ld-musl-{architecture}.so.1")) {
        found.push("musl".to_owned());
    }
    (!found.is_empty()).then(|| found.join(", "))
}

/// Since 2.33 the loader contains the text `release version 2.36.`.
fn glibc_version(loader: &[u8]) -> Option<String> {
    const WORDS: &[u8] = b" release version ";
    let at = loader.windows(WORDS.len()).position(|part| part == WORDS)? + WORDS.len();
    let version = loader[at..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.');
    let version = String::from_utf8(version.copied().collect()).ok()?;
    Some(version.trim_end_matches('.').to_owned())
}

/// Before 2.34 the loader was a link to `ld-2.31.so`.
fn version_in_link(target: &str) -> Option<String> {
    Some(target.rsplit('/').next()?.strip_prefix("ld-")?.strip_suffix(".so")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::root::made;
    use super::*;

    #[test]
    fn loaders_name_their_library() {
        let debian = "\0ld.so (Debian GLIBC 2.36-9) stable release version 2.36.\nCopyright";
        let both = made::system(&[
            ("/lib64/ld-linux-x86-64.so.2", debian),
            ("/lib/ld-musl-x86_64.so.1", "\u{7f}ELF"),
        ]);
        let versions_in = |root: &tempfile::TempDir, of| versions(&Root(root.path()), of);
        assert_eq!(versions_in(&both, "x86_64").as_deref(), Some("glibc 2.36, musl"));
        assert_eq!(versions_in(&both, "aarch64"), None, "of programs of that architecture");
        let silent = made::system(&[("/lib64/ld-linux-x86-64.so.2", "\u{7f}ELF")]);
        assert_eq!(versions_in(&silent, "x86_64").as_deref(), Some("glibc"));
        assert_eq!(version_in_link("/lib/x86_64-linux-gnu/ld-2.31.so").as_deref(), Some("2.31"));
        assert_eq!(version_in_link("ld-linux.so.2"), None);
    }
}
