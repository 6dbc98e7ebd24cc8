//! A virtual machine: QEMU, a stock kernel, and an initramfs that holds the agent only.

use std::fs::{self, OpenOptions};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::machine::kernel::Kernel;
use super::machine::{self, Folder, Made, Options};
use super::{Helper, Launch, Launcher, LauncherInfo, Site, needs_program};
use crate::model::Availability;
use crate::protocol::guest::{Mount, Orders};
use crate::sys;

pub struct Vm;

const QEMU: &str = "qemu-system-x86_64";

static INFO: LauncherInfo = LauncherInfo {
    kind: "vm",
    usage: "vm[:OPTIONS]",
    summary: "QEMU virtual machine with a stock Linux kernel and nothing in it but the agent",
    notes: include_str!("vm.md"),
    remedy: "apt-get install qemu-system-x86, and scripts/fetch-kernel where /boot has no kernel",
    programs: "give it the files of this machine: `--env vm:root=/`",
    example: Some("vm"),
    staged: true,
    boot_limit_s: 120,
    own_kernel: true,
    version_command: &["qemu-system-x86_64", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

const OPTIONS: &[&str] = &["root", "kernel", "accel", "cpus", "memory", "tmp", "append", "boot"];

/// Paths of virtiofsd in Debian 12 and newer; other systems have it on the search path.
const VIRTIOFSD: [&str; 2] = ["/usr/lib/qemu/virtiofsd", "/usr/libexec/virtiofsd"];

/// The argument of the kind, parsed.
struct Machine<'a> {
    options: Options<'a>,
    tmp: &'a str,
}

impl<'a> Machine<'a> {
    fn read(argument: &'a str) -> Result<Machine<'a>> {
        let options = Options::read(argument, OPTIONS)?;
        let tmp = options.get("tmp").unwrap_or("tmpfs");
        let machine = Machine { options, tmp };
        machine.cpus("tcg")?;
        if let Some(accelerator) = machine.options.get("accel") {
            let known = ["kvm", "tcg"].contains(&accelerator);
            ensure!(known, "option `accel={accelerator}`: there are `kvm` and `tcg`");
        }
        if let Some(kernel) = machine.options.get("kernel") {
            ensure!(Path::new(kernel).exists(), "option `kernel`: there is no `{kernel}`");
        }
        Ok(machine)
    }

    fn cpus(&self, accelerator: &str) -> Result<usize> {
        match self.options.get("cpus") {
            Some(text) => {
                let cpus = text.parse().ok().filter(|cpus| (1..=255).contains(cpus));
                cpus.with_context(|| format!("option `cpus={text}`: write a number, `cpus=2`"))
            }
            None if accelerator == "tcg" => Ok(1),
            None => Ok(sys::allowed_cpus().map_or(1, |cpus| cpus.len())),
        }
    }

    fn kernel(&self) -> Result<Kernel> {
        self.options.get("kernel").map_or_else(Kernel::find, |path| Kernel::given(Path::new(path)))
    }

    /// The accelerator that runs the guest's code.
    fn accelerator(&self) -> Result<&'static str> {
        match self.options.get("accel") {
            Some("kvm") => try_kvm().map(|()| "kvm").context("option `accel=kvm`"),
            Some(_) => Ok("tcg"),
            None => Ok(if try_kvm().is_ok() { "kvm" } else { "tcg" }),
        }
    }
}

/// An error if KVM cannot run a stock kernel here. An existing `/dev/kvm` is not enough: in a guest
/// whose hypervisor only runs kernels made for it (PVM), a stock kernel is interpreted and hangs.
fn try_kvm() -> Result<()> {
    let device = OpenOptions::new().read(true).write(true).open("/dev/kvm");
    device.context("`/dev/kvm` cannot be opened: load the module, join the group `kvm`")?;
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    ensure!(
        flags.split_whitespace().any(|flag| ["vmx", "svm"].contains(&flag)),
        "the CPU shows neither `vmx` nor `svm`, so that KVM cannot run a stock kernel here: write \
         `accel=tcg`"
    );
    Ok(())
}

impl Launcher for Vm {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program(QEMU, "apt-get install qemu-system-x86")
    }

    fn check(&self, argument: &str) -> Result<()> {
        Machine::read(argument).map(drop)
    }

    /// virtiofsd of Debian 12 never removes its own lock file.
    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        let locks = || {
            let machine = Machine::read(site.argument)?;
            let setup = folder_setup(site, &machine::folders(site, machine.tmp)?)?;
            anyhow::Ok(setup.helpers.iter().map(|helper| lock_of(&helper.ready)).collect())
        };
        let locks: Vec<String> = locks().unwrap_or_default();
        let remove = |lock| ["rm".to_owned(), "-f".to_owned(), lock].to_vec();
        let removals = locks.into_iter().map(remove);
        [machine::kill_command(site)].into_iter().chain(removals).collect()
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let machine = Machine::read(site.argument)?;
        let kernel = machine.kernel()?;
        let folders = machine::folders(site, machine.tmp)?;
        let mut setup = folder_setup(site, &folders)?;
        let root = setup.add_root(&machine.options)?;
        let modules = kernel.modules(&setup.modules)?;
        let facts = [("accelerator", machine.accelerator()?), ("machine", "qemu q35")];
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let orders = Orders {
            console: "/dev/hvc0".to_owned(),
            mounts: setup.mounts,
            root,
            facts: facts.into(),
            ..Orders::default()
        };
        machine::make_boot_files(site, &folders, &modules, orders)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let machine = Machine::read(site.argument)?;
        let accelerator = machine.accelerator()?;
        let cpu = if accelerator == "kvm" { "host" } else { "max" };
        let memory = machine.options.memory_mib()?;
        let folders = machine::folders(site, machine.tmp)?;
        let mut setup = folder_setup(site, &folders)?;
        setup.add_root(&machine.options)?;
        let mut words = vec![QEMU.to_owned()];
        let mut add = |text: &str| words.extend(text.split(' ').map(str::to_owned));
        add("-nodefaults -no-user-config -display none -no-reboot -monitor none");
        add(&format!("-machine q35,accel={accelerator} -cpu {cpu}"));
        add(&format!("-smp {} -m {memory}M", machine.cpus(accelerator)?));
        // The kernel's messages are quoted when the agent does not greet.
        add("-chardev file,id=log,path=/dev/stderr -serial chardev:log");
        add("-chardev stdio,id=agent,signal=off -device virtio-serial");
        add("-device virtconsole,chardev=agent");
        if !setup.helpers.is_empty() {
            // virtiofsd maps the guest's memory.
            add(&format!("-object memory-backend-memfd,id=mem,size={memory}M,share=on"));
            add("-numa node,memdev=mem");
        }
        words.extend(setup.devices);
        let kernel = machine.kernel()?;
        // Under emulation, unpacking a kernel takes longer than booting it.
        let unpacked = kernel.unpacked().filter(|_| accelerator == "tcg");
        let kernel = unpacked.unwrap_or(kernel.image).display().to_string();
        let line = ["console=ttyS0", "quiet", "panic=-1"].map(str::to_owned).into_iter();
        let line = line
            .chain([machine::init_program()])
            .chain(machine.options.all("append").map(str::to_owned))
            .chain(machine::root_words(&machine.options)?)
            .chain(machine::init_words());
        let line: Vec<String> = line.collect();
        let boot = ["-kernel", &kernel, "-initrd", &machine::archive_in(site), "-append"];
        words.extend(boot.map(str::to_owned));
        words.push(line.join(" "));
        let launch = Launch::new(words);
        let boot_limit = machine.options.boot_limit()?;
        Ok(vec![Launch { helpers: setup.helpers, boot_limit, ..launch }])
    }
}

