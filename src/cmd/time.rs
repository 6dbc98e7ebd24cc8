//! `envtax time`: turns its arguments into a plan of whole commands, whose cases are their inputs
//! and parameters, and has it carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::measure::{self, How};
use super::say;
use super::selection::{self, Selection};
use super::show;
use crate::cli::TimeArgs;
use crate::exit::Exit;
use crate::model::{
    COMMAND, Case, CommandCase, CommandPhase, CommandRules, EMPTY_SHELL, EnvSpec, Executed,
    LaunchCount, Params, Phase, PlannedCase, Stop, Work, WorkloadCase,
};
use crate::plan::{self, Draft, Wish};
use crate::{sys, workload};

/// Longest wait for an environment to start, and for an answer after a command's own time limit.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Fewest runs of each command before its intervals may count as narrow enough.
const MIN_RUNS: u32 = 10;
/// Longest time to measure in seconds, unless the user gives another.
const BUDGET_S: f64 = 60.0;

pub fn run(args: &TimeArgs) -> Result<Exit> {
    show::check(&args.show)?;
    let file = selection::file(&args.file)?;
    let Selection { environments, auto } = selection::of(&args.environments, file.as_ref())?;
    if let Some(hint) = hint(&args.lines) {
        say(&hint);
    }
    let how = How {
        auto: &auto,
        repeat: &args.repeat,
        output: &args.output,
        answer_limit: ANSWER_LIMIT,
        reenactment: None,
    };
    measure::measure(&draft_of(args, environments)?, &how, &args.show, &args.gate)
}

fn draft_of(args: &TimeArgs, environments: Vec<EnvSpec>) -> Result<Draft> {
    let parameters = parameters(&args.parameters)?;
    let commands = commands(args)?;
    check_placeholders(args, &commands, &parameters)?;
    check_files(args)?;
    check_output_folder(args)?;
    let words = |lines: &[String]| -> Result<Vec<Vec<String>>> {
        lines.iter().map(|line| words_of(line, args.shell)).collect()
    };
    plan::make(Wish {
        environments: columns(args, &environments, &commands),
        reference: None,
        cases: cases(args, &parameters)?,
        probes: Vec::new(),
        libraries: Vec::new(),
        copies: vec![1],
        dirs: Vec::new(),
        seed: args.seed.unwrap_or_else(measure::fresh_seed),
        stop: stop_of(args),
        launches: match (args.launches, args.runs) {
            (Some(number), _) => LaunchCount::Exactly(number),
            // Each start has a first run, so a user who counts runs wants one start only.
            (None, Some(_)) => LaunchCount::Exactly(1),
            (None, None) => LaunchCount::Affordable,
        },
        cold_launches: false,
        fixed_order: false,
        load: 0,
        commands: Some(CommandRules {
            prepare: words(&args.prepare)?,
            conclude: words(&args.conclude)?,
            stdin: args.stdin.clone(),
            timeout_s: args.timeout.as_secs_f64(),
            ignore_failure: args.ignore_failure,
            verify_output: args.verify_output,
            cold: args.cold,
            settle: args.settle,
            warmup: args.warmup,
            setup: args.setup.clone(),
            cleanup: args.cleanup.clone(),
            stage: args.stage,
            keep_output: args.keep_output.clone(),
        }),
    })
}

fn stop_of(args: &TimeArgs) -> Stop {
    let budget_s = args.budget.map(|budget| budget.as_secs_f64());
    match args.runs {
        Some(rounds) => Stop::Rounds { rounds, budget_s },
        None => Stop::at_precision(args.precision / 100.0, MIN_RUNS, budget_s.unwrap_or(BUDGET_S)),
    }
}

/// A hint if the words of one command look like several commands: one of them is no program here.
fn hint(lines: &[String]) -> Option<String> {
    let single = |line: &String| !line.is_empty() && !line.contains(char::is_whitespace);
    let odd = lines.iter().find(|line| sys::find_program(line).is_none_or(|path| !path.is_file()));
    let odd = odd.filter(|_| lines.len() > 1 && lines.iter().all(single))?;
    Some(format!(
        "each word is a command of its own here, and there is no command `{odd}`; write one \
         command with arguments as `envtax time -- {}`",
        shell_words::join(lines)
    ))
}

/// A command with the name of its column.
struct Command {
    name: String,
    words: Vec<String>,
}

fn commands(args: &TimeArgs) -> Result<Vec<Command>> {
    if !args.command.is_empty() {
        let words = match args.shell {
            true => shell(&shell_words::join(&args.command)),
            false => args.command.clone(),
        };
        return Ok(vec![Command { name: String::new(), words }]);
    }
    if !args.workloads.is_empty() {
        return Ok(vec![Command { name: String::new(), words: Vec::new() }]);
    }
    ensure!(!args.lines.is_empty(), "there is no command: write `envtax time -- COMMAND [ARG]...`");
    let command =
        |line: &String| Ok(Command { name: line.clone(), words: words_of(line, args.shell)? });
    let mut seen = BTreeSet::new();
    for line in &args.lines {
        ensure!(
            seen.insert(line),
            "the command `{line}` is given twice; to see the differences by chance alone, time it \
             in two environments of one kind: `--env a=native --env b=native`"
        );
    }
    args.lines.iter().map(command).collect()
}

