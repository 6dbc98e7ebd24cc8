//! A small table as words: a title, a header, and rows whose first column is text.

use crate::words::Words;

/// A table with a title. The first column is text, the others are numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// The other columns are text as well, which may be broken over lines.
    pub prose: bool,
    pub title: String,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Sentences below the table.
    pub below: Vec<String>,
}

impl Sheet {
    pub fn new(title: &str, header: &[&str]) -> Sheet {
        let header = header.iter().map(|word| word.to_string()).collect();
        Sheet { prose: false, title: title.to_owned(), header, rows: Vec::new(), below: Vec::new() }
    }

    /// A table with the title `title-ID`, an empty corner, and the headings `head-ID`.
    pub fn of(words: &Words, title: &str, headings: &[&str]) -> Sheet {
        let headings = headings.iter().map(|id| words.say(&format!("head-{id}")));
        let header = std::iter::once(String::new()).chain(headings).collect();
        Sheet { header, ..Sheet::new(&words.say(&format!("title-{title}")), &[]) }
    }
}
