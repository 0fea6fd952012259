//! The commands under `keys`, which manage API keys.
//!
//! | module | content |
//! |---|---|
//! | [`create`], [`list`], [`rotate`], [`demo`] | a command each; `keys revoke` is in this file |
//! | [`arguments`], [`output`] | parsing of arguments; formatting of a key |
//! | [`health`] | a key's last use and warnings |
//! | [`table`] | the SQL |

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::shards::Shards;
use super::storage_target::StorageTarget;
use super::time::Moment;
use output::KeyOutput;
use table::{KeyTable, Revoked};

pub mod arguments;
pub mod create;
pub mod demo;
pub mod health;
pub mod list;
pub mod output;
pub mod rotate;
pub mod table;

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Create an API key and show its secret, once
    Create(create::Create),
    /// List API keys, with their last use and warnings; secrets are never output
    ///
    /// A key gets a warning when it has expired, expires within 14 days, or has not been used for 90 days.
    List(list::List),
    /// Replace an API key with a new one that has the same scopes, and show its secret, once
    ///
    /// The old key stays valid for a while, to leave time for the switch. Both changes happen, or neither.
    Rotate(rotate::Rotate),
    /// Revoke an API key permanently
    Revoke(Revoke),
    /// Print the demo key that `npm start` shows
    ///
    /// Creates a new one if the last one was revoked.
    Demo(demo::Demo),
}

#[derive(Debug, Clone, Args)]
pub struct Revoke {
    /// The key's id, as `keys list` shows it
    id: String,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Create(args) => create::create(args)?,
        Command::List(args) => list::list(args)?,
        Command::Rotate(args) => rotate::rotate(args)?,
        Command::Revoke(args) => revoke(args)?,
        Command::Demo(args) => demo::demo(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn revoke(args: &Revoke) -> Result<()> {
    let now = Moment::now();
    let id = arguments::key_id(&args.id)?;
    let row = match KeyTable::revoke(&Shards::open(&args.storage_target)?, &id, now)? {
        Revoked::Now(row) => {
            eprintln!("Revoked {id} of account {}.", row.account);
            row
        }
        Revoked::Before(row) => {
            let when =
                row.revoked_at.map(|at| Moment::from_millis(at).to_string()).unwrap_or_default();
            eprintln!("{id} of account {} was already revoked at {when}.", row.account);
            row
        }
        Revoked::Unknown => {
            bail!("there is no key {id} {}: see `npm run keys -- list`", args.storage_target.name())
        }
    };
    if args.json {
        println!("{}", serde_json::to_string(&KeyOutput::new(&row, None, now))?);
    }
    Ok(())
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

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Cli::try_parse_from(std::iter::once("keys").chain(line.split_whitespace()))
            .map(|cli| cli.command)
    }

    #[test]
    fn parses_commands() {
        for line in [
            "create --account acme --environment live --scope catalog:read --expires 90d --json",
            "create --account acme --environment test --scope catalog:read --scope sessions:create",
            "list --account acme --remote",
            "revoke 00000000-0000-4000-8000-000000000000",
            "rotate 00000000-0000-4000-8000-000000000000",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap 7d",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap 0 --expires never --remote",
            "rotate 00000000-0000-4000-8000-000000000000 --expires 90d --json",
            "demo --persist-to elsewhere",
        ] {
            assert!(parse(line).is_ok(), "{line}");
        }
        for wrong in [
            "create --environment test",
            "create --account acme",
            "create --account acme --environment prod",
            "create --account a'b --environment test",
            "create --account acme --environment test --scope all",
            "create --account acme --environment test --expires soon",
            "create --account acme --environment test --local --remote",
            "revoke",
            "rotate",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap never",
            "rotate 00000000-0000-4000-8000-000000000000 --overlap 2030-01-31",
            "rotate 00000000-0000-4000-8000-000000000000 --expires soon",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn help_lists_every_scope_and_the_default_scopes() {
        let error = parse("create --help").unwrap_err().to_string();
        for scope in crate::terms::Scope::ALL.map(crate::terms::Scope::as_str) {
            let is_named = error.lines().any(|line| line.trim_start().starts_with(scope));
            assert!(is_named, "{scope}: {error}");
        }
        assert!(error.contains("Default: all of these"), "{error}");
    }
}
