//! Chooses the OAuth client for a request: the client named by the request or its session, else the
//! connection's client, else the default client. Also builds the errors for a missing or incomplete
//! client.

use std::collections::BTreeMap;

use crate::auth::restriction::TokenRestriction;
use crate::catalog::detail::{AuthMethod, Kind};
use crate::connect::client::{DEFAULT_CLIENT, OauthClient};
use crate::connect::method::Connector;
use crate::connect::resolved_oauth::recipient_fields;
use crate::connections::endpoints::create::outside_token_scope;
use crate::credentials::request_auth::{CLIENT_SECRET, needs};
use crate::http::body::BodyReader;
use crate::http::endpoint::Keyed;
use crate::http::problem::{Code, Problem};

/// Reads `client`. A token always uses the client of its session; its user can't choose another
/// client.
pub(super) fn requested(
    body: &mut BodyReader,
    restriction: Option<&TokenRestriction>,
) -> Result<Option<String>, Problem> {
    let client = body.text("client");
    let Some(restriction) = restriction else { return Ok(client) };
    if client.is_some() && client != restriction.client {
        return Err(outside_token_scope("client"));
    }
    Ok(restriction.client.clone())
}

/// The name of the client to use. `current` is the name of the connection's client.
pub(crate) fn name<'a>(chosen: Option<&'a str>, current: Option<&'a str>) -> &'a str {
    chosen.or(current).unwrap_or(DEFAULT_CLIENT)
}

/// Describes the client in a message, such as "OAuth client `bot` for `slack`".
pub(crate) fn describe(platform: &str, name: &str) -> String {
    if name == DEFAULT_CLIENT {
        return format!("OAuth client for `{platform}`");
    }
    format!("OAuth client `{name}` for `{platform}`")
}

/// The path and query of the client in the API.
pub(crate) fn address(platform: &str, name: &str) -> String {
    let path = Keyed::GetOauthClient.address(&[platform]);
    if name == DEFAULT_CLIENT { path } else { format!("{path}?name={name}") }
}

/// The error if there is no OAuth client for a method.
pub(super) fn missing(connector: &Connector, method: &AuthMethod, name: &str) -> Problem {
    let (platform, id) = (&connector.platform, &method.id);
    let detail = format!(
        "There is no {} and its method `{id}`. The app's developers must set one, with `PUT {}`.",
        describe(platform, name),
        address(platform, name)
    );
    Problem::new(Code::OauthClientMissing, detail)
}

/// The error if there is no OAuth client, or its `variables` do not determine which host receives
/// its secret. A request may only choose values that the catalog lists.
pub(crate) fn problem(
    connector: &Connector,
    method: &AuthMethod,
    (client, name): (Option<&OauthClient>, &str),
    field_values: &BTreeMap<String, String>,
) -> Option<Problem> {
    let Kind::OAuth2(oauth) = &method.kind else { return None };
    let Some(client) = client else { return Some(missing(connector, method, name)) };
    if client.sealed.is_none() && needs(&connector.headers, method, CLIENT_SECRET) {
        let detail = format!(
            "Each request to {} contains the secret of the OAuth client, which has none. Set it with `PUT {}`.",
            connector.name,
            address(&connector.platform, name)
        );
        return Some(Problem::new(Code::OauthClientMissing, detail));
    }
    let variables = client.variables();
    let is_undetermined = |name: &&str| {
        let field = method.fields.iter().find(|field| field.name == **name);
        let is_listed = field.is_some_and(|field| {
            let value = field_values.get(*name).filter(|value| !value.is_empty());
            let is_standard = value.is_none_or(|value| field.default.as_ref() == Some(value));
            field.r#enum.is_some() || field.default.is_some() && is_standard
        });
        !variables.contains_key(*name) && !is_listed
    };
    let names = recipient_fields((oauth, &method.fields), &connector.servers, &variables);
    let undetermined = names.into_iter().filter(is_undetermined);
    let names: Vec<String> = undetermined.map(|name| format!("`{name}`")).collect();
    if names.is_empty() {
        return None;
    }
    let detail = format!(
        "The {} must set its `variables` {}, which decide who receives its secret and tokens.",
        describe(&connector.platform, name),
        names.join(", ")
    );
    Some(Problem::new(Code::OauthClientMissing, detail))
}

#[cfg(test)]
mod tests {
    use super::{address, describe, name};

    #[test]
    fn the_default_name_is_not_mentioned() {
        assert_eq!(describe("slack", "default"), "OAuth client for `slack`");
        assert_eq!(describe("slack", "bot"), "OAuth client `bot` for `slack`");
        assert_eq!(address("slack", "default"), "/v1/oauth-clients/slack");
        assert_eq!(address("slack", "bot"), "/v1/oauth-clients/slack?name=bot");
    }

    #[test]
    fn a_chosen_client_overrides_that_of_the_connection() {
        assert_eq!(name(Some("bot"), Some("user")), "bot");
        assert_eq!(name(None, Some("user")), "user");
        assert_eq!(name(None, None), "default");
    }
}
