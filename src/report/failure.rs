//! How a failure is shown: the only place that puts its parts together.

use crate::compare::Remark;
use crate::model::Failure;
use crate::words::{Words, text};

/// A remark, with the remedy if it is about a failure.
pub fn remark(words: &Words, remark: &Remark) -> String {
    let failure = Failure { what: words.tell(&remark.text), details: remark.details.clone() };
    let (what, remedy) = short(&failure);
    let remedy = remedy.map(|remedy| words.with("note-remedy", &[("remedy", text(remedy))]));
    remedy.map_or(what.clone(), |remedy| format!("{what}\n{remedy}"))
}

/// For places with little room: what happened with the last printed line, and the remedy.
pub fn short(failure: &Failure) -> (String, Option<&str>) {
    let printed = failure.details.printed.last().filter(|line| !line.is_empty());
    let what = match printed {
        Some(line) => format!("{}: {line}", failure.what),
        None => failure.what.clone(),
    };
    (what, failure.details.remedy.as_deref())
}

/// All parts in English, one a line. The commands of later attempts are left out: they only add a
/// long script.
pub fn long(failure: &Failure) -> String {
    long_in(&Words::english(), failure)
}

/// The same in a language; what happened is told as it was recorded.
pub fn long_in(words: &Words, failure: &Failure) -> String {
    let say = |id: &str, name: &'static str, value: &str| words.with(id, &[(name, text(value))]);
    let details = &failure.details;
    let mut lines = vec![failure.what.clone()];
    let printed = |lines: &mut Vec<String>, failure: &Failure| {
        let all = failure.details.printed.iter();
        lines.extend(all.map(|line| say("note-printed", "line", line)));
    };
    printed(&mut lines, failure);
    lines.extend(details.by_hand.iter().map(|it| say("note-by-hand", "command", it)));
    for attempt in &details.next_attempts {
        lines.push(say("note-next-attempt", "what", &attempt.what));
        printed(&mut lines, attempt);
    }
    lines.extend(details.remedy.iter().map(|remedy| say("note-remedy", "remedy", remedy)));
    lines.join("\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure() -> Failure {
        let mut failure = Failure::new("the agent ended")
            .printed(["hello", "no such image"])
            .by_hand("x y")
            .or_remedy("pull it");
        let next = Failure::new("it ended again").printed(["no sh"]).by_hand("x sh -c …");
        failure.details.next_attempts.push(next);
        failure
    }

    #[test]
    fn the_short_form_has_the_last_line_of_the_first_attempt() {
        let failure = failure();
        assert_eq!(short(&failure), ("the agent ended: no such image".into(), Some("pull it")));
        assert_eq!(short(&Failure::new("no disk")), ("no disk".into(), None));
    }

    #[test]
    fn the_long_form_has_one_command() {
        assert_eq!(
            long(&failure()),
            "the agent ended\n  it printed: hello\n  it printed: no such image\n  by hand: x y\n  \
             the next attempt: it ended again\n  it printed: no sh\n  remedy: pull it"
        );
    }
}
