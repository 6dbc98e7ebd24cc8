//! Recognises what an environment is, by the evidence inside it alone.
//!
//! Several answers can hold at once, one within the other, such as a container in a virtual
//! machine. A mark that survives copying is no evidence: a root folder that once belonged to a
//! container keeps the files by which containers are recognised, and may be booted as a virtual
//! machine.

use std::fs;

use super::filesystem::mounts;
use super::root::{Root, value_in};
use crate::model::Facts;
use crate::sys::{self, Hypervisor};

/// What is known of this process without reading files.
#[derive(Default)]
pub(super) struct Signs {
    pub hypervisor: Hypervisor,
    /// Whether `/` is the root of a mount.
    pub root_is_mount: Option<bool>,
    pub pid: u32,
    /// Release of the kernel.
    pub release: String,
    /// The variable `container`, by which its makers name themselves.
    pub container: Option<String>,
    /// Version of Wine.
    pub wine: Option<String>,
}

impl Signs {
    /// Gathers the signs; some of them are among the facts.
    pub fn of_this_process(facts: &Facts) -> Signs {
        Signs {
            hypervisor: sys::hypervisor(),
            root_is_mount: sys::root_is_mount(),
            pid: std::process::id(),
            release: facts.get("kernel").cloned().unwrap_or_default(),
            container: std::env::var("container").ok(),
            wine: facts.get("wine").cloned(),
        }
    }
}

/// The environments that this process is in, the outermost first: `vm(kvm) > container(podman)`.
pub(super) fn environment(root: &Root<'_>, signs: &Signs) -> String {
    let own = Own::read(root, signs);
    let mut layers: Vec<String> = Vec::new();
    layers.extend(machine(root, signs, &own));
    layers.extend(kernel(root, signs, &own).map(str::to_owned));
    layers.extend(signs.wine.as_ref().map(|_| "wine".to_owned()));
    layers.extend(containers(root, signs, &own));
    // Where a path leads is the business of whoever answers, unless it is the kernel.
    if signs.root_is_mount == Some(false) {
        layers.push("chroot".into());
    }
    layers.extend(translator(&own));
    layers.join(" > ")
}

/// Data that several questions below need.
struct Own {
    /// `/proc/self/mountinfo`.
    mounts: String,
    /// Command name of the first process of the own process namespace.
    init: Option<String>,
    /// Namespaces that are not the machine's.
    namespaces: Vec<&'static str>,
    /// File name of the program that really runs. Emulators answer the usual link as the emulated
    /// kernel would; they do not know this second link (QEMU 7.2, PRoot 5.1).
    program: String,
    /// Command name of the process that traces this one.
    tracer: Option<String>,
}

impl Own {
    fn read(root: &Root<'_>, signs: &Signs) -> Own {
        let pid = signs.pid.to_string();
        // A `/proc` that was mounted from outside has another first process than this namespace.
        let own_proc = root.link("/proc/self").is_some_and(|own| own == pid);
        let program = root.link(&format!("/proc/self/task/{pid}/exe")).unwrap_or_default();
        let status = root.text("/proc/self/status").unwrap_or_default();
        let tracer = value_in(&status, "TracerPid", ':').filter(|tracer| tracer != "0");
        let name = |pid: String| root.first_line(&format!("/proc/{pid}/comm")).unwrap_or_default();
        Own {
            mounts: fs::read_to_string(root.path("/proc/self/mountinfo")).unwrap_or_default(),
            init: root.first_line("/proc/1/comm").filter(|_| own_proc),
            namespaces: foreign_namespaces(root),
            program: program.rsplit('/').next().unwrap_or_default().to_owned(),
            tracer: tracer.map(name),
        }
    }

    fn is_mounted(&self, point: &str) -> bool {
        mounts(&self.mounts).any(|mount| mount.point == point)
    }
}

