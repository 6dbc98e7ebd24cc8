//! Which module of `src/` uses which, read from the parsed sources, and the rules about it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::{ROOT, files_below, report, short, text};

/// Which layer may use which. `cmd` may use all of these, and `main` may use `cmd`, too.
const ARROWS: &[(&str, &[&str])] = &[
    ("sys", &["model", "recording"]),
    ("recording", &["model"]),
    ("record", &["model", "recording", "sys"]),
    ("reenact", &["model", "recording", "sys"]),
    ("explain", &["model", "recording", "runfile", "stats", "units"]),
    ("model", &[]),
    ("stats", &[]),
    ("units", &[]),
    ("exit", &[]),
    ("cli", &[]),
    ("cleanup", &["sys"]),
    ("measure", &["sys", "model"]),
    ("probe", &["measure", "sys", "model", "units", "cleanup"]),
    ("protocol", &["cleanup", "model"]),
    ("plan", &["launch", "model", "probe"]),
    ("runfile", &["model", "sys"]),
    ("launch", &["cleanup", "model", "protocol", "sys", "units"]),
    ("mount", &["model", "units"]),
    ("workload", &["model"]),
    ("facts", &["sys", "model"]),
    ("inside", &["cleanup", "facts", "measure", "model", "probe", "protocol", "recording", "sys"]),
    (
        "control",
        &[
            "cleanup", "facts", "launch", "model", "mount", "plan", "protocol", "runfile", "stats",
            "sys", "units", "workload",
        ],
    ),
    ("deps", &["cleanup", "inside", "model", "stats", "sys", "units"]),
    ("import", &["model", "runfile"]),
    ("compare", &["runfile", "stats", "model", "units", "words"]),
    ("words", &[]),
    ("view", &["compare", "import", "model", "report", "runfile", "units", "words"]),
    ("report", &["compare", "units", "model", "words"]),
];

/// A module as its path below the crate: `["control", "rounds", "sizes"]`.
type Module = Vec<String>;

/// One use of something by its path.
struct Usage {
    /// The path from the crate's root.
    path: Module,
    /// Whether only unit tests use it.
    by_tests: bool,
}

/// A parsed source file.
struct Source {
    file: String,
    module: Module,
    syntax: syn::File,
}

fn sources() -> Vec<Source> {
    let parse = |path: &Path| {
        let file = short(path);
        let mut module: Module =
            file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if ["mod", "main", "lib"].contains(&module.last().unwrap().as_str()) {
            module.pop();
        }
        let syntax = syn::parse_file(&text(path)).unwrap_or_else(|error| panic!("{file}: {error}"));
        Source { file, module, syntax }
    };
    files_below("src", "rs").iter().map(|path| parse(path)).collect()
}

/// Collects the paths that a file uses, resolved from the crate's root.
struct Collector {
    /// The module that is being read, which may be inside the file.
    module: Module,
    by_tests: bool,
    found: Vec<Usage>,
}

impl Collector {
    fn of(source: &Source) -> Vec<Usage> {
        let mut collector =
            Collector { module: source.module.clone(), by_tests: false, found: Vec::new() };
        collector.visit_file(&source.syntax);
        collector.found
    }

    /// Notes a path if it begins with `crate`, `super` or `self`.
    fn note(&mut self, words: &[String]) {
        let mut base = match words.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super" | "self") => self.module.clone(),
            _ => return,
        };
        let mut rest = words;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" | "self" => {}
                "super" => {
                    base.pop();
                }
                _ => break,
            }
            rest = others;
        }
        base.extend_from_slice(rest);
        self.found.push(Usage { path: base, by_tests: self.by_tests });
    }

    fn note_tree(&mut self, tree: &UseTree, before: &mut Module) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.note_tree(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.note_tree(tree, before));
            }
            UseTree::Name(name) => self.note_with(before, &name.ident.to_string()),
            UseTree::Rename(name) => self.note_with(before, &name.ident.to_string()),
            UseTree::Glob(_) => self.note(before),
        }
    }

    fn note_with(&mut self, before: &[String], last: &str) {
        let mut words = before.to_vec();
        words.extend((last != "self").then(|| last.to_owned()));
        self.note(&words);
    }

    /// Paths among the tokens of a macro, which are not parsed as expressions.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut words: Module = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.note(&std::mem::take(&mut words));
                    }
                    words.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.note(&std::mem::take(&mut words));
                    colons = 0;
                    self.note_tokens(group.stream());
                }
                _ => {
                    self.note(&std::mem::take(&mut words));
                    colons = 0;
                }
            }
        }
        self.note(&words);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let mentions_test = |attribute: &syn::Attribute| match &attribute.meta {
        syn::Meta::List(list) => list.tokens.to_string().split([' ', '(']).any(|it| it == "test"),
        _ => false,
    };
    attributes.iter().any(|it| it.path().is_ident("cfg") && mentions_test(it))
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let outer = (self.module.len(), self.by_tests);
        match item {
            Item::Mod(inner) => {
                self.by_tests |= is_for_tests(&inner.attrs);
                self.module.push(inner.ident.to_string());
            }
            Item::Use(it) => self.by_tests |= is_for_tests(&it.attrs),
            Item::Fn(it) => self.by_tests |= is_for_tests(&it.attrs),
            _ => {}
        }
        visit::visit_item(self, item);
        self.module.truncate(outer.0);
        self.by_tests = outer.1;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Module = path.segments.iter().map(|part| part.ident.to_string()).collect();
        self.note(&words);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.note_tokens(call.tokens.clone());
        visit::visit_macro(self, call);
    }
}

