//! `git status` of a large tree without changes.

use super::Workload;
use super::source::Source;

pub static GIT_STATUS: Workload = Workload {
    name: "git-status",
    summary: "`git status` of a repository of 5000 files in 250 folders, without changes",
    notes: include_str!("git_status.md"),
    needs: &["git"],
    command: &[
        "git",
        "-C",
        "{data}",
        "--no-optional-locks",
        "-c",
        "safe.directory=*",
        "status",
        "--porcelain",
    ],
    make: |folder| Source::new(1).tree(folder, (250, 5000), (200, 4000)),
    script: "\
unset $(git rev-parse --local-env-vars)
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
for who in AUTHOR COMMITTER; do
    export GIT_${who}_NAME=envtax GIT_${who}_EMAIL=envtax@localhost
    export GIT_${who}_DATE=2020-01-01T00:00:00+0000
done
git -c init.defaultBranch=main init --quiet --template= .
for setting in core.checkStat=minimal core.trustctime=false core.fileMode=false \\
    core.fsmonitor=false core.untrackedCache=false gc.auto=0 pack.threads=1; do
    git config \"${setting%%=*}\" \"${setting#*=}\"
done
git add --all
git commit --quiet --message=data
git repack -a -d --quiet
",
};
