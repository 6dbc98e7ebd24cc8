//! Resolves `--env`: a specification, a name from environments.toml, `auto` or `all`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::cli::FileArgs;
use crate::launch::{self, LAUNCHERS};
use crate::model::EnvSpec;
use crate::plan::environment_file::{self, ALL, AUTO, EnvFile};

/// The kind that comes first if the user gives no order.
const FIRST: &str = "native";

/// The environments of a command line.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) environments: Vec<EnvSpec>,
    /// Names of environments that `auto` added. They are left out if they do not start.
    pub(super) auto: BTreeSet<String>,
}

/// The file that names environments, if there is one.
pub(super) fn file(args: &FileArgs) -> Result<Option<EnvFile>> {
    let path = match &args.path {
        Some(path) => path.as_path(),
        None if Path::new(environment_file::DEFAULT).exists() => {
            Path::new(environment_file::DEFAULT)
        }
        None => return Ok(None),
    };
    let shown = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| format!("reading `{shown}`"))?;
    environment_file::parse(&shown, &text).map(Some)
}

/// The environments that these arguments of `--env` name. An environment that is named itself takes
/// precedence over one of the same name from `all` or `auto`.
pub(super) fn of(texts: &[String], file: Option<&EnvFile>) -> Result<Selection> {
    let singly: Vec<&String> =
        texts.iter().filter(|text| ![ALL, AUTO].contains(&&***text)).collect();
    let singly: Vec<EnvSpec> =
        singly.into_iter().map(|text| named(text, file)).collect::<Result<_>>()?;
    let mut taken: BTreeSet<String> = singly.iter().map(|spec| spec.name.clone()).collect();
    let wants = |word: &str| texts.iter().any(|text| text == word);
    let mut choice = Selection::default();
    let mut all = Vec::new();
    if wants(ALL) {
        all = all_of(file)?;
        all.retain(|spec| taken.insert(spec.name.clone()));
    }
    let mut auto = Vec::new();
    if wants(AUTO) {
        auto = examples()?;
        auto.retain(|spec| taken.insert(spec.name.clone()));
        choice.auto = auto.iter().map(|spec| spec.name.clone()).collect();
    }
    let mut singly = singly.into_iter();
    for text in texts {
        match text.as_str() {
            ALL => choice.environments.append(&mut all),
            AUTO => choice.environments.append(&mut auto),
            _ => choice.environments.extend(singly.next()),
        }
    }
    if wants(AUTO) {
        let at = choice.environments.iter().position(|spec| spec.name == FIRST);
        choice.environments[..=at.unwrap_or(0)].rotate_right(1);
    }
    Ok(choice)
}

fn named(text: &str, file: Option<&EnvFile>) -> Result<EnvSpec> {
    let (name, spec) = launch::split_name(text);
    if let Some(found) = file.and_then(|file| file.pick(spec)) {
        let found = found?;
        return Ok(EnvSpec { name: name.unwrap_or(&found.name).to_owned(), ..found });
    }
    let parsed = launch::parse_spec(text);
    let kind = spec.split(':').next().unwrap_or_default();
    match file {
        Some(file) if launch::find(kind).is_err() => parsed.with_context(|| {
            let names: Vec<&str> = file.environments().map(|spec| spec.name.as_str()).collect();
            format!("`{}` has no environment `{spec}`; it has {}", file.path, names.join(", "))
        }),
        _ => parsed,
    }
}

fn all_of(file: Option<&EnvFile>) -> Result<Vec<EnvSpec>> {
    let file = file.with_context(|| {
        let default = environment_file::DEFAULT;
        format!("`--env {ALL}`: there is no {default} here; name a file with `--environments`")
    })?;
    let all = file.all()?;
    ensure!(!all.is_empty(), "`--env {ALL}`: `{}` has no environment", file.path);
    Ok(all)
}

/// One environment of every kind that this system can start and that needs no argument.
pub(super) fn examples() -> Result<Vec<EnvSpec>> {
    let infos = LAUNCHERS.iter().map(|launcher| launcher.info());
    let own = infos.filter(|info| launch::other_system(info).is_none());
    own.filter_map(|info| info.example).map(launch::parse_spec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[environments.box]\nkind = 'bwrap'\nargument = '--tmpfs /x'\n\
                        [environments.proot]\nkind = 'proot'\nsetup = ['true']\n";

    fn chosen(texts: &[&str]) -> Result<Selection> {
        let file = environment_file::parse("e.toml", FILE).unwrap();
        let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
        of(&texts, Some(&file))
    }

    fn names(texts: &[&str]) -> Vec<String> {
        let choice = chosen(texts).unwrap();
        choice.environments.into_iter().map(|spec| spec.name).collect()
    }

    #[test]
    fn names_of_the_file_are_environments() {
        assert_eq!(names(&["native", "box"]), ["native", "box"]);
        assert_eq!(names(&["a=box", "b=box"]), ["a", "b"]);
        assert_eq!(names(&["native", "all", "x=native"]), ["native", "box", "proot", "x"]);
        let spec = chosen(&["a=box"]).unwrap().environments.remove(0);
        assert_eq!(spec.spec(), "bwrap:--tmpfs /x");
        let error = format!("{:#}", chosen(&["bxo"]).unwrap_err());
        assert!(error.contains("no environment `bxo`; it has box, proot"), "{error}");
        assert!(error.contains("no environment kind `bxo`"), "{error}");
        let error = of(&["all".into()], None).unwrap_err().to_string();
        assert!(error.contains("environments.toml") && error.contains("--environments"), "{error}");
    }

    #[test]
    fn auto_begins_with_native_and_yields_to_what_is_named() {
        let all = names(&["auto"]);
        let examples = LAUNCHERS.iter().filter(|launcher| launcher.info().example.is_some());
        assert_eq!((all[0].as_str(), all.len()), ("native", examples.count()));
        let more = names(&["box", "auto", "proot"]);
        assert_eq!((more[0].as_str(), more[1].as_str()), ("native", "box"));
        assert_eq!(more.last().unwrap(), "proot");
        let choice = chosen(&["auto", "proot", "native=bwrap"]).unwrap();
        assert!(!choice.auto.contains("proot") && choice.auto.contains("chroot"));
        assert_eq!(choice.environments[0].kind, "bwrap", "it was named so");
        let proot = choice.environments.iter().find(|spec| spec.name == "proot").unwrap();
        assert_eq!(proot.setup.len(), 1, "that of the file");
    }
}
