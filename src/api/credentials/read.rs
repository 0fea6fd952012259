//! `GET /v1/vault/connections/{id}/credentials`: fresh, and ready to use.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::renew::{Renewal, renew};
use crate::access::Principal;
use crate::api::connect::{connector, no_vault_keys, opening};
use crate::api::cost::Metered;
use crate::api::message::{NO_STORE, Response};
use crate::api::plan::{Context, Plan, Results, Rows, Statements};
use crate::api::problem::{Code, Problem};
use crate::catalog::cache::CatalogCache;
use crate::catalog::detail::AuthMethod;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::statements::{select_client_for, select_held};
use crate::credentials::held::Held;
use crate::credentials::placing::place;
use crate::json;
use crate::lifecycle::renewal::{is_due, is_valid};
use crate::lifecycle::row::HeldRow;
use crate::ports::Ports;
use crate::rfc3339::rfc3339;
use crate::terms::{CredentialType, State};
use crate::vault::model::Connection;
use crate::vault::statements::one;

/// The credentials that are asked for.
#[derive(Debug)]
pub struct AskedCredentials<'a> {
    context: &'a Context<'a>,
    refresh: bool,
    connection: Rows<Connection>,
    held: Rows<HeldRow>,
    client: Rows<OauthClient>,
}

/// Plans the request.
///
/// # Errors
/// With all faults of the query; `unavailable` without keys to open with.
pub fn plan<'a>(context: &'a Context<'a>) -> Result<Plan<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let refresh = query.boolean("refresh").unwrap_or(false);
    if context.config.vault_keys.is_empty() {
        return Err(no_vault_keys());
    }
    let (guard, id, mut statements) =
        (context.guard(), context.connection_id(), Statements::default());
    let connection = statements.ask(one::select(&guard, &id));
    let held = statements.ask(select_held(&guard, &id));
    let client = statements.ask(select_client_for(&guard, &id));
    let asked = AskedCredentials { context, refresh, connection, held, client };
    Ok(Plan::Credentials(asked, statements))
}

impl AskedCredentials<'_> {
    /// Hands the credentials out, renewed first when their time is nearly over.
    ///
    /// # Errors
    /// `connection_not_found`, `credentials_not_found`, `connection_failed`; `unavailable` while they can't be renewed.
    pub async fn answer<P: Ports>(
        self,
        principal: &Principal,
        results: &Results<'_>,
        cache: &CatalogCache,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let connection = results.first(self.connection)?.ok_or_else(Problem::no_connection)?;
        let row = results.first(self.held)?.ok_or_else(none_held)?;
        if connection.state == State::Failed {
            return Err(failed(&row));
        }
        let (config, now) = (self.context.config, self.context.now);
        let (account, environment) = (principal.account.as_str(), principal.environment);
        let keys = &config.vault_keys;
        let tenant = (account, environment);
        let held = opening(Held::open(keys, tenant, &connection.id, &row.sealed))?;
        let catalog = Catalog::open(cache, ports).await?;
        let connector = connector(&catalog, &connection.platform).await?;
        let method = connector.as_ref().and_then(|it| it.find_method(&row.auth_method));
        let is_due = self.refresh || is_due(row.issued_at, row.expires_at, now);
        let is_renewable = row.kind == CredentialType::OAuth2 && row.renewable == 1;
        let (row, held) = match method.filter(|_| is_due && is_renewable) {
            Some(method) => {
                let renewal = Renewal {
                    config,
                    account,
                    environment,
                    connection: &connection.id,
                    request: self.context.request_id,
                    method,
                    client: results.first(self.client)?,
                    is_asked: self.refresh,
                    now,
                };
                renew(&renewal, row, held, ports).await?
            }
            None if row.kind == CredentialType::OAuth2 && !is_valid(row.expires_at, now) => {
                return Err(expired());
            }
            None => (row, held),
        };
        Ok(shown(&row, &held, method))
    }
}

fn none_held() -> Problem {
    let detail = "The vault holds no credentials of this connection: connect it, or import them.";
    Problem::new(Code::CredentialsNotFound, detail)
}

/// The connection has failed; somebody must reconnect it.
pub(super) fn failed(row: &HeldRow) -> Problem {
    let code = row.reason_code.as_deref().unwrap_or("reported");
    let why = row.reason_detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    let detail = format!("The connection has failed (`{code}`{why}). Its user must reconnect it.");
    Problem::new(Code::ConnectionFailed, detail)
}

/// The access token has expired, and nothing renews it.
fn expired() -> Problem {
    let detail = "The access token has expired, and the platform gave no refresh token. The user must reconnect the connection.";
    Problem::new(Code::ConnectionFailed, detail)
}

/// The document: which members it has follows from the type.
fn shown(row: &HeldRow, held: &Held, method: Option<&AuthMethod>) -> Response {
    let own: &[&'static str] = match held.kind {
        CredentialType::OAuth2 => &[],
        CredentialType::ApiKey => &["apiKey"],
        CredentialType::Basic => &["username", "password"],
        CredentialType::Bearer => &["token"],
        CredentialType::AwsSigv4 => &["accessKeyId", "secretAccessKey", "sessionToken", "region"],
    };
    let mut document = Document(Vec::new());
    let mut add = |name: &'static str, value: Value| document.0.push((name, value));
    add("type", held.kind.as_str().into());
    add("authMethod", row.auth_method.as_str().into());
    for name in own {
        add(name, held.fields.get(*name).map_or(Value::Null, |value| value.as_str().into()));
    }
    if let Some(tokens) = &held.tokens {
        add("accessToken", tokens.access.as_str().into());
        add("tokenType", tokens.kind.as_str().into());
        add("expiresAt", row.expires_at.and_then(rfc3339).into());
        add("scopes", row.scopes().into());
        if !tokens.members.is_empty() {
            add(
                "members",
                object(tokens.members.iter().map(|(name, value)| (name, value.clone()))),
            );
        }
    }
    let fields = held.fields.iter().filter(|(name, _)| !own.contains(&name.as_str()));
    let mut fields = fields.map(|(name, value)| (name, value.as_str().into())).peekable();
    if fields.peek().is_some() {
        add("fields", object(fields));
    }
    let placed = method.map(|method| place(method, held)).unwrap_or_default();
    let texts = |texts: &BTreeMap<String, String>| {
        object(texts.iter().map(|(name, text)| (name, text.as_str().into())))
    };
    add("headers", texts(&placed.headers));
    add("query", texts(&placed.query));
    Response::json(json::bytes(&document), NO_STORE)
}

/// Members in the order in which people read them.
struct Document(Vec<(&'static str, Value)>);

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

fn object<'m>(members: impl Iterator<Item = (&'m String, Value)>) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert(name.clone(), value);
    }
    Value::Object(object)
}
