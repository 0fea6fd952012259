//! Credentials that are decrypted and valid now, for a response or for calls to the platform.

use crate::auth::Principal;
use crate::catalog::detail::AuthMethod;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::platform::PlatformAuth;
use crate::connect::endpoints::{connector, decrypt_error, missing_vault_keys};
use crate::connect::method::Connector;
use crate::connect::statements::{select_client_for, select_credentials};
use crate::connections::model::{Connection, ConnectionId};
use crate::connections::statements::one;
use crate::credentials::endpoints::read::{awaiting_cut_over, failed};
use crate::credentials::lifecycle::machine::{HealthFailure, after_failure};
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::credentials::lifecycle::statements::{CredentialsKey, FailureReason};
use crate::credentials::lifecycle::timing::{is_due, is_valid};
use crate::credentials::model::Credentials;
use crate::credentials::refresh::{Refresh, RefreshTrigger};
use crate::http::config::Config;
use crate::http::context::Context;
use crate::http::problem::{Code, Problem};
use crate::ports::{Clock, Db, Ports, Random};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::CredentialType;
use crate::terms::State;

/// The statements for the credentials of a connection.
#[derive(Debug, Clone, Copy)]
pub struct CredentialsQuery {
    connection: Rows<Connection>,
    credentials: Rows<CredentialsRow>,
    client: Rows<OauthClient>,
}

/// Credentials that are valid now.
#[derive(Debug)]
pub struct UsableCredentials {
    pub connection: Connection,
    /// The stored row of the credentials.
    pub row: CredentialsRow,
    /// The decrypted credentials.
    pub credentials: Credentials,
    /// The platform's connector; `None` when the catalog no longer has it.
    pub connector: Option<Connector>,
    client: Option<OauthClient>,
}

impl CredentialsQuery {
    /// Adds the statements for a connection.
    pub fn new(
        context: &Context<'_>,
        id: &ConnectionId,
        statements: &mut Statements,
    ) -> Result<Self, Problem> {
        if context.config().vault_keys.is_empty() {
            return Err(missing_vault_keys());
        }
        let guard = context.guard();
        Ok(Self {
            connection: statements.query(one::select(&guard, id)),
            credentials: statements.query(select_credentials(&guard, id)),
            client: statements.query(select_client_for(&guard, id)),
        })
    }

    pub fn connection(self, results: &Results) -> Result<Connection, Problem> {
        results.first(self.connection)?.ok_or_else(Problem::connection_not_found)
    }

    /// The connection, the row of its credentials, and the account's client at its platform.
    pub fn rows(
        self,
        results: &Results,
    ) -> Result<(Connection, CredentialsRow, Option<OauthClient>), Problem> {
        let connection = self.connection(results)?;
        let row = results.first(self.credentials)?.ok_or_else(no_credentials)?;
        Ok((connection, row, results.first(self.client)?))
    }

    /// Decrypts the credentials. Refreshes them first if they are about to expire, or if `refresh` is set.
    pub async fn open<P: Ports>(
        self,
        context: &Context<'_>,
        principal: &Principal,
        results: &Results,
        catalog: &Catalog<'_, Metered<'_, P>>,
        ports: &Metered<'_, P>,
        refresh: bool,
    ) -> Result<UsableCredentials, Problem> {
        let (connection, row, client) = self.rows(results)?;
        ports.set_usage_connection(&connection);
        if connection.state == State::Failed {
            return Err(failed(&row));
        }
        let (keys, tenant) =
            (&context.config().vault_keys, (principal.account.as_str(), principal.environment));
        let credentials =
            Credentials::open(keys, tenant, &connection.id, &row.sealed).map_err(decrypt_error)?;
        let connector = connector(catalog, &connection.platform).await?;
        let mut usable = UsableCredentials { connection, row, credentials, connector, client };
        if let Some(method) = usable.method() {
            let variables = OauthClient::variables_for(usable.client.as_ref(), &method.id);
            usable.credentials = usable.credentials.clone().with_missing_fields(method, &variables);
        }
        let (row, now) = (&usable.row, context.now);
        if row.awaits_cut_over() {
            let is_unusable = refresh || !is_valid(row.expires_at, now);
            let is_refused = row.kind == CredentialType::OAuth2 && is_unusable;
            return if is_refused { Err(awaiting_cut_over(row, now)) } else { Ok(usable) };
        }
        let is_due = refresh || is_due(row.issued_at, row.expires_at, now);
        if is_due && usable.is_refreshable() {
            let trigger =
                if refresh { RefreshTrigger::Requested } else { RefreshTrigger::Expiring };
            usable.refresh(context, principal, ports, trigger).await?;
            return Ok(usable);
        }
        if row.kind == CredentialType::OAuth2 && !is_valid(row.expires_at, now) {
            usable.record_expiry(context, principal, ports).await?;
            return Err(expired(&usable.row));
        }
        if refresh && row.kind == CredentialType::OAuth2 {
            return Err(not_refreshable(&usable.row));
        }
        Ok(usable)
    }
}

