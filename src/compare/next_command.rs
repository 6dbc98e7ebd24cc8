//! The command line that measures some environments and cases of a plan again.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    COMMAND, Case, CommandRules, DATA_DIR, EnvSpec, LaunchCount, Params, Plan, is_name,
};

/// How long is measured.
pub(super) struct Amount {
    pub budget_s: u64,
    pub rounds: u32,
    /// Starts of each environment, if more are needed than there were.
    pub launches: Option<u32>,
    /// Runs one after the other, if one is not enough.
    pub runs: Option<u32>,
    /// No interval is narrow enough to end a case.
    pub any_precision: bool,
}

/// Program and arguments.
pub(super) fn words(
    plan: &Plan,
    specs: &[&EnvSpec],
    cases: &[&Case],
    amount: &Amount,
) -> Vec<String> {
    match &plan.commands {
        Some(rules) => time_words(plan, specs, cases, rules, amount),
        None => run_words(plan, specs, cases, amount),
    }
}

/// Adds an option with its value.
fn option(words: &mut Vec<String>, name: &str, value: impl Into<String>) {
    words.extend([name.to_owned(), value.into()]);
}

/// `30s`, `2m`.
fn budget(amount: &Amount) -> String {
    match amount.budget_s {
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

/// `KIND`, `NAME=KIND:ARGUMENT`, or the name alone where a file must say the rest.
fn environment(spec: &EnvSpec) -> String {
    let of_file = !(spec.setup.is_empty() && spec.cleanup.is_empty() && spec.dirs.is_empty());
    match is_name(&spec.name) {
        true if of_file => spec.name.clone(),
        true if spec.name != spec.kind || !spec.argument.is_empty() => {
            format!("{}={}", spec.name, spec.spec())
        }
        _ => spec.spec(),
    }
}

fn run_words(plan: &Plan, specs: &[&EnvSpec], cases: &[&Case], amount: &Amount) -> Vec<String> {
    let mut words = vec!["envtax".to_owned(), "run".to_owned()];
    specs.iter().for_each(|spec| option(&mut words, "--env", environment(spec)));
    let used = |name: &str| cases.iter().any(|case| case.dir.as_deref() == Some(name));
    for dir in plan.dirs.iter().filter(|dir| dir.made != DATA_DIR && used(&dir.name)) {
        let place = if dir.made.is_empty() { &dir.path } else { &dir.made };
        if !place.is_empty() {
            option(&mut words, "--dir", format!("{}={place}", dir.name));
        }
    }
    let mut copies = BTreeSet::new();
    let mut probes: Vec<String> = Vec::new();
    for case in cases {
        let is_copies = |word: &&str| word.starts_with("copies=");
        let params: Vec<&str> = case.params.as_str().split(' ').collect();
        let count = params.iter().copied().find(is_copies);
        copies.insert(count.and_then(|word| word[7..].parse().ok()).unwrap_or(1));
        let params: Vec<&str> = params.into_iter().filter(|word| !is_copies(word)).collect();
        let params = Params::new(&params.join(" "));
        let probe = Case { params, dir: None, ..(*case).clone() }.to_string();
        if !probes.contains(&probe) {
            probes.push(probe);
        }
    }
    probes.into_iter().for_each(|probe| option(&mut words, "--probe", probe));
    if copies.iter().any(|count: &u32| *count != 1) {
        let counts: Vec<String> = copies.iter().map(u32::to_string).collect();
        option(&mut words, "--copies", counts.join(","));
    }
    let planned = match plan.launches {
        LaunchCount::Exactly(number) => Some(number),
        LaunchCount::Affordable => None,
    };
    if let Some(number) = amount.launches.or(planned) {
        option(&mut words, "--launches", number.to_string());
    }
    if plan.fixed_order {
        words.push("--fixed-order".into());
    }
    if plan.load > 0 {
        option(&mut words, "--load", plan.load.to_string());
    }
    if amount.any_precision {
        option(&mut words, "--precision", "0");
    }
    option(&mut words, "--budget", budget(amount));
    words
}

fn time_words(
    plan: &Plan,
    specs: &[&EnvSpec],
    cases: &[&Case],
    rules: &CommandRules,
    amount: &Amount,
) -> Vec<String> {
    let mut words = vec!["envtax".to_owned(), "time".to_owned()];
    let mut commands: Vec<&[String]> = Vec::new();
    let mut environments: Vec<String> = Vec::new();
    for spec in specs {
        if !commands.contains(&&spec.command[..]) {
            commands.push(&spec.command);
        }
    }
    for spec in specs {
        // Of several commands, the columns are called like the commands.
        let text = if commands.len() > 1 { spec.spec() } else { environment(spec) };
        if !environments.contains(&text) {
            environments.push(text);
        }
    }
    environments.into_iter().for_each(|text| option(&mut words, "--env", text));
    cases_of_commands(&mut words, plan, cases);
    rules_of_commands(&mut words, rules);
    // With a number of runs, one start is what nobody asked for.
    let planned = match plan.launches {
        LaunchCount::Exactly(1) if plan.stop.rounds().is_some() => None,
        LaunchCount::Exactly(number) => Some(number),
        LaunchCount::Affordable => None,
    };
    if let Some(number) = amount.launches.or(planned) {
        option(&mut words, "--launches", number.to_string());
    }
    match plan.stop.rounds().filter(|_| amount.launches.is_none()) {
        Some(_) => option(&mut words, "--runs", amount.rounds.to_string()),
        None => {
            if amount.any_precision {
                option(&mut words, "--precision", "0");
            }
            option(&mut words, "--budget", budget(amount));
        }
    }
    if let Some(number) = amount.runs {
        option(&mut words, "--repeat", number.to_string());
    }
    match commands[..] {
        [[]] | [] => {}
        [command] => {
            words.push("--".into());
            words.extend(command.iter().cloned());
        }
        _ => words.extend(commands.iter().map(|command| shell_words::join(*command))),
    }
    words
}

/// The inputs, parameters and workloads of the cases.
fn cases_of_commands(words: &mut Vec<String>, plan: &Plan, cases: &[&Case]) {
    let chosen = plan.cases.iter().filter(|planned| cases.contains(&&planned.case));
    let chosen = chosen.filter(|planned| planned.case.probe == COMMAND);
    let mut inputs: Vec<&String> = Vec::new();
    let mut values: BTreeMap<&String, Vec<&str>> = BTreeMap::new();
    for case in chosen.filter_map(|planned| planned.command()) {
        inputs
            .extend(case.input.iter().filter(|input| !inputs.contains(input)).collect::<Vec<_>>());
        for (name, value) in &case.values {
            let known = values.entry(name).or_default();
            if !known.contains(&value.as_str()) {
                known.push(value);
            }
        }
        if let Some(workload) = case.workload() {
            option(words, "--workload", workload.name.clone());
        }
    }
    inputs.into_iter().for_each(|input| option(words, "--input", input.clone()));
    for (name, values) in values {
        option(words, "--parameter", format!("{name}={}", values.join(",")));
    }
}

/// How the commands were run, where it is not as usual.
fn rules_of_commands(words: &mut Vec<String>, rules: &CommandRules) {
    let lines = [("--prepare", &rules.prepare), ("--conclude", &rules.conclude)];
    for (name, lines) in lines {
        lines.iter().for_each(|line| option(words, name, shell_words::join(line)));
    }
    for (name, lines) in [("--setup", &rules.setup), ("--cleanup", &rules.cleanup)] {
        lines.iter().for_each(|line| option(words, name, line.clone()));
    }
    rules.stdin.iter().for_each(|path| option(words, "--stdin", path.clone()));
    for (name, on) in [
        ("--stage", rules.stage),
        ("--cold", rules.cold),
        ("--settle", rules.settle),
        ("--verify-output", rules.verify_output),
        ("--ignore-failure", rules.ignore_failure),
    ] {
        words.extend(on.then(|| name.to_owned()));
    }
    if rules.warmup > 0 {
        option(words, "--warmup", rules.warmup.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::{planned, run_of};
    use crate::model::{CommandCase, Executed, PlannedCase, Stop, TargetDir, Work};

    const AMOUNT: Amount =
        Amount { budget_s: 90, rounds: 40, launches: None, runs: None, any_precision: false };

    fn case(probe: &str, params: &str, dir: Option<&str>) -> PlannedCase {
        let dir = dir.map(str::to_owned);
        PlannedCase {
            case: Case { probe: probe.into(), params: Params::new(params), dir },
            ..planned(probe)
        }
    }

    fn of(plan: &Plan, amount: &Amount) -> String {
        let specs: Vec<&EnvSpec> = plan.environments.iter().collect();
        let cases: Vec<&Case> = plan.cases.iter().map(|planned| &planned.case).collect();
        shell_words::join(words(plan, &specs, &cases, amount)).replace('\'', "")
    }

    #[test]
    fn a_run_is_called_with_its_environments_directories_and_cases() {
        let cases = vec![
            case("file.read", "size=4KiB copies=2", Some("disk")),
            case("file.read", "size=4KiB copies=2", Some("other")),
            case("null", "", None),
        ];
        let mut plan = run_of(cases, 0, |_, _, _| None).header.plan;
        plan.environments[0].name = "native".into();
        plan.environments[1].argument = "x y".into();
        let dir = |name: &str, path: &str, made: &str| TargetDir {
            name: name.into(),
            path: path.into(),
            made: made.into(),
        };
        plan.dirs = vec![dir("disk", "/d", ""), dir("other", "/o", "tmpfs"), dir("not", "/n", "")];
        plan.launches = LaunchCount::Exactly(3);
        plan.load = 2;
        assert_eq!(
            of(&plan, &AMOUNT),
            "envtax run --env native --env b=native:x y --dir disk=/d --dir other=tmpfs --probe \
             file.read size=4KiB --probe null --copies 1,2 --launches 3 --load 2 --budget 90s"
        );
        // What only a file of environments says is not repeated.
        plan.environments[1].setup = vec!["true".into()];
        let minutes = Amount { budget_s: 120, any_precision: true, ..AMOUNT };
        let text = of(&plan, &minutes);
        assert!(text.contains("--env native --env b --dir"), "{text}");
        assert!(text.ends_with("--precision 0 --budget 2m"), "{text}");
    }

    #[test]
    fn a_command_is_called_with_its_inputs_and_rules() {
        let command = |input: &str, value: &str| PlannedCase {
            work: Work::Command(CommandCase {
                input: Some(input.into()),
                values: BTreeMap::from([("n".to_owned(), value.to_owned())]),
                executed: Executed::OfColumn,
            }),
            ..case(COMMAND, &format!("input={input} n={value}"), None)
        };
        let cases = vec![command("a", "1"), command("a", "2"), command("b", "1")];
        let mut plan = run_of(cases, 0, |_, _, _| None).header.plan;
        let rules = CommandRules { cold: true, warmup: 2, ..CommandRules::default() };
        plan.commands = Some(CommandRules { prepare: vec![vec!["rm".into()]], ..rules });
        plan.environments[0].command = ["x", "{}"].map(str::to_owned).to_vec();
        plan.environments[1].command = plan.environments[0].command.clone();
        let rest = "--input a --input b --parameter n=1,2 --prepare rm --cold --warmup 2";
        assert_eq!(
            of(&plan, &AMOUNT),
            format!("envtax time --env a=native --env b=native {rest} --budget 90s -- x {{}}")
        );
        let again = of(&plan, &Amount { runs: Some(3), ..AMOUNT });
        assert!(again.ends_with("--budget 90s --repeat 3 -- x {}"), "{again}");
        plan.environments[1].command = ["y", "{}"].map(str::to_owned).to_vec();
        plan.stop = Stop::Rounds { rounds: 10, budget_s: None };
        assert_eq!(
            of(&plan, &AMOUNT),
            format!("envtax time --env native {rest} --runs 40 x {{}} y {{}}")
        );
    }
}
