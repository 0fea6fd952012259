//! The commands under `clients`, which manage OAuth clients of accounts. They use the code of
//! `/v1/oauth-clients`.
//!
//! | module | content |
//! |---|---|
//! | [`set`], [`list`] | a command each; `clients remove` is in this file |
//! | [`secret`] | reading a client's secret |

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use super::keys::arguments::{account, environment};
use super::project::Project;
use super::shards::Shards;
use super::sql::StringLiteral;
use super::storage_target::StorageTarget;
use crate::connect::client::{DEFAULT_CLIENT, OauthClient};
use crate::connect::endpoints::client_choice;
use crate::connect::rules;
use crate::terms::Environment;
use crate::util::case_fold::fold;

pub mod list;
pub mod secret;
pub mod set;

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// Set the OAuth client for a platform, replacing the previous one
    ///
    /// Reads the secret from standard input, or prompts for it on a terminal without echo. It is never an argument,
    /// which other users of the machine could see. Prints the redirect URI to register at the platform.
    Set(Box<set::Set>),
    /// List OAuth clients; secrets are never output
    List(list::List),
    /// Remove the OAuth client for a platform
    ///
    /// Its connections stay, but their tokens can't be refreshed until there is a client again.
    Remove(Remove),
}

/// The tenant and platform of a client.
#[derive(Debug, Clone, Args)]
pub struct ClientRef {
    /// The platform, such as github
    platform: String,
    /// The name of the client, if the platform has several
    #[arg(long, value_parser = client_name, default_value = DEFAULT_CLIENT)]
    name: String,
    /// The account that owns the client
    #[arg(long, value_parser = account)]
    account: String,
    /// The environment of the account
    #[arg(long, value_parser = environment, value_name = "test|live")]
    environment: Environment,
}

#[derive(Debug, Clone, Args)]
pub struct Remove {
    #[command(flatten)]
    of: ClientRef,
    #[command(flatten)]
    storage_target: StorageTarget,
}

pub fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Set(args) => set::set(args)?,
        Command::List(args) => list::list(args)?,
        Command::Remove(args) => remove(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn remove(args: &Remove) -> Result<()> {
    let ClientRef { platform, name, account, environment } = &args.of;
    let platform = fold(platform);
    let sql = format!(
        "DELETE FROM oauth_clients WHERE account = {} AND environment = {} AND platform = {} AND name = {} RETURNING *",
        StringLiteral(account),
        StringLiteral(environment.as_str()),
        StringLiteral(&platform),
        StringLiteral(name)
    );
    let mut removed: Vec<OauthClient> = Vec::new();
    for database in &Shards::open(&args.storage_target)?.0 {
        removed.append(&mut database.change(std::slice::from_ref(&sql))?.rows(0)?);
    }
    let (place, owner) =
        (args.storage_target.name(), format!("of {account} ({})", environment.as_str()));
    if removed.is_empty() {
        bail!(
            "there is no {} {owner} {place}: see `npm run clients -- list`",
            client_choice::describe(&platform.escape_debug().to_string(), name)
        );
    }
    eprintln!("Removed the {} {owner}.", client_noun(&platform, name));
    Ok(())
}

fn client_name(text: &str) -> Result<String, String> {
    rules::client_name(text).map_or_else(|| Ok(text.to_owned()), |what| Err(what.to_owned()))
}

/// Describes a client in messages, such as "OAuth client bot for slack".
fn client_noun(platform: &str, name: &str) -> String {
    if name == DEFAULT_CLIENT {
        return format!("OAuth client for {platform}");
    }
    format!("OAuth client {name} for {platform}")
}

/// Parses the origin of the service, which the redirect URI contains.
pub(super) fn url(text: &str) -> Result<String, String> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let authority =
        text.split_once("://").filter(|(scheme, _)| matches!(*scheme, "https" | "http"));
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    match authority {
        Some((_, host)) if !host.is_empty() && host.bytes().all(allowed) => Ok(text.to_owned()),
        _ => Err("expected a URL such as https://vault.example, without a path".into()),
    }
}

/// The URL of the service: from the option, or as `npm start` or `npm run deploy` recorded it on
/// this machine. Empty if unknown, because a wrong URL could get registered at a platform.
pub(super) fn service_url(
    requested: Option<&String>,
    storage_target: &StorageTarget,
) -> Result<String> {
    if let Some(url) = requested {
        return Ok(url.clone());
    }
    let project = Project::find()?;
    let file = if storage_target.remote {
        project.root().join(".wrangler/deployed-address")
    } else {
        storage_target.folder(&project)?.join("v3/address")
    };
    let recorded = std::fs::read_to_string(file).ok().and_then(|text| url(text.trim()).ok());
    Ok(recorded.unwrap_or_default())
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
            Cli::try_parse_from(std::iter::once("clients").chain(line.split_whitespace())).is_ok()
        };
        let target = "github --account acme --environment test";
        for line in [
            "list",
            "list --account acme --json --url https://vault.example",
            &format!("remove {target} --remote"),
            &format!("remove {target} --name bot"),
            &format!("set {target} --name bot --client-id a"),
            &format!("set {target} --client-id a --scope read:user --scope repo --json"),
            &format!("set {target} --client-id a --no-secret --parameter prompt=consent=x"),
            &format!("set {target} --client-id a --keep-secret --variable host=a.example"),
            &format!(
                "set {target} --client-id a --remote --file keys.txt --url http://localhost:9999/"
            ),
        ] {
            assert!(parses(line), "{line}");
        }
        for wrong in [
            "",
            "set github --account acme --environment test",
            "set github --account acme --client-id a",
            "remove github",
            &format!("set {target} --client-id a --client-secret b"),
            &format!("set {target} --client-id a --secret b"),
            &format!("set {target} --client-id a b"),
            &format!("set {target} --client-id a --name Bot"),
            &format!("set {target} --client-id a --keep-secret --no-secret"),
            &format!("set {target} --client-id a --parameter prompt"),
            &format!("set {target} --client-id a --url vault.example"),
            &format!("set {target} --client-id a --url https://vault.example/connect"),
        ] {
            assert!(!parses(wrong), "{wrong}");
        }
    }
}
