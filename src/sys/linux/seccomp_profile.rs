//! Reads seccomp profiles as container engines do: the format of the OCI runtime specification,
//! with the conditions on capabilities and architectures that engines add.

use serde::Deserialize;
use syscalls::Sysno;

use super::seccomp_program::{Action, Condition, Rule, Test};
use crate::model::CONTAINER_CAPABILITIES;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    default_action: String,
    default_errno_ret: Option<u16>,
    #[serde(default)]
    syscalls: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    names: Vec<String>,
    /// One name, in the form of older profiles.
    name: Option<String>,
    action: String,
    errno_ret: Option<u16>,
    args: Option<Vec<Argument>>,
    includes: Option<When>,
    excludes: Option<When>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    index: u8,
    value: u64,
    #[serde(default)]
    value_two: u64,
    op: String,
}

/// Every kernel that runs this program is newer than the versions that entries ask for.
#[derive(Default, Deserialize)]
struct When {
    #[serde(default)]
    caps: Vec<String>,
    #[serde(default)]
    arches: Vec<String>,
}

/// What profiles call this architecture.
const ARCHITECTURE: &str = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };

impl Profile {
    /// The rules for this architecture and a container with the usual capabilities. Names of system
    /// calls that do not exist here are left out, as engines do.
    pub(super) fn resolve(&self) -> Result<(Action, Vec<Rule>), String> {
        let default = action(&self.default_action, self.default_errno_ret)?;
        let mut rules = Vec::new();
        for entry in self.syscalls.iter().filter(|entry| entry.applies()) {
            let action = action(&entry.action, entry.errno_ret)?;
            let conditions = entry.args.iter().flatten().map(condition);
            let conditions: Vec<Condition> = conditions.collect::<Result<_, _>>()?;
            for number in entry.names.iter().chain(&entry.name).filter_map(|name| number(name)) {
                rules.push(Rule { number, conditions: conditions.clone(), action });
            }
        }
        Ok((default, rules))
    }
}

impl Entry {
    fn applies(&self) -> bool {
        let here = |arch: &String| arch == ARCHITECTURE;
        let had = |capability: &String| CONTAINER_CAPABILITIES.contains(&capability.as_str());
        let included = self.includes.as_ref().is_none_or(|when| {
            let arches = &when.arches;
            (arches.is_empty() || arches.iter().any(here)) && when.caps.iter().all(had)
        });
        let excluded = self
            .excludes
            .as_ref()
            .is_some_and(|when| when.arches.iter().any(here) || when.caps.iter().any(had));
        included && !excluded
    }
}

fn number(name: &str) -> Option<u32> {
    name.parse::<Sysno>().ok().map(|number| number.id() as u32)
}

fn action(name: &str, error: Option<u16>) -> Result<Action, String> {
    let error = u32::from(error.unwrap_or(libc::EPERM as u16));
    Ok(Action(match name {
        "SCMP_ACT_ALLOW" => libc::SECCOMP_RET_ALLOW,
        "SCMP_ACT_ERRNO" => libc::SECCOMP_RET_ERRNO | error,
        "SCMP_ACT_KILL" | "SCMP_ACT_KILL_THREAD" => libc::SECCOMP_RET_KILL_THREAD,
        "SCMP_ACT_KILL_PROCESS" => libc::SECCOMP_RET_KILL_PROCESS,
        "SCMP_ACT_TRAP" => libc::SECCOMP_RET_TRAP,
        "SCMP_ACT_LOG" => libc::SECCOMP_RET_LOG,
        "SCMP_ACT_NOTIFY" => {
            return Err("`SCMP_ACT_NOTIFY` asks a process that envtax lacks".into());
        }
        "SCMP_ACT_TRACE" => return Err("`SCMP_ACT_TRACE` asks a tracer that envtax lacks".into()),
        other => return Err(format!("`{other}` is no action of a seccomp profile")),
    }))
}

fn condition(argument: &Argument) -> Result<Condition, String> {
    let Argument { index, value, value_two, ref op } = *argument;
    if index > 5 {
        return Err(format!("a system call has no argument {index}: they are 0 to 5"));
    }
    let test = match op.as_str() {
        "SCMP_CMP_EQ" => Test::Equal(value),
        "SCMP_CMP_NE" => Test::NotEqual(value),
        "SCMP_CMP_LT" => Test::Below(value),
        "SCMP_CMP_LE" => Test::AtMost(value),
        "SCMP_CMP_GE" => Test::AtLeast(value),
        "SCMP_CMP_GT" => Test::Above(value),
        "SCMP_CMP_MASKED_EQ" => Test::Masked { mask: value, value: value_two },
        other => return Err(format!("`{other}` is no comparison of a seccomp profile")),
    };
    Ok(Condition { argument: index, test })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(syscalls: &str) -> Result<Vec<Rule>, String> {
        let text = format!(r#"{{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{syscalls}]}}"#);
        serde_json::from_str::<Profile>(&text).unwrap().resolve().map(|(_, rules)| rules)
    }

    #[test]
    fn entries_apply_where_their_conditions_hold() {
        let count = |more: &str| {
            let entry =
                r#"{"names": ["read", "write", "no_such_call"], "action": "SCMP_ACT_ALLOW""#;
            resolved(&format!("{entry}{more}}}")).unwrap().len()
        };
        assert_eq!(count(""), 2, "unknown calls are left out");
        assert_eq!(count(r#", "includes": {"caps": ["CAP_SYS_ADMIN"]}"#), 0);
        assert_eq!(count(r#", "excludes": {"caps": ["CAP_SYS_ADMIN"]}"#), 2);
        assert_eq!(count(r#", "includes": {"caps": ["CAP_CHOWN"], "minKernel": "4.8"}"#), 2);
        assert_eq!(count(r#", "includes": {"arches": ["s390x"]}"#), 0);
        assert_eq!(count(r#", "includes": {"arches": ["amd64", "arm64"]}, "args": null"#), 2);
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let error = |entry: &str| resolved(&format!(r#"{{"name": "read", {entry}}}"#)).unwrap_err();
        assert!(error(r#""action": "SCMP_ACT_NOTIFY""#).contains("a process that envtax lacks"));
        let with = |args: &str| error(&format!(r#""action": "SCMP_ACT_ALLOW", "args": [{args}]"#));
        assert!(with(r#"{"index": 6, "value": 1, "op": "SCMP_CMP_EQ"}"#).contains("argument 6"));
        assert!(with(r#"{"index": 0, "value": 1, "op": "LIKE"}"#).contains("`LIKE`"));
    }
}
