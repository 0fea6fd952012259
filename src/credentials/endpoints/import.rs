//! `POST /v1/vault/connections/import`: imports connections with their credentials from another
//! service.
//!
//! The other service may still refresh the same tokens, and platforms that rotate refresh tokens
//! end a grant whose old token is used again. So imported credentials await their cut-over. Until
//! then, they work while their access token is valid, and are not refreshed. An import with
//! `cutOver` ends the wait. An import replaces credentials only while they await the cut-over;
//! afterwards this service has newer tokens than any file.
//!
//! Nothing is sent to a platform, so an import has no effect on the other service.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Serialize;

use super::submitted::SubmittedCredentials;
use crate::auth::Principal;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::store::{ConnectedAccount, StoreOutcome, StoreTarget, store};
use crate::connect::endpoints::{body_with_secrets, client_choice, connector};
use crate::connect::method::Connector;
use crate::connect::statements::{select_client_by_key, select_credentials_by_key};
use crate::connections::draft::NewConnection;
use crate::connections::endpoints::create::{
    connection_exists, connection_limit_reached, internal_missing_field,
};
use crate::connections::endpoints::platform_not_found::platform_not_found;
use crate::connections::model::Connection;
use crate::connections::rules::DEFAULT_LABEL;
use crate::connections::statements::one;
use crate::credentials::lifecycle::machine;
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::credentials::model::Credentials;
use crate::http::body::{BodyReader, refusal};
use crate::http::context::Context;
use crate::http::fields::{CREDENTIALS_FIELDS, IMPORTED_CONNECTION_FIELDS};
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::{Db, Ports, Random};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::State;
use crate::util::case_fold::fold;
use crate::util::json::{self, Value};

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut body = body_with_secrets(context)?;
    let cut_over = body.boolean("cutOver").unwrap_or(false);
    let items = body.array("connections").unwrap_or_default();
    Ok(Handler::new(Statements::default(), move |_, principal| async move {
        Import { context, principal: &principal, ports, cut_over }.run(items).await
    }))
}

/// The outcome of an import for one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Outcome {
    Created,
    /// The credentials were stored in an existing connection, or its cut-over took place.
    Updated,
    /// The connection already has these credentials.
    Unchanged,
    /// The connection has other credentials, which do not await a cut-over.
    Skipped,
    Failed,
}

/// The result of importing one connection.
struct ItemResult {
    outcome: Outcome,
    connection: String,
}

/// The JSON of an [`ItemResult`].
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ItemView<'a, E> {
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<E>,
}

#[derive(Serialize)]
struct ResultsView<T> {
    results: Vec<T>,
}

/// A connection of the request, whose credentials are not read yet.
struct Item {
    connector: Rc<Connector>,
    new: NewConnection,
    /// The name of the chosen OAuth client.
    client: Option<String>,
    client_id: Option<String>,
    credentials: BodyReader,
}

/// The queries for an item.
struct ItemQueries {
    connection: Rows<Connection>,
    credentials: Rows<CredentialsRow>,
    client: Rows<OauthClient>,
}

/// The rows that are stored for an item.
struct StoredRows {
    connection: Option<Connection>,
    credentials: Option<CredentialsRow>,
    client: Option<OauthClient>,
}

impl ItemQueries {
    fn rows(&self, results: &Results) -> Result<StoredRows, Problem> {
        Ok(StoredRows {
            connection: results.first(self.connection)?,
            credentials: results.first(self.credentials)?,
            client: results.first(self.client)?,
        })
    }
}

struct Import<'a, P> {
    context: &'a Context<'a>,
    principal: &'a Principal,
    ports: &'a Metered<'a, P>,
    /// Whether the other service has stopped refreshing the connections of this import.
    cut_over: bool,
}

