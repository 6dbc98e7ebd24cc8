//! The JSON of a comparison, for tests that look into it.

use serde_json::Value;

/// The output of `compare --format json`.
pub struct Comparison(pub Value);

impl Comparison {
    /// The place of the column with that label.
    #[track_caller]
    fn column(&self, label: &str) -> usize {
        let columns = self.0["columns"].as_array().unwrap();
        columns.iter().position(|it| it == label).expect("the column")
    }

    /// The rows of that target directory.
    fn rows_in(&self, dir: &str) -> Vec<&Value> {
        self.0["rows"].as_array().unwrap().iter().filter(|row| row["dir"] == dir).collect()
    }

    /// The cell of the first row with that name (`probe params`), in that column.
    #[track_caller]
    pub fn cell(&self, row: &str, column: &str) -> &Value {
        let at = self.column(column);
        let is_it = |it: &&Value| {
            let (probe, params) = (it["probe"].as_str().unwrap(), it["params"].as_str().unwrap());
            format!("{probe} {params}").trim() == row
        };
        let found = self.0["rows"].as_array().unwrap().iter().find(is_it);
        &found.unwrap_or_else(|| panic!("no row `{row}` in {:#}", self.0))["cells"][at]
    }

    /// Fails unless the row was measured there and costs something.
    #[track_caller]
    pub fn measured(&self, row: &str, column: &str) -> &Self {
        let cell = self.cell(row, column);
        let cost = cell["measured"]["cost"].as_f64();
        assert!(cost.is_some_and(|cost| cost > 0.0), "{row} in {column}: {cell:#}");
        self
    }

    /// Fails unless every row of that target directory was measured in that column. Returns their
    /// number.
    #[track_caller]
    pub fn all_measured(&self, dir: &str, column: &str) -> usize {
        let at = self.column(column);
        let rows = self.rows_in(dir);
        for row in &rows {
            let cost = row["cells"][at]["measured"]["cost"].as_f64();
            assert!(cost.is_some_and(|cost| cost > 0.0), "{row:#}");
        }
        rows.len()
    }

    /// The row's tax there.
    #[track_caller]
    pub fn ratio(&self, row: &str, column: &str) -> f64 {
        self.cell(row, column)["measured"]["tax"]["ratio"].as_f64().expect("a tax")
    }

    /// Fails unless the row failed there with these words in a part of the failure.
    #[track_caller]
    pub fn failed(&self, row: &str, column: &str, words: &str) -> &Self {
        self.told("failed", row, column, words)
    }

    /// Fails unless every row of that target directory failed in that column with these words.
    #[track_caller]
    pub fn all_failed(&self, dir: &str, column: &str, words: &str) -> &Self {
        let at = self.column(column);
        let rows = self.rows_in(dir);
        assert!(!rows.is_empty(), "no row of `{dir}` in {:#}", self.0);
        for row in rows {
            let told = told(&row["cells"][at]["failed"]);
            assert!(told.iter().any(|part| part.contains(words)), "without `{words}`: {row:#}");
        }
        self
    }

    /// Fails unless the row was skipped there with these words in a part of the explanation.
    #[track_caller]
    pub fn skipped(&self, row: &str, column: &str, words: &str) -> &Self {
        self.told("skipped", row, column, words)
    }

    #[track_caller]
    fn told(&self, state: &str, row: &str, column: &str, words: &str) -> &Self {
        let cell = self.cell(row, column);
        let told = told(&cell[state]);
        assert!(
            told.iter().any(|part| part.contains(words)),
            "{row} in {column} without `{words}`: {cell:#}"
        );
        self
    }

    /// Fails unless a remark has these words.
    #[track_caller]
    pub fn remarks(&self, words: &str) -> &Self {
        let remarks = &self.0["remarks"];
        let all = remarks.as_array().unwrap().iter().filter_map(|it| it["text"].as_str());
        assert!(all.clone().any(|remark| remark.contains(words)), "no `{words}` in {remarks:#}");
        self
    }
}

/// The parts of a failure in a report, then those of its later attempts.
fn told(failure: &Value) -> Vec<String> {
    match failure {
        Value::String(text) => vec![text.clone()],
        Value::Array(parts) => parts.iter().flat_map(told).collect(),
        Value::Object(parts) => parts.values().flat_map(told).collect(),
        _ => Vec::new(),
    }
}
