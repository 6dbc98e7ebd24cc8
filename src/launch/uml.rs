//! User-mode Linux: a kernel that is a program, over ptrace.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::machine::control_boot::{self, ControlBoot};
use super::machine::{self, Folder, Made, Options};
use super::{Launch, Launcher, LauncherInfo, Site, needs_program};
use crate::model::{Availability, Failure};
use crate::protocol::guest::{Mount, Orders};

pub struct Uml;

const LINUX: &str = "linux.uml";

static INFO: LauncherInfo = LauncherInfo {
    kind: "uml",
    usage: "uml[:OPTIONS]",
    summary: "User-mode Linux, a kernel that runs as a process, with nothing in it but the agent",
    notes: include_str!("uml.md"),
    remedy: "apt-get install user-mode-linux; it needs ptrace, which some containers forbid",
    programs: "give it the files of this machine: `--env uml:root=/`",
    only_on: Some("linux"),
    example: Some("uml"),
    serves_calls: true,
    traces_guest: true,
    staged: true,
    own_kernel: true,
    boot_limit_s: 60,
    version_command: &["linux.uml", "--version"],
};

const OPTIONS: &[&str] = &["root", "memory", "tmp", "append", "boot"];

/// The kernel's messages go to the error output; the other consoles are for the agent. Without a
/// root, the kernel would look for one on a disk that does not exist. With neither a root nor a
/// console, User-mode Linux appends words of its own, which would become arguments of the agent.
const CONSOLES: &[&str] =
    &["con=null", "con0=null,fd:2", "console=tty0", "quiet", "root=/dev/ram0"];

/// What the kernel prints when it cannot read or write the floating point registers of a process.
/// Its buffer has a fixed size, and a CPU with AMX has more registers than fit into it.
const REGISTERS: &[&str] = &["fp regs failed", "fp_registers"];

/// The reason why a kernel runs no program, by what it printed.
fn explained(printed: Vec<String>) -> Failure {
    let is_registers = |line: &String| REGISTERS.iter().any(|words| line.contains(words));
    let failure = match printed.iter().any(is_registers) {
        true => Failure::new(
            "this kernel cannot run on this CPU: the CPU's registers do not fit into its buffer, \
             as with AMX",
        )
        .or_remedy(
            "measure on a machine whose CPU has no AMX, or measure `vm`; a newer User-mode Linux \
             may run here",
        ),
        false => Failure::new(
            "this kernel cannot run any program on this machine, not even one that ends at once",
        ),
    };
    failure.printed(printed)
}

/// A guest has filesystems of its own at these paths.
const OWN: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Launcher for Uml {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program(LINUX, "apt-get install user-mode-linux")
    }

    fn check(&self, argument: &str) -> Result<()> {
        Options::read(argument, OPTIONS).map(drop)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        vec![machine::kill_command(site)]
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let options = Options::read(site.argument, OPTIONS)?;
        let folders = folders(site, &options)?;
        let orders = Orders {
            console: "/dev/tty1".to_owned(),
            mounts: folder_setup(site, &folders)?.1,
            root: options.root()?.map(|root| Mount::root("none", "hostfs", root)),
            ..Orders::default()
        };
        // Debian builds all filesystems above into its kernel.
        machine::make_boot_files(site, &folders, &[], orders)
    }

    fn diagnose(&self, site: &Site<'_>) -> Option<Failure> {
        let archive = site.in_stage("control");
        ControlBoot::make_archive(Path::new(&archive)).ok()?;
        let own = [
            "mem=64M".to_owned(),
            format!("initrd={archive}"),
            format!("uml_dir={}", site.stage.display()),
            format!("rdinit={}", control_boot::INIT),
        ];
        let words: Vec<String> =
            [LINUX].iter().chain(CONSOLES).map(|word| (*word).to_owned()).chain(own).collect();
        let control = ControlBoot::run(&words, &site.stage.join("control.log")).ok()?;
        (!control.ran).then(|| explained(control.printed).by_hand(shell_words::join(words)))
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let options = Options::read(site.argument, OPTIONS)?;
        let stage = site.stage.display().to_string();
        ensure!(
            !stage.contains([' ', ',', ':']),
            "the folder for temporary files is `{stage}`: User-mode Linux takes no space, comma or \
             colon in a path; name another one in TMPDIR"
        );
        let memory = format!("mem={}M", options.memory_mib()?);
        let words = [LINUX, &memory, "con1=fd:0,fd:1"].into_iter().chain(CONSOLES.iter().copied());
        let words = words.map(str::to_owned);
        let own = [
            format!("initrd={}", machine::archive_in(site)),
            format!("uml_dir={stage}"),
            machine::init_program(),
        ];
        let words = words
            .chain(own)
            .chain(folder_setup(site, &folders(site, &options)?)?.0)
            .chain(options.all("append").map(str::to_owned))
            .chain(machine::root_words(&options)?)
            .chain(machine::init_words());
        let boot_limit = options.boot_limit()?;
        Ok(vec![Launch { boot_limit, ..Launch::new(words) }])
    }
}

