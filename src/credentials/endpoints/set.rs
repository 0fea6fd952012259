//! `PUT /v1/vault/connections/{id}/credentials`: imports credentials.

use super::submitted::SubmittedCredentials;
use crate::auth::Principal;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::platform::{self, CheckOutcome, PlatformAuth, Verdict};
use crate::connect::endpoints::start::platform_removed;
use crate::connect::endpoints::store::{
    ConnectedAccount, InconclusiveCheck, StoreOutcome, StoreTarget, store,
};
use crate::connect::endpoints::{body_with_secrets, connector};
use crate::connect::statements::select_client_for;
use crate::connections::model::Connection;
use crate::connections::statements::one;
use crate::credentials::lifecycle::machine;
use crate::http::body::{BodyReader, refusal};
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::Response;
use crate::http::problem::{Code, Problem};
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let body = body_with_secrets(context)?;
    let (guard, mut statements) = (context.guard(), Statements::default());
    let id = context.connection_id();
    let connection = statements.query(one::select(&guard, &id));
    let client = statements.query(select_client_for(&guard, &id));
    Ok(Handler::new(statements, move |results, principal| async move {
        let (connection, client) = (results.first(connection)?, results.first(client)?);
        set(context, body, connection, client, &principal, ports).await
    }))
}

async fn set<P: Ports>(
    context: &Context<'_>,
    body: BodyReader,
    connection: Option<Connection>,
    client: Option<OauthClient>,
    principal: &Principal,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let cache = context.service.catalog();
    let connection = connection.ok_or_else(Problem::connection_not_found)?;
    // Each import stores events, so a full database accepts only imports that repair a connection.
    if !connection.state.is_broken() {
        context.ensure_capacity()?;
    }
    let catalog = Catalog::open(cache, ports).await?;
    let connector = connector(&catalog, &connection.platform).await?;
    let connector = connector.ok_or_else(|| platform_removed(&connection.platform))?;
    let mut submitted = SubmittedCredentials::read(body, &connector, client, None, ports)?;
    let expires_at = submitted.expires_at(context.now);
    let has_access = submitted.has_access();
    let SubmittedCredentials { method, client, credentials, scopes, .. } = &mut submitted;
    let (method, client) = (*method, client.as_ref());
    let mut outcome = CheckOutcome::NotChecked;
    if has_access {
        let (config, connector) = (context.config(), &connector);
        let lookup =
            platform::look_up(ports, config, (connector, method), client, credentials).await;
        lookup.map_err(|detail| {
            Problem::new(Code::CredentialsRejected, format!("{detail} Nothing was stored."))
        })?;
        let platform_auth = PlatformAuth { config, connector, method, credentials, client };
        outcome = match platform::verify(ports, platform_auth).await {
            // Store the credentials anyway: an expired access token can still be refreshed.
            Verdict::Rejected(401) if credentials.is_refreshable(method) => {
                CheckOutcome::NotChecked
            }
            verdict => verdict.check_outcome(&connector.name)?,
        };
        platform::fetch_account(ports, config, (connector, method), client, credentials).await;
    }
    if let Some(field) = method.missing_lookup(&credentials.fields) {
        return Err(refusal(&["fields", field], "is required: the vault could not look it up"));
    }
    let account = ConnectedAccount {
        account: &principal.account,
        environment: principal.environment,
        request: context.request_id,
        attempt: None,
        method,
        client: None,
        credentials,
        expires_at,
        requested_scopes: scopes,
        granted_scopes: None,
        state: machine::stored(outcome == CheckOutcome::Accepted),
        unchecked: InconclusiveCheck::from_outcome(outcome),
        awaits_cut_over: false,
        names: context.config().account_names,
        now: context.now,
    };
    let target =
        StoreTarget::Existing { id: &connection.id, name: None, tags: None, version: None };
    match store(ports, &context.config().vault_keys, &account, target).await? {
        StoreOutcome::Done(_) => Ok(Response::no_content()),
        StoreOutcome::KeyTaken(_) | StoreOutcome::NothingWritten => {
            Err(Problem::connection_not_found())
        }
    }
}
