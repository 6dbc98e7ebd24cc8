//! Text of other programs, made harmless to show.
//!
//! What an environment, an agent or a file says may hold escape sequences that clear a screen, set
//! the clipboard (OSC 52) or hide a link (OSC 8), and characters that reverse the order of what a
//! reader sees. Every such character is replaced by its number, which shows it and has no effect.

use std::borrow::Cow;

/// The text with every control or invisible character as `\u{1b}`. Line ends and tabs stay: lines
/// are split by whoever shows them.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        match is_hidden(char) {
            true => shown.extend(char.escape_unicode()),
            false => shown.push(char),
        }
    }
    Cow::Owned(shown)
}

/// The same for one line: line ends and tabs are shown as `\n`, `\r` and `\t`.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => {
            Cow::Owned(shown.replace('\n', "\\n").replace('\t', "\\t"))
        }
        shown => shown,
    }
}

/// A line of JSON in which every string, and every name of a field, is [`visible`]. What is no JSON
/// is refused by whoever parses it next, with a better message.
///
/// The text is changed and not parsed: values take up to forty times the memory of their text, and
/// whoever sends a line decides what is in it.
pub fn visible_json(line: &[u8]) -> Cow<'_, [u8]> {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'\\' || *byte == b'\n';
    if line.iter().all(is_plain) {
        return Cow::Borrowed(line);
    }
    let mut shown = Vec::with_capacity(line.len() + 16);
    for chunk in line.utf8_chunks() {
        shown.extend(visible_strings(chunk.valid()).into_bytes());
        // No JSON has these bytes. The parser may find something else wrong first, and quote it.
        shown.extend(chunk.invalid());
    }
    Cow::Owned(shown)
}

fn visible_strings(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (meant, length) = match first {
            '\\' => escape(rest),
            // In strings, JSON has these as escapes only. Between values they are white space.
            '\0'..=' ' => (None, 1),
            _ => (Some(first), first.len_utf8()),
        };
        match meant.filter(|char| is_hidden(*char)) {
            // The backslash of a number is text, which JSON escapes.
            Some(char) => shown.extend(['\\'].into_iter().chain(char.escape_unicode())),
            None => shown.push_str(&rest[..length]),
        }
        rest = &rest[length..];
    }
    shown
}

/// The character that an escape of JSON at the beginning of this text means, and the length of the
/// escape. Of the short ones only those that may mean something hidden are told.
fn escape(text: &str) -> (Option<char>, usize) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        digits.bytes().all(|it| it.is_ascii_hexdigit()).then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    };
    match text[1..].chars().next() {
        Some('u') => {
            let units = [unit(0), unit(6)].into_iter().map_while(|it| it);
            match char::decode_utf16(units).next() {
                Some(Ok(char)) => (Some(char), 6 * char.len_utf16()),
                _ => (None, 2),
            }
        }
        Some('b') => (Some('\u{8}'), 2),
        Some('f') => (Some('\u{c}'), 2),
        Some('r') => (Some('\r'), 2),
        Some(other) => (None, 1 + other.len_utf8()),
        None => (None, 1),
    }
}

/// Whether a terminal or a browser would act on the character instead of showing it.
fn is_hidden(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // C0, DEL and C1: escape sequences begin with one of these.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Soft hyphen, marks of direction, zero-width characters, line and paragraph separators.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' => true,
        '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        // Annotations, tags, and what is no character.
        '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown() {
        let evil = "a\u{1b}[2Jb\u{9b}31mc\u{202e}d\u{7f}e\r";
        let shown = visible(evil);
        assert_eq!(shown, "a\\u{1b}[2Jb\\u{9b}31mc\\u{202e}d\\u{7f}e\\u{d}");
        assert!(!shown.contains(is_hidden));
        let plain = "日本語 café — 1.5×\n\tindented";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(visible_line("a\n\tb"), "a\\n\\tb");
    }

    #[test]
    fn json_is_changed_only_where_it_must_be() {
        let plain = br#"{"a":[1,2.5],"b":"x y"}"#;
        assert!(matches!(visible_json(plain), Cow::Borrowed(_)));
        let evil = r#"{"na\u001bme":["\u001b]52;c;aGk=\u0007",{"x":"\u202e"}],"n":1,"l":"a\nb"}"#;
        let value: Value = serde_json::from_slice(&visible_json(evil.as_bytes())).unwrap();
        assert_eq!(value["na\\u{1b}me"][0], "\\u{1b}]52;c;aGk=\\u{7}");
        assert_eq!(value["na\\u{1b}me"][1]["x"], "\\u{202e}");
        assert_eq!((&value["n"], &value["l"]), (&Value::from(1), &Value::from("a\nb")));
        let cut = b"{\"a\": \x1b";
        assert_eq!(*visible_json(cut), *cut, "no JSON: left alone");
        // Found by `fuzz/targets/run_file.rs`: the parser quotes the name before it sees the byte.
        assert_eq!(*visible_json(b"{\"a\x7fb\": \xff"), *b"{\"a\\\\u{7f}b\": \xff");
    }

    /// Whatever stands in a string, a reader of the line finds what [`visible`] makes of it.
    #[test]
    fn strings_of_a_line_are_as_visible_makes_them() {
        let strings = [
            "\u{1b}[2J\u{8}\u{c}\r\n\t",
            "back\\slash \\u001b \\\\ \"quoted\"",
            "\u{e0041}\u{1f600}\u{202e}é",
            "\\",
        ];
        for text in strings {
            let escaped: String = text.encode_utf16().map(|it| format!("\\u{it:04X}")).collect();
            for line in [serde_json::to_string(text).unwrap(), format!("\"{escaped}\"")] {
                let shown: String = serde_json::from_slice(&visible_json(line.as_bytes())).unwrap();
                assert_eq!(shown, visible(text), "{line}");
            }
        }
        for line in ["\"\\u12", "\"\\ud83d\\u0041\"", "\"\\ud83d\"", "\\", "\\é", "{\"a\":\r\n1}"]
        {
            assert_eq!(*visible_json(line.as_bytes()), *line.as_bytes());
        }
    }

    /// Numbers must not lose digits on the way through a value.
    #[test]
    fn numbers_stay_as_they_are() {
        let line = br#"{"a":"\u0007","b":18446744073709551615,"c":0.1,"d":1e300}"#;
        let shown = String::from_utf8(visible_json(line).into_owned()).unwrap();
        assert!(shown.contains("18446744073709551615") && shown.contains("0.1"), "{shown}");
    }
}
