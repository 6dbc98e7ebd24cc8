//! Replaces the components of paths by others of the same length: a recording that is given away
//! tells nothing but their number and lengths.

use std::collections::HashSet;

use crate::recording::{Base, Recording};

const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Replaces every component that is not of a system file. Different components stay different.
pub fn replace_names(recording: &mut Recording) {
    let mut kept: HashSet<u32> = HashSet::new();
    for path in recording.paths.iter().filter(|path| path.base == Base::System) {
        kept.extend(&path.parts);
    }
    let mut taken: HashSet<String> = HashSet::new();
    taken.extend(kept.iter().filter_map(|at| recording.names.get(*at as usize).cloned()));
    for (number, name) in recording.names.iter_mut().enumerate() {
        if kept.contains(&(number as u32)) || name == "." {
            continue;
        }
        // Short names have few others: after many tries, the new one is longer.
        let tries = (0..).map(|it| spelled(number + it, name.len() + it / 5000));
        let new = tries.into_iter().find(|new| !taken.contains(new)).unwrap_or_default();
        taken.insert(new.clone());
        *name = new;
    }
    for stream in &mut recording.streams {
        stream.program.clear();
    }
}

/// The last digits of a number in letters, that many.
fn spelled(mut number: usize, length: usize) -> String {
    let mut text = Vec::new();
    while text.len() < length {
        text.push(LETTERS[number % LETTERS.len()]);
        number /= LETTERS.len();
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::PathText;

    #[test]
    fn names_keep_their_lengths_and_stay_apart() {
        let real = ["secret", "plans", "a", "b", "etc", "null", "dev", "secreu"];
        let names: Vec<String> = real.map(str::to_owned).to_vec();
        let paths = vec![
            PathText { base: Base::Root, parts: vec![0, 1] },
            PathText { base: Base::System, parts: vec![6, 5] },
        ];
        let mut recording = Recording { names, paths, ..Recording::default() };
        replace_names(&mut recording);
        let found = &recording.names;
        assert!(real.iter().zip(found).all(|(real, new)| real.len() == new.len()), "{found:?}");
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), real.len(), "{found:?}");
        assert!(!found.contains(&"secret".to_owned()) && !found.contains(&"plans".to_owned()));
        assert_eq!((found[5].as_str(), found[6].as_str()), ("null", "dev"));
    }
}
