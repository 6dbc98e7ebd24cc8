//! Linux kernels that a guest can boot, and their modules.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::launch::cache_folder;

/// Modules that only some kernels need by name: others have them built in or name them otherwise.
const OPTIONAL: &[&str] = &["crc32c_generic"];

/// A kernel image, and the folder of its modules.
#[derive(Debug)]
pub(in super::super) struct Kernel {
    pub(in super::super) image: PathBuf,
    pub(in super::super) version: String,
    /// None if everything must be built in.
    modules: Option<PathBuf>,
}

impl Kernel {
    /// The kernel in that file, or the newest one in a folder such as an unpacked package.
    pub(in super::super) fn given(path: &Path) -> Result<Kernel> {
        if path.is_dir() {
            let found = newest(path).or_else(|| newest_in(path, path));
            return found.with_context(|| {
                format!("there is no kernel `boot/vmlinuz-VERSION` in `{}`", path.display())
            });
        }
        let version = version_of(path)?;
        let unpacked = path.parent().and_then(Path::parent).map(Path::to_owned);
        let bases = unpacked.into_iter().chain([PathBuf::from("/"), cache()]);
        let modules = bases.into_iter().find_map(|base| modules_below(&base, &version));
        Ok(Kernel { image: path.to_owned(), version, modules })
    }

    /// The newest kernel that this machine has installed with its modules, or else one that was
    /// downloaded.
    pub(in super::super) fn find() -> Result<Kernel> {
        newest(Path::new("/")).or_else(|| newest(&cache())).with_context(|| {
            let cache = cache().display().to_string();
            format!(
                "there is no kernel to boot: neither a readable /boot/vmlinuz-VERSION with \
                 /lib/modules/VERSION nor one in `{cache}`; get one with scripts/fetch-kernel, or \
                 by hand: `apt-get download linux-image-VERSION-amd64` and `dpkg-deb -x \
                 linux-image-*.deb {cache}`, or write `vm:kernel=FILE`"
            )
        })
    }

    /// The same kernel unpacked, if such a file is beside it.
    pub(in super::super) fn unpacked(&self) -> Option<PathBuf> {
        let name = format!("vmlinux-{}", self.version);
        Some(self.image.with_file_name(name)).filter(|path| path.is_file())
    }

    /// Files of these modules and of all modules that they need, in the order in which they are
    /// loaded.
    pub(in super::super) fn modules(&self, wanted: &[&str]) -> Result<Vec<PathBuf>> {
        let Some(folder) = &self.modules else { return Ok(Vec::new()) };
        let modules = Modules::read(folder)?;
        let mut order = Vec::new();
        for name in wanted {
            let found = modules.add(name, &mut order)?;
            if !found && !OPTIONAL.contains(name) {
                bail!(
                    "kernel {} has no module `{name}`: take one that has, such as that of \
                     Debian's linux-image-amd64 (scripts/fetch-kernel), with `kernel=`",
                    self.version
                );
            }
        }
        Ok(order)
    }
}

/// The folder for downloaded kernels.
fn cache() -> PathBuf {
    cache_folder().join("kernel")
}

/// The newest kernel with its modules in a system's root or an unpacked package.
fn newest(base: &Path) -> Option<Kernel> {
    newest_in(&base.join("boot"), base)
}

/// The newest kernel in that folder that can be read and has modules below `base`.
fn newest_in(folder: &Path, base: &Path) -> Option<Kernel> {
    let kernels = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| {
        let image = entry.path();
        let named = entry.file_name().to_string_lossy().starts_with("vmlinuz-");
        let version = named.then(|| version_of(&image).ok()).flatten()?;
        let modules = Some(modules_below(base, &version)?);
        Some(Kernel { image, version, modules })
    });
    kernels.max_by_key(|kernel| numbers_in(&kernel.version))
}

