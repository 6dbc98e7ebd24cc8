//! The words of reports and of the viewer in several languages: catalogues in the format of Project
//! Fluent, one file a topic and language. A message is data until somebody reads it: its name and
//! its values. May use no other layer. Must not decide anything: a message says what its caller
//! found.

mod message;

use std::borrow::Cow;
use std::rc::Rc;

use anyhow::{Context, Result};
use fluent_bundle::{FluentArgs, FluentBundle, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

/// A language that there is a catalogue of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    /// The code of BCP 47, as in `--lang` and in the `lang` of a page.
    pub code: &'static str,
    /// The language's name in itself.
    pub name: &'static str,
    catalogues: &'static [&'static str],
    /// What is written in another way than figures are: pairs of texts.
    typography: &'static [(&'static str, &'static str)],
    /// What is in English where it belongs to: the descriptions of probes.
    registered: &'static [&'static str],
}

/// The files of a language, in the order of their topics.
macro_rules! catalogues {
    ($code:literal) => {
        &[
            include_str!(concat!($code, "/page.ftl")),
            include_str!(concat!($code, "/tables.ftl")),
            include_str!(concat!($code, "/notes.ftl")),
            include_str!(concat!($code, "/remarks.ftl")),
            include_str!(concat!($code, "/layouts.ftl")),
            include_str!(concat!($code, "/screen.ftl")),
        ]
    };
}

pub use message::{Message, Value};

/// Every language; the first one is the default.
pub const LANGUAGES: &[Language] = &[
    Language {
        code: "en",
        name: "English",
        catalogues: catalogues!("en"),
        typography: &[],
        registered: &[],
    },
    Language {
        code: "ja",
        name: "日本語",
        catalogues: catalogues!("ja"),
        typography: &[(" %", "%"), ("\u{a0}%", "%")],
        registered: &[include_str!("ja/probes.ftl")],
    },
];

impl Language {
    /// The language of that code.
    pub fn find(code: &str) -> Result<Language> {
        let found = LANGUAGES.iter().find(|language| language.code == code);
        found.copied().with_context(|| {
            let known: Vec<&str> = LANGUAGES.iter().map(|language| language.code).collect();
            format!("there is no language `{code}`; there are {}", known.join(", "))
        })
    }

    /// The language of a POSIX locale such as `ja_JP.UTF-8`; the default one where there is no
    /// catalogue.
    pub fn of_locale(locale: &str) -> Language {
        let code = locale.split(['_', '.', '@', '-']).next().unwrap_or_default();
        Language::find(code).unwrap_or(LANGUAGES[0])
    }
}

/// The words of one language.
pub struct Words {
    pub language: Language,
    bundle: FluentBundle<FluentResource>,
}

/// A named value in a message.
pub type Arg<'a> = (&'static str, FluentValue<'a>);

/// A text in a message.
pub fn text(text: &str) -> FluentValue<'_> {
    FluentValue::String(Cow::Borrowed(text))
}

thread_local! {
    static ENGLISH: Rc<Words> = Rc::new(Words::of(LANGUAGES[0]));
}

impl Words {
    /// The English words, for what programs read.
    pub fn english() -> Rc<Words> {
        ENGLISH.with(Rc::clone)
    }

    pub fn of(language: Language) -> Words {
        let code: LanguageIdentifier = language.code.parse().expect("codes are valid");
        let mut bundle = FluentBundle::new(vec![code]);
        // Marks of direction around every value would be seen in Markdown and in pictures.
        bundle.set_use_isolating(false);
        for catalogue in language.catalogues.iter().chain(language.registered) {
            let resource = match FluentResource::try_new((*catalogue).to_owned()) {
                Ok(resource) => resource,
                Err((resource, errors)) => {
                    debug_assert!(errors.is_empty(), "{}: {errors:?}", language.code);
                    resource
                }
            };
            bundle.add_resource_overriding(resource);
        }
        Words { language, bundle }
    }

    /// The message of that name.
    pub fn say(&self, id: &str) -> String {
        self.with(id, &[])
    }

    /// What this language says of an entry of a registry, by the entry's id, where the registry
    /// itself does not have it.
    pub fn registered(&self, id: &str) -> Option<String> {
        let id = id.replace('.', "-");
        self.bundle.has_message(&id).then(|| self.say(&id))
    }

