//! The commands under `vault-keys`, which manage the keys that encrypt credentials.
//!
//! Cloudflare does not reveal the values of secrets, so these commands read the keys from a file:
//! on this machine from `.dev.vars`, for a deployment from the operator's copy. They never print a
//! key.
//!
//! | module | content |
//! |---|---|
//! | [`status`], [`rotate`], [`reseal`] | a command each |
//! | [`usage`] | the SQL that counts the rows that each key encrypted |
//! | [`reported`] | the keys of running services |
//! | [`file`] | the file with the keys |

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::project::Project;
use super::storage_target::StorageTarget;
use file::KeyFile;

pub mod file;
pub mod reported;
pub mod reseal;
pub mod rotate;
pub mod status;
pub mod usage;

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Count what each key has encrypted, and list missing keys
    ///
    /// Exits with 1 if a key is missing that is still needed.
    Status(status::Status),
    /// Generate a new key that encrypts from now on; the others still decrypt
    ///
    /// Does nothing if a key is missing that is still needed. Nothing is stored at Cloudflare: the command prints what
    /// to do next.
    Rotate(rotate::Rotate),
    /// Re-encrypt with the first key everything that the other keys have encrypted
    ///
    /// Refuses while a running service may lack that key. It can be stopped and run again at any time, even while the
    /// service runs. Exits with 1 if it had to skip rows, because a key is missing or they are damaged.
    Reseal(reseal::Reseal),
}

/// The file with the keys, and the storage with the encrypted rows.
#[derive(Debug, Clone, Default, Args)]
pub struct KeySource {
    /// A file with the value of `VAULT_KEYS` and nothing else. Default on this machine: the variable in .dev.vars
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    pub storage_target: StorageTarget,
}

impl KeySource {
    /// Returns `None` if the file is unknown: for Cloudflare without `--file`.
    pub fn keys(&self, project: &Project) -> Option<KeyFile> {
        match &self.file {
            Some(path) => Some(KeyFile::Value(path.clone())),
            None if self.storage_target.remote => None,
            None => Some(KeyFile::Variable(project.root().join(".dev.vars"))),
        }
    }
}

pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Status(args) => status::status(args),
        Command::Rotate(args) => rotate::rotate(args).map(|()| ExitCode::SUCCESS),
        Command::Reseal(args) => reseal::reseal(args),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(subcommand)]
        command: Command,
    }

    #[test]
    fn parses_commands() {
        let parses = |line: &str| {
            Cli::try_parse_from(std::iter::once("vault-keys").chain(line.split_whitespace()))
                .is_ok()
        };
        for line in [
            "status",
            "status --json --persist-to elsewhere",
            "status --remote --file keys.txt",
            "rotate",
            "rotate --id 2026-11 --file keys.txt",
            "rotate --remote --file keys.txt --lost old --lost older",
            "reseal",
            "reseal --remote --file keys.txt",
        ] {
            assert!(parses(line), "{line}");
        }
        for wrong in [
            "",
            "reseal --deployed",
            "status --local --remote",
            "status old",
            "rotate --id",
            "rotate --id A",
            "rotate --id a:b",
            "rotate --id a,b",
            "rotate --lost",
        ] {
            assert!(!parses(wrong), "{wrong}");
        }
    }
}
