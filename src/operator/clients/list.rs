//! `clients list`: lists OAuth clients without their secrets.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{service_url, url};
use crate::connect::client::OauthClient;
use crate::connect::endpoints::redirect_uri;
use crate::operator::keys::arguments::account;
use crate::operator::shards::{NOT_MOVED_AWAY, Shards};
use crate::operator::sql::StringLiteral;
use crate::operator::storage_target::StorageTarget;

#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only the clients of this account
    #[arg(long, value_parser = account)]
    account: Option<String>,
    /// The URL of the service, a part of the redirect URI. Default: where `npm start` or, with --remote, `npm run
    /// deploy` on this machine last served it
    #[arg(long, value_parser = url)]
    url: Option<String>,
    #[command(flatten)]
    storage_target: StorageTarget,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// A client as JSON: the members of the API, and the tenant.
fn to_json(client: &OauthClient, redirect_uri: &str) -> serde_json::Result<Map<String, Value>> {
    let mut members = Map::new();
    members.insert("account".into(), client.account.as_str().into());
    members.insert("environment".into(), client.environment.as_str().into());
    let document: Map<String, Value> = serde_json::from_slice(&client.to_json(redirect_uri, &[])?)?;
    members.extend(document);
    Ok(members)
}

/// A client, and whether its account is moving to this database.
#[derive(Deserialize)]
struct LocatedClient {
    #[serde(flatten)]
    client: OauthClient,
    arrives: u8,
}

/// Reads the clients of all databases, or of one account. Skips the copies that a move leaves
/// behind or has not completed.
fn read_clients(shards: &Shards, account: Option<&str>) -> Result<Vec<OauthClient>> {
    let only = account.map(|name| format!(" AND account = {}", StringLiteral(name)));
    let sql = format!(
        "SELECT *, account IN (SELECT account FROM account_moves WHERE step = 'arriving') AS arrives FROM oauth_clients WHERE {NOT_MOVED_AWAY}{}",
        only.unwrap_or_default()
    );
    Ok(deduplicate(shards.rows(&sql)?))
}

/// Removes duplicates. Of two copies of a client, keeps the one in the database that currently
/// serves the account.
fn deduplicate(mut found: Vec<LocatedClient>) -> Vec<OauthClient> {
    let owner = |client: &OauthClient| {
        let OauthClient { account, environment, platform, name, .. } = client;
        (account.clone(), environment.as_str(), platform.clone(), name.clone())
    };
    found.sort_by_cached_key(|found| (owner(&found.client), found.arrives));
    let mut clients: Vec<OauthClient> = found.into_iter().map(|found| found.client).collect();
    clients.dedup_by_key(|client| owner(client));
    clients
}

pub fn list(args: &List) -> Result<()> {
    let clients = read_clients(&Shards::open(&args.storage_target)?, args.account.as_deref())?;
    let service_url = service_url(args.url.as_ref(), &args.storage_target)?;
    let redirect_uri = redirect_uri(&service_url);
    if args.json {
        let documents: serde_json::Result<Vec<_>> =
            clients.iter().map(|client| to_json(client, &redirect_uri)).collect();
        println!("{}", serde_json::to_string_pretty(&documents?)?);
        return Ok(());
    }
    if clients.is_empty() {
        let of = args.account.as_ref().map(|name| format!(" of account {name}"));
        println!("No OAuth clients{} {}.", of.unwrap_or_default(), args.storage_target.name());
        return Ok(());
    }
    print!("{}", table(&clients, &redirect_uri));
    if service_url.is_empty() {
        println!(
            "The redirect URI begins with the URL of your service. To include it, pass --url."
        );
    }
    Ok(())
}

/// Formats one line per client, grouped by account.
fn table(clients: &[OauthClient], redirect_uri: &str) -> String {
    let mut text = line(["PLATFORM", "NAME", "ENV", "SECRET", "METHOD", "CLIENT ID"]);
    let mut last = None;
    for client in clients {
        if last != Some(&client.account) {
            let _ = writeln!(text, "\naccount {}", client.account);
            last = Some(&client.account);
        }
        text += &line([
            &client.platform,
            &client.name,
            client.environment.as_str(),
            if client.sealed.is_some() { "sealed" } else { "none" },
            client.auth_method.as_deref().unwrap_or("any"),
            &client.client_id,
        ]);
    }
    let _ = writeln!(text, "\nredirect URI  {redirect_uri}");
    text
}

fn line([platform, name, environment, secret, method, id]: [&str; 6]) -> String {
    format!("{platform:<28}  {name:<12}  {environment:<4}  {secret:<6}  {method:<16}  {id}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Environment;

    #[test]
    fn lists_clients_by_account_without_secrets() {
        let client = |account: &str, platform: &str, sealed: Option<&str>| OauthClient {
            account: account.into(),
            environment: Environment::Test,
            platform: platform.into(),
            name: if sealed.is_some() { "default" } else { "bot" }.into(),
            auth_method: sealed.map(|_| "oauth2".into()),
            client_id: "an id".into(),
            sealed: sealed.map(str::to_owned),
            scopes: "[\"a\"]".into(),
            authorization_parameters: "{}".into(),
            variables: "{}".into(),
            rejected_since: None,
            probe_at: None,
            suspect_error: None,
            start_url: None,
            pkce: None,
            created_at: 0,
            updated_at: 0,
        };
        let clients = [
            client("acme", "github", Some("k.AAAA")),
            client("acme", "slack", None),
            client("zoo", "github", None),
        ];
        let uri = "http://localhost:8787/connect/callback";
        let expected = "\
PLATFORM                      NAME          ENV   SECRET  METHOD            CLIENT ID

account acme
github                        default       test  sealed  oauth2            an id
slack                         bot           test  none    any               an id

account zoo
github                        bot           test  none    any               an id

redirect URI  http://localhost:8787/connect/callback
";
        assert_eq!(table(&clients, uri), expected);
        let found = |client: &OauthClient, id: &str, arrives| LocatedClient {
            client: OauthClient { client_id: id.into(), ..client.clone() },
            arrives,
        };
        let [first, second, third] = &clients;
        let copies = vec![
            found(first, "old", 1),
            found(third, "c", 1),
            found(second, "b", 0),
            found(first, "a", 0),
        ];
        let ids: Vec<String> =
            deduplicate(copies).into_iter().map(|client| client.client_id).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        let [client, ..] = &clients;
        let document = Value::Object(to_json(client, uri).unwrap());
        assert_eq!(
            document,
            serde_json::json!({
                "account": "acme", "environment": "test", "platform": "github", "name": "default", "authMethod": "oauth2",
                "clientId": "an id", "hasSecret": true, "scopes": ["a"], "authorizationParameters": {},
                "variables": {}, "startUrl": null, "pkce": null, "redirectUri": uri, "rejectedSince": null, "createdAt": "1970-01-01T00:00:00.000Z",
                "updatedAt": "1970-01-01T00:00:00.000Z",
            })
        );
    }
}
