//! Removes from a run file what shows who made it and where.
//!
//! Figures, the order of rounds, versions and settings stay: the comparison of a redacted file is
//! the comparison of the file. `docs/RUN-FILE.md` lists what is replaced. Works on lines of JSON
//! and not on records, so that fields of later versions are looked at as well.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::fact;

/// What stands where something was taken out.
const REMOVED: &str = "removed";
/// Folders whose paths are the same on most machines, and tell nothing.
const COMMON: &[&str] = &["/bin", "/dev", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr"];
/// Fields whose text is taken out whole: commands of the user's shell, output of programs.
const WHOLE: &[&str] = &["setup", "cleanup", "printed", "by_hand"];
/// Fields that hold the words of a command. The program's name stays, without its folder.
const COMMANDS: &[&str] = &["command", "own", "prepare", "conclude"];
/// Fields that hold the name of an environment. A name may be a whole command.
const NAMES: &[&str] = &["name", "env", "reference"];

/// Replaces the same text by the same stand-in throughout a file.
#[derive(Default)]
pub struct Redactor {
    paths: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
    hosts: BTreeMap<String, String>,
}

impl Redactor {
    /// One record, redacted.
    pub fn record(&mut self, record: &mut Value) {
        self.learn_hosts(record);
        self.value("", record);
    }

    /// The hosts that `ssh:HOST` names; they also stand in reasons.
    fn learn_hosts(&mut self, record: &Value) {
        for environment in record["plan"]["environments"].as_array().into_iter().flatten() {
            let Some(argument) = environment["argument"].as_str() else { continue };
            if environment["kind"] == "ssh" {
                for host in argument.split_whitespace().filter(|word| !word.starts_with('-')) {
                    stand_in(&mut self.hosts, host, "host");
                }
            }
        }
    }

    fn value(&mut self, field: &str, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(field, text),
            Value::Array(values) if COMMANDS.contains(&field) => self.command(field, values),
            Value::Array(values) => values.iter_mut().for_each(|it| self.value(field, it)),
            Value::Object(fields) => self.object(fields),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>) {
        let arguments = fields.get("kind").is_some_and(|kind| kind == "cmd");
        for (field, mut value) in std::mem::take(fields) {
            if is_private(&field, &value) || arguments && field == "argument" {
                value = REMOVED.into();
            } else {
                self.value(&field, &mut value);
            }
            // Files are keys where their hashes are the values.
            fields.insert(self.without_paths(&field), value);
        }
    }

    fn command(&mut self, field: &str, words: &mut [Value]) {
        for (index, word) in words.iter_mut().enumerate() {
            let Value::String(text) = word else {
                self.value(field, word);
                continue;
            };
            let is_placeholder = text.starts_with('{') && text.ends_with('}');
            *text = match index {
                0 => text.rsplit(['/', '\\']).next().unwrap_or_default().to_owned(),
                _ if is_placeholder => continue,
                _ => format!("argument-{index}"),
            };
        }
    }

    fn text(&mut self, field: &str, text: &str) -> String {
        if WHOLE.contains(&field) {
            return REMOVED.into();
        }
        if NAMES.contains(&field) && text.contains(' ') {
            return stand_in(&mut self.names, text, "command");
        }
        let mut text = self.without_paths(text);
        for (host, replacement) in &self.hosts {
            text = text.replace(host.as_str(), replacement);
        }
        text
    }

    /// The text with every absolute path replaced, except those that most machines have.
    fn without_paths(&mut self, text: &str) -> String {
        let mut rest = text;
        let mut done = String::with_capacity(text.len());
        while let Some(at) = path_start(rest) {
            done.push_str(&rest[..at]);
            let end = rest[at..].find(is_after_path).map_or(rest.len(), |length| at + length);
            let path = &rest[at..end];
            let common = COMMON.iter().any(|it| {
                path.strip_prefix(it)
                    .is_some_and(|below| below.is_empty() || below.starts_with('/'))
            });
            match common || path == "/" {
                true => done.push_str(path),
                false => done.push_str(&stand_in(&mut self.paths, path, "/path")),
            }
            rest = &rest[end..];
        }
        done + rest
    }
}

/// Whether the field is a fact that tells who or where.
fn is_private(field: &str, value: &Value) -> bool {
    value.is_string() && fact(field).is_some_and(|fact| fact.private)
}

fn stand_in(known: &mut BTreeMap<String, String>, text: &str, kind: &str) -> String {
    let next = format!("{kind}-{}", known.len() + 1);
    known.entry(text.to_owned()).or_insert(next).clone()
}

/// Where an absolute path begins: `/home` or `C:\Users`, at the beginning or behind a separator.
fn path_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let begins = |at: usize| {
        let behind_separator = at == 0 || b" \t\n'\"`=:,;([<>".contains(&bytes[at - 1]);
        let drive = bytes.len() > at + 2
            && bytes[at].is_ascii_alphabetic()
            && bytes[at + 1] == b':'
            && b"\\/".contains(&bytes[at + 2]);
        let share = bytes[at..].starts_with(br"\\");
        behind_separator && (bytes[at] == b'/' || drive || share)
    };
    (0..bytes.len()).filter(|at| text.is_char_boundary(*at)).find(|at| begins(*at))
}

fn is_after_path(char: char) -> bool {
    char.is_whitespace() || "'\"`,;)]<>=".contains(char)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_tells_of_a_person_is_gone_and_the_rest_stays() {
        let mut record = json!({
            "record": "header",
            "host": {"boot": "1234-secret", "cpu": "AMD", "command_line": "token=secret quiet"},
            "plan": {
                "environments": [
                    {"name": "far", "kind": "ssh", "argument": "secret.example"},
                    {"name": "gzip /home/secret/a", "kind": "native"},
                    {"name": "c", "kind": "cmd", "argument": "sh -c secret"},
                ],
                "reference": "gzip /home/secret/a",
                "dirs": [{"name": "tmp", "path": "/home/secret/tmp"}],
                "commands": {"setup": ["echo secret"], "timeout_s": 3.5},
                "cases": [{"command": {"own": ["/home/secret/bin/gzip", "{}", "--secret"],
                    "input": "C:\\Users\\secret\\x"}}],
            },
            "reason": "opening `/home/secret/tmp/f`: secret.example said no (/usr/bin/ssh)",
            "files": {"/home/secret/tmp": "hash"},
        });
        let mut redactor = Redactor::default();
        redactor.record(&mut record);
        let text = record.to_string();
        assert!(!text.contains("secret"), "{text}");
        let plan = &record["plan"];
        assert_eq!(plan["environments"][1]["name"], plan["reference"]);
        assert_eq!(record["host"]["cpu"], "AMD");
        assert_eq!(plan["commands"]["timeout_s"], 3.5);
        assert_eq!(plan["cases"][0]["command"]["own"][0], "gzip");
        assert_eq!(plan["cases"][0]["command"]["own"][1], "{}");
        assert!(text.contains("/usr/bin/ssh"), "{text}");
        let mut block = json!({"record": "block", "env": "gzip /home/secret/a", "case": 0});
        redactor.record(&mut block);
        assert_eq!(block["env"], plan["reference"], "the same stand-in in every record");
    }
}