/// QEMU's words and the guest's mounts and modules that the guest's folders need.
struct FolderSetup {
    devices: Vec<String>,
    helpers: Vec<Helper>,
    modules: Vec<&'static str>,
    mounts: Vec<Mount>,
}

fn folder_setup(site: &Site<'_>, folders: &[Folder<'_>]) -> Result<FolderSetup> {
    let mut setup = FolderSetup {
        devices: Vec::new(),
        helpers: Vec::new(),
        modules: vec!["virtio_pci", "virtio_console"],
        mounts: Vec::new(),
    };
    let mut disks = b'a'..=b'z';
    for (number, folder) in folders.iter().enumerate() {
        let point = folder.point;
        match folder.made {
            Made::Nothing => {}
            Made::Memory { size } => setup.mounts.push(machine::memory_mount(point, size)),
            Made::Disk { filesystem, .. } => {
                let letter = char::from(disks.next().context("more than 26 disks")?);
                setup.add_disk(letter, &folder.image_in(site));
                // Kernels look checksums up by name, which the table of dependencies of modules
                // does not show.
                setup.modules.extend(["virtio_blk", "crc32c_generic"]);
                let module = ["ext4", "xfs", "btrfs"].into_iter().find(|it| *it == filesystem);
                setup.modules.extend(module);
                let device = format!("/dev/vd{letter}");
                setup.mounts.push(Mount::new(&device, filesystem, point, ""));
            }
            Made::Share { how: how @ ("9p" | "virtiofs"), option } if folder.is_shareable(site) => {
                let host = quoted(&folder.host.display().to_string());
                match how {
                    "9p" => setup.add_9p(number, &host, point, option)?,
                    _ => setup.add_virtiofs(number, site, &host, point),
                }
            }
            // A folder that does not exist is explained in its rows.
            Made::Share { .. } => {}
        }
    }
    Ok(setup)
}