#[test]
fn layers_use_only_what_they_may() {
    let mut problems = BTreeSet::new();
    let layers: Vec<&str> = ARROWS.iter().map(|(layer, _)| *layer).collect();
    for source in sources() {
        let Some(own) = source.module.first() else { continue };
        let allowed = match ARROWS.iter().find(|(layer, _)| layer == own) {
            Some((_, allowed)) => *allowed,
            None if own == "cmd" => layers.as_slice(),
            None => {
                problems.insert(format!("{}: add `{own}` to ARROWS in tests/it/tidy", source.file));
                continue;
            }
        };
        for used in Collector::of(&source).iter().filter_map(|usage| usage.path.first()) {
            if used != own && !allowed.contains(&used.as_str()) {
                problems.insert(format!("{}: `{own}` must not use `{used}`", source.file));
            }
        }
    }
    report(problems.into_iter().collect());
}

/// For every folder, the names that its `mod.rs` re-exports, each with the module that has it.
fn exports(sources: &[Source]) -> BTreeMap<Module, BTreeMap<String, String>> {
    fn names(tree: &UseTree, found: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => names(&path.tree, found),
            UseTree::Group(group) => group.items.iter().for_each(|tree| names(tree, found)),
            UseTree::Name(name) => found.push(name.ident.to_string()),
            UseTree::Rename(name) => found.push(name.rename.to_string()),
            UseTree::Glob(_) => {}
        }
    }
    let mut all: BTreeMap<Module, BTreeMap<String, String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.file.ends_with("/mod.rs")) {
        let own = all.entry(source.module.clone()).or_default();
        for item in &source.syntax.items {
            let Item::Use(item) = item else { continue };
            let UseTree::Path(path) = &item.tree else { continue };
            let mut found = Vec::new();
            names(&path.tree, &mut found);
            let from = path.ident.to_string();
            own.extend(found.into_iter().map(|name| (name, from.clone())));
        }
    }
    all
}

/// Two modules of one folder that need each other are one thing in two files, or one knows too
/// much.
#[test]
fn modules_of_a_folder_do_not_use_each_other_in_a_circle() {
    let sources = sources();
    let exports = exports(&sources);
    let modules: BTreeSet<&Module> = sources.iter().map(|source| &source.module).collect();
    // By folder: which of its modules uses which other one.
    let mut arrows: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for source in &sources {
        for usage in Collector::of(source).into_iter().filter(|usage| !usage.by_tests) {
            // A `mod.rs` puts its folder together, so its uses count as no arrows.
            for depth in 0..source.module.len() {
                let folder = &source.module[..depth];
                let Some(next) = usage.path.get(depth) else { break };
                let own = &source.module[depth];
                if usage.path[..depth] != *folder {
                    break;
                }
                let mut below = folder.to_vec();
                below.push(next.clone());
                let named = modules.contains(&below).then_some(next);
                let named = named.or_else(|| exports.get(folder).and_then(|it| it.get(next)));
                if let Some(target) = named.filter(|target| *target != own) {
                    let of_folder = arrows.entry(folder.to_vec()).or_default();
                    of_folder.entry(own.clone()).or_default().insert(target.clone());
                }
            }
        }
    }
    let mut problems = Vec::new();
    for (folder, arrows) in &arrows {
        for (from, targets) in arrows {
            for to in targets.iter().filter(|to| *to > from && reaches(arrows, to, from)) {
                if reaches(arrows, from, to) {
                    let folder = folder.join("/");
                    problems.push(format!("src/{folder}: `{from}` and `{to}` use each other"));
                }
            }
        }
    }
    report(problems);
}

/// Whether `from` uses `to`, by however many steps.
fn reaches(arrows: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        for next in arrows.get(module).into_iter().flatten() {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

#[test]
fn the_root_of_the_sources_holds_few_files() {
    let root = Path::new(ROOT).join("src");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<String> = entries.filter(|it| it.is_file()).map(|it| short(&it)).collect();
    assert!(files.len() <= 6, "src/ has {files:?}: put files into the folder of their role");
}
