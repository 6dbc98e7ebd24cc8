//! A seccomp filter that this program puts on itself.

use std::fs;
use std::io;

use libc::sock_filter;

use super::check;
use super::seccomp_profile::Profile;
use super::seccomp_program::{Action, allow_all, program};

/// The filter of podman's containers.
const CONTAINER: &str = include_str!("seccomp_container.json");

/// Applies the filter of that profile to this process and all that it starts, permanently.
pub fn enter_seccomp(profile: &str) -> Result<(), String> {
    install(&filter(profile)?).map_err(|e| format!("installing the filter: {e}"))
}

/// Checks that the profile exists and that a filter can be made of it; the error says what is
/// wrong.
pub fn check_seccomp(profile: &str) -> Result<(), String> {
    filter(profile).map(drop)
}

fn filter(profile: &str) -> Result<Vec<sock_filter>, String> {
    match profile {
        "allow" => Ok(allow_all()),
        "container" => compile(CONTAINER),
        path if path.ends_with(".json") => {
            let text = fs::read_to_string(path).map_err(|e| format!("reading `{path}`: {e}"))?;
            compile(&text).map_err(|e| format!("the seccomp profile `{path}`: {e}"))
        }
        other => Err(format!(
            "there is no seccomp profile `{other}`; there are `container`, `allow` and files \
             named *.json as container engines take them"
        )),
    }
}

fn compile(profile: &str) -> Result<Vec<sock_filter>, String> {
    let profile: Profile = serde_json::from_str(profile).map_err(|e| e.to_string())?;
    let (default, rules): (Action, _) = profile.resolve()?;
    program(default, &rules)
}

pub(super) fn install(filter: &[sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: filter.len().try_into().map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: filter.as_ptr().cast_mut(),
    };
    // Without this flag, only privileged processes may filter. Containers set it too.
    // SAFETY: the call takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: the program outlives the call, which copies it.
    check(unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &program) }.into()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(profile: &str) -> String {
        check_seccomp(profile).unwrap_err()
    }

    #[test]
    fn profiles_are_known_by_name_or_file() {
        check_seccomp("allow").unwrap();
        check_seccomp("container").unwrap();
        assert!(error("docker").contains("no seccomp profile `docker`; there are `container`"));
        assert!(error("/no/such.json").contains("reading `/no/such.json`"));
    }

    /// A damaged profile is an error or a filter that fits the kernel's limit, and never a panic.
    #[test]
    fn damaged_profiles_are_errors_or_filters() {
        let small = r#"{"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "syscalls": [
            {"names": ["read", "write"], "action": "SCMP_ACT_ALLOW", "args": [
                {"index": 1, "value": 18446744073709551615, "valueTwo": 3,
                 "op": "SCMP_CMP_MASKED_EQ"}]},
            {"name": "open", "action": "SCMP_ACT_ERRNO", "errnoRet": 65535, "includes":
                {"caps": ["CAP_CHOWN"], "arches": ["amd64"]}}]}"#;
        let mut random = rand_pcg::Pcg32::new(12, 1);
        let (mut made, mut refused) = (0, 0);
        for round in 0..5_000 {
            let seed = if round % 100 == 0 { CONTAINER } else { small };
            let mut text = seed.as_bytes().to_vec();
            crate::sys::mutate(&mut text, &mut random);
            match compile(&String::from_utf8_lossy(&text)) {
                Ok(filter) => {
                    made += 1;
                    assert!(filter.len() <= libc::BPF_MAXINSNS as usize, "{}", filter.len());
                }
                Err(why) => {
                    refused += 1;
                    assert!(!why.is_empty());
                }
            }
        }
        assert!(made > 0 && refused > 0, "{made} {refused}");
    }

    #[test]
    fn a_file_that_is_no_profile_says_where() {
        let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
        let path = file.path().to_str().unwrap();
        let given = |text: &str| {
            fs::write(path, text).unwrap();
            error(path)
        };
        assert!(given("{").contains("line 1 column"));
        assert!(given("{}").contains("missing field `defaultAction`"));
        let unknown = given(r#"{"defaultAction": "SCMP_ACT_MAYBE"}"#);
        assert!(unknown.contains("`SCMP_ACT_MAYBE`") && unknown.contains(path), "{unknown}");
    }
}