impl FolderSetup {
    fn add_disk(&mut self, letter: char, image: &str) {
        let drive =
            format!("file={},if=none,id=disk-{letter},format=raw,cache=none", quoted(image));
        let device = format!("virtio-blk-pci,drive=disk-{letter}");
        self.devices.extend(["-drive", &drive, "-device", &device].map(str::to_owned));
    }

    /// Adds the folder that is to be the guest's root. It may lie on several filesystems, whose
    /// files `multidevs` keeps apart.
    fn add_root(&mut self, options: &Options<'_>) -> Result<Option<Mount>> {
        let Some(root) = options.root()? else { return Ok(None) };
        let share = format!(
            "local,path={},mount_tag=root,security_model=none,readonly=on,multidevs=remap",
            quoted(root)
        );
        self.devices.extend(["-virtfs".to_owned(), share]);
        self.modules.extend(["9pnet_virtio", "9p"]);
        let options = "trans=virtio,version=9p2000.L,msize=262144,cache=loose";
        Ok(Some(Mount::root("root", "9p", options)))
    }

    fn add_9p(&mut self, number: usize, host: &str, point: &str, option: &str) -> Result<()> {
        let tag = format!("share{number}");
        let share = format!("local,path={host},mount_tag={tag},security_model=none");
        self.devices.extend(["-virtfs".to_owned(), share]);
        self.modules.extend(["9pnet_virtio", "9p"]);
        let cache = match option {
            "" => String::new(),
            "none" | "loose" | "fscache" | "mmap" => format!(",cache={option}"),
            _ => bail!("`9p:{option}`: the caches of 9p are none, loose, fscache and mmap"),
        };
        let options = format!("trans=virtio,version=9p2000.L,msize=262144{cache}");
        self.mounts.push(Mount::new(&tag, "9p", point, &options));
        Ok(())
    }

