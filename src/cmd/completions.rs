//! `envtax completions`: a completion script from the argument definitions and the registries.

use std::io::Write;

use anyhow::Result;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, Command};
use clap_complete::Shell;

use crate::cli::CompletionsArgs;
use crate::exit::Exit;
use crate::launch::LAUNCHERS;
use crate::mount::FILESYSTEMS;
use crate::plan::environment_file::{ALL, AUTO};
use crate::probe::PROBES;
use crate::workload::WORKLOADS;

/// Bash breaks `NAME=VALUE` into three words at the equals sign: the option is three words before,
/// and the candidates are those of the option, without the name that some begin with.
const BASH: &str = r#"
_envtax_value() {
    local word="$2" option="$3" named=""
    if [[ "${COMP_WORDS[COMP_CWORD]}" == "=" ]]; then
        word="" option="${COMP_WORDS[COMP_CWORD-2]}" named=yes
    elif [[ "${COMP_WORDS[COMP_CWORD-1]}" == "=" && ${COMP_CWORD} -ge 4 ]]; then
        option="${COMP_WORDS[COMP_CWORD-3]}" named=yes
    fi
    _envtax "$1" "${word}" "${option}"
    if [[ -n "${named}" ]]; then
        COMPREPLY=("${COMPREPLY[@]#*=}")
    fi
}
"#;

pub fn run(args: &CompletionsArgs) -> Result<Exit> {
    std::io::stdout().write_all(script(args.shell).as_bytes())?;
    Ok(Exit::Done)
}

fn script(shell: Shell) -> String {
    let all = super::command();
    // Scripts name hidden verbs, too. A command cannot lose a verb, so this is one with the others.
    let shown = all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    let mut command = Command::new("envtax")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .subcommands(shown.map(with_values));
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "envtax", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => {
            let registration = "\nif [[ \"${BASH";
            let (functions, registration) = script.split_once(registration).unwrap_or_default();
            let registration = registration.replace("-F _envtax ", "-F _envtax_value ");
            format!("{functions}\n{BASH}\nif [[ \"${{BASH{registration}")
        }
        Shell::PowerShell => script.replacen(
            "    $completions = @(switch",
            &format!("{}\n    $completions = @(switch", power_shell(&command)),
            1,
        ),
        _ => script,
    }
}

/// The verb with what its options may be, where the parser itself takes any text. Only scripts see
/// that: a glob, a path and `NAME=KIND:ARGUMENT` stay possible.
fn with_values(verb: Command) -> Command {
    let runs = verb.get_name() == "run";
    verb.mut_args(|arg| {
        let values = match arg.get_id().as_str() {
            "environments" => environments(),
            "probes" => probes(),
            "dirs" if runs => directories(),
            "workloads" => WORKLOADS.iter().map(|it| (it.name.to_owned(), it.summary)).collect(),
            _ => return arg,
        };
        // clap keeps names for ever; the process ends when the script is printed.
        let value =
            |(name, text): (String, &'static str)| PossibleValue::new(&*name.leak()).help(text);
        arg.value_parser(PossibleValuesParser::new(values.into_iter().map(value)))
    })
}

type Values = Vec<(String, &'static str)>;

/// Kinds; those that need an argument with the colon before it.
fn environments() -> Values {
    let words = [(AUTO, "every kind that starts here"), (ALL, "those of environments.toml")];
    let words = words.map(|(word, text)| (word.to_owned(), text));
    let kind = |info: &crate::launch::LauncherInfo| {
        let colon = if info.example.is_some() { "" } else { ":" };
        (format!("{}{colon}", info.kind), info.summary)
    };
    LAUNCHERS.iter().map(|launcher| kind(launcher.info())).chain(words).collect()
}

fn probes() -> Values {
    let infos = PROBES.iter().map(|probe| probe.info());
    infos.map(|info| (info.id.to_owned(), info.summary)).collect()
}

/// Kinds of filesystems, each as a directory of its own name.
fn directories() -> Values {
    let infos = FILESYSTEMS.iter().map(|filesystem| filesystem.info());
    let example = |kind| if kind == "loop" { "loop:ext4" } else { kind };
    infos.map(|info| (format!("{}={}", info.kind, example(info.kind)), info.summary)).collect()
}

/// The values of options, which clap's script for PowerShell lacks.
fn power_shell(command: &Command) -> String {
    let mut cases = String::new();
    for verb in command.get_subcommands() {
        for arg in verb.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            if let (Some(long), Some(values)) = (arg.get_long(), values_of(arg)) {
                cases.push_str(&format!("        '{};--{long}' {{ {values} }}\n", verb.get_name()));
            }
        }
    }
    format!(
        "    $last = $commandElements.Count - 1
    if ($wordToComplete) {{ $last-- }}
    $verb = if ($commandElements.Count -gt 1) {{ $commandElements[1].ToString() }}
    $option = if ($last -gt 0) {{ $commandElements[$last].ToString() }}
    $values = @(switch (\"$verb;$option\") {{
{cases}    }})
    if ($values) {{
        return $values.Where{{ $_ -like \"$wordToComplete*\" }} | ForEach-Object {{
            [CompletionResult]::new($_, $_, [CompletionResultType]::ParameterValue, $_)
        }}
    }}
"
    )
}

fn values_of(arg: &Arg) -> Option<String> {
    let values = arg.get_possible_values();
    let quoted = values.iter().filter(|value| !value.is_hide_set());
    let quoted: Vec<String> = quoted.map(|value| format!("'{}'", value.get_name())).collect();
    (!quoted.is_empty()).then(|| quoted.join("; "))
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn scripts_know_the_verbs_that_users_call_and_their_values() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for verb in ["run", "compare", "doctor", "session", "--suite", "--layout"] {
                assert!(script.contains(verb.trim_start_matches('-')), "{shell}: {verb}");
            }
            let words: Vec<&str> = script.split(|c: char| !c.is_alphanumeric()).collect();
            for hidden in ["worker", "guard"] {
                assert!(!words.contains(&hidden), "{shell}: {hidden}");
            }
            // clap's script for Elvish has no values; envtax adds them for PowerShell only.
            for value in ["gvisor", "file.open", "unixbench", "virtiofs"] {
                assert!(*shell == Shell::Elvish || script.contains(value), "{shell}: {value}");
            }
        }
    }
}
