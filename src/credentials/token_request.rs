//! The token request of a refresh.

use super::model::Credentials;
use super::refresh::Refresh;
use crate::catalog::detail::{Grant, Kind as MethodKind, OAuth2};
use crate::connect::client::OauthClient;
use crate::connect::endpoints::{decrypt_error, platform};
use crate::connect::resolved_oauth::ResolvedOAuth;
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::http::problem::Problem;
use crate::oauth::token::TokenEndpoint;
use crate::oauth::{TokenError, TokenErrorKind, Tokens};
use crate::ports::Ports;
use crate::storage::metering::Metered;

/// Requests a new access token from the platform. The outer error comes from this service, the
/// inner error from the platform.
pub(super) async fn request_tokens<P: Ports>(
    refresh: &Refresh<'_>,
    row: &CredentialsRow,
    credentials: &Credentials,
    ports: &Metered<'_, P>,
) -> Result<Result<Tokens, TokenError>, Problem> {
    let rejected = || Ok(Err(TokenError::from_kind(TokenErrorKind::ClientRejected, None)));
    let (MethodKind::OAuth2(oauth), Some(client)) = (&refresh.method.kind, &refresh.client) else {
        return rejected();
    };
    let Some(resolved) = resolve(oauth, refresh, client, credentials) else { return rejected() };
    let client = client.open(&refresh.config.vault_keys).map_err(decrypt_error)?;
    let tokens = credentials.tokens.as_ref();
    let refresh_token = tokens.and_then(|tokens| tokens.refresh.as_deref());
    let uses_refresh_token = oauth.grant == Grant::AuthorizationCode && refresh_token.is_some();
    let url = if uses_refresh_token { &resolved.refresh_url } else { &resolved.token_url };
    let client = client.with_assertion(&resolved.oauth, url, ports).await;
    let endpoint = TokenEndpoint { oauth: &resolved.oauth, url, client: &client };
    let request = match (oauth.grant, refresh_token) {
        (Grant::ClientCredentials | Grant::AccountCredentials, _) => {
            endpoint.client_credentials(&[row.scopes(), row.missing_scopes()].concat())
        }
        (Grant::AuthorizationCode, Some(refresh_token)) => endpoint.refresh(refresh_token, &[]),
        (Grant::AuthorizationCode, None) => {
            let tokens = tokens.filter(|_| credentials.refreshes_by_access_token(refresh.method));
            let rule = oauth.access_token_refresh.as_ref();
            let request = rule
                .zip(tokens)
                .and_then(|(rule, tokens)| endpoint.with_access_token(rule, &tokens.access));
            let Some(request) = request else {
                return Ok(Err(TokenError::from_kind(TokenErrorKind::GrantRejected, None)));
            };
            request
        }
    };
    Ok(platform::request_tokens(ports, &resolved.oauth, request).await)
}

fn resolve(
    oauth: &OAuth2,
    refresh: &Refresh<'_>,
    client: &OauthClient,
    credentials: &Credentials,
) -> Option<ResolvedOAuth> {
    let (fields, targets) = (&refresh.method.fields, refresh.config.targets());
    let variable = |name: &str| credentials.variable(name);
    ResolvedOAuth::for_client(oauth, fields, targets, &client.variables(), &variable).ok()
}