    fn add_virtiofs(&mut self, number: usize, site: &Site<'_>, host: &str, point: &str) {
        let tag = format!("share{number}");
        let socket = site.in_stage(&tag);
        let chardev = format!("socket,id={tag},path={}", quoted(&socket));
        let device = format!("vhost-user-fs-pci,chardev={tag},tag={tag}");
        self.devices.extend(["-chardev", &chardev, "-device", &device].map(str::to_owned));
        let is_there = |path: &&str| Path::new(path).is_file();
        let server = VIRTIOFSD.into_iter().find(is_there).unwrap_or("virtiofsd");
        let source = format!("source={host}");
        let words = [server, "-o", &source, "-o", "cache=auto"].map(str::to_owned).into_iter();
        let words = words.chain([format!("--socket-path={socket}"), "--rlimit-nofile=0".into()]);
        self.helpers.push(Helper { words: words.collect(), ready: socket.into() });
        self.modules.push("virtiofs");
        self.mounts.push(Mount::new(&tag, "virtiofs", point, ""));
    }
}

/// The lock file of virtiofsd, beside its socket.
fn lock_of(socket: &Path) -> String {
    let name = socket.display().to_string().replace('/', ".");
    format!("/var/run/virtiofsd/{name}.pid")
}

/// A value in QEMU's options, which are separated by commas.
fn quoted(value: &str) -> String {
    value.replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;
    use crate::model::TargetDir;

    fn dir(path: &str, made: &str) -> TargetDir {
        TargetDir { name: "d".into(), path: path.into(), made: made.into() }
    }

    #[test]
    fn folders_become_devices_and_mounts() {
        let dirs = [
            dir("/a", "loop:ext4"),
            dir("/b", "loop:btrfs"),
            dir("/usr", "9p:loose"),
            dir("/etc", "virtiofs"),
            dir("/e", "tmpfs:64M"),
            dir("/f", "overlay"),
            dir("/g", ""),
        ];
        let site = Site { dirs: &dirs, ..site_of("") };
        let setup = folder_setup(&site, &machine::folders(&site, "tmpfs").unwrap()).unwrap();
        let text = setup.devices.join(" ");
        assert!(text.contains("file=/stage/disk-1.img,if=none,id=disk-a,format=raw,cache=none"));
        assert!(text.contains("-virtfs local,path=/usr,mount_tag=share3,security_model=none"));
        assert!(text.contains("socket,id=share4,path=/stage/share4"));
        let helper = setup.helpers[0].words.join(" ");
        assert!(helper.contains("source=/etc -o cache=auto --socket-path=/stage/share4"));
        let undo = Vm.undo(&site).concat().join(" ");
        assert_eq!(undo, "pkill -KILL -f /stage/ rm -f /var/run/virtiofsd/.stage.share4.pid");
        let mounts: Vec<_> = setup.mounts.iter().map(|mount| mount.point.as_str()).collect();
        assert_eq!(mounts, ["/tmp", "/a", "/b", "/usr", "/etc", "/e"]);
        assert_eq!(setup.mounts[1].source, "/dev/vda");
        assert_eq!(setup.mounts[2].source, "/dev/vdb");
        assert!(setup.mounts[3].options.ends_with("msize=262144,cache=loose"));
        assert_eq!(setup.mounts[5].options, "size=64M");
        assert!(setup.modules.contains(&"btrfs") && setup.modules.contains(&"9p"));
    }

    #[test]
    fn options_are_checked() {
        let error = |argument| format!("{:#}", Vm.check(argument).unwrap_err());
        assert!(error("kernel=/no/such").contains("there is no `/no/such`"));
        assert!(error("accel=xen").contains("`kvm` and `tcg`"));
        assert!(error("cpus=0").contains("cpus=2"));
        assert!(error("disk=x").contains("no option `disk`"));
        assert_eq!(quoted("/a,b"), "/a,,b");
        Vm.check("accel=tcg,cpus=2,memory=512MiB,boot=10s,append=mitigations=off").unwrap();
    }
}