impl<P: Ports> Import<'_, P> {
    async fn run(&self, values: Vec<Value>) -> Result<Response, Problem> {
        let items = self.read(values).await?;
        let (guard, mut statements) = (self.context.guard(), Statements::default());
        let mut queries = Vec::new();
        for item in items.iter().flatten() {
            let NewConnection { platform, label, identity, .. } = &item.new;
            let key = [platform, label, identity].map(String::as_str);
            queries.push(ItemQueries {
                connection: statements.query(one::select_by_key(&guard, platform, label, identity)),
                credentials: statements
                    .query(select_credentials_by_key(&guard, platform, label, identity)),
                client: statements.query(select_client_by_key(&guard, key, item.client.as_deref())),
            });
        }
        let sets = self.ports.batch(statements.into_vec()).await?;
        let results = Results { sets, repeated: false };
        let (mut queries, mut imported) = (queries.into_iter(), Vec::new());
        for (index, item) in items.into_iter().enumerate() {
            let result = match item {
                Ok(item) => {
                    let queries = queries.next().ok_or_else(internal_missing_field)?;
                    self.import(item, queries.rows(&results)?).await
                }
                Err(problem) => Err(problem),
            };
            match result {
                // The caller can repeat the request: items that are already stored are not changed again.
                Err(problem) if problem.code == Code::Unavailable => return Err(problem),
                result => {
                    let pointer = format!("/connections/{index}");
                    imported.push(result.map_err(|problem| problem.with_pointer_prefix(&pointer)));
                }
            }
        }
        Ok(self.response(&imported))
    }

    fn response(&self, imported: &[Result<ItemResult, Problem>]) -> Response {
        let (base, request) = (&self.context.request.origin, self.context.request_id);
        let results = imported.iter().map(|result| match result {
            Ok(ItemResult { outcome, connection }) => {
                ItemView { outcome: *outcome, connection_id: Some(connection), error: None }
            }
            Err(problem) => {
                let error = Some(problem.document(base, request));
                ItemView { outcome: Outcome::Failed, connection_id: None, error }
            }
        });
        Response::json(json::bytes(&ResultsView { results: results.collect() }), NO_STORE)
    }

    /// Checks the items, and looks up their platforms.
    async fn read(&self, values: Vec<Value>) -> Result<Vec<Result<Item, Problem>>, Problem> {
        let catalog = Catalog::open(self.context.service.catalog(), self.ports).await?;
        let (mut connectors, mut items) = (BTreeMap::new(), Vec::<Result<Item, Problem>>::new());
        for value in values {
            let item = self.read_item(value, &catalog, &mut connectors).await;
            let item = item.and_then(|item| {
                let key = |item: &Item| {
                    let NewConnection { platform, label, identity, .. } = &item.new;
                    (platform.clone(), label.clone(), identity.clone())
                };
                let is_same = |other: &Result<Item, Problem>| {
                    other.as_ref().is_ok_and(|other| key(other) == key(&item))
                };
                match items.iter().position(is_same) {
                    None => Ok(item),
                    Some(first) => Err(refusal(
                        &["identity"],
                        &format!("has the same platform and label as in `connections/{first}`"),
                    )),
                }
            });
            items.push(item);
        }
        Ok(items)
    }

    async fn read_item(
        &self,
        value: Value,
        catalog: &Catalog<'_, Metered<'_, P>>,
        connectors: &mut BTreeMap<String, Rc<Connector>>,
    ) -> Result<Item, Problem> {
        let mut body = BodyReader::from_value(value, &IMPORTED_CONNECTION_FIELDS)?;
        body.finish()?;
        let credentials = body.value("credentials").ok_or_else(internal_missing_field)?;
        let mut credentials = BodyReader::from_value(credentials, &CREDENTIALS_FIELDS)
            .map_err(|problem| problem.with_pointer_prefix("/credentials"))?;
        credentials.finish().map_err(|problem| problem.with_pointer_prefix("/credentials"))?;
        let platform = fold(&body.text("platform").ok_or_else(internal_missing_field)?);
        let connector = if let Some(connector) = connectors.get(&platform) {
            Rc::clone(connector)
        } else {
            let Some(catalog_connector) = connector(catalog, &platform).await? else {
                platform_not_found(self.context, body, &platform, self.ports).await?;
                return Err(internal_missing_field());
            };
            let catalog_connector = Rc::new(catalog_connector);
            connectors.insert(platform, Rc::clone(&catalog_connector));
            catalog_connector
        };
        let identity_type = body.text("identityType").and_then(|text| text.parse().ok());
        let new = NewConnection {
            id: self.ports.uuid(),
            platform: connector.platform.clone(),
            platform_version: connector.platform_version.clone(),
            description: connector.description.clone(),
            identity: body.text("identity").ok_or_else(internal_missing_field)?,
            identity_type: identity_type.ok_or_else(internal_missing_field)?,
            label: body.text("label").unwrap_or_else(|| DEFAULT_LABEL.into()),
            name: body.text("name"),
            tags: json::text(&body.texts("tags").unwrap_or_default()),
            state: State::Unknown,
            active: true,
            created_at: self.context.now,
        };
        let (client, client_id) = (body.text("client"), body.text("clientId"));
        Ok(Item { connector, new, client, client_id, credentials })
    }

    /// Imports one connection, in at most one batch.
    async fn import(&self, item: Item, stored: StoredRows) -> Result<ItemResult, Problem> {
        let Item { connector, new, client, client_id, credentials } = item;
        let current_client = stored.credentials.as_ref().map(|row| row.client.as_str());
        let name = client_choice::name(client.as_deref(), current_client);
        let submitted = SubmittedCredentials::read(
            credentials,
            &connector,
            stored.client,
            Some(name),
            self.ports,
        )
        .map_err(|problem| problem.with_pointer_prefix("/credentials"))?;
        if client.is_some() && !submitted.method.is_oauth2() {
            return Err(refusal(&["client"], "applies only to OAuth 2.0 methods"));
        }
        if let Some(field) = submitted.method.missing_lookup(&submitted.credentials.fields) {
            let error_message = "is required: an import does not ask the platform for it";
            return Err(refusal(&["credentials", "fields", field], error_message));
        }
        if let Some(client_id) = client_id {
            ensure_own_client(&submitted, &client_id, (&connector.platform, name))?;
        }
        if let (Some(connection), Some(row)) = (&stored.connection, &stored.credentials) {
            let is_same =
                row.client == name && self.has_same_credentials(&connection.id, row, &submitted);
            let unchanged = match (row.awaits_cut_over(), is_same) {
                (true, true) if !self.cut_over => Some(Outcome::Unchanged),
                (true, _) => None,
                (false, true) => Some(Outcome::Unchanged),
                (false, false) => Some(Outcome::Skipped),
            };
            if let Some(outcome) = unchanged {
                return Ok(ItemResult { outcome, connection: connection.id.clone() });
            }
        }
        let account = ConnectedAccount {
            account: &self.principal.account,
            environment: self.principal.environment,
            request: self.context.request_id,
            attempt: None,
            method: submitted.method,
            client: Some(name),
            credentials: &submitted.credentials,
            expires_at: submitted.expires_at(self.context.now),
            requested_scopes: &submitted.scopes,
            granted_scopes: None,
            state: machine::stored(false),
            unchecked: None,
            awaits_cut_over: !self.cut_over,
            names: self.context.config().account_names,
            now: self.context.now,
        };
        let (target, outcome) = match &stored.connection {
            None => {
                self.context.ensure_capacity()?;
                (StoreTarget::New { new: &new, is_by_token: false }, Outcome::Created)
            }
            Some(Connection { id, version, .. }) => {
                let version = Some(*version);
                let target = StoreTarget::Existing { id, name: None, tags: None, version };
                (target, Outcome::Updated)
            }
        };
        match store(self.ports, &self.context.config().vault_keys, &account, target).await? {
            StoreOutcome::Done(connection) => Ok(ItemResult { outcome, connection: connection.id }),
            StoreOutcome::KeyTaken(holder) => Err(connection_exists(&holder, self.context.caller)),
            StoreOutcome::NothingWritten if stored.connection.is_none() => {
                Err(connection_limit_reached(self.context.caller))
            }
            StoreOutcome::NothingWritten => {
                let detail = "Another request changed the connection in the meantime. Import it again if it still needs it.";
                Err(Problem::new(Code::PreconditionFailed, detail))
            }
        }
    }

    /// Whether a connection already has these credentials. Credentials that can't be decrypted count as different.
    fn has_same_credentials(
        &self,
        connection: &str,
        row: &CredentialsRow,
        submitted: &SubmittedCredentials<'_>,
    ) -> bool {
        let tenant = (self.principal.account.as_str(), self.principal.environment);
        let keys = &self.context.config().vault_keys;
        let opened = Credentials::open(keys, tenant, connection, &row.sealed);
        // Ignore the account, which an import does not contain: this service has looked it up.
        let without_account = |opened| Credentials { account: None, account_name: None, ..opened };
        let SubmittedCredentials { method, credentials, expires_at, scopes, .. } = submitted;
        let is_same_expiry = !submitted.has_access() || row.expires_at == *expires_at;
        opened.is_ok_and(|opened| without_account(opened) == *credentials)
            && row.auth_method == method.id
            && row.scopes() == *scopes
            && is_same_expiry
    }
}

/// Fails unless the account's OAuth client obtained the credentials, because the platform accepts a
/// refresh token only from that client.
fn ensure_own_client(
    submitted: &SubmittedCredentials<'_>,
    client_id: &str,
    (platform, name): (&str, &str),
) -> Result<(), Problem> {
    if !submitted.method.is_oauth2() {
        return Err(refusal(&["clientId"], "applies only to OAuth 2.0 methods"));
    }
    if submitted.client.as_ref().is_some_and(|client| client.client_id == client_id) {
        return Ok(());
    }
    let detail = format!(
        "The credentials were issued to a client other than the {}, which can't refresh them. Set the client with their `clientId`: `PUT {}`.",
        client_choice::describe(platform, name),
        client_choice::address(platform, name)
    );
    Err(Problem::new(Code::OauthClientMissing, detail))
}
