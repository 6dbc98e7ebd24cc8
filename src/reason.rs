//! Why something did not work, as text: what happened in the first line; below it what was printed
//! (`stderr: …`), what to run by hand and the remedy. Where many of them stand side by side, there
//! is room for less.

/// A reason cut down to two sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// What happened, with the last line that was printed.
    pub what: String,
    pub remedy: Option<String>,
}

/// What lines that quote an output begin with.
const QUOTES: [&str; 3] = ["stderr: ", "stdout: ", "it printed: "];
/// What the line with the command begins with.
const BY_HAND: &str = "by hand: ";
/// What the line begins with after which other ways were tried.
const OTHER_WAY: &str = "then, ";

/// Cuts a reason down. Of several ways that failed, the first one tells.
pub fn brief(text: &str) -> Brief {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut what = lines.next().unwrap_or_default().to_owned();
    let remedy = lines.clone().find_map(|line| line.strip_prefix("remedy: "));
    let first_way: Vec<&str> = lines.take_while(|line| !line.starts_with(OTHER_WAY)).collect();
    let quoted = |mark: &&str| {
        first_way.iter().rev().find_map(|line| line.strip_prefix(*mark)).filter(|it| !it.is_empty())
    };
    if let Some(last) = QUOTES.iter().find_map(quoted) {
        what = format!("{what}: {last}");
    }
    Brief { what, remedy: remedy.map(str::to_owned) }
}

/// A reason without the commands of the ways that were tried after the first, which are that one
/// and a long script.
pub fn readable(text: &str) -> String {
    let mut others = false;
    let lines = text.lines().filter(|line| {
        let line = line.trim();
        others |= line.starts_with(OTHER_WAY);
        !(others && line.starts_with(BY_HAND))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_way_and_the_last_line_printed_are_kept() {
        let text = "the agent ended (exit status: 1)\n  stderr: trying\n  stderr: no such image\n  \
                    stdout: hello\n  by hand: x y\n  then, sending the agent there: again\n  \
                    stderr: sh: not found\n  remedy: pull it";
        let brief = brief(text);
        assert_eq!(brief.what, "the agent ended (exit status: 1): no such image");
        assert_eq!(brief.remedy.as_deref(), Some("pull it"));
        let text = "ended\n  by hand: x\n  then, sending: again\n  by hand: y\n  remedy: z";
        assert_eq!(readable(text), "ended\n  by hand: x\n  then, sending: again\n  remedy: z");
    }

    #[test]
    fn a_reason_of_one_line_is_brief() {
        assert_eq!(brief("no disk"), Brief { what: "no disk".into(), remedy: None });
        assert_eq!(brief(""), Brief::default());
    }
}
