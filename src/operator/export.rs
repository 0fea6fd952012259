//! `export`: prints all connections with their decrypted credentials. `scripts/export/command.mjs`
//! encrypts this output.
//!
//! Refuses to print to a terminal. For each connection, the audit log records that its credentials
//! were read.

use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::d1::Database;
use super::keys::arguments::{account, environment};
use super::shards::Shards;
use super::sql::StringLiteral;
use super::storage::Storage;
use super::vault_keys::KeySource;
use crate::credentials::VaultKeys;
use crate::credentials::endpoints::submitted::SECRETS;
use crate::credentials::model::Credentials;
use crate::terms::{CredentialType, Environment, IdentityType};
use crate::util::rfc3339::rfc3339;

/// The number of connections per query.
const PAGE: usize = 200;
/// The exit code if some credentials could not be decrypted.
const INCOMPLETE: u8 = 3;

/// Print all connections with their credentials; use `npm run export`, which encrypts them
#[derive(Debug, Clone, Args)]
pub struct Export {
    /// Only connections of this account
    #[arg(long, value_parser = account)]
    account: Option<String>,
    /// Only connections of this environment
    #[arg(long, value_parser = environment, value_name = "test|live")]
    environment: Option<Environment>,
    #[command(flatten)]
    source: KeySource,
}

/// A connection and, if it has any, its credentials.
#[derive(Deserialize)]
struct ExportRow {
    seq: u64,
    account: String,
    environment: Environment,
    id: String,
    platform: String,
    label: String,
    identity: String,
    identity_type: IdentityType,
    name: Option<String>,
    tags: String,
    state: String,
    active: u8,
    created_at: u64,
    auth_method: Option<String>,
    client: Option<String>,
    sealed: Option<String>,
    expires_at: Option<u64>,
    scopes: Option<String>,
    awaits_cut_over: Option<u8>,
}

