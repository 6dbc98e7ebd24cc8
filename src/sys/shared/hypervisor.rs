//! Asks the CPU whether there is a hypervisor, and which one.

/// The answer of the CPU.
// Only x86 processors are asked.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Hypervisor {
    /// There is no way to ask this kind of CPU.
    #[default]
    Unknown,
    /// There is no hypervisor.
    None,
    /// There is a hypervisor with this signature of twelve characters.
    Signed {
        signature: String,
        /// This system manages the hypervisor: Windows on the machine itself, once something there
        /// needs Hyper-V.
        manages_it: bool,
    },
}

/// Asks by the instruction `cpuid`, which needs no file and no system call. Emulators answer it by
/// themselves.
#[cfg(target_arch = "x86_64")]
pub fn hypervisor() -> Hypervisor {
    // Leaves that hypervisors agreed on: signatures, and Microsoft's privileges (Hypervisor Top
    // Level Functional Specification, 2.4). A hypervisor that imitates Hyper-V for a Windows guest
    // has its own signature in the second leaf.
    const SIGNATURES: [u32; 2] = [0x4000_0000, 0x4000_0100];
    const MICROSOFT_PRIVILEGES: u32 = 0x4000_0003;
    const CREATE_PARTITIONS: u32 = 1;
    // SAFETY: every CPU of this architecture has the instruction. Newer compilers know that.
    #[allow(unused_unsafe)]
    let leaf = |number: u32| unsafe { std::arch::x86_64::__cpuid(number) };
    if leaf(1).ecx & 1 << 31 == 0 {
        return Hypervisor::None;
    }
    let signature = |number: u32| {
        let found = leaf(number);
        let bytes = [found.ebx, found.ecx, found.edx].map(u32::to_le_bytes).concat();
        String::from_utf8_lossy(&bytes).trim_matches('\0').to_owned()
    };
    let [first, second] = SIGNATURES.map(signature);
    let microsoft = first == "Microsoft Hv";
    let signature = if microsoft && second == "KVMKVMKVM" { second } else { first };
    let manages_it =
        signature == "Microsoft Hv" && leaf(MICROSOFT_PRIVILEGES).ebx & CREATE_PARTITIONS != 0;
    Hypervisor::Signed { signature, manages_it }
}

#[cfg(not(target_arch = "x86_64"))]
pub fn hypervisor() -> Hypervisor {
    Hypervisor::Unknown
}
