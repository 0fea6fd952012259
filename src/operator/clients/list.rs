//! `clients list`: the OAuth clients, without their secrets.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{base, url};
use crate::connect::client::OauthClient;
use crate::connect::endpoints::redirect_uri;
use crate::operator::keys::arguments::account;
use crate::operator::place::Place;
use crate::operator::shards::{STAYS, Shards};
use crate::operator::sql::Text;

/// `clients list`
#[derive(Debug, Clone, Args)]
pub struct List {
    /// Only this account's clients
    #[arg(long, value_parser = account)]
    account: Option<String>,
    /// The service's address, a part of the redirect URI. Default: where `npm start` or, with --remote, `npm run deploy` on
    /// this machine last served it
    #[arg(long, value_parser = url)]
    url: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// A client in the list's JSON: what the API shows of it, and whose it is.
fn shown(client: &OauthClient, redirect_uri: &str) -> serde_json::Result<Map<String, Value>> {
    let mut shown = Map::new();
    shown.insert("account".into(), client.account.as_str().into());
    shown.insert("environment".into(), client.environment.as_str().into());
    let document: Map<String, Value> = serde_json::from_slice(&client.to_json(redirect_uri, &[])?)?;
    shown.extend(document);
    Ok(shown)
}

/// A client, and whether its account is being moved here.
#[derive(Deserialize)]
struct Found {
    #[serde(flatten)]
    client: OauthClient,
    arrives: u8,
}

/// The clients of all databases, or of one account, each once: of an account that has moved without its old copy, of one
/// that is being moved as they are where it is served.
fn all(shards: &Shards, account: Option<&str>) -> Result<Vec<OauthClient>> {
    let only = account.map(|name| format!(" AND account = {}", Text(name)));
    let sql = format!(
        "SELECT *, account IN (SELECT account FROM account_moves WHERE step = 'arriving') AS arrives FROM oauth_clients WHERE {STAYS}{}",
        only.unwrap_or_default()
    );
    Ok(once(shards.rows(&sql)?))
}

fn once(mut found: Vec<Found>) -> Vec<OauthClient> {
    let place = |client: &OauthClient| {
        let OauthClient { account, environment, platform, .. } = client;
        (account.clone(), environment.as_str(), platform.clone())
    };
    found.sort_by_cached_key(|found| (place(&found.client), found.arrives));
    let mut clients: Vec<OauthClient> = found.into_iter().map(|found| found.client).collect();
    clients.dedup_by_key(|client| place(client));
    clients
}

/// Runs `clients list`.
///
/// # Errors
/// Whatever stopped it, in words for the operator.
pub fn list(args: &List) -> Result<()> {
    let clients = all(&Shards::open(&args.place)?, args.account.as_deref())?;
    let base = base(args.url.as_ref(), &args.place)?;
    let redirect_uri = redirect_uri(&base);
    if args.json {
        let shown: serde_json::Result<Vec<_>> =
            clients.iter().map(|client| shown(client, &redirect_uri)).collect();
        println!("{}", serde_json::to_string_pretty(&shown?)?);
        return Ok(());
    }
    if clients.is_empty() {
        let of = args.account.as_ref().map(|name| format!(" of account {name}"));
        println!("No OAuth clients{} {}.", of.unwrap_or_default(), args.place.name());
        return Ok(());
    }
    print!("{}", table(&clients, &redirect_uri));
    if base.is_empty() {
        println!("It begins with your service's address, which --url would add.");
    }
    Ok(())
}

/// The clients grouped by account, a line each.
fn table(clients: &[OauthClient], redirect_uri: &str) -> String {
    let mut text = line(["PLATFORM", "ENV", "SECRET", "METHOD", "CLIENT ID"]);
    let mut last = None;
    for client in clients {
        if last != Some(&client.account) {
            let _ = writeln!(text, "\naccount {}", client.account);
            last = Some(&client.account);
        }
        text += &line([
            &client.platform,
            client.environment.as_str(),
            if client.sealed.is_some() { "sealed" } else { "none" },
            client.auth_method.as_deref().unwrap_or("any"),
            &client.client_id,
        ]);
    }
    let _ = writeln!(text, "\nredirect URI  {redirect_uri}");
    text
}

fn line([platform, environment, secret, method, id]: [&str; 5]) -> String {
    format!("{platform:<28}  {environment:<4}  {secret:<6}  {method:<16}  {id}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Environment;

    #[test]
    fn a_list_is_a_line_a_client_below_its_account_and_shows_no_secret() {
        let client = |account: &str, platform: &str, sealed: Option<&str>| OauthClient {
            account: account.into(),
            environment: Environment::Test,
            platform: platform.into(),
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
PLATFORM                      ENV   SECRET  METHOD            CLIENT ID

account acme
github                        test  sealed  oauth2            an id
slack                         test  none    any               an id

account zoo
github                        test  none    any               an id

redirect URI  http://localhost:8787/connect/callback
";
        assert_eq!(table(&clients, uri), expected);
        let found = |client: &OauthClient, id: &str, arrives| Found {
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
        let ids: Vec<String> = once(copies).into_iter().map(|client| client.client_id).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        let [client, ..] = &clients;
        let shown = Value::Object(shown(client, uri).unwrap());
        assert_eq!(
            shown,
            serde_json::json!({
                "account": "acme", "environment": "test", "platform": "github", "authMethod": "oauth2",
                "clientId": "an id", "hasSecret": true, "scopes": ["a"], "authorizationParameters": {},
                "variables": {}, "startUrl": null, "pkce": null, "redirectUri": uri, "rejectedSince": null, "createdAt": "1970-01-01T00:00:00.000Z",
                "updatedAt": "1970-01-01T00:00:00.000Z",
            })
        );
    }
}