/// The machine itself, or the hypervisor over it.
fn machine(root: &Root<'_>, signs: &Signs, own: &Own) -> Option<String> {
    if qemu_user(own).is_some() {
        // The emulator answers for the CPU; the files are those of the system below.
        let flags = root.value_of("/proc/cpuinfo", "flags", ':').unwrap_or_default();
        return flags.split(' ').any(|flag| flag == "hypervisor").then(|| "vm".into());
    }
    match &signs.hypervisor {
        Hypervisor::None => Some("machine".into()),
        Hypervisor::Signed { manages_it: true, .. } => Some("machine(hyper-v)".into()),
        Hypervisor::Signed { signature, .. } => Some(vm(hypervisor_name(signature))),
        Hypervisor::Unknown => {
            let vendor = root.first_line("/sys/class/dmi/id/sys_vendor").unwrap_or_default();
            let tree = root.first_line("/proc/device-tree/hypervisor/compatible");
            let by_tree = tree.filter(|text| text.starts_with("linux,kvm")).map(|_| "kvm");
            by_tree.or_else(|| maker_name(&vendor)).map(vm)
        }
    }
}

fn vm(name: &str) -> String {
    if name.is_empty() { "vm".into() } else { format!("vm({name})") }
}

/// The usual name of a hypervisor with that signature; the signature itself where it is unknown.
fn hypervisor_name(signature: &str) -> &str {
    match signature.trim() {
        "KVMKVMKVM" | "Linux KVM Hv" => "kvm",
        "TCGTCGTCGTCG" => "tcg",
        "Microsoft Hv" => "hyper-v",
        "VMwareVMware" => "vmware",
        "XenVMMXenVMM" => "xen",
        "bhyve bhyve" => "bhyve",
        "VBoxVBoxVBox" => "virtualbox",
        "prl hyperv" | "lrpepyh vr" => "parallels",
        "ACRNACRNACRN" => "acrn",
        other if other.chars().all(|c| c.is_ascii_graphic() || c == ' ') => other,
        _ => "",
    }
}

/// Manufacturers that only virtual machines name.
fn maker_name(vendor: &str) -> Option<&'static str> {
    match vendor {
        "QEMU" => Some("qemu"),
        "VMware, Inc." => Some("vmware"),
        "innotek GmbH" => Some("virtualbox"),
        "Xen" => Some("xen"),
        "Parallels Software International Inc." => Some("parallels"),
        _ => None,
    }
}

