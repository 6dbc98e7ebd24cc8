//! The facts in which the environments of a comparison differ: possible causes of a tax.

use serde::Serialize;

use super::remark::{Remark, RemarkKind};
use super::sides::{Session, Side};
use crate::model::{FACTS, FactValue, Facts, fact};

use crate::runfile::Environment;
use crate::words::Message;

/// A fact that is not the same in all columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Difference {
    pub fact: String,
    /// The target directory that it is of; none when it is one of the environment.
    pub dir: Option<String>,
    /// By column, the values of all its sessions; empty where it does not say, none where it did
    /// not start or has no such directory.
    pub values: Vec<Option<Vec<String>>>,
    /// By column, how its list differs from the reference's; none where both are the same, and for
    /// facts that are no lists.
    pub changes: Vec<Option<Change>>,
}

/// Elements of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Change {
    pub added: Vec<String>,
    pub removed: Vec<String>,
}

impl Difference {
    /// `options of tmp`.
    pub fn name(&self) -> String {
        match &self.dir {
            Some(dir) => format!("{} of {dir}", self.fact),
            None => self.fact.clone(),
        }
    }

    /// Whether the column says something else than the reference.
    pub fn is_other(&self, column: usize) -> bool {
        let values = |column: usize| self.values[column].as_deref().unwrap_or_default();
        let (base, own) = (values(0), values(column));
        !own.is_empty() && !same(&self.fact, base, own)
    }

    /// Whether the reference says it and the column does not.
    pub fn is_unknown(&self, column: usize) -> bool {
        let says = |values: &Option<Vec<String>>| values.as_ref().map(|values| !values.is_empty());
        says(&self.values[0]) == Some(true) && says(&self.values[column]) == Some(false)
    }
}

/// Every fact in which a column differs from the first, those of target directories last.
pub(super) fn differences(sides: &[Side<'_>]) -> Vec<Difference> {
    let columns: Vec<Vec<Started<'_>>> = sides.iter().map(started).collect();
    let each = |facts: &dyn Fn(&Started<'_>) -> Option<Facts>| -> Vec<Vec<Facts>> {
        columns.iter().map(|column| column.iter().filter_map(facts).collect()).collect()
    };
    let of_environments = each(&|it| {
        let mut facts = it.environment.facts.clone();
        facts.insert("envtax".into(), it.envtax.to_owned());
        Some(facts)
    });
    let mut found = in_columns(&of_environments, None);
    let dirs = columns.iter().flatten().flat_map(|it| it.environment.dirs.keys());
    for dir in distinct(dirs.cloned().collect()) {
        let of_dir = each(&|it| it.environment.dirs.get(&dir).cloned());
        found.extend(in_columns(&of_dir, Some(&dir)));
    }
    found
}

/// An environment that started, and the envtax that saw it.
struct Started<'a> {
    environment: &'a Environment,
    envtax: &'a str,
}

/// The environment in each session of the side in which it did start and was described.
fn started<'a>(side: &Side<'a>) -> Vec<Started<'a>> {
    let of_session = |session: &Session<'a>| {
        let mut all = session.run.environments.iter();
        let is_it = |it: &&Environment| it.name == session.env && it.error.is_none();
        let environment = all.find(is_it)?;
        Some(Started { environment, envtax: &session.run.header.envtax })
    };
    let described = side.sessions.iter().filter(|session| !session.run.imported);
    described.filter_map(of_session).collect()
}

/// Where columns differ from the first, each given by the facts of its sessions.
fn in_columns(columns: &[Vec<Facts>], dir: Option<&String>) -> Vec<Difference> {
    let names = columns.iter().flatten().flat_map(Facts::keys);
    let mut names = distinct(names.cloned().collect());
    names.retain(|name| kind(name) != FactValue::Volatile);
    let place = |name: &String| FACTS.iter().position(|fact| fact.name == name);
    names.sort_by_key(|name| place(name).unwrap_or(FACTS.len()));
    let of_fact = |fact: String| {
        let values = |column: &Vec<Facts>| {
            let values = column.iter().filter_map(|facts| facts.get(&fact)).cloned();
            (!column.is_empty()).then(|| distinct(values.collect()))
        };
        let values: Vec<Option<Vec<String>>> = columns.iter().map(values).collect();
        // Where the reference never started there is nothing to differ from.
        let base = values.first()?.clone()?;
        let changes = values.iter().map(|own| change(&fact, &base, own.as_ref()?)).collect();
        let difference = Difference { fact, dir: dir.cloned(), values, changes };
        let differs = |column| difference.is_other(column) || difference.is_unknown(column);
        (1..columns.len()).any(differs).then_some(difference)
    };
    names.into_iter().filter_map(of_fact).collect()
}

fn distinct(mut values: Vec<String>) -> Vec<String> {
    values.sort_unstable();
    values.dedup();
    values
}

/// How values of the fact are compared; as text where this version does not know the fact.
fn kind(name: &str) -> FactValue {
    fact(name).map_or(FactValue::Text, |fact| fact.value)
}

fn same(fact: &str, base: &[String], own: &[String]) -> bool {
    let amount = |text: &String| text.split(' ').next()?.parse::<f64>().ok();
    match (kind(fact), base, own) {
        (FactValue::Amount(share), [base], [own]) => match (amount(base), amount(own)) {
            (Some(base), Some(own)) => (own - base).abs() <= share * base,
            _ => base == own,
        },
        _ => base == own,
    }
}

/// How the only value of a list differs from the reference's only one.
fn change(fact: &str, base: &[String], own: &[String]) -> Option<Change> {
    let FactValue::List(separator) = kind(fact) else { return None };
    let ([base], [own]) = (base, own) else { return None };
    let elements = |text: &str| -> Vec<String> {
        let all = text.split(separator).map(str::trim).filter(|element| !element.is_empty());
        all.map(str::to_owned).collect()
    };
    let (base, own) = (elements(base), elements(own));
    let without = |all: &[String], others: &[String]| -> Vec<String> {
        all.iter().filter(|element| !others.contains(element)).cloned().collect()
    };
    let change = Change { added: without(&own, &base), removed: without(&base, &own) };
    (base != own).then_some(change)
}

/// One remark for each column that differs from the reference, with the names of what differs.
pub(super) fn remarks(sides: &[Side<'_>], differences: &[Difference]) -> Vec<Remark> {
    let remark = |(column, side): (usize, &Side<'_>)| {
        let other = differences.iter().filter(|it| it.is_other(column));
        let names: Vec<String> = other.map(Difference::name).collect();
        let (label, reference) = (&side.label, &sides[0].label);
        let text = Message::new("facts-differ")
            .with("column", label)
            .with("reference", reference)
            .with("facts", names.join(", "));
        (!names.is_empty()).then(|| Remark::on_column(RemarkKind::FactsDiffer, label, text))
    };
    sides.iter().enumerate().skip(1).filter_map(remark).collect()
}