impl UsableCredentials {
    /// The authentication method; `None` when the catalog no longer has it.
    pub fn method(&self) -> Option<&AuthMethod> {
        self.connector.as_ref().and_then(|connector| connector.find_method(&self.row.auth_method))
    }

    /// The data for requests to the platform. Returns `None` when the catalog no longer has the method.
    pub fn auth<'a>(&'a self, config: &'a Config) -> Option<PlatformAuth<'a>> {
        let (connector, method) = (self.connector.as_ref()?, self.method()?);
        let (credentials, client) = (&self.credentials, self.client.as_ref());
        Some(PlatformAuth { config, connector, method, credentials, client })
    }

    /// Whether the access token can be refreshed.
    pub fn is_refreshable(&self) -> bool {
        self.row.refreshable == 1 && self.method().is_some()
    }

    /// Records that the access token has expired and can't be refreshed, unless the service is
    /// backing off after a failure. Otherwise the connection's state and events would be wrong
    /// until the next health check, which may be a day away.
    async fn record_expiry<P: Ports>(
        &self,
        context: &Context<'_>,
        principal: &Principal,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        let (row, now) = (&self.row, context.now);
        if row.refreshable == 1 || row.next_attempt_at.is_some_and(|at| now < at) {
            return Ok(());
        }
        let Principal { account, environment, .. } = principal;
        let key =
            CredentialsKey { account, environment: *environment, connection: &self.connection.id };
        let request = context.request_id;
        let after = after_failure(
            row.failure_history(),
            HealthFailure::GrantRejected,
            None,
            now,
            ports.byte(),
        );
        let reason = FailureReason { detail: None, status: None };
        let batch = vec![
            key.acquire_lease(row, request, now),
            key.record_failure(row.version, request, &after, &reason),
            key.mark_degraded(request, &after, now),
        ];
        ports.batch(batch).await?;
        Ok(())
    }

    /// Refreshes the credentials.
    pub async fn refresh<P: Ports>(
        &mut self,
        context: &Context<'_>,
        principal: &Principal,
        ports: &Metered<'_, P>,
        trigger: RefreshTrigger,
    ) -> Result<(), Problem> {
        let Self { connection, row, credentials, connector, client } = &*self;
        let Some(connector) = connector else { return Ok(()) };
        let Some(method) = connector.find_method(&row.auth_method) else { return Ok(()) };
        let refresh = Refresh {
            config: context.config(),
            account: &principal.account,
            environment: principal.environment,
            connection: &connection.id,
            request: context.request_id,
            method,
            servers: &connector.servers,
            client: client.clone().filter(|client| client.is_for(&method.id)),
            trigger,
            now: ports.now(),
        };
        (self.row, self.credentials) = refresh.run(row.clone(), credentials.clone(), ports).await?;
        Ok(())
    }
}

fn no_credentials() -> Problem {
    let detail = "The vault holds no credentials of this connection: connect it, or import them.";
    Problem::new(Code::CredentialsNotFound, detail)
}

/// The error if the caller asked for a new access token, but the current one can't be refreshed.
fn not_refreshable(row: &CredentialsRow) -> Problem {
    let detail = if row.refreshable == 1 {
        let method = &row.auth_method;
        format!(
            "The access token can't be refreshed: the catalog no longer has `{method}`, the authentication method that refreshes it. Without `refresh=true`, this request returns the token, which is still valid."
        )
    } else {
        "The access token can't be refreshed: the platform issued no refresh token. Without `refresh=true`, this request returns the token, which is still valid. For a refresh token, have the user reconnect the connection; many platforms need a scope or a parameter for it, such as `offline_access`."
            .to_owned()
    };
    Problem::new(Code::NotRefreshable, detail)
}

/// The error if the access token has expired and can't be refreshed.
fn expired(row: &CredentialsRow) -> Problem {
    let detail = if row.refreshable == 1 {
        let method = &row.auth_method;
        format!(
            "The access token has expired, and the catalog no longer has `{method}`, the authentication method that refreshes it. Publish a catalog that has it, or have the user reconnect the connection by another method, named in `authMethod`."
        )
    } else {
        "The access token has expired, and the platform issued no refresh token. The user must reconnect the connection."
            .to_owned()
    };
    Problem::new(Code::ConnectionFailed, detail)
}
