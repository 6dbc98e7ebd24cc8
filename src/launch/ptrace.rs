//! The machine itself with a tracer that every system call stops in.

use anyhow::Result;

use super::{Launch, Launcher, LauncherInfo, Site, agent_words, no_argument};

pub struct Ptrace;

static INFO: LauncherInfo = LauncherInfo {
    kind: "ptrace",
    usage: "ptrace",
    summary: "the machine itself, every system call stopped by a tracer; needs nothing installed",
    notes: "The tracer lets the agent run on from every stop and does nothing else: what\n\
            stopping costs those who translate system calls this way (PRoot, gVisor's ptrace\n\
            platform, user-mode Linux) before they translate anything. It is kept on the CPU\n\
            of the round. Inside, nothing can trace or be debugged. All else is as in\n\
            `native`.\n\
            \n\
            Measured beside `cmd:strace -f -qq -o /dev/null` and `proot`, all on one CPU\n\
            (`taskset -c 1 envtax run`): getppid takes 71 times as long as natively, with\n\
            strace 97 and with PRoot 86 times; opening and closing a file 16, 25 and 30 times;\n\
            creating a process 4.0, 4.9 and 4.3 times. Without `taskset`, strace is on any\n\
            CPU, and its getppid took 770 times as long.",
    remedy: "allow ptrace: sysctl kernel.yama.ptrace_scope must not be 3; containers may need \
             `--cap-add SYS_PTRACE`",
    example: Some("ptrace"),
    serves_calls: true,
    ..LauncherInfo::COMMON
};

impl Launcher for Ptrace {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn check(&self, argument: &str) -> Result<()> {
        no_argument(argument, INFO.kind)
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let enter = ["--enter", "ptrace"];
        Ok(vec![Launch::new(agent_words(site.agent).into_iter().chain(enter))])
    }
}
