//! `agents list`: lists the MCP endpoints at which agents sign in.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::{Value, json};

use super::clients::{service_url, url};
use super::keys::arguments::account;
use super::shards::{NOT_MOVED_AWAY, Shards};
use super::sql::StringLiteral;
use super::storage_target::StorageTarget;
use crate::agents::sign_in::{endpoint_url, redirect_uri};

#[derive(Debug, Clone, Subcommand)]
pub enum Command {
    /// List the MCP endpoints of accounts, and the identity providers of their users
    List(List),
}

#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only the endpoints of this account
    #[arg(long, value_parser = account)]
    account: Option<String>,
    /// The URL of the service, as in its variable `BASE_URL`. Default on this machine: `http://localhost:8787`
    #[arg(long, value_parser = url)]
    url: Option<String>,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// An MCP endpoint and the number of its grants.
#[derive(Debug, Deserialize)]
struct EndpointRow {
    id: String,
    account: String,
    environment: String,
    r#type: Option<String>,
    grants: u64,
}

pub fn run(command: &Command) -> Result<ExitCode> {
    let Command::List(args) = command;
    let only =
        args.account.as_deref().map(|name| format!(" AND account = {}", StringLiteral(name)));
    // While an account moves, the row in the target database is ignored until the account has
    // arrived.
    let sql = format!(
        "SELECT id, account, environment, type, (SELECT count(*) FROM agent_grants g WHERE g.account = e.account AND g.environment = e.environment AND g.state = 'active') AS grants FROM agent_endpoints e WHERE {NOT_MOVED_AWAY}{} AND account NOT IN (SELECT account FROM account_moves WHERE step = 'arriving')",
        only.unwrap_or_default()
    );
    let mut rows: Vec<EndpointRow> = Shards::open(&args.storage_target)?.rows(&sql)?;
    rows.sort_by(|one, other| {
        (&one.account, &one.environment).cmp(&(&other.account, &other.environment))
    });
    let base = service_url(args.url.as_ref(), &args.storage_target)?;
    print!("{}", format_rows(&rows, &base, args.json)?);
    Ok(ExitCode::SUCCESS)
}

fn format_rows(rows: &[EndpointRow], base: &str, as_json: bool) -> Result<String> {
    let endpoint = |row: &EndpointRow| endpoint_url(base, &row.id);
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "account": row.account, "environment": row.environment, "endpoint": endpoint(row),
                    "redirectUri": redirect_uri(base, &row.id), "type": row.r#type, "grants": row.grants,
                })
            })
            .collect();
        return Ok(serde_json::to_string_pretty(&rows)? + "\n");
    }
    if rows.is_empty() {
        return Ok(
            "No account has configured sign-in for agents. Configure it with `PUT /v1/agent-sign-in`.\n".into()
        );
    }
    let line = |row: &EndpointRow| {
        let kind = row.r#type.as_deref().unwrap_or("off");
        format!(
            "{:<24}  {:<4}  {kind:<4}  {:>6}  {}\n",
            row.account,
            row.environment,
            row.grants,
            endpoint(row)
        )
    };
    let head =
        format!("{:<24}  {:<4}  {:<4}  {:>6}  ENDPOINT\n", "ACCOUNT", "ENV", "TYPE", "GRANTS");
    let foot =
        "\nThe redirect URI at an OpenID provider is the endpoint followed by `/callback`.\n";
    Ok(head + &rows.iter().map(line).collect::<String>() + foot)
}

#[cfg(test)]
mod tests {
    use super::{EndpointRow, format_rows};

    #[test]
    fn lists_endpoints_with_identity_providers() {
        let row = |r#type: Option<&str>| EndpointRow {
            id: "abc".into(),
            account: "acme".into(),
            environment: "live".into(),
            r#type: r#type.map(str::to_owned),
            grants: 2,
        };
        let rows = [row(Some("oidc")), row(None)];
        let text = format_rows(&rows, "https://vault.example", false).unwrap();
        assert!(text.contains("oidc       2  https://vault.example/mcp/abc\n"), "{text}");
        assert!(text.contains("off        2  https://vault.example/mcp/abc\n"), "{text}");
        assert!(text.contains("followed by `/callback`"), "{text}");
        let json = format_rows(&rows, "https://vault.example", true).unwrap();
        assert!(json.contains("\"redirectUri\": \"https://vault.example/mcp/abc/callback\""));
        assert!(json.contains("\"endpoint\": \"https://vault.example/mcp/abc\""), "{json}");
        assert!(format_rows(&[], "", false).unwrap().contains("PUT /v1/agent-sign-in"));
    }
}
