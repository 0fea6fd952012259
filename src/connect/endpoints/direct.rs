//! Connects accounts without a redirect: verifies the credentials at the platform, then stores
//! them.

use super::platform::CheckOutcome;
use super::start::{ConnectRequest, ConnectTarget};
use super::store::{ConnectedAccount, InconclusiveCheck, StoreOutcome, StoreTarget, store};
use super::{decrypt_error, platform};
use crate::connect::client::OauthClient;
use crate::connect::resolved_oauth::{ResolvedOAuth, apply_platform_values};
use crate::connections::endpoints::create::{connection_exists, connection_limit_reached};
use crate::connections::endpoints::render::connection_response;
use crate::credentials::lifecycle::machine;
use crate::credentials::model::Credentials;
use crate::http::endpoint::Keyed;
use crate::http::message::Response;
use crate::http::problem::{Code, Problem};
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, TokenErrorKind};
use crate::ports::Ports;
use crate::storage::metering::Metered;

impl ConnectRequest<'_> {
    /// Verifies and stores the credentials of the request.
    pub(super) async fn store_fields<P: Ports>(
        self,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let credentials =
            Credentials::from_fields(self.method.credential_type(), self.values.clone());
        self.check_and_store(ports, credentials, None, None, (&[], None)).await
    }

    /// Requests a token with the client credentials of the app, and stores it.
    pub(super) async fn store_client_credentials<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        resolved: &ResolvedOAuth,
        client: &OauthClient,
        scopes: Vec<String>,
    ) -> Result<Response, Problem> {
        let oauth_client = client.open(&self.context.config().vault_keys).map_err(decrypt_error)?;
        let oauth_client =
            oauth_client.with_assertion(&resolved.oauth, &resolved.token_url, ports).await;
        let endpoint = TokenEndpoint {
            oauth: &resolved.oauth,
            url: &resolved.token_url,
            client: &oauth_client,
        };
        let request = endpoint.client_credentials(&scopes);
        let tokens = platform::request_tokens(ports, &resolved.oauth, request).await;
        let tokens = tokens.map_err(|error| token_problem(&self.connector.name, &error))?;
        let (expires_at, granted) = (tokens.expires_at, tokens.scopes.clone());
        let mut values = self.values.clone();
        let oauth_method = (self.method, &resolved.oauth, self.connector.servers.as_slice());
        apply_platform_values(
            &mut values,
            oauth_method,
            &client.variables(),
            tokens.field_values.clone(),
            ports,
        );
        let credentials = Credentials::from_tokens(tokens, values);
        let scopes = (scopes.as_slice(), granted.as_deref());
        self.check_and_store(ports, credentials, Some(client), expires_at, scopes).await
    }

    /// The error if the credentials belong to a different account than before, or than the app
    /// expects.
    fn account_problem(&self, credentials: &Credentials) -> Option<Problem> {
        let (config, name) = (self.context.config(), &self.connector.name);
        if self.presets.conflicts_with(&credentials.fields) {
            let detail = format!(
                "These credentials belong to a different account at {name} than the app expects. Nothing was changed. Use credentials of the expected account."
            );
            return Some(Problem::new(Code::AccountMismatch, detail));
        }
        let reconnects = matches!(self.connection, ConnectTarget::Existing(_));
        let previous =
            self.previous.as_ref().filter(|_| reconnects && !self.allows_other_account)?;
        let tenant = (self.principal.account.as_str(), self.principal.environment);
        if !previous.is_different_account(&config.vault_keys, tenant, credentials) {
            return None;
        }
        let account = previous.quoted_account(&config.vault_keys, tenant, config.account_names);
        let detail = format!(
            "These credentials belong to a different account at {name} than before. The connection keeps the previous one{}. Use credentials of that account, or connect this one separately.",
            account.unwrap_or_default()
        );
        Some(Problem::new(Code::AccountMismatch, detail))
    }

    async fn check_and_store<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        mut credentials: Credentials,
        client: Option<&OauthClient>,
        expires_at: Option<u64>,
        (requested_scopes, granted_scopes): (&[String], Option<&[String]>),
    ) -> Result<Response, Problem> {
        let (context, connector, method) = (self.context, self.connector, self.method);
        let (config, name) = (context.config(), &connector.name);
        let auth =
            platform::PlatformAuth { config, connector, method, credentials: &credentials, client };
        let outcome = platform::verify(ports, auth).await.check_outcome(name)?;
        platform::fetch_account(ports, config, (connector, method), client, &mut credentials).await;
        let keys = &context.config().vault_keys;
        if let Some(problem) = self.account_problem(&credentials) {
            return Err(problem);
        }
        let account = ConnectedAccount {
            account: &self.principal.account,
            environment: self.principal.environment,
            request: context.request_id,
            attempt: None,
            method,
            client: Some(&self.client),
            credentials: &credentials,
            expires_at,
            requested_scopes,
            granted_scopes,
            state: machine::stored(
                outcome == CheckOutcome::Accepted || credentials.tokens.is_some(),
            ),
            unchecked: InconclusiveCheck::from_outcome(outcome)
                .filter(|_| credentials.tokens.is_none()),
            awaits_cut_over: false,
            names: context.config().account_names,
            now: context.now,
        };
        let (written, status) = match &self.connection {
            ConnectTarget::New(new) => {
                let is_by_token = context.caller.token().is_some();
                (store(ports, keys, &account, StoreTarget::New { new, is_by_token }).await?, 201)
            }
            ConnectTarget::Existing(holder) => {
                let (name, tags) = (self.name.as_deref(), self.tags.as_deref());
                let target = StoreTarget::Existing { id: &holder.id, name, tags, version: None };
                (store(ports, keys, &account, target).await?, 200)
            }
        };
        match written {
            StoreOutcome::Done(connection) => {
                let mut response = connection_response(&connection)?;
                response.status = status;
                response.add("location", context.url_of(Keyed::ReadConnection, &[&connection.id]));
                Ok(response)
            }
            StoreOutcome::KeyTaken(holder) => Err(connection_exists(&holder, context.caller)),
            StoreOutcome::NothingWritten if matches!(self.connection, ConnectTarget::New(_)) => {
                Err(connection_limit_reached(context.caller))
            }
            StoreOutcome::NothingWritten => Err(Problem::connection_not_found()),
        }
    }
}

/// The error if the platform does not issue a token to the app.
fn token_problem(name: &str, error: &TokenError) -> Problem {
    match error.kind {
        TokenErrorKind::Temporary | TokenErrorKind::Unreadable => {
            platform::unreachable_problem(name)
        }
        _ => {
            let code = error.code.as_deref().unwrap_or("no reason");
            let detail = format!("{name} rejects the OAuth client (`{code}`). Nothing was stored.");
            Problem::new(Code::CredentialsRejected, detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::token_problem;
    use crate::http::problem::Code;
    use crate::oauth::{TokenError, TokenErrorKind};

    #[test]
    fn token_errors_map_to_retryable_problems() {
        for (kind, code) in [
            (TokenErrorKind::Temporary, Code::PlatformUnreachable),
            (TokenErrorKind::Unreadable, Code::PlatformUnreachable),
            (TokenErrorKind::ClientRejected, Code::CredentialsRejected),
            (TokenErrorKind::GrantRejected, Code::CredentialsRejected),
        ] {
            let (error_code, description) = (Some("e".to_owned()), None);
            let error = TokenError {
                kind,
                code: error_code,
                description,
                http_status: None,
                retry_after_ms: None,
                tenant: None,
            };
            assert_eq!(token_problem("Acme", &error).code, code);
        }
    }
}
