//! Suggestions for a name that is not in a list: what the user may have meant. Pure.

/// The largest number of suggestions.
const MOST: usize = 3;

/// ``there is no WHAT `name`; did you mean `a` or `b`?``. If no known name is similar, all are
/// listed. Each known name has a description, which is searched, too.
pub fn unknown(what: &str, name: &str, known: &[(&str, &str)]) -> String {
    let near = nearest(name, known);
    let quoted = |names: &[&str], last: &str| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match quoted.split_last() {
            Some((end, rest)) if !rest.is_empty() => format!("{} {last} {end}", rest.join(", ")),
            _ => quoted.concat(),
        }
    };
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    match near.is_empty() {
        true => format!("there is no {what} `{name}`; there are {}", names.join(", ")),
        false => format!("there is no {what} `{name}`; did you mean {}?", quoted(&near, "or")),
    }
}

/// The most similar known names: those with the fewest typing errors, or else those that contain
/// `name`, or else those whose description contains it as a word.
pub fn nearest<'a>(name: &str, known: &[(&'a str, &str)]) -> Vec<&'a str> {
    let name = name.to_lowercase();
    if name.is_empty() {
        return Vec::new();
    }
    let errors = |other: &str| typing_errors(&name, &other.to_lowercase());
    let least = known.iter().map(|(other, _)| errors(other)).min().unwrap_or(usize::MAX);
    // A longer name has room for more errors; half of a name of three letters is chance.
    let like = |(other, _): &&(&str, &str)| errors(other) == least && least <= name.len() / 3;
    let part = |(other, _): &&(&str, &str)| {
        let mut parts = other.split(['.', '-', '_', ' ']);
        parts.any(|part| part == name)
    };
    let told = |(_, text): &&(&str, &str)| {
        let text = text.to_lowercase();
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '-');
        words.any(|word| word == name)
    };
    let found = |wanted: &dyn Fn(&&(&'a str, &str)) -> bool| {
        known.iter().filter(|it| wanted(it)).map(|(other, _)| *other).take(MOST).collect::<Vec<_>>()
    };
    [found(&like), found(&part), found(&told)]
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}

/// How many letters are missing, added, wrong or exchanged with their neighbour (the restricted
/// Damerau-Levenshtein distance).
fn typing_errors(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let wrong = usize::from(one[i - 1] != other[j - 1]);
            let above = &rows[i - 1];
            let mut least = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + wrong);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [(&str, &str); 5] = [
        ("bwrap", "bubblewrap with all namespaces"),
        ("gvisor", "a container of gVisor's runsc"),
        ("file.open", "opening a file"),
        ("proot", "PRoot, which traces"),
        ("vm", "QEMU virtual machine"),
    ];

    #[test]
    fn errors_of_typing_are_counted() {
        for (one, other, errors) in
            [("bwrap", "brwap", 1), ("open", "opn", 1), ("a", "", 1), ("abc", "abc", 0)]
        {
            assert_eq!(typing_errors(one, other), errors, "{one} {other}");
            assert_eq!(typing_errors(other, one), errors, "{other} {one}");
        }
    }

    #[test]
    fn the_nearest_name_is_suggested() {
        for (name, meant) in [
            ("brwap", "bwrap"),
            ("bubblewrap", "bwrap"),
            ("runsc", "gvisor"),
            ("qemu", "vm"),
            ("file.opn", "file.open"),
            ("open", "file.open"),
            ("PRoot", "proot"),
        ] {
            assert_eq!(nearest(name, &KNOWN), [meant], "{name}");
        }
        assert!(nearest("xyz", &KNOWN).is_empty() && nearest("", &KNOWN).is_empty());
    }

    #[test]
    fn without_a_near_name_all_are_told() {
        let text = unknown("kind", "lxd", &KNOWN);
        assert_eq!(text, "there is no kind `lxd`; there are bwrap, gvisor, file.open, proot, vm");
        let two = [("ab-x", ""), ("cd-x", "")];
        assert_eq!(
            unknown("kind", "x", &two),
            "there is no kind `x`; did you mean `ab-x` or `cd-x`?"
        );
    }
}