fn words_of(line: &str, by_shell: bool) -> Result<Vec<String>> {
    if by_shell {
        return Ok(shell(line));
    }
    let whole = sys::quoted_backslashes(line);
    let words =
        shell_words::split(&whole).with_context(|| format!("reading the quotes in `{line}`"))?;
    ensure!(!words.is_empty(), "an empty command line");
    if let Some(odd) = for_a_shell(&whole) {
        bail!("`{odd}` in `{line}` is for a shell: add `--shell`, or quote it if it is not");
    }
    Ok(words)
}

/// The first sign of the line that only a shell would understand. Without a shell it would become a
/// part of an argument.
fn for_a_shell(line: &str) -> Option<char> {
    let mut quote = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let names = next.is_ascii_alphabetic() || "_({".contains(next);
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(letters.next()),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | '&' | ';' | '<' | '>' | '`' | '*') => return Some(letter),
            (_, '$') if names => return Some(letter),
            (Some(_), '`') => return Some(letter),
            _ => {}
        }
    }
    None
}

fn shell(line: &str) -> Vec<String> {
    ["sh", "-c", line].map(str::to_owned).to_vec()
}

/// One column for each command in each environment.
fn columns(args: &TimeArgs, environments: &[EnvSpec], commands: &[Command]) -> Vec<EnvSpec> {
    let mut columns = Vec::new();
    for spec in environments {
        for command in commands {
            let mut names = vec![spec.name.as_str()];
            if let Some(label) = &args.label {
                names = vec![label.as_str()];
            }
            if environments.len() > 1 && args.label.is_some() {
                names.push(&spec.name);
            }
            if commands.len() > 1 {
                match environments.len() {
                    1 if args.label.is_none() => names = vec![&command.name],
                    _ => names.push(&command.name),
                }
            }
            columns.push(EnvSpec {
                name: names.join(": "),
                command: command.words.clone(),
                ..spec.clone()
            });
        }
    }
    columns
}

fn parameters(texts: &[String]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for text in texts {
        let Some((name, values)) = text.split_once('=') else {
            bail!("`--parameter {text}`: write `--parameter NAME=VALUE,VALUE`");
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let named = !name.is_empty() && name.chars().all(plain) && name != "out";
        ensure!(
            named,
            "`--parameter {text}`: the name may have letters, digits, `_-`, and not be out"
        );
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        let before = found.insert(name.to_owned(), values);
        ensure!(before.is_none(), "`--parameter {name}` is given twice");
    }
    Ok(found)
}

/// Every varying part must be in some command, and every placeholder must have a value.
fn check_placeholders(
    args: &TimeArgs,
    commands: &[Command],
    parameters: &BTreeMap<String, Vec<String>>,
) -> Result<()> {
    let lines = commands.iter().flat_map(|command| &command.words);
    let asides = args.prepare.iter().chain(&args.conclude).chain(&args.stdin);
    let all: Vec<&String> = lines.chain(asides).collect();
    let used = |mark: &str| all.iter().any(|word| word.contains(mark));
    ensure!(
        args.inputs.is_empty() != used("{}"),
        "{}",
        match args.inputs.is_empty() {
            true => "`{}` in the command stands for an input: give one with `--input FILE`",
            false => "`--input` is given, but the command does not contain `{}`",
        }
    );
    for name in parameters.keys() {
        ensure!(
            used(&format!("{{{name}}}")),
            "`--parameter {name}` is given, but the command does not contain `{{{name}}}`"
        );
    }
    Ok(())
}

/// Inputs that will be sent into environments must exist now.
fn check_files(args: &TimeArgs) -> Result<()> {
    let inputs = args.inputs.iter().map(|path| ("--input", path));
    let stdin = args.stdin.iter().filter(|path| !path.contains('{')).map(|it| ("--stdin", it));
    for (option, path) in inputs.chain(stdin).filter(|_| args.stage) {
        let about = fs::metadata(path).with_context(|| format!("`{option} {path}`"))?;
        ensure!(about.is_file(), "`{option} {path}` is not a file: `--stage` sends only files");
    }
    Ok(())
}

/// The folder must be empty, so that its files are not mixed with those of this run.
fn check_output_folder(args: &TimeArgs) -> Result<()> {
    let Some(folder) = &args.keep_output else { return Ok(()) };
    let name = folder.display();
    let empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(error).with_context(|| format!("`--keep-output {name}`")),
    };
    let taken = format!("`--keep-output {name}`: the folder is not empty; choose another one");
    ensure!(empty || args.output.force, "{taken}, or add to it with `--force`");
    fs::create_dir_all(folder).with_context(|| format!("making `{name}` for `--keep-output`"))
}

