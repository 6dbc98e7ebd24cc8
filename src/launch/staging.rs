//! Sends the agent's binary through the environment's own `sh`, for environments that do not see
//! this machine's files.

/// Makes a folder for the agent, receives its binary, and becomes it. The agent then removes both:
/// it runs on from the file it holds open. What arrives in part, or cannot be executed there, the
/// shell removes. Its arguments are the machine that the binary is for and how many bytes it has.
const STAGE: &str = "umask 077; d=; p=; trap 'rm -rf \"$d\" \"$p\"' EXIT; \
    trap 'exit 1' HUP INT TERM; m=$(uname -m 2>/dev/null); [ \"${m:-$1}\" = \"$1\" ] || \
    { echo \"this system is $m, and the agent that is sent is built for $1\" >&2; exit 1; }; \
    for t in \"$TMPDIR\" /tmp /var/tmp /dev/shm; do \
    [ -d \"$t\" ] || continue; p=\"$t/.envtax-try-$$\"; printf '#!/bin/sh\\n' >\"$p\" && \
    chmod 700 \"$p\" && \"$p\" && rm -f \"$p\" && break; rm -f \"$p\"; done 2>/dev/null; \
    d=$(mktemp -d \"$t/envtax-XXXXXX\") || exit; a=\"$d/envtax\"; head -c \"$2\" >\"$a\"; \
    [ \"$(wc -c <\"$a\")\" -eq \"$2\" ] || { echo 'the binary arrived in part' >&2; exit 1; }; \
    chmod 700 \"$a\" && exec \"$a\" agent --self \"$a\" --staged";

/// The words of the shell; the number of bytes is to follow them.
pub(super) fn shell(machine: &str) -> [&str; 5] {
    ["sh", "-c", STAGE, "sh", machine]
}

/// The same for what joins its arguments and has another shell split them again, as `ssh` does.
pub(super) fn quoted(machine: &str) -> [String; 5] {
    shell(machine).map(|word| shell_words::quote(word).into_owned())
}