/// Kernels that are not a Linux that runs on a machine itself.
fn kernel(root: &Root<'_>, signs: &Signs, own: &Own) -> Option<&'static str> {
    let vendor = || root.value_of("/proc/cpuinfo", "vendor_id", ':');
    if signs.release.ends_with("gvisor") || root.has("/proc/sentry-meminfo") {
        Some("gvisor")
    } else if vendor().as_deref() == Some("User Mode Linux") {
        Some("uml")
    } else {
        wsl(root, signs, own)
    }
}

/// WSL 1 has filesystems of its own and spells its name with a capital letter. WSL 2 is a Linux,
/// which users may have built themselves.
fn wsl(root: &Root<'_>, signs: &Signs, own: &Own) -> Option<&'static str> {
    let interop = "/proc/sys/fs/binfmt_misc/WSLInterop";
    let release = signs.release.to_lowercase();
    if !release.contains("microsoft") && !root.has(interop) && !root.has("/run/WSL") {
        return None;
    }
    let own_kind = |kind: &str| ["lxfs", "wslfs"].contains(&kind);
    let first = mounts(&own.mounts).any(|mount| own_kind(mount.kind));
    Some(if first || signs.release.ends_with("-Microsoft") { "wsl1" } else { "wsl2" })
}

/// The container and the sandbox within it, by the names that they left. Without a name:
/// `namespaces`, if there are any.
fn containers(root: &Root<'_>, signs: &Signs, own: &Own) -> Vec<String> {
    let apart = !own.namespaces.is_empty();
    let variable = signs.container.as_deref().filter(|_| apart).unwrap_or_default();
    let named = [container(root, variable, own), sandbox(root, variable, own)];
    let named: Vec<String> = named.into_iter().flatten().map(str::to_owned).collect();
    match () {
        () if !named.is_empty() => named,
        () if !variable.is_empty() => vec![format!("container({variable})")],
        () if apart => vec!["namespaces".to_owned()],
        () => Vec::new(),
    }
}

fn container(root: &Root<'_>, variable: &str, own: &Own) -> Option<&'static str> {
    let apart = !own.namespaces.is_empty();
    // Files that container engines mount over those of the image.
    let at_etc = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf"];
    let names_mounted = || at_etc.iter().any(|point| own.is_mounted(point));
    let in_pod = || mounts(&own.mounts).any(|mount| mount.root.contains("/kubelet/pods/"));
    let nspawn = || apart && root.has("/run/host/container-manager");
    match () {
        () if in_pod() => Some("container(kubernetes)"),
        () if own.is_mounted("/run/.containerenv") => Some("container(podman)"),
        () if root.has("/.dockerenv") && names_mounted() => Some("container(docker)"),
        () if variable == "systemd-nspawn" || nspawn() => Some("container(nspawn)"),
        () if variable == "lxc" || (apart && in_group_of_lxc(root)) => Some("container(lxc)"),
        () => None,
    }
}

fn sandbox(root: &Root<'_>, variable: &str, own: &Own) -> Option<&'static str> {
    let apart = !own.namespaces.is_empty();
    let init = own.init.as_deref().unwrap_or_default();
    match () {
        () if apart && root.has("/.flatpak-info") => Some("sandbox(flatpak)"),
        () if variable == "firejail" || init == "firejail" => Some("sandbox(firejail)"),
        () if init == "bwrap" => Some("sandbox(bwrap)"),
        () => None,
    }
}

fn in_group_of_lxc(root: &Root<'_>) -> bool {
    root.text("/proc/self/cgroup").is_some_and(|text| text.contains("/lxc"))
}

/// Namespaces of this process that are not the kernel's first ones, as far as it tells.
pub(super) fn namespaces(root: &Root<'_>) -> Option<String> {
    root.link("/proc/self/ns/user")?;
    let own = foreign_namespaces(root);
    Some(if own.is_empty() { "the machine's".into() } else { own.join(" ") })
}

/// The numbers of the kernel's first namespaces are fixed (include/linux/proc_ns.h), that of the
/// mount namespace since 6.18; before, it was the first number given out. That of the network
/// namespace is unknown.
fn foreign_namespaces(root: &Root<'_>) -> Vec<&'static str> {
    const FIRST: [(&str, &[u32]); 6] = [
        ("cgroup", &[0xeffffffb]),
        ("ipc", &[0xefffffff]),
        ("mnt", &[0xeffffff8, 0xf0000000, 0xf0000001]),
        ("pid", &[0xeffffffc]),
        ("user", &[0xeffffffd]),
        ("uts", &[0xeffffffe]),
    ];
    let number = |name: &str| {
        let link = root.link(&format!("/proc/self/ns/{name}"))?;
        link.split_once('[')?.1.strip_suffix(']')?.parse::<u32>().ok()
    };
    // The numbers of kernels that count from one, such as gVisor's, mean nothing here.
    let foreign = |(name, first): &(&'static str, &[u32])| {
        let own = number(name).filter(|number| *number > 0xe0000000)?;
        (!first.contains(&own)).then_some(*name)
    };
    FIRST.iter().filter_map(foreign).collect()
}

/// The program between this process and the kernel: an emulator or a tracer.
fn translator(own: &Own) -> Option<String> {
    if let Some(architecture) = qemu_user(own) {
        return Some(format!("qemu-user({architecture})"));
    }
    if own.program.starts_with("prooted-") {
        return Some("ptrace(proot)".into());
    }
    let tracer = own.tracer.as_deref()?;
    Some(if tracer.is_empty() { "ptrace".into() } else { format!("ptrace({tracer})") })
}

/// The architecture that an emulator of that name emulates: `qemu-aarch64-static`.
fn qemu_user(own: &Own) -> Option<&str> {
    own.program.strip_prefix("qemu-")?.split('-').next()
}

#[cfg(test)]
mod tests {
    use super::super::root::made;
    use super::*;

    const ROOT: &str = "22 1 8:1 / / rw - ext4 /dev/vda rw\n";

    /// A system with these files, seen by process 7, which `/proc/self` is.
    fn system(files: &[(&str, &str)], links: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = made::system(&[("/proc/7/mountinfo", ROOT)]);
        let at = |path: &str| Root(folder.path()).path(path);
        // Deprecated for a name that hides differences of systems, of which there are none here.
        #[allow(deprecated)]
        let link = |path: &str, target: &str| fs::soft_link(target, at(path)).unwrap();
        link("/proc/self", "7");
        for (path, text) in files {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        }
        for (path, target) in links {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            link(path, target);
        }
        folder
    }

    fn signs() -> Signs {
        Signs {
            hypervisor: Hypervisor::None,
            root_is_mount: Some(true),
            pid: 7,
            ..Signs::default()
        }
    }

    fn signed(signature: &str) -> Signs {
        let signature = signature.to_owned();
        Signs { hypervisor: Hypervisor::Signed { signature, manages_it: false }, ..signs() }
    }

    fn seen(files: &[(&str, &str)], links: &[(&str, &str)], signs: &Signs) -> String {
        environment(&Root(system(files, links).path()), signs)
    }

    const APART: [(&str, &str); 2] =
        [("/proc/7/ns/pid", "pid:[4026532180]"), ("/proc/7/ns/user", "user:[4026531837]")];

    #[test]
    fn machines_and_hypervisors_are_told_apart() {
        let of = |signs: &Signs| seen(&[], &[], signs);
        assert_eq!(of(&signs()), "machine");
        assert_eq!(of(&signed("KVMKVMKVM")), "vm(kvm)");
        assert_eq!(of(&signed("TCGTCGTCGTCG")), "vm(tcg)");
        assert_eq!(of(&signed("bhyve bhyve ")), "vm(bhyve)");
        assert_eq!(of(&signed("Some Other")), "vm(Some Other)");
        assert_eq!(of(&signed("")), "vm", "gVisor leaves the name out");
        let signature = "Microsoft Hv".to_owned();
        let root = Hypervisor::Signed { signature, manages_it: true };
        assert_eq!(of(&Signs { hypervisor: root, ..signs() }), "machine(hyper-v)");
        let silent = Signs { hypervisor: Hypervisor::Unknown, ..signs() };
        let by_maker = |maker: &str| seen(&[("/sys/class/dmi/id/sys_vendor", maker)], &[], &silent);
        assert_eq!(by_maker("QEMU\n"), "vm(qemu)");
        assert_eq!(by_maker("ASUS\n"), "", "neither is shown");
        let tree = [("/proc/device-tree/hypervisor/compatible", "linux,kvm\0")];
        assert_eq!(seen(&tree, &[], &silent), "vm(kvm)");
    }

    #[test]
    fn kernels_that_are_no_linux_on_a_machine_are_known() {
        let release = |text: &str| seen(&[], &[], &Signs { release: text.into(), ..signs() });
        assert_eq!(release("4.19.0-gvisor"), "machine > gvisor");
        assert_eq!(release("4.4.0-19041-Microsoft"), "machine > wsl1");
        assert_eq!(release("5.15.90.1-microsoft-standard-WSL2"), "machine > wsl2");
        assert_eq!(release("5.15.0-1050-azure"), "machine");
        let interop = ("/proc/sys/fs/binfmt_misc/WSLInterop", "enabled\n");
        assert_eq!(seen(&[interop], &[], &signed("Microsoft Hv")), "vm(hyper-v) > wsl2");
        let first = ("/proc/7/mountinfo", "2 2 0:2 / / rw - wslfs rootfs rw\n");
        assert_eq!(seen(&[interop, first], &[], &signs()), "machine > wsl1");
        let uml = [("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: User Mode Linux\n")];
        assert_eq!(seen(&uml, &[], &signed("KVMKVMKVM")), "vm(kvm) > uml");
        let wine = Signs { wine: Some("8.0".into()), ..signs() };
        assert_eq!(seen(&[], &[], &wine), "machine > wine");
    }

    #[test]
    fn containers_are_known_by_what_their_makers_mount() {
        let mounted = |point: &str, from: &str| {
            format!("{ROOT}30 22 8:1 {from} {point} rw - ext4 /dev/vda rw\n")
        };
        let podman = mounted("/run/.containerenv", "/run/x/userdata/.containerenv");
        let of = |files: &[(&str, &str)]| seen(files, &APART, &signs());
        assert_eq!(of(&[("/proc/7/mountinfo", &podman)]), "machine > container(podman)");
        let docker = mounted("/etc/hostname", "/var/lib/docker/containers/0a/hostname");
        let mark = ("/.dockerenv", "");
        let docker = ("/proc/7/mountinfo", docker.as_str());
        assert_eq!(of(&[mark, docker]), "machine > container(docker)");
        let pod = mounted("/etc/hosts", "/var/lib/kubelet/pods/1-2/etc-hosts");
        let pod = ("/proc/7/mountinfo", pod.as_str());
        assert_eq!(of(&[pod]), "machine > container(kubernetes)");
        let nspawn = ("/run/host/container-manager", "systemd-nspawn\n");
        assert_eq!(of(&[nspawn]), "machine > container(nspawn)");
        let lxc = ("/proc/7/cgroup", "0::/lxc.payload.e1\n");
        assert_eq!(of(&[lxc]), "machine > container(lxc)");
        let within = [mark, docker, ("/proc/1/comm", "bwrap\n")];
        assert_eq!(of(&within), "machine > container(docker) > sandbox(bwrap)");
        assert_eq!(of(&[("/.flatpak-info", "")]), "machine > sandbox(flatpak)");
    }

    /// The root folder of a machine that was made of a container's has its marks.
    #[test]
    fn marks_that_were_left_behind_are_no_containers() {
        let marks = [
            ("/.dockerenv", ""),
            ("/run/.containerenv", ""),
            ("/run/host/container-manager", "systemd-nspawn\n"),
        ];
        assert_eq!(seen(&marks, &[], &signed("KVMKVMKVM")), "vm(kvm)");
        let variable = Signs { container: Some("podman".into()), ..signs() };
        assert_eq!(seen(&marks, &[], &variable), "machine");
    }

    #[test]
    fn sandboxes_are_known_by_their_first_process_or_their_variable() {
        let init = |name: &str| seen(&[("/proc/1/comm", name)], &APART, &signs());
        assert_eq!(init("bwrap\n"), "machine > sandbox(bwrap)");
        assert_eq!(init("firejail\n"), "machine > sandbox(firejail)");
        assert_eq!(init("envtax\n"), "machine > namespaces");
        let named = |name: &str| Signs { container: Some(name.into()), ..signs() };
        assert_eq!(seen(&[], &APART, &named("firejail")), "machine > sandbox(firejail)");
        assert_eq!(seen(&[], &APART, &named("other")), "machine > container(other)");
        // A `/proc` from outside shows the first process of another namespace.
        let outside = Signs { pid: 2, ..signs() };
        assert_eq!(seen(&[("/proc/1/comm", "bwrap\n")], &APART, &outside), "machine > namespaces");
    }

    #[test]
    fn namespaces_are_compared_with_those_of_the_machine() {
        let of = |links: &[(&str, &str)]| namespaces(&Root(system(&[], links).path()));
        assert_eq!(of(&APART).as_deref(), Some("pid"));
        let first =
            [("/proc/7/ns/user", "user:[4026531837]"), ("/proc/7/ns/mnt", "mnt:[4026531840]")];
        assert_eq!(of(&first).as_deref(), Some("the machine's"));
        assert_eq!(of(&[("/proc/7/ns/user", "user:[1]")]).as_deref(), Some("the machine's"));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn what_stands_before_the_kernel_is_known() {
        let exe = |path| seen(&[], &[("/proc/7/task/7/exe", path)], &signs());
        assert_eq!(exe("/usr/bin/envtax"), "machine");
        assert_eq!(exe("/tmp/prooted-77-abc"), "machine > ptrace(proot)");
        let tracer = ("/proc/7/status", "Pid:\t7\nTracerPid:\t6\n");
        let by = |name| seen(&[tracer, ("/proc/6/comm", name)], &[], &signs());
        assert_eq!(by("strace\n"), "machine > ptrace(strace)");
        assert_eq!(seen(&[tracer], &[], &signs()), "machine > ptrace");
        let chroot = Signs { root_is_mount: Some(false), ..signs() };
        assert_eq!(seen(&[], &[], &chroot), "machine > chroot");
    }

    /// The emulator answers for the CPU, and passes on the files of the system below.
    #[test]
    fn a_translator_is_no_hypervisor() {
        let exe = [("/proc/7/task/7/exe", "/usr/bin/qemu-aarch64-static")];
        let below = [("/proc/cpuinfo", "flags\t: fpu hypervisor\n")];
        assert_eq!(seen(&below, &exe, &signed("TCGTCGTCGTCG")), "vm > qemu-user(aarch64)");
        assert_eq!(seen(&[], &exe, &signed("TCGTCGTCGTCG")), "qemu-user(aarch64)");
    }
}
