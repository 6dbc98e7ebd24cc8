//! For programs: the whole comparison. `docs/RUN-FILE.md` describes the fields; they stay.

use anyhow::Result;

use super::{Report, ReportInfo, Style};
use crate::compare::Comparison;

pub struct Json;

static INFO: ReportInfo = ReportInfo {
    name: "json",
    layouts: false,
    sections: false,
    summary: "everything, for programs",
};

impl Report for Json {
    fn info(&self) -> &'static ReportInfo {
        &INFO
    }

    fn render(&self, comparison: &Comparison, _: &Style) -> Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(comparison)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