/// The numbers of a version, by which versions compare: 6.1.0-56 is newer than 6.1.0-9.
fn numbers_in(version: &str) -> Vec<u64> {
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).collect()
}

fn modules_below(base: &Path, version: &str) -> Option<PathBuf> {
    let places = ["lib/modules", "usr/lib/modules"].map(|place| base.join(place).join(version));
    places.into_iter().find(|place| place.is_dir())
}

/// The version that an image's header gives (Documentation/arch/x86/boot.rst).
fn version_of(image: &Path) -> Result<String> {
    let mut head = Vec::new();
    File::open(image)
        .and_then(|file| file.take(1 << 16).read_to_end(&mut head))
        .with_context(|| format!("reading the kernel `{}`", image.display()))?;
    let is_kernel = head.get(0x202..0x206) == Some(b"HdrS");
    ensure!(is_kernel, "`{}` is no bzImage, a Linux kernel for x86", image.display());
    let at = 0x200 + usize::from(u16::from_le_bytes([head[0x20e], head[0x20f]]));
    let text = head.get(at..).unwrap_or_default();
    let end = text.iter().position(|byte| matches!(byte, 0 | b' ')).unwrap_or(0);
    Ok(String::from_utf8_lossy(&text[..end]).into_owned())
}

/// The modules of one kernel, by name.
struct Modules {
    files: BTreeMap<String, PathBuf>,
    /// For each module, the modules that it needs. None if `depmod` was never run; then the
    /// modules' own files tell.
    needs: Option<BTreeMap<String, Vec<String>>>,
    built_in: Vec<String>,
}

impl Modules {
    fn read(folder: &Path) -> Result<Modules> {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let built_in = text("modules.builtin").lines().map(module_name).collect();
        let list = text("modules.dep");
        if list.is_empty() {
            let files = files_below(&folder.join("kernel"))?;
            let files = files.into_iter().map(|file| (module_name(&file.to_string_lossy()), file));
            return Ok(Modules { files: files.collect(), needs: None, built_in });
        }
        let (mut files, mut needs) = (BTreeMap::new(), BTreeMap::new());
        for (file, needed) in list.lines().filter_map(|line| line.split_once(':')) {
            let needed = needed.split_whitespace().map(module_name).collect();
            files.insert(module_name(file), folder.join(file));
            needs.insert(module_name(file), needed);
        }
        Ok(Modules { files, needs: Some(needs), built_in })
    }

    /// Adds the module's file after those of the modules that it needs. Returns whether the module
    /// exists; a built-in one exists and has no file.
    fn add(&self, name: &str, order: &mut Vec<PathBuf>) -> Result<bool> {
        let Some(file) = self.files.get(name) else {
            return Ok(self.built_in.iter().any(|known| known == name));
        };
        if !order.contains(file) {
            let needed = match &self.needs {
                Some(needs) => needs.get(name).cloned().unwrap_or_default(),
                None => needed_by(file)?,
            };
            for name in &needed {
                self.add(name, order)?;
            }
            order.push(file.clone());
        }
        Ok(true)
    }
}

/// The module's name: `kernel/fs/9p/9p.ko.xz` is `9p`. Kernels treat `-` and `_` alike.
fn module_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split(".ko").next().unwrap_or(name).replace('-', "_")
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder);
        for entry in entries.with_context(|| format!("reading `{}`", folder.display()))?.flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => open.push(path),
                false => files.push(path),
            }
        }
    }
    Ok(files)
}

