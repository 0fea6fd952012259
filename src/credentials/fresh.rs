//! The credentials of a connection, opened and fresh: for whoever hands them out or calls the platform with them.

use crate::auth::Principal;
use crate::catalog::detail::AuthMethod;
use crate::catalog::reader::Catalog;
use crate::connect::client::OauthClient;
use crate::connect::endpoints::platform::PlatformAuth;
use crate::connect::endpoints::{connector, decrypt_error, no_vault_keys};
use crate::connect::method::Connector;
use crate::connect::statements::{select_client_for, select_credentials};
use crate::connections::model::{Connection, ConnectionId};
use crate::connections::statements::one;
use crate::credentials::endpoints::read::failed;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine::{Failure, after_failure};
use crate::credentials::lifecycle::renewal::{is_due, is_valid};
use crate::credentials::lifecycle::row::HeldRow;
use crate::credentials::lifecycle::statements::{RowOf, Why};
use crate::credentials::refresh::{Occasion, Renewal, renew};
use crate::http::config::Config;
use crate::http::context::Context;
use crate::http::problem::{Code, Problem};
use crate::ports::{Clock, Db, Ports, Random};
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Rows, Statements};
use crate::terms::CredentialType;
use crate::terms::State;

/// What is asked of storage for the credentials of a connection.
#[derive(Debug, Clone, Copy)]
pub struct AskedHeld {
    connection: Rows<Connection>,
    held: Rows<HeldRow>,
    client: Rows<OauthClient>,
}

/// Credentials that can be used now.
#[derive(Debug)]
pub struct Fresh {
    /// Their connection.
    pub connection: Connection,
    /// What is known of them without opening them.
    pub row: HeldRow,
    /// What they are.
    pub held: Held,
    /// The platform's connector; `None` when the catalog no longer has it.
    pub connector: Option<Connector>,
    client: Option<OauthClient>,
}

impl AskedHeld {
    /// Adds the statements for the connection with an id.
    ///
    /// # Errors
    /// `unavailable` without keys to open with.
    pub fn of(
        context: &Context<'_>,
        id: &ConnectionId,
        statements: &mut Statements,
    ) -> Result<Self, Problem> {
        if context.config.vault_keys.is_empty() {
            return Err(no_vault_keys());
        }
        let guard = context.guard();
        Ok(Self {
            connection: statements.ask(one::select(&guard, id)),
            held: statements.ask(select_credentials(&guard, id)),
            client: statements.ask(select_client_for(&guard, id)),
        })
    }

    /// The connection.
    ///
    /// # Errors
    /// `connection_not_found`.
    pub fn connection(self, results: &Results) -> Result<Connection, Problem> {
        results.first(self.connection)?.ok_or_else(Problem::no_connection)
    }

    /// The connection, what is known of its credentials, and the account's client at its platform.
    ///
    /// # Errors
    /// `connection_not_found`, `credentials_not_found`.
    pub fn rows(
        self,
        results: &Results,
    ) -> Result<(Connection, HeldRow, Option<OauthClient>), Problem> {
        let connection = self.connection(results)?;
        let row = results.first(self.held)?.ok_or_else(none_held)?;
        Ok((connection, row, results.first(self.client)?))
    }

    /// Opens the credentials, renewed first when their time is nearly over, or when `refresh` asks for it.
    ///
    /// # Errors
    /// `connection_not_found`, `credentials_not_found`, `connection_failed`; `not_refreshable` when a renewal is asked for and
    /// there is nothing to renew with; `unavailable` while they can't be renewed.
    pub async fn open<P: Ports>(
        self,
        context: &Context<'_>,
        principal: &Principal,
        results: &Results,
        catalog: &Catalog<'_, Metered<'_, P>>,
        ports: &Metered<'_, P>,
        refresh: bool,
    ) -> Result<Fresh, Problem> {
        let (connection, row, client) = self.rows(results)?;
        if connection.state == State::Failed {
            return Err(failed(&row));
        }
        let (keys, tenant) =
            (&context.config.vault_keys, (principal.account.as_str(), principal.environment));
        let held = Held::open(keys, tenant, &connection.id, &row.sealed).map_err(decrypt_error)?;
        let connector = connector(catalog, &connection.platform).await?;
        let mut fresh = Fresh { connection, row, held, connector, client };
        if let Some(method) = fresh.method() {
            let variables = OauthClient::variables_for(fresh.client.as_ref(), &method.id);
            fresh.held = fresh.held.clone().completed(method, &variables);
        }
        let (row, now) = (&fresh.row, context.now);
        let is_due = refresh || is_due(row.issued_at, row.expires_at, now);
        if is_due && fresh.is_renewable() {
            return fresh.renewed(context, principal, ports, refresh).await;
        }
        if row.kind == CredentialType::OAuth2 && !is_valid(row.expires_at, now) {
            fresh.note_end(context, principal, ports).await?;
            return Err(expired(&fresh.row));
        }
        if refresh && row.kind == CredentialType::OAuth2 {
            return Err(not_refreshable(&fresh.row));
        }
        Ok(fresh)
    }
}

