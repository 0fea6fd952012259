//! The commands under `vault-keys`: the keys that seal credentials.
//!
//! Cloudflare does not show the value of a secret. So these commands read the keys from a file: on this machine from
//! `.dev.vars`, for a deployment from the copy that its operator keeps. They print no key.
//!
//! | file | what it knows |
//! |---|---|
//! | [`status`], [`rotate`], [`reseal`] | one command each |
//! | [`need`] | the SQL: which keys the sealed rows need |
//! | [`reported`] | which keys the running services have |
//! | [`file`] | where the keys are kept: a variable of `.dev.vars`, or a file with nothing else |

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};

use super::place::Place;
use super::project::Project;
use file::KeyFile;

pub mod file;
pub mod need;
pub mod reported;
pub mod reseal;
pub mod rotate;
pub mod status;

/// The commands under `vault-keys`.
#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Count what each key has sealed, and name keys that are missing
    ///
    /// Exits with 1 if a key is missing that is still needed.
    Status(status::Status),
    /// Generate a new key that encrypts from now on; the others still decrypt
    ///
    /// Does nothing if a key is missing that is still needed. Nothing is stored at Cloudflare: the command prints what to
    /// do next.
    Rotate(rotate::Rotate),
    /// Re-encrypt, with the first key, what the other keys have encrypted
    ///
    /// Refuses as long as a running service may lack that key. It can be stopped and run again at any time, also while the service runs. Exits with 1 if it had to leave rows
    /// behind, because a key is missing or they are damaged.
    Reseal(reseal::Reseal),
}

/// Where the keys and the sealed rows are.
#[derive(Debug, Clone, Default, Args)]
pub struct Kept {
    /// A file that holds the value of `VAULT_KEYS` and nothing else. Default on this machine: the variable in .dev.vars
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Which storage.
    #[command(flatten)]
    pub place: Place,
}

impl Kept {
    /// The file with the keys. Returns `None` when it is not known: for Cloudflare, without `--file`.
    #[must_use]
    pub fn keys(&self, project: &Project) -> Option<KeyFile> {
        match &self.file {
            Some(path) => Some(KeyFile::Value(path.clone())),
            None if self.place.remote => None,
            None => Some(KeyFile::Variable(project.root().join(".dev.vars"))),
        }
    }
}

/// Runs one of the commands under `vault-keys`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
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
    fn commands() {
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
