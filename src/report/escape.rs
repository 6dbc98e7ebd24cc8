//! Text of files and environments in formats that give some characters a meaning. Characters that
//! a terminal acts on are gone already (`model/visible.rs`).

use std::borrow::Cow;

/// Characters with which Markdown or HTML begins something.
const MARKS: &str = "\\`*~[]<&$|";
/// Characters that make a block of a line that begins with them.
const BLOCKS: &str = "#>-+=:_";
/// Characters by which a spreadsheet knows a formula, also in their wide forms.
const FORMULAS: &str = "=+-@\t\r＝＋－＠";

/// One or several lines as a cell of a Markdown table.
pub fn markdown_cell(text: &str) -> String {
    markdown(text, true)
}

/// One or several lines as an item of a Markdown list.
pub fn markdown_item(text: &str) -> String {
    markdown(text, false)
}

fn markdown(text: &str, in_table: bool) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| markdown_line(line.trim(), in_table, at == 0 && !in_table));
    lines.collect::<Vec<_>>().join("<br>")
}

/// A line that a reader of Markdown sees as it is. What stands between two backticks stays code,
/// in which nothing but the end of a cell has a meaning.
fn markdown_line(line: &str, in_table: bool, begins: bool) -> String {
    let paired = line.matches('`').count().is_multiple_of(2) && !line.contains("``");
    if !paired {
        return escaped(line, begins);
    }
    let mut shown = String::with_capacity(line.len() + 8);
    for (index, part) in line.split('`').enumerate() {
        match (index % 2 == 1, in_table) {
            (false, _) => shown.push_str(&escaped(part, begins && index == 0)),
            (true, true) => shown.push_str(&format!("`{}`", part.replace('|', "\\|"))),
            (true, false) => shown.push_str(&format!("`{part}`")),
        }
    }
    shown
}

/// The text with a backslash before every character that has a meaning there. `begins` tells that a
/// list, a heading or another block could begin with it.
fn escaped(text: &str, begins: bool) -> String {
    let mut shown = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut number = begins;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        let word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
        let after = rest.peek().copied();
        let marks = MARKS.contains(char)
            || before.is_none() && begins && BLOCKS.contains(char)
            // `1. ` and `1) ` begin a list.
            || number && matches!(char, '.' | ')') && after.is_none_or(char::is_whitespace)
            || char == '_' && !(word(before) && word(after))
            // Addresses become links by themselves.
            || char == '/' && before == Some(':')
            || char == '.' && shown.to_ascii_lowercase().ends_with("www");
        if marks {
            shown.push('\\');
        }
        number &= char.is_ascii_digit();
        shown.push(char);
        before = Some(char);
    }
    shown
}

/// A text cell of a CSV file, in which a spreadsheet finds no formula.
pub fn csv_text(text: &str) -> Cow<'_, str> {
    match text.trim_start_matches(' ').starts_with(|char| FORMULAS.contains(char)) {
        true => Cow::Owned(format!("'{text}")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markdown() {
        let cell = |text: &str| markdown_cell(text);
        assert_eq!(cell("<img src=x onerror=y>|z"), "\\<img src=x onerror=y>\\|z");
        assert_eq!(cell("[a](http://b) www.c.d"), "\\[a\\](http:\\//b) www\\.c.d");
        assert_eq!(cell("a_b _c_ **d**"), "a_b \\_c\\_ \\*\\*d\\*\\*");
        assert_eq!(cell("&lt; \\ $e$"), "\\&lt; \\\\ \\$e\\$");
        assert_eq!(cell("a\n# b\n- c\n1. d"), "a<br># b<br>- c<br>1. d");
        assert_eq!(cell("1.5 to 2.5 (c)"), "1.5 to 2.5 (c)");
        assert_eq!(cell("file.stat dir=tmp 3 %"), "file.stat dir=tmp 3 %");
    }

    #[test]
    fn an_item_begins_no_other_block() {
        for (text, shown) in [("# b", "\\# b"), ("- c", "\\- c"), ("1. d", "1\\. d")] {
            assert_eq!(markdown_item(text), shown);
        }
        assert_eq!(markdown_item("1.5"), "1.5");
    }

    #[test]
    fn code_stays_code_and_holds_nothing_else() {
        assert_eq!(markdown_cell("give `--x | <b>` a *"), "give `--x \\| <b>` a \\*");
        assert_eq!(markdown_item("give `--x | <b>`"), "give `--x | <b>`");
        assert_eq!(markdown_item("odd ` <b> `x`"), "odd \\` \\<b> \\`x\\`");
        assert_eq!(markdown_item("``<b>`` <i>"), "\\`\\`\\<b>\\`\\` \\<i>");
    }

    #[test]
    fn text_is_no_formula() {
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "\rx", " =1", "＝1"] {
            assert_eq!(csv_text(text), format!("'{text}"));
        }
        for text in ["", "a=1", "'=1", "file.stat"] {
            assert!(matches!(csv_text(text), Cow::Borrowed(same) if same == text));
        }
    }
}