fn folders<'a>(site: &Site<'a>, options: &Options<'a>) -> Result<Vec<Folder<'a>>> {
    machine::folders(site, options.get("tmp").unwrap_or("hostfs"))
}

/// Words for the disks, and the filesystems that the guest mounts.
fn folder_setup(site: &Site<'_>, folders: &[Folder<'_>]) -> Result<(Vec<String>, Vec<Mount>)> {
    let (mut words, mut mounts) = (Vec::new(), Vec::new());
    let mut letters = b'a'..=b'p';
    for folder in folders {
        let point = folder.point;
        match folder.made {
            Made::Memory { size } => mounts.push(machine::memory_mount(point, size)),
            Made::Disk { filesystem, .. } => {
                let letter = char::from(letters.next().context("more than 16 disks")?);
                words.push(format!("ubd{letter}={}", folder.image_in(site)));
                mounts.push(Mount::new(&format!("/dev/ubd{letter}"), filesystem, point, ""));
            }
            _ if OWN.iter().any(|own| std::path::Path::new(point).starts_with(own)) => {}
            _ if point != "/" && folder.is_shareable(site) => {
                let host = folder.host.display().to_string();
                mounts.push(Mount::new("none", "hostfs", point, &host));
            }
            // A folder that does not exist is explained in its rows.
            _ => {}
        }
    }
    Ok((words, mounts))
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
    fn folders_become_disks_and_mounts() {
        let dirs = [
            dir("/usr", ""),
            dir("/d", "loop:xfs"),
            dir("/m", "tmpfs"),
            dir("/proc", ""),
            dir("/", ""),
        ];
        let site = Site { dirs: &dirs, ..site_of("") };
        let folders = machine::folders(&site, "hostfs").unwrap();
        let (words, mounts) = folder_setup(&site, &folders).unwrap();
        assert_eq!(words, ["ubda=/stage/disk-2.img"]);
        let tmp = Mount::new("none", "hostfs", "/tmp", "/stage/tmp");
        let shared = Mount::new("none", "hostfs", "/usr", "/usr");
        let disk = Mount::new("/dev/ubda", "xfs", "/d", "");
        assert_eq!(mounts, [tmp, shared, disk, Mount::new("tmpfs", "tmpfs", "/m", "")]);
    }

    #[test]
    fn a_cpu_with_too_many_registers_is_named() {
        let line = "userspace - ptrace set fp regs failed, errno = 22";
        let failure = explained(vec![line.to_owned()]);
        assert!(failure.what.contains("cannot run on this CPU"), "{failure:?}");
        assert!(failure.details.remedy.is_some() && failure.details.printed == [line]);
        let failure = explained(vec!["ptrace: Operation not permitted".into()]);
        assert!(!failure.what.contains("CPU"), "{failure:?}");
    }

    #[test]
    fn the_command_ends_with_the_agents_words() {
        let site = site_of("memory=256MiB,append=a=b");
        let words = Uml.commands(&site).unwrap().remove(0).words.join(" ");
        assert!(words.starts_with("linux.uml mem=256M con1=fd:0,fd:1 con=null "), "{words}");
        let end = "a=b -- agent --self /envtax --enter guest:/orders.json";
        assert!(words.ends_with(end), "{words}");
        assert!(words.contains(" root=/dev/ram0 initrd="), "{words}");
        let spaced = Site { stage: std::path::Path::new("/a b"), ..site };
        assert!(Uml.commands(&spaced).unwrap_err().to_string().contains("TMPDIR"));
    }
}
