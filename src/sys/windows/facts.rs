//! What Windows tells about itself, and whether it is really Wine.

use std::ffi::{CStr, OsStr, c_char};
use std::mem::{size_of, transmute};
use std::path::Path;
use std::sync::OnceLock;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_DWORD, RRF_RT_REG_SZ, RegGetValueW,
};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

use super::{narrow, wide};

const VERSION: &str = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
const PROCESSOR: &str = "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0";
const POWER: &str = "SYSTEM\\CurrentControlSet\\Control\\Power\\User\\PowerSchemes";
const DEFENDER: &str = "SOFTWARE\\Microsoft\\Windows Defender\\Real-Time Protection";

/// Power plans that come with Windows, by their ids.
const PLANS: [(&str, &str); 4] = [
    ("381b4222-f694-41f0-9685-ff5bb260df2e", "balanced"),
    ("8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c", "high performance"),
    ("a1841308-3541-4fab-bc81-f71556f20b4a", "power saver"),
    ("e9a42b02-d5df-448d-aa00-03f14749eb61", "ultimate performance"),
];

/// Names and values of the facts; those that Windows does not tell are absent.
pub fn facts() -> Vec<(&'static str, String)> {
    let build = text(VERSION, "CurrentBuild").map(|build| match number(VERSION, "UBR") {
        Some(revision) => format!("{build}.{revision}"),
        None => build,
    });
    let plan = text(POWER, "ActivePowerScheme").map(|id| {
        let known = PLANS.iter().find(|(plan, _)| plan.eq_ignore_ascii_case(&id));
        known.map_or(id, |(_, name)| (*name).to_owned())
    });
    // Absent where it was never switched; other products do not show here.
    let protection = number(DEFENDER, "DisableRealtimeMonitoring")
        .map(|off| if off == 0 { "on" } else { "off" }.to_owned());
    let found = [
        ("edition", text(VERSION, "ProductName")),
        ("release", text(VERSION, "DisplayVersion")),
        ("build", build),
        ("wine", wine_version().map(str::to_owned)),
        ("wine_help", wine_help()),
        ("cpu", text(PROCESSOR, "ProcessorNameString")),
        ("memory", memory()),
        ("power_plan", plan),
        ("defender_realtime", protection),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name, value?.trim().to_owned()))).collect()
}

/// The version of Wine, if this is Wine and not Windows.
pub(super) fn wine_version() -> Option<&'static str> {
    static VERSION: OnceLock<Option<String>> = OnceLock::new();
    VERSION.get_or_init(ask_wine).as_deref()
}

fn ask_wine() -> Option<String> {
    let library = wide(OsStr::new("ntdll.dll")).ok()?;
    // SAFETY: both names are zero-terminated. A function of this name is Wine's own, takes nothing
    // and returns a text that lives as long as the process.
    unsafe {
        let library = GetModuleHandleW(library.as_ptr());
        let function = GetProcAddress(library, c"wine_get_version".as_ptr().cast())?;
        type Version = unsafe extern "C" fn() -> *const c_char;
        let version = transmute::<unsafe extern "system" fn() -> isize, Version>(function)();
        Some(CStr::from_ptr(version).to_string_lossy().into_owned())
    }
}

/// What the launcher gave to this program because Wine lacks it.
fn wine_help() -> Option<String> {
    let name = "bcryptprimitives.dll";
    let lacking = !Path::new("C:\\windows\\system32").join(name).exists();
    (wine_version().is_some() && lacking).then(|| format!("{name} beside the agent"))
}

/// The memory in the form of `/proc/meminfo`, so that one reader understands both.
fn memory() -> Option<String> {
    let length = size_of::<MEMORYSTATUSEX>() as u32;
    let mut status = MEMORYSTATUSEX { dwLength: length, ..Default::default() };
    // SAFETY: the structure says its own length and lives through the call.
    let known = unsafe { GlobalMemoryStatusEx(&mut status) } != 0;
    known.then(|| format!("{} kB", status.ullTotalPhys >> 10))
}

fn text(key: &str, value: &str) -> Option<String> {
    let mut text = [0u16; 256];
    get(key, value, RRF_RT_REG_SZ, text.as_mut_ptr().cast(), size_of_val(&text))?;
    Some(narrow(&text)).filter(|text| !text.is_empty())
}

fn number(key: &str, value: &str) -> Option<u32> {
    let mut number = 0u32;
    get(key, value, RRF_RT_REG_DWORD, (&raw mut number).cast(), size_of::<u32>())?;
    Some(number)
}

/// Reads a value of the registry into a buffer of fixed size.
fn get(key: &str, value: &str, kind: u32, buffer: *mut u8, bytes: usize) -> Option<()> {
    let (key, value) = (wide(OsStr::new(key)).ok()?, wide(OsStr::new(value)).ok()?);
    let mut bytes = bytes as u32;
    // SAFETY: both names are zero-terminated, and callers pass a buffer of that many bytes; a text
    // that fits comes with its zero.
    let result = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            value.as_ptr(),
            kind,
            std::ptr::null_mut(),
            buffer.cast(),
            &mut bytes,
        )
    };
    (result == 0).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_what_it_is() {
        let facts = facts();
        let has = |name: &str| facts.iter().any(|(known, value)| *known == name && value != "");
        assert!(has("build") && has("memory") && has("cpu"), "{facts:?}");
    }
}
