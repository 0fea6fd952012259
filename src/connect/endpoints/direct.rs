//! Methods without a redirect: the credentials are checked at the platform, then stored.

use super::platform::Checked;
use super::start::{Chosen, To};
use super::store::{Account, Target, Unchecked, Written, store};
use super::{opening, platform};
use crate::connect::client::OauthClient;
use crate::connect::filled::{Filled, take_told};
use crate::connections::endpoints::create::{exists, no_place};
use crate::connections::endpoints::shown::shown;
use crate::credentials::held::Held;
use crate::credentials::lifecycle::machine;
use crate::http::endpoint::Keyed;
use crate::http::message::Response;
use crate::http::problem::{Code, Problem};
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, TokenErrorKind};
use crate::ports::Ports;
use crate::storage::metering::Metered;

impl Chosen<'_> {
    /// Checks what was filled in at the platform, and stores it.
    pub(super) async fn store_fields<P: Ports>(
        self,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        let held = Held::of_fields(self.method.credential_type(), self.values.clone());
        self.check_and_store(ports, held, None, None, (&[], None)).await
    }

    /// Asks for a token of the app itself, and stores it.
    pub(super) async fn store_client_credentials<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        filled: &Filled,
        client: &OauthClient,
        scopes: Vec<String>,
    ) -> Result<Response, Problem> {
        let opened = opening(client.open(&self.context.config.vault_keys))?;
        let opened = opened.proving(filled.oauth.token_auth, &filled.token_url, ports).await;
        let endpoint =
            TokenEndpoint { oauth: &filled.oauth, url: &filled.token_url, client: &opened };
        let request = endpoint.of_client(&scopes);
        let tokens = platform::tokens(ports, &filled.oauth, request).await;
        let tokens = tokens.map_err(|error| refused(&self.connector.name, &error))?;
        let (expires_at, granted) = (tokens.expires_at, tokens.scopes.clone());
        let mut values = self.values.clone();
        let place = (self.method, &filled.oauth, self.connector.servers.as_slice());
        take_told(&mut values, place, &client.variables(), tokens.told.clone(), ports);
        let held = Held::of_tokens(tokens, values);
        let scopes = (scopes.as_slice(), granted.as_deref());
        self.check_and_store(ports, held, Some(client), expires_at, scopes).await
    }

    async fn check_and_store<P: Ports>(
        self,
        ports: &Metered<'_, P>,
        mut held: Held,
        client: Option<&OauthClient>,
        expires_at: Option<u64>,
        (asked_scopes, granted_scopes): (&[String], Option<&[String]>),
    ) -> Result<Response, Problem> {
        let (context, connector, method) = (self.context, self.connector, self.method);
        let (config, name) = (context.config, &connector.name);
        let asking = platform::Asking { config, connector, method, held: &held, client };
        let checked = platform::verify(ports, asking).await.checked(name)?;
        platform::learn(ports, config, (connector, method), client, &mut held).await;
        let tenant = (self.principal.account.as_str(), self.principal.environment);
        let keys = &context.config.vault_keys;
        let is_other = match (&self.connection, &self.former) {
            (To::Existing(_), Some(former)) => former.is_other(keys, tenant, &held),
            _ => false,
        };
        if is_other && !self.allows_other_account {
            let detail = format!(
                "These credentials belong to another account at {name} than before. Nothing was changed."
            );
            return Err(Problem::new(Code::CredentialsRejected, detail));
        }
        let account = Account {
            account: &self.principal.account,
            environment: self.principal.environment,
            request: context.request_id,
            attempt: None,
            method,
            held: &held,
            expires_at,
            asked_scopes,
            granted_scopes,
            state: machine::stored(checked == Checked::Accepted || held.tokens.is_some()),
            unchecked: Unchecked::of(checked).filter(|_| held.tokens.is_none()),
            names: context.config.account_names,
            now: context.now,
        };
        let (written, status) = match &self.connection {
            To::New(new) => {
                let is_by_token = context.caller.token().is_some();
                (store(ports, keys, &account, Target::New { new, is_by_token }).await?, 201)
            }
            To::Existing(holder) => {
                let (name, tags) = (self.name.as_deref(), self.tags.as_deref());
                let target = Target::Existing { id: &holder.id, name, tags };
                (store(ports, keys, &account, target).await?, 200)
            }
        };
        match written {
            Written::Done(connection) => {
                let mut response = shown(&connection)?;
                response.status = status;
                let path = Keyed::ReadConnection.address(&[&connection.id]);
                response.add("location", format!("{}{path}", context.request.origin));
                Ok(response)
            }
            Written::Taken(holder) => Err(exists(&holder, context.caller)),
            Written::Gone if matches!(self.connection, To::New(_)) => Err(no_place(context.caller)),
            Written::Gone => Err(Problem::no_connection()),
        }
    }
}

/// The platform gave no token to the app itself.
fn refused(name: &str, error: &TokenError) -> Problem {
    match error.kind {
        TokenErrorKind::Passing | TokenErrorKind::Unreadable => platform::unreachable(name),
        _ => {
            let code = error.code.as_deref().unwrap_or("no reason");
            let detail = format!("{name} rejects the OAuth client (`{code}`). Nothing was stored.");
            Problem::new(Code::CredentialsRejected, detail)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::refused;
    use crate::http::problem::Code;
    use crate::oauth::{TokenError, TokenErrorKind};

    #[test]
    fn an_app_that_gets_no_token_learns_whether_to_try_again() {
        for (kind, code) in [
            (TokenErrorKind::Passing, Code::PlatformUnreachable),
            (TokenErrorKind::Unreadable, Code::PlatformUnreachable),
            (TokenErrorKind::ClientRejected, Code::CredentialsRejected),
            (TokenErrorKind::GrantRejected, Code::CredentialsRejected),
        ] {
            let (code_said, description) = (Some("e".to_owned()), None);
            let error = TokenError {
                kind,
                code: code_said,
                description,
                http_status: None,
                retry_after_ms: None,
                tenant: None,
            };
            assert_eq!(refused("Acme", &error).code, code);
        }
    }
}
