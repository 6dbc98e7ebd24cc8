//! Run files and JSON reports have the form that the schemas in docs/ describe.

use std::fs;
use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Place, data};

fn schema(name: &str) -> Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    let value: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&value).unwrap()
}

#[track_caller]
fn fits(schema: &Validator, value: &Value) {
    let problems: Vec<String> = schema
        .iter_errors(value)
        .map(|error| format!("{}: {error:.300}", error.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn run_files_fit_their_schema() {
    let schema = schema("run-file.schema.json");
    let place = Place::new();
    let run = place.run(&["native", "b=namespace", "gone=cmd:false"], &["syscall.getppid"]);
    run.args(["--budget", "1s"]).run();
    place.envtax(["time", "--runs", "3", "-o", "t.jsonl", "--", "true"]).run();
    let old = fs::read_to_string(data("run-v1.jsonl")).unwrap();
    for text in [place.read("run.jsonl"), place.read("t.jsonl"), old] {
        let records = records(&text);
        assert!(records.len() > 5);
        records.iter().for_each(|record| fits(&schema, record));
    }
    let mut header = records(&place.read("run.jsonl")).swap_remove(0);
    header["plan"]["seed"] = json!("seven");
    assert!(!schema.is_valid(&header) && !schema.is_valid(&json!({"record": "dream"})));
}

#[test]
fn reports_fit_their_schema() {
    let schema = schema("report.schema.json");
    let place = Place::new();
    place.write("run.jsonl", fs::read(data("run-v1.jsonl")).unwrap());
    let gated = ["compare", "run.jsonl", "--format", "json", "--fail-above", "1.5x"];
    for args in [&gated[..4], &gated[..]] {
        let report: Value = serde_json::from_str(&place.envtax(args).run().out).unwrap();
        assert_eq!(report["version"], 1);
        fits(&schema, &report);
        let mut odd = report.clone();
        odd["rows"] = json!("none");
        assert!(!schema.is_valid(&odd));
    }
}
