//! Filters of system calls: converts the profiles of podman and docker, whose rules depend on
//! capabilities and processors, into profiles for a runtime, whose rules do not.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::Options;
use crate::model::CONTAINER_CAPABILITIES;

/// Where podman's own filter is.
const DEFAULTS: [&str; 2] = ["/usr/share/containers/seccomp.json", "/etc/containers/seccomp.json"];

/// An error unless the option is `default`, `unconfined` or a file.
pub(in crate::launch) fn check(options: &Options<'_>) -> Result<()> {
    let Some(profile) = options.get("seccomp") else { return Ok(()) };
    let known = ["default", "unconfined"].contains(&profile) || Path::new(profile).is_file();
    ensure!(known, "`seccomp={profile}` is not `default`, `unconfined` or a file here");
    Ok(())
}

/// The filter in that file, or podman's own for `default`, converted for a runtime.
pub(super) fn profile(name: &str) -> Result<Value> {
    let path = match name {
        "default" => {
            DEFAULTS.into_iter().find(|path| Path::new(path).is_file()).with_context(|| {
                let tried = DEFAULTS.join("` or `");
                format!(
                    "there is no filter in `{tried}`: apt-get install \
                         golang-github-containers-common, or name a file"
                )
            })?
        }
        path => path,
    };
    let text = fs::read(path).with_context(|| format!("reading the filter `{path}`"))?;
    let value = serde_json::from_slice(&text).with_context(|| format!("the filter `{path}`"))?;
    Ok(resolve(&value))
}

fn resolve(profile: &Value) -> Value {
    let mut filter = Map::new();
    for name in ["defaultAction", "defaultErrnoRet", "architectures", "flags"] {
        if let Some(value) = profile.get(name) {
            filter.insert(name.into(), value.clone());
        }
    }
    let own = format!("SCMP_ARCH_{}", std::env::consts::ARCH.to_uppercase());
    let architecture = list(profile, "archMap").find(|it| it["architecture"] == own.as_str());
    if let Some(it) = architecture {
        let all: Vec<&Value> =
            [&it["architecture"]].into_iter().chain(list(it, "subArchitectures")).collect();
        filter.insert("architectures".into(), json!(all));
    }
    let rules: Vec<Value> =
        list(profile, "syscalls").filter(|rule| applies(rule)).map(rule).collect();
    filter.insert("syscalls".into(), rules.into());
    filter.into()
}

/// The parts of a rule that a runtime knows.
fn rule(rule: &Value) -> Value {
    let known = ["names", "action", "args", "errnoRet"].into_iter();
    let fields = known.filter_map(|name| Some((name.to_owned(), rule.get(name)?.clone())));
    fields.filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into()
}

/// Whether the rule is for this processor and the capabilities that containers get.
fn applies(rule: &Value) -> bool {
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let has = |name: &Value| CONTAINER_CAPABILITIES.iter().any(|capability| name == capability);
    let is_own = |name: &Value| name == processor;
    let (includes, excludes) = (&rule["includes"], &rule["excludes"]);
    let named = list(includes, "arches").next().is_none() || list(includes, "arches").any(is_own);
    named
        && list(includes, "caps").all(has)
        && !list(excludes, "caps").any(has)
        && !list(excludes, "arches").any(is_own)
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_others_are_left_out() {
        let rule = |name: &str, action: &str, included: Value, excluded: Value| {
            let action = format!("SCMP_ACT_{action}");
            let (includes, excludes) = (json!({ "caps": included }), json!({ "caps": excluded }));
            json!({
                "names": [name], "action": action, "args": null, "comment": "",
                "includes": includes, "excludes": excludes,
            })
        };
        let mut foreign = rule("b", "ALLOW", json!([]), json!([]));
        foreign["includes"]["arches"] = json!(["s390"]);
        let profile = json!({
            "defaultAction": "SCMP_ACT_ERRNO",
            "archMap": [
                { "architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86"] },
                { "architecture": "SCMP_ARCH_AARCH64", "subArchitectures": ["SCMP_ARCH_ARM"] },
            ],
            "syscalls": [
                rule("a", "ALLOW", json!([]), json!([])),
                foreign,
                rule("c", "ALLOW", json!(["CAP_BPF"]), json!([])),
                rule("d", "ERRNO", json!([]), json!(["CAP_BPF"])),
                rule("e", "ERRNO", json!([]), json!(["CAP_KILL"])),
                rule("f", "ALLOW", json!(["CAP_KILL"]), json!([])),
            ],
        });
        let filter = resolve(&profile);
        let kept = |name: &str, action: &str| json!({ "names": [name], "action": action });
        let (allow, refuse) = ("SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO");
        let expected = json!([kept("a", allow), kept("d", refuse), kept("f", allow)]);
        assert_eq!(filter["syscalls"], expected);
        assert_eq!(filter["architectures"].as_array().unwrap().len(), 2);
    }
}
