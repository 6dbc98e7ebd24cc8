//! Docker, the container engine with a daemon.

use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};

use super::oci::engine::{self, AGENT};
use super::oci::{self, Options, root, seccomp};
use super::{Launch, Launcher, LauncherInfo, Site, agent_words, needs_program};
use crate::model::Availability;

pub struct Docker;

static INFO: LauncherInfo = LauncherInfo {
    kind: "docker",
    usage: "docker[:IMAGE][,OPTIONS]",
    summary: "a container of docker, from a local IMAGE, a folder or a minimal root file system",
    notes: include_str!("docker.md"),
    remedy: "apt-get install docker.io, start its daemon or name one in DOCKER_HOST, and be root \
             or a member of the group docker",
    programs: "name an image that has it: `--env docker:IMAGE`",
    example: Some("docker"),
    staged: true,
    version_command: &["docker", "--version"],
    only_on: Some("linux"),
    ..LauncherInfo::COMMON
};

const OPTIONS: [&str; 3] = ["rootfs", "runtime", "seccomp"];

fn options(argument: &str) -> Result<Options<'_>> {
    let options = Options::read(argument, INFO.usage, &OPTIONS)?;
    ensure!(
        !root::is_machines(&options),
        "docker runs images only, and no folder as it is; to copy the whole machine into one takes \
         too long: use `podman:rootfs=/`"
    );
    root::check(&options)?;
    seccomp::check(&options)?;
    Ok(options)
}

/// A command of docker's client. It names the daemon, because a later run with other variables may
/// have to undo this launch.
fn docker(words: &[&str]) -> Vec<String> {
    let host = env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let host = host.map(|host| ["--host".to_owned(), host]);
    let words = words.iter().map(|word| (*word).to_owned());
    ["docker".to_owned()].into_iter().chain(host.into_iter().flatten()).chain(words).collect()
}

/// The command holds a lock in the stage. The image is made and removed under this lock: if a
/// launch is killed while its image is being made, the undo command waits for it.
fn locked(site: &Site<'_>, words: Vec<String>) -> Vec<String> {
    ["flock".to_owned(), site.in_stage("image.lock")].into_iter().chain(words).collect()
}

/// Makes an image of the user's folder, or of a minimal root file system.
fn make_image(site: &Site<'_>, options: &Options<'_>) -> Result<()> {
    if options.get("rootfs").is_none() {
        root::make(site)?;
    }
    let root = root::folder(site, options)?.display().to_string();
    let tar = site.in_stage("root.tar");
    let pack = ["tar", "--one-file-system", "--numeric-owner", "-C", &root, "-cf", &tar, "."];
    let pack = pack.map(str::to_owned);
    let import = locked(site, docker(&["import", &tar, &oci::name(site)]));
    for words in [&pack[..], &import] {
        let complaint = engine::error_of(site, words);
        let made = complaint.and_then(|why| why.map_or(Ok(()), |why| bail!(why)));
        made.with_context(|| format!("making an image of `{root}`"))?;
    }
    Ok(fs::remove_file(tar)?)
}

impl Launcher for Docker {
    fn info(&self) -> &'static LauncherInfo {
        &INFO
    }

    fn detect(&self) -> Availability {
        needs_program("docker", INFO.remedy)
    }

    fn check(&self, argument: &str) -> Result<()> {
        options(argument).map(drop)
    }

    fn undo(&self, site: &Site<'_>) -> Vec<Vec<String>> {
        let name = oci::name(site);
        let mut commands = vec![docker(&["rm", "--force", &name])];
        if options(site.argument).is_ok_and(|options| options.image.is_none()) {
            commands.push(locked(site, docker(&["rmi", "--force", &name])));
        }
        commands
    }

    fn prepare(&self, site: &Site<'_>) -> Result<()> {
        let version = docker(&["version", "--format", "{{.Server.Version}}"]);
        if let Some(why) = engine::error_of(site, &version)? {
            bail!("docker's daemon does not answer: {why}");
        }
        let options = options(site.argument)?;
        let Some(image) = options.image else { return make_image(site, &options) };
        match engine::error_of(site, &docker(&["image", "inspect", image]))? {
            None => Ok(()),
            Some(why) => bail!(
                "docker has no image `{image}` here ({why}), and envtax fetches none: docker pull \
                 {image}"
            ),
        }
    }

    fn commands(&self, site: &Site<'_>) -> Result<Vec<Launch>> {
        let options = options(site.argument)?;
        let mut words = docker(&[]);
        words.extend(engine::run_words(site)?);
        let runtime = options.get("runtime");
        words.extend(runtime.map(|runtime| format!("--runtime={runtime}")));
        words.extend(engine::filter_words(options.get("seccomp")));
        let own = oci::name(site);
        words.extend(["--entrypoint", AGENT, options.image.unwrap_or(&own)].map(str::to_owned));
        words.extend(agent_words(AGENT)[1..].iter().map(|word| (*word).to_owned()));
        Ok(vec![Launch::new(words)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::site_of;

    #[test]
    fn an_image_is_started_by_the_agent() {
        let words =
            |argument: &str| Docker.commands(&site_of(argument)).unwrap()[0].words.join(" ");
        let image = words("a:b,runtime=runsc");
        assert!(image.contains(" run --rm -i --name envtax-0000aaaa-1 --network none "), "{image}");
        let end = "--runtime=runsc --entrypoint /.envtax a:b agent --self /.envtax";
        assert!(image.ends_with(end), "{image}");
        let own = words("");
        assert!(own.ends_with("--entrypoint /.envtax envtax-0000aaaa-1 agent --self /.envtax"));
    }

    #[test]
    fn only_an_image_that_was_made_is_removed() {
        let undo = |argument: &str| Docker.undo(&site_of(argument)).len();
        assert_eq!((undo("a:b"), undo(""), undo("seccomp=unconfined")), (1, 2, 2));
    }
}