/// A case for each input and each combination of parameters.
fn cases(args: &TimeArgs, parameters: &BTreeMap<String, Vec<String>>) -> Result<Vec<PlannedCase>> {
    let mut cases = vec![(String::new(), CommandCase::default())];
    if !args.inputs.is_empty() {
        let short = short_names(&args.inputs)?;
        let of = |(input, name): (&String, String)| {
            let case = CommandCase { input: Some(input.clone()), ..CommandCase::default() };
            (format!("input={name}"), case)
        };
        cases = args.inputs.iter().zip(short).map(of).collect();
    }
    if !args.workloads.is_empty() {
        cases = workloads(&args.workloads)?;
    }
    for (name, values) in parameters {
        let with = |(text, case): (String, CommandCase)| {
            values.iter().map(move |value| {
                let mut case = case.clone();
                case.values.insert(name.clone(), value.clone());
                (format!("{text} {name}={}", value.replace(' ', "_")), case)
            })
        };
        cases = cases.into_iter().flat_map(with).collect();
    }
    let mut seen = BTreeSet::new();
    for (text, _) in &cases {
        ensure!(
            seen.insert(text),
            "two rows would be called `{}`: give each value once (a space counts as `_`)",
            text.trim()
        );
    }
    let phases = CommandPhase::phases(args.settle);
    let planned = |probe: &str, text: &str, phases: &[Phase], command| PlannedCase {
        case: Case { probe: probe.into(), params: Params::new(text.trim()), dir: None },
        phases: phases.to_vec(),
        unit: "run".into(),
        work: Work::Command(command),
    };
    let of_command = |(text, case): (String, _)| planned(COMMAND, &text, &phases, case);
    let mut cases: Vec<PlannedCase> = cases.into_iter().map(of_command).collect();
    if args.shell {
        let case = CommandCase { executed: Executed::Words(shell(":")), ..CommandCase::default() };
        cases.push(planned(EMPTY_SHELL, "", &CommandPhase::phases(false), case));
    }
    Ok(cases)
}

/// A case for each workload.
fn workloads(names: &[String]) -> Result<Vec<(String, CommandCase)>> {
    let mut seen = BTreeSet::new();
    let case = |name: &String| {
        ensure!(seen.insert(name.clone()), "`--workload {name}` is given twice");
        let workload = workload::find(name)?;
        let texts = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let workload = WorkloadCase {
            name: name.clone(),
            command: texts(workload.command),
            needs: texts(workload.needs),
            elsewhere: None,
        };
        let executed = Executed::Workload(workload);
        let case = CommandCase { executed, ..CommandCase::default() };
        Ok((format!("workload={name}"), case))
    };
    names.iter().map(case).collect()
}

/// The inputs' file names if they are unique, otherwise their whole paths.
fn short_names(inputs: &[String]) -> Result<Vec<String>> {
    let mut seen = BTreeSet::new();
    for input in inputs {
        ensure!(seen.insert(input), "`--input {input}` is given twice");
    }
    let name = |path: &String| {
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or_else(|| path.clone()).replace(' ', "_")
    };
    let names: Vec<String> = inputs.iter().map(name).collect();
    let unique: BTreeSet<&String> = names.iter().collect();
    Ok(match unique.len() == names.len() {
        true => names,
        false => inputs.iter().map(|path| path.replace(' ', "_")).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_command_are_told_from_commands() {
        let told =
            |lines: &[&str]| hint(&lines.iter().map(|it| it.to_string()).collect::<Vec<_>>());
        let text = told(&["ls", "/no/such", "b'c"]).unwrap();
        assert!(text.contains("there is no command `/no/such`"), "{text}");
        assert!(text.ends_with("`envtax time -- ls /no/such 'b'\\''c'`"), "{text}");
        assert!(told(&["/no/such"]).is_none() && told(&["ls /no", "no-such x"]).is_none());
    }

    #[test]
    fn what_only_a_shell_understands_is_found_unless_it_is_quoted() {
        for line in ["a | b", "a|b", "a>b", "a <b", "a && b", "a;b", "a&", "echo `b`", "ls *.c"] {
            assert!(for_a_shell(line).is_some(), "{line}");
        }
        for line in ["echo $HOME", "echo \"$HOME\"", "echo ${X}", "echo \"`b`\"", "a '' $(b)"] {
            assert!(for_a_shell(line).is_some(), "{line}");
        }
        for line in ["a 'b | c'", "a \"b > c\"", "a b\\;", "grep 'x*$' f", "grep x$", "echo '$X'"] {
            assert_eq!(for_a_shell(line), None, "{line}");
        }
        assert_eq!(for_a_shell("cp {} {out} --size={n}"), None);
        assert_eq!(for_a_shell("a \"it's; so\" 'b\"; c'"), None);
    }
}