pub fn run(args: &Export) -> Result<ExitCode> {
    let mut output = io::stdout().lock();
    ensure!(
        !output.is_terminal(),
        "this would print credentials to the terminal: use `npm run export -- --recipient age1… FILE`"
    );
    let storage = Storage::open(&args.source.storage_target)?;
    let file = args.source.keys(&storage.project);
    let file = file.context("pass your copy of VAULT_KEYS with --file")?;
    let keys = file.read()?;
    let (mut connections, mut unreadable) = (0_u64, 0_u64);
    for database in &Shards::from_storage(storage).0 {
        let mut after = 0;
        loop {
            let rows = read_page(database, args, after)?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            for row in &rows {
                let credentials = row.open(&keys);
                connections = connections.saturating_add(1);
                if credentials.is_err() {
                    unreadable = unreadable.saturating_add(1);
                    eprintln!("the credentials of {} can't be decrypted", row.id);
                }
                write_line(&mut output, &row.document(credentials.ok().flatten().as_ref()))?;
            }
        }
    }
    output.flush()?;
    if let (0, Some(account)) = (connections, &args.account) {
        let environment = args.environment.map(|it| format!(" in {}", it.as_str()));
        eprintln!(
            "No connections of account {account}{} {}.",
            environment.unwrap_or_default(),
            args.source.storage_target.name()
        );
        return Ok(ExitCode::FAILURE);
    }
    eprintln!("{connections} connections");
    if unreadable > 0 {
        eprintln!(
            "{unreadable} without their credentials: {} lacks their keys, or they are damaged",
            file.name()
        );
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

fn write_line(output: &mut impl Write, document: &Value) -> Result<()> {
    let mut line = Zeroizing::new(serde_json::to_vec(document)?);
    line.push(b'\n');
    Ok(output.write_all(&line)?)
}

/// The SQL conditions on the alias `c`: this database serves the account, and the row matches the
/// command's options.
fn conditions(args: &Export, after: u64) -> String {
    let text = |text: &str| StringLiteral(text).to_string();
    let mut conditions = vec![
        format!("c.seq > {after}"),
        "c.account NOT IN (SELECT account FROM account_moves WHERE step IN ('left', 'arriving'))"
            .to_owned(),
    ];
    conditions.extend(args.account.as_deref().map(|name| format!("c.account = {}", text(name))));
    let environment =
        args.environment.map(|name| format!("c.environment = {}", text(name.as_str())));
    conditions.extend(environment);
    conditions.join(" AND ")
}

/// Reads the next connections and, in the same transaction, logs that their credentials were read.
fn read_page(database: &Database, args: &Export, after: u64) -> Result<Vec<ExportRow>> {
    const CREDENTIALS: &str = "credentials h ON h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id";
    let page = format!(
        "(SELECT * FROM connections c WHERE {} ORDER BY c.seq LIMIT {PAGE}) c",
        conditions(args, after)
    );
    let select = format!(
        "SELECT c.seq, c.account, c.environment, c.id, c.platform, c.label, c.identity, c.identity_type, c.name, \
         c.tags, c.state, c.active, c.created_at, h.auth_method, h.client, h.sealed, h.expires_at, h.scopes, \
         h.awaits_cut_over FROM {page} LEFT JOIN {CREDENTIALS} ORDER BY c.seq"
    );
    let audit = format!(
        "INSERT INTO audited (account, environment, action, target_type, target) \
         SELECT c.account, c.environment, 'credentials.read', 'connection', c.id FROM {page} JOIN {CREDENTIALS}"
    );
    database.change(&[audit, select])?.rows(1)
}

impl ExportRow {
    /// Decrypts the credentials. Returns `None` if the connection has none.
    fn open(&self, keys: &VaultKeys) -> Result<Option<Credentials>> {
        let Some(sealed) = &self.sealed else { return Ok(None) };
        let tenant = (self.account.as_str(), self.environment);
        Ok(Some(Credentials::open(keys, tenant, &self.id, sealed)?))
    }

    /// The connection as JSON: the members that an import accepts, and informational ones.
    fn document(&self, credentials: Option<&Credentials>) -> Value {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
        // An import accepts a client name only together with tokens.
        let client =
            self.client.as_ref().filter(|_| credentials.is_some_and(|it| it.tokens.is_some()));
        let mut connection = json!({
            "platform": self.platform,
            "identity": self.identity,
            "identityType": self.identity_type.as_str(),
            "label": self.label,
            "name": self.name,
            "tags": parsed(&self.tags),
            "credentials": credentials.map(|it| self.credentials(it)),
        });
        if let (Some(members), Some(client)) = (connection.as_object_mut(), client) {
            members.insert("client".to_owned(), client.clone().into());
        }
        json!({
            "account": self.account,
            "environment": self.environment.as_str(),
            "id": self.id,
            "state": self.state,
            "active": self.active == 1,
            "createdAt": rfc3339(self.created_at),
            "awaitsCutOver": self.awaits_cut_over == Some(1),
            "members": credentials.and_then(|it| it.tokens.as_ref()).map(|tokens| &tokens.members),
            "connection": connection,
        })
    }

    /// The credentials in the format that `PUT …/credentials` accepts.
    fn credentials(&self, credentials: &Credentials) -> Value {
        let mut document = Map::new();
        let mut add = |name: &str, value: Value| drop(document.insert(name.to_owned(), value));
        add("type", credentials.kind.as_str().into());
        add("authMethod", self.auth_method.clone().into());
        if let Some(tokens) = &credentials.tokens {
            if !tokens.access.is_empty() {
                add("accessToken", tokens.access.clone().into());
            }
            if let Some(refresh) = &tokens.refresh {
                add("refreshToken", refresh.clone().into());
            }
            add("expiresAt", self.expires_at.and_then(rfc3339).into());
            let scopes = self.scopes.as_deref().unwrap_or("[]");
            add("scopes", serde_json::from_str(scopes).unwrap_or_default());
        }
        let is_secret = |name: &str| is_secret(credentials.kind, name);
        let (secrets, fields): (Vec<_>, Vec<_>) =
            credentials.fields.iter().partition(|(name, _)| is_secret(name));
        for (name, value) in secrets {
            add(name, value.clone().into());
        }
        if !fields.is_empty() {
            let fields =
                fields.into_iter().map(|(name, value)| (name.clone(), value.clone().into()));
            add("fields", Value::Object(fields.collect()));
        }
        Value::Object(document)
    }
}

/// Whether a field is a member of the body itself, instead of `fields`.
fn is_secret(kind: CredentialType, name: &str) -> bool {
    SECRETS.iter().any(|(secret, secret_kind)| *secret_kind == kind && *secret == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::credentials::model::OAuthTokens;

    fn row(environment: Environment) -> ExportRow {
        ExportRow {
            seq: 1,
            account: "acme".into(),
            environment,
            id: "c".into(),
            platform: "github".into(),
            label: "default".into(),
            identity: "ann".into(),
            identity_type: IdentityType::User,
            name: None,
            tags: r#"["eu"]"#.into(),
            state: "operational".into(),
            active: 1,
            created_at: 0,
            auth_method: Some("m".into()),
            client: Some("default".into()),
            sealed: None,
            expires_at: Some(1_800_000_000_000),
            scopes: Some(r#"["repo"]"#.into()),
            awaits_cut_over: Some(0),
        }
    }

    #[test]
    fn an_exported_connection_can_be_imported() {
        let tokens = OAuthTokens {
            access: "at".into(),
            kind: "Bearer".into(),
            refresh: Some("rt".into()),
            members: BTreeMap::from([("instance_url".into(), json!("https://eu.example"))]),
        };
        let fields = BTreeMap::from([("shop".to_owned(), "acme".to_owned())]);
        let oauth = Credentials::from_fields(CredentialType::OAuth2, fields);
        let oauth = Credentials { tokens: Some(tokens), ..oauth };
        let document = row(Environment::Test).document(Some(&oauth));
        let expected = json!({
            "type": "oauth2", "authMethod": "m", "accessToken": "at", "refreshToken": "rt",
            "expiresAt": "2027-01-15T08:00:00.000Z", "scopes": ["repo"], "fields": {"shop": "acme"},
        });
        assert_eq!(document["connection"]["credentials"], expected);
        assert_eq!(document["members"]["instance_url"], "https://eu.example");
        assert_eq!(document["connection"]["tags"], json!(["eu"]));
        let fields =
            ["username", "password", "subdomain"].map(|name| (name.to_owned(), "x".to_owned()));
        let basic = Credentials::from_fields(CredentialType::Basic, BTreeMap::from(fields));
        let document = row(Environment::Live).document(Some(&basic));
        let expected = json!({
            "type": "basic", "authMethod": "m", "username": "x", "password": "x", "fields": {"subdomain": "x"},
        });
        assert_eq!(document["connection"]["credentials"], expected);
        assert_eq!(row(Environment::Test).document(None)["connection"]["credentials"], Value::Null);
    }
}
