//! Failures in run files of earlier versions, which had all parts in one text, each line with a
//! prefix. The reader takes the text apart.

use crate::model::{Details, Failure};

/// Leaves the sentence in `text` and moves the other lines of an old record into `details`. Records
/// of this version have one line, and nothing is done.
pub(super) fn take_apart(text: &mut String, details: &mut Details) {
    if !text.contains('\n') || *details != Details::default() {
        return;
    }
    let old = std::mem::take(text);
    let mut lines = old.lines().map(str::trim).filter(|line| !line.is_empty());
    *text = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let current = match details.next_attempts.last_mut() {
            Some(attempt) => &mut attempt.details,
            None => &mut *details,
        };
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        match label {
            "remedy" => details.remedy = Some(rest.to_owned()),
            "by hand" => current.by_hand = Some(rest.to_owned()),
            "stderr" | "stdout" | "it printed" => current.printed.push(rest.to_owned()),
            "then, sending the agent there" => details.next_attempts.push(Failure::new(rest)),
            _ => current.printed.push(line.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Failure {
        let mut failure = Failure::new(text);
        take_apart(&mut failure.what, &mut failure.details);
        failure
    }

    #[test]
    fn the_lines_of_an_old_text_become_parts() {
        let old = "the agent ended (exit status: 1)\n  stderr: no such image\n  stdout: hello\n  \
                   by hand: x y\n  then, sending the agent there: again\n  \
                   stderr: sh: not found\n  by hand: x sh\n  remedy: pull it";
        let next = Failure::new("again").printed(["sh: not found"]).by_hand("x sh");
        let mut expected = Failure::new("the agent ended (exit status: 1)")
            .printed(["no such image", "hello"])
            .by_hand("x y")
            .or_remedy("pull it");
        expected.details.next_attempts.push(next);
        assert_eq!(parts(old), expected);
    }

    #[test]
    fn other_lines_are_taken_for_output_and_a_new_record_stays() {
        assert_eq!(parts("it ended\nwith: a backtrace").details.printed, ["with: a backtrace"]);
        assert_eq!(parts("remedy: none"), Failure::new("remedy: none"));
        let mut new = Failure::new("one\nremedy: two").or_remedy("three");
        let before = new.clone();
        take_apart(&mut new.what, &mut new.details);
        assert_eq!(new, before);
    }
}
