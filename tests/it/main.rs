//! Integration tests: the real binary, in real environments.

mod bad_agents;
mod dirs;
mod env_containers;
mod env_facts;
mod env_file;
mod env_gvisor;
mod env_qemu_user;
mod env_sandboxes;
mod env_ssh;
mod env_uml;
mod env_vm;
mod env_wine;
mod file_probes;
mod filesystems;
mod foreign_text;
mod leftovers;
mod limits;
mod made_dirs;
mod main_job;
mod other_verbs;
#[cfg(feature = "planted")]
mod planted;
mod processes;
mod redact;
mod run_files;
mod security;
mod suites;
mod support;
mod tidy;
mod time;
mod time_facts;
mod time_output;
mod time_reports;
mod time_wine;
mod time_workloads;
mod usage;
