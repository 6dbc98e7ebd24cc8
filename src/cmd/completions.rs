//! `envtax completions`: a completion script from the argument definitions.

use std::io::Write;

use anyhow::Result;
use clap::Command;
use clap_complete::Shell;

use crate::cli::CompletionsArgs;
use crate::exit::Exit;

pub fn run(args: &CompletionsArgs) -> Result<Exit> {
    std::io::stdout().write_all(&script(args.shell))?;
    Ok(Exit::Done)
}

fn script(shell: Shell) -> Vec<u8> {
    let all = super::command();
    // Scripts name hidden verbs, too. A command cannot lose a verb, so this is one with the others.
    let shown = all.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    let mut command = Command::new("envtax")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "envtax", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn scripts_know_the_verbs_that_users_call() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).unwrap();
            for verb in ["run", "compare", "doctor", "--suite", "--layout"] {
                assert!(script.contains(verb.trim_start_matches('-')), "{shell}: {verb}");
            }
            let words: Vec<&str> = script.split(|c: char| !c.is_alphanumeric()).collect();
            for hidden in ["worker", "guard"] {
                assert!(!words.contains(&hidden), "{shell}: {hidden}");
            }
        }
    }
}
