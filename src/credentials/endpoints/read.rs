//! `GET /v1/vault/connections/{id}/credentials`: returns credentials that are valid now.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::audit::statements::record_credentials_read;
use crate::auth::Principal;
use crate::catalog::detail::AuthMethod;
use crate::catalog::reader::Catalog;
use crate::connect::endpoints::platform::PlatformAuth;
use crate::credentials::lifecycle::row::CredentialsRow;
use crate::credentials::model::Credentials;
use crate::credentials::request_auth::{AuthValue, RequestAuth, Secrecy, basic_credentials};
use crate::credentials::usable::CredentialsQuery;
use crate::http::context::Context;
use crate::http::handler::Handler;
use crate::http::message::{NO_STORE, Response};
use crate::http::problem::{Code, Problem};
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::{Results, Statements};
use crate::terms::CredentialType;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

pub fn handle<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let mut query = context.query();
    query.finish()?;
    let refresh = query.boolean("refresh").unwrap_or(false);
    let mut statements = Statements::default();
    let connection = context.connection_id();
    let credentials = CredentialsQuery::new(context, &connection, &mut statements)?;
    let (guard, request) = (context.guard(), context.request_id);
    statements.run(record_credentials_read(
        &guard,
        &connection,
        context.caller,
        context.now,
        request,
    ));
    Ok(Handler::new(statements, move |results, principal| async move {
        read(context, refresh, credentials, &principal, &results, ports).await
    }))
}

/// Returns the credentials, refreshed first when they expire soon.
async fn read<P: Ports>(
    context: &Context<'_>,
    refresh: bool,
    credentials: CredentialsQuery,
    principal: &Principal,
    results: &Results,
    ports: &Metered<'_, P>,
) -> Result<Response, Problem> {
    let cache = context.service.catalog();
    let catalog = Catalog::open(cache, ports).await?;
    let usable = credentials.open(context, principal, results, &catalog, ports, refresh).await?;
    let platform_auth = usable.auth(context.config());
    let auth = platform_auth.map(PlatformAuth::available_auth).transpose()?.unwrap_or_default();
    Ok(render(&usable.row, &usable.credentials, usable.method(), &auth))
}

/// The error for a failed connection, which its user must reconnect.
pub(crate) fn failed(row: &CredentialsRow) -> Problem {
    let code = row.reason_code.as_deref().unwrap_or("reported");
    let explanation = row
        .reason_detail
        .as_ref()
        .map(|detail| format!(": {}", detail.trim_end_matches('.')))
        .unwrap_or_default();
    let detail =
        format!("The connection has failed (`{code}`{explanation}). Its user must reconnect it.");
    Problem::new(Code::ConnectionFailed, detail)
}

/// The error if there is no valid access token now.
pub(crate) fn refresh_failed(code: Option<&str>, next: Option<u64>, now: u64) -> Problem {
    let detail = match code {
        Some("client_rejected") => {
            "The platform rejects the OAuth client, or there is none. Set it again with `PUT /v1/oauth-clients/{platform}`."
        }
        Some("request_rejected") => {
            "The platform rejects the token request. Check the OAuth client, and the scopes that it asks for."
        }
        _ => "The platform returned no new access token. The service will try again.",
    };
    let wait = next.map_or(60, |next| next.saturating_sub(now).div_ceil(1000)).min(3600);
    let problem = Problem::new(Code::RefreshFailed, detail);
    Problem { retry_after: Some(u32::try_from(wait.max(1)).unwrap_or(60)), ..problem }
}

/// The error for an imported connection that another service still refreshes.
pub(crate) fn awaiting_cut_over(row: &CredentialsRow, now: u64) -> Problem {
    let expired = row.expires_at.filter(|at| *at <= now).and_then(rfc3339);
    let expired = expired.map(|at| format!(" It has had no valid access token since {at}."));
    let expired = expired.unwrap_or_default();
    let detail = format!(
        "This connection was imported and awaits its cut-over, so the service neither refreshes nor checks it: the service that had it before may still use the same refresh token.{expired} Import it again with `cutOver` once that service no longer refreshes it."
    );
    Problem::new(Code::AwaitingCutOver, detail)
}

/// Renders the credentials. The members depend on the type.
fn render(
    row: &CredentialsRow,
    credentials: &Credentials,
    method: Option<&AuthMethod>,
    auth: &RequestAuth,
) -> Response {
    let member_names: &[&'static str] = match credentials.kind {
        CredentialType::OAuth2 => &[],
        CredentialType::ApiKey => &["apiKey"],
        CredentialType::Basic => &["username", "password"],
        CredentialType::Bearer => &["token"],
        CredentialType::AwsSigv4 => &["accessKeyId", "secretAccessKey", "sessionToken", "region"],
    };
    let mut document = OrderedMembers(Vec::new());
    let mut add = |name: &'static str, value: Value| document.0.push((name, value));
    add("type", credentials.kind.as_str().into());
    add("authMethod", row.auth_method.as_str().into());
    let pair = method.and_then(|method| basic_credentials(&method.kind, credentials));
    for name in member_names {
        let value = match (*name, &pair) {
            ("username", Some((username, _))) => Some(username),
            ("password", Some((_, password))) => Some(password),
            (name, _) => credentials.fields.get(name),
        };
        let value = value.filter(|value| !value.is_empty());
        add(name, value.map_or(Value::Null, |value| value.as_str().into()));
    }
    if let Some(tokens) = &credentials.tokens {
        add("client", row.client.as_str().into());
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
    let fields =
        credentials.fields.iter().filter(|(name, _)| !member_names.contains(&name.as_str()));
    let mut fields = fields.map(|(name, value)| (name, value.as_str().into())).peekable();
    if fields.peek().is_some() {
        add("fields", object(fields));
    }
    // The API never returns the secret of an OAuth client.
    let values = |values: &BTreeMap<String, AuthValue>| {
        let visible = values.iter().filter(|(_, value)| value.secrecy < Secrecy::Client);
        object(visible.map(|(name, value)| (name, value.text.as_str().into())))
    };
    add("headers", values(&auth.headers));
    add("query", values(&auth.query));
    Response::json(json::bytes(&document), NO_STORE)
}

/// Serializes members in their order of insertion.
struct OrderedMembers(Vec<(&'static str, Value)>);

impl Serialize for OrderedMembers {
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

#[cfg(test)]
mod tests {
    use super::refresh_failed;

    #[test]
    fn the_problem_names_who_must_act_and_when_to_retry() {
        for (code, next, expected, wait) in [
            (Some("client_rejected"), None, "PUT /v1/oauth-clients/{platform}", 60),
            (Some("request_rejected"), Some(1_000), "Check the OAuth client", 1),
            (Some("platform_unavailable"), Some(2_500), "The service will try again", 2),
            (None, Some(0), "The service will try again", 1),
            (None, Some(9_000_000), "The service will try again", 3600),
        ] {
            let problem = refresh_failed(code, next, 1_000);
            assert!(problem.detail.contains(expected), "{}", problem.detail);
            assert_eq!(problem.retry_after, Some(wait), "{next:?}");
        }
    }
}
