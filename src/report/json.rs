//! For programs: the whole comparison. `docs/RUN-FILE.md` describes the fields; they stay.

use anyhow::Result;
use serde::Serialize;

use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

pub struct Json;

static INFO: ReportInfo = ReportInfo {
    name: "json",
    layouts: false,
    sections: false,
    summary: "everything, for programs",
};

/// Version of the report. New fields do not change it; another meaning of one would.
const VERSION: u32 = 1;

/// The report as it is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Versioned<'a> {
    version: u32,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

impl Report for Json {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, _: &Style) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(&Versioned { version: VERSION, comparison })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use schemars::generate::SchemaSettings;

    use super::*;

    /// `UPDATE=1 cargo test` writes the schema anew.
    #[test]
    fn the_schema_is_what_the_types_say() {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let schema = settings.into_generator().into_root_schema_for::<Versioned<'static>>();
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report.schema.json");
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == text, "{path} is old: run `UPDATE=1 cargo test`");
    }
}
