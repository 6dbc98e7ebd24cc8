//! `git status` of a large tree without changes.

use super::Workload;
use super::source::Source;

pub static GIT_STATUS: Workload = Workload {
    name: "git-status",
    summary: "`git status` of a repository of 5000 files in 250 folders, without changes",
    notes: "\
Looks at every file and reads every folder of a tree (5000 files of 0.2 to 4 KiB), and
reads the index and one pack: a `lstat` for each file, hardly any data. What costs in an
environment is the path of metadata: file servers, overlays, system call interception.

The repository is made by the `git` of this side, with one commit. Its index holds only
what is the same wherever the tree is seen (`core.checkStat=minimal`), and the timed
command does not write it (`--no-optional-locks`): otherwise each environment would
find the index of another one stale and read all files again. No setting of the user
or of the system is used when the repository is made; in the timed command they are.
`git` looks at files by several threads where it sees several processors.",
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