    /// A message that is data, with the messages in it.
    pub fn tell(&self, message: &Message) -> String {
        let value = |value: &Value| match value {
            Value::Text(text) => FluentValue::from(text.clone()),
            Value::Count(count) => FluentValue::from(*count),
            Value::Message(message) => FluentValue::from(self.tell(message)),
            Value::List(messages) => FluentValue::from(self.list(messages)),
        };
        let values = message.values().iter().map(|(name, it)| (*name, value(it)));
        self.with(message.id(), &values.collect::<Vec<_>>())
    }

    /// Messages as the items of a list.
    fn list(&self, messages: &[Message]) -> String {
        let told: Vec<String> = messages.iter().map(|message| self.tell(message)).collect();
        self.items(&told)
    }

    /// Clauses of one sentence.
    pub fn joined(&self, clauses: &[String]) -> String {
        clauses.join(&self.separator("clause-join"))
    }

    /// Names of a list: `a, b`.
    pub fn listed(&self, names: &[String]) -> String {
        names.join(&self.separator("list-join"))
    }

    /// Items of a list that may have commas in them: `a, b; c`.
    pub fn items(&self, items: &[String]) -> String {
        items.join(&self.separator("item-join"))
    }

    /// Catalogues cut spaces off, so `_` stands for one.
    fn separator(&self, id: &str) -> String {
        self.say(id).replace('_', " ")
    }

    /// The message of that name with these values in it.
    pub fn with(&self, id: &str, args: &[Arg<'_>]) -> String {
        let mut values = FluentArgs::new();
        for (name, value) in args {
            values.set(*name, value.clone());
        }
        let message = self.bundle.get_message(id).and_then(|message| message.value());
        let Some(pattern) = message else {
            debug_assert!(false, "no message `{id}` in `{}`", self.language.code);
            return id.to_owned();
        };
        let mut errors = Vec::new();
        let said = self.bundle.format_pattern(pattern, Some(&values), &mut errors);
        debug_assert!(errors.is_empty(), "`{id}` in `{}`: {errors:?}", self.language.code);
        self.written(&said)
    }

    /// A figure as this language writes it: `3 %` or `3%`.
    pub fn written(&self, figure: &str) -> String {
        let rules = self.language.typography.iter();
        rules.fold(figure.to_owned(), |figure, (from, to)| figure.replace(from, to))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// The messages of a catalogue, each with the names of its values.
    fn messages(language: &Language) -> BTreeMap<&'static str, BTreeSet<String>> {
        let mut found: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let mut last = "";
        for line in language.catalogues.iter().flat_map(|catalogue| catalogue.lines()) {
            if let Some((id, _)) = line.split_once(" =")
                && line.starts_with(|letter: char| letter.is_ascii_lowercase())
            {
                last = id;
                assert!(found.insert(id, BTreeSet::new()).is_none(), "`{id}` is there twice");
            }
            for part in line.split('$').skip(1) {
                let name = part.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '_');
                let name: String = name.collect();
                // A number that only chooses between forms of a word is not shown.
                if !part[name.len()..].starts_with(" ->") {
                    found.get_mut(last).expect("a message begins").insert(name);
                }
            }
        }
        found
    }

    #[test]
    fn every_catalogue_has_every_message_with_the_same_values() {
        let english = messages(&LANGUAGES[0]);
        assert!(english.len() > 50);
        for language in LANGUAGES {
            let own = messages(language);
            let missing: Vec<_> = english.keys().filter(|id| !own.contains_key(*id)).collect();
            let surplus: Vec<_> = own.keys().filter(|id| !english.contains_key(*id)).collect();
            assert!(missing.is_empty(), "`{}` lacks {missing:?}", language.code);
            assert!(surplus.is_empty(), "only `{}` has {surplus:?}", language.code);
            for (id, values) in &own {
                assert_eq!(values, &english[id], "`{id}` in `{}`", language.code);
            }
        }
    }

    #[test]
    fn catalogues_are_read_without_an_error() {
        for language in LANGUAGES {
            for catalogue in language.catalogues.iter().chain(language.registered) {
                let read = FluentResource::try_new((*catalogue).to_owned());
                assert!(read.is_ok(), "{}: {:?}", language.code, read.err().map(|it| it.1));
            }
        }
    }

    #[test]
    fn a_locale_names_its_language() {
        let code = |locale| Language::of_locale(locale).code;
        assert_eq!(
            ["ja_JP.UTF-8", "ja", "en_GB", "C", "", "de_DE"].map(code),
            ["ja", "ja", "en", "en", "en", "en"]
        );
        assert!(Language::find("xx").unwrap_err().to_string().contains("en, ja"));
    }
}
