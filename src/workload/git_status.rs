//! `git status` of a large tree without changes.

use super::Workload;
use super::source::Source;

pub static GIT_STATUS: Workload = Workload {
    name: "git-status",
    summary: "`git status` of a repository of 5000 files in 250 folders, without changes",
    notes: "\
Looks at every file and reads every folder of a tree (5000 files of 0.2 to 4 KiB), the
index and one pack: one `lstat` for each file, and hardly any data. In an environment,
the path of metadata costs: file servers, overlays, system call interception.

The `git` of this machine makes the repository, with one commit. Its index contains only
what is the same in all environments (`core.checkStat=minimal`), and the timed command
does not write it (`--no-optional-locks`). Otherwise each environment would find the
index of another one stale and read all files again. Settings of the user and of the
system apply to the timed command, but not when the repository is made. Where `git`
sees several processors, it looks at files in several threads.",
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