impl Fresh {
    /// The method of the catalog by which they were obtained; `None` when the catalog no longer has it.
    #[must_use]
    pub fn method(&self) -> Option<&AuthMethod> {
        self.connector.as_ref().and_then(|it| it.find_method(&self.row.auth_method))
    }

    /// For requests to the platform. Returns `None` when the catalog no longer has the method.
    #[must_use]
    pub fn auth<'a>(&'a self, config: &'a Config) -> Option<PlatformAuth<'a>> {
        let (connector, method) = (self.connector.as_ref()?, self.method()?);
        let (held, client) = (&self.held, self.client.as_ref());
        Some(PlatformAuth { config, connector, method, held, client })
    }

    /// Whether the platform can be asked for a new access token.
    #[must_use]
    pub fn is_renewable(&self) -> bool {
        self.row.renewable == 1 && self.method().is_some()
    }

    /// Writes that the access token has expired and that nothing renews it, unless the service waits after a failure. The
    /// schedule would find out within a day; whoever uses the connection before then is told, and so is everybody else.
    async fn note_end<P: Ports>(
        &self,
        context: &Context<'_>,
        principal: &Principal,
        ports: &Metered<'_, P>,
    ) -> Result<(), Problem> {
        let (row, now) = (&self.row, context.now);
        if row.renewable == 1 || row.next_attempt_at.is_some_and(|at| now < at) {
            return Ok(());
        }
        let Principal { account, environment, .. } = principal;
        let place = RowOf { account, environment: *environment, connection: &self.connection.id };
        let request = context.request_id;
        let after = after_failure(row.before(), Failure::GrantRejected, None, now, ports.byte());
        let why = Why { detail: None, status: None };
        let batch = vec![
            place.take_lease(row.version, request, now),
            place.not_renewed(row.version, request, &after, &why),
            place.worsened(request, &after, now),
        ];
        ports.batch(batch).await?;
        Ok(())
    }

    /// The same credentials after a renewal; `is_asked` when the token may have time left.
    ///
    /// # Errors
    /// `connection_failed` when the grant has ended; `unavailable` when there is no valid token for now.
    pub async fn renewed<P: Ports>(
        self,
        context: &Context<'_>,
        principal: &Principal,
        ports: &Metered<'_, P>,
        is_asked: bool,
    ) -> Result<Self, Problem> {
        let Self { connection, row, held, connector, client } = self;
        let method = connector.as_ref().and_then(|it| it.find_method(&row.auth_method));
        let (row, held) = match method {
            Some(method) => {
                let renewal = Renewal {
                    config: context.config,
                    account: &principal.account,
                    environment: principal.environment,
                    connection: &connection.id,
                    request: context.request_id,
                    method,
                    servers: connector.as_ref().map(|it| it.servers.as_slice()).unwrap_or_default(),
                    client: client.clone().filter(|client| client.is_for(&method.id)),
                    occasion: if is_asked { Occasion::Asked } else { Occasion::Use },
                    now: ports.now(),
                };
                renew(&renewal, row, held, ports).await?
            }
            None => (row, held),
        };
        Ok(Self { connection, row, held, connector, client })
    }
}

fn none_held() -> Problem {
    let detail = "The vault holds no credentials of this connection: connect it, or import them.";
    Problem::new(Code::CredentialsNotFound, detail)
}

/// A new access token is asked for, and nothing renews the one that there is.
fn not_refreshable(row: &HeldRow) -> Problem {
    let detail = if row.renewable == 1 {
        let method = &row.auth_method;
        format!(
            "The access token can't be refreshed: the catalog no longer has `{method}`, the authentication method that renews it. Without `refresh=true`, this request returns the token, which is still valid."
        )
    } else {
        "The access token can't be refreshed: the platform gave no refresh token. Without `refresh=true`, this request returns the token, which is still valid. For a refresh token, have the user reconnect the connection; many platforms need a scope or a parameter for it, such as `offline_access`."
            .to_owned()
    };
    Problem::new(Code::NotRefreshable, detail)
}

/// The access token has expired, and nothing renews it.
fn expired(row: &HeldRow) -> Problem {
    let detail = if row.renewable == 1 {
        let method = &row.auth_method;
        format!(
            "The access token has expired, and the catalog no longer has `{method}`, the authentication method that renews it. Publish a catalog that has it, or have the user reconnect the connection by another method, named in `authMethod`."
        )
    } else {
        "The access token has expired, and the platform gave no refresh token. The user must reconnect the connection."
            .to_owned()
    };
    Problem::new(Code::ConnectionFailed, detail)
}