/// Names of the modules that this one needs, from its section `.modinfo`: texts `NAME=VALUE`, each
/// ended by a zero byte.
fn needed_by(file: &Path) -> Result<Vec<String>> {
    ensure!(
        file.extension().is_some_and(|end| end == "ko"),
        "`{}` is compressed: run `depmod -b FOLDER VERSION` (package kmod) on the unpacked kernel",
        file.display()
    );
    let bytes = fs::read(file).with_context(|| format!("reading `{}`", file.display()))?;
    let mark = b"\0depends=";
    let at = bytes.windows(mark.len()).position(|window| window == mark);
    let Some(at) = at else { return Ok(Vec::new()) };
    let text = &bytes[at + mark.len()..];
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(0);
    let text = String::from_utf8_lossy(&text[..end]);
    Ok(text.split(',').filter(|name| !name.is_empty()).map(module_name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(base: &Path, name: &str, bytes: impl AsRef<[u8]>) {
        let path = base.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The beginning of an image of that version.
    fn image(version: &str) -> Vec<u8> {
        let mut bytes = vec![0; 0x400];
        bytes[0x202..0x206].copy_from_slice(b"HdrS");
        bytes[0x20e..0x210].copy_from_slice(&0x100u16.to_le_bytes());
        bytes[0x300..0x300 + version.len()].copy_from_slice(version.as_bytes());
        bytes
    }

    #[test]
    fn the_newest_kernel_with_modules_is_found() {
        let place = tempfile::tempdir().unwrap();
        for version in ["6.1.0-9-amd64", "6.1.0-56-amd64", "7.0.0"] {
            write(place.path(), &format!("boot/vmlinuz-{version}"), image(version));
        }
        assert!(Kernel::given(place.path()).unwrap_err().to_string().contains("boot/vmlinuz"));
        for version in ["6.1.0-9-amd64", "6.1.0-56-amd64"] {
            write(place.path(), &format!("lib/modules/{version}/modules.order"), "");
        }
        let found = Kernel::given(place.path()).unwrap();
        assert_eq!(found.version, "6.1.0-56-amd64");
        assert!(found.image.ends_with("boot/vmlinuz-6.1.0-56-amd64"));
        assert_eq!(found.unpacked(), None);
        write(place.path(), "boot/vmlinux-6.1.0-56-amd64", "");
        assert!(found.unpacked().unwrap().ends_with("boot/vmlinux-6.1.0-56-amd64"));
        let named = Kernel::given(&place.path().join("boot/vmlinuz-6.1.0-9-amd64")).unwrap();
        assert!(named.modules.unwrap().ends_with("lib/modules/6.1.0-9-amd64"));
        let error = Kernel::given(&place.path().join("lib/modules/6.1.0-56-amd64/modules.order"));
        assert!(error.unwrap_err().to_string().contains("is no bzImage"));
        assert!(Kernel::given(Path::new("/no/such/file")).is_err());
    }

    #[test]
    fn modules_come_after_those_that_they_need() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let module = |name: &str, needs: &str| {
            let text = format!("\x7fELF\0license=GPL\0depends={needs}\0name={name}\0");
            write(folder, &format!("kernel/x/{name}.ko"), text);
        };
        module("ext4", "jbd2,crc16");
        module("jbd2", "");
        module("crc16", "");
        module("virtio-rng", "virtio");
        write(folder, "modules.builtin", "kernel/drivers/virtio/virtio.ko\n");
        let version = "1".to_owned();
        let kernel = Kernel { image: "k".into(), version, modules: Some(folder.to_owned()) };
        let names = |wanted: &[&str]| {
            let files = kernel.modules(wanted).unwrap();
            files.iter().map(|file| module_name(file.to_str().unwrap())).collect::<Vec<_>>()
        };
        let wanted = ["crc32c_generic", "ext4", "virtio", "virtio_rng", "jbd2"];
        assert_eq!(names(&wanted), ["jbd2", "crc16", "ext4", "virtio_rng"]);
        let error = kernel.modules(&["9p"]).unwrap_err().to_string();
        assert!(error.contains("no module `9p`"), "{error}");
        write(folder, "modules.dep", "kernel/x/9p.ko.xz: kernel/x/9pnet.ko\nkernel/x/9pnet.ko:\n");
        assert_eq!(names(&["9p"]), ["9pnet", "9p"]);
    }
}
