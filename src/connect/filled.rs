//! A method of OAuth 2.0 for one connection: its addresses and parameters with their variables filled in.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::detail::{Field, OAuth2, Parameters, Server};
use crate::target::Targets;
use crate::target::fill::{FillError, fill_text, host_choosers};

/// A method of OAuth 2.0, filled in.
#[derive(Debug, Clone)]
pub struct Filled {
    /// The method, with parameters filled in.
    pub oauth: OAuth2,
    /// Where the user is sent; `None` for client credentials.
    pub authorization_url: Option<String>,
    /// Where codes are exchanged.
    pub token_url: String,
    /// Where refresh tokens are exchanged.
    pub refresh_url: String,
    /// Where tokens are revoked.
    pub revocation_url: Option<String>,
}

impl Filled {
    /// Fills in a method. `value` gives the value of a variable.
    ///
    /// # Errors
    /// When a value is missing or can't stand where it would, or when nothing may be sent to an address.
    pub fn new<'v>(
        oauth: &OAuth2,
        targets: Targets,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<Self, FillError> {
        let fill = |url: &str| targets.fill(url, &value);
        let optional = |url: &Option<String>| url.as_deref().map(fill).transpose();
        let parameters = |parameters: &Parameters| {
            let mut filled = Parameters::new();
            for (name, text) in parameters {
                filled.insert(name.clone(), fill_text(text, &value)?);
            }
            Ok(filled)
        };
        let token_url = fill(&oauth.token_url)?;
        Ok(Self {
            authorization_url: optional(&oauth.authorization_url)?,
            refresh_url: optional(&oauth.refresh_url)?.unwrap_or_else(|| token_url.clone()),
            token_url,
            revocation_url: optional(&oauth.revocation_url)?,
            oauth: OAuth2 {
                authorization_parameters: parameters(&oauth.authorization_parameters)?,
                token_parameters: parameters(&oauth.token_parameters)?,
                ..oauth.clone()
            },
        })
    }
}

/// The variables that decide to whom the client's secret and the user's tokens are sent by requests for tokens. Whoever
/// fills in a form must not choose them: they come from the OAuth client.
#[must_use]
pub fn deciding(oauth: &OAuth2) -> BTreeSet<&str> {
    let urls = [Some(&oauth.token_url), oauth.refresh_url.as_ref(), oauth.revocation_url.as_ref()];
    urls.into_iter().flatten().flat_map(|url| host_choosers(url)).collect()
}

/// The fields of a method of OAuth 2.0 that decide to whom a secret or a token is sent, by requests for tokens or by calls.
#[must_use]
pub fn deciding_fields<'a>(
    oauth: &'a OAuth2,
    fields: &'a [Field],
    servers: &'a [Server],
) -> BTreeSet<&'a str> {
    let called = servers.iter().flat_map(|server| host_choosers(&server.url));
    let is_field = |name: &&str| fields.iter().any(|field| field.name == *name);
    deciding(oauth).into_iter().chain(called.filter(is_field)).collect()
}

/// Whether the catalog itself names the value of a field: among several, or as the usual one.
#[must_use]
pub fn is_named(fields: &[Field], name: &str, value: &str) -> bool {
    let Some(field) = fields.iter().find(|field| field.name == name) else { return false };
    let among = |known: &Vec<String>| known.iter().any(|known| known == value);
    field.r#enum.as_ref().is_some_and(among) || field.default.as_deref() == Some(value)
}

/// The value of a variable in an address to which the client's secret is sent. It is the one stored with the connection,
/// unless that would decide who receives the secret and the catalog does not name it: then it is the OAuth client's, so
/// that a correction there reaches every connection.
#[must_use]
pub fn value_for_client<'v>(
    oauth: &OAuth2,
    fields: &[Field],
    variables: &'v BTreeMap<String, String>,
    name: &str,
    stored: Option<&'v str>,
) -> Option<&'v str> {
    let is_safe = |value: &&str| !deciding(oauth).contains(name) || is_named(fields, name, value);
    stored.filter(is_safe).or_else(|| variables.get(name).map(String::as_str))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Filled, deciding, deciding_fields, value_for_client};
    use crate::catalog::detail::{Field, Grant, OAuth2, Parameters, Server};
    use crate::target::Targets;

    fn parameter(name: &str, value: &str) -> Parameters {
        Parameters::from([(name.to_owned(), value.to_owned())])
    }

    fn method() -> OAuth2 {
        let token = "https://{tenant}/token".to_owned();
        let authorization = Some("https://{region}.id.acme.example/authorize".to_owned());
        OAuth2::usual(Grant::AuthorizationCode, authorization, token)
    }

    #[test]
    fn addresses_and_parameters_are_filled_in() {
        let oauth = OAuth2 {
            authorization_parameters: parameter("audience", "{region}"),
            token_parameters: parameter("resource", "{tenant}"),
            revocation_url: Some("https://{tenant}/revoke".to_owned()),
            ..method()
        };
        let value = |name: &str| match name {
            "tenant" => Some("acme.example"),
            "region" => Some("eu"),
            _ => None,
        };
        let filled = Filled::new(&oauth, Targets { local: false }, value).unwrap();
        let authorization = "https://eu.id.acme.example/authorize";
        assert_eq!(filled.authorization_url.as_deref(), Some(authorization));
        assert_eq!(filled.token_url, "https://acme.example/token");
        assert_eq!(filled.refresh_url, filled.token_url);
        assert_eq!(filled.revocation_url.as_deref(), Some("https://acme.example/revoke"));
        assert_eq!(filled.oauth.authorization_parameters, parameter("audience", "eu"));
        assert_eq!(filled.oauth.token_parameters, parameter("resource", "acme.example"));
        let other = OAuth2 { refresh_url: Some("https://acme.example/new".to_owned()), ..oauth };
        let filled = Filled::new(&other, Targets { local: false }, value).unwrap();
        assert_eq!(filled.refresh_url, "https://acme.example/new");
        assert!(Filled::new(&other, Targets { local: false }, |_| None).is_err());
    }

    #[test]
    fn the_address_of_a_secret_is_the_clients_or_one_that_the_catalog_names() {
        let field = |name: &str, more: serde_json::Value| {
            let mut field =
                serde_json::json!({"name": name, "label": "L", "required": true, "secret": false});
            field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value::<Field>(field).unwrap()
        };
        let free = [field("tenant", serde_json::json!({}))];
        let listed = [field("tenant", serde_json::json!({"enum": ["a.example", "b.example"]}))];
        let usual = [field("tenant", serde_json::json!({"default": "a.example"}))];
        let none = BTreeMap::new();
        let own = BTreeMap::from([("tenant".to_owned(), "own.example".to_owned())]);
        for (fields, variables, name, stored, expected) in [
            (&free, &none, "tenant", Some("a.example"), None),
            (&free, &own, "tenant", Some("a.example"), Some("own.example")),
            (&free, &own, "tenant", None, Some("own.example")),
            (&listed, &none, "tenant", Some("b.example"), Some("b.example")),
            (&listed, &none, "tenant", Some("c.example"), None),
            (&listed, &own, "tenant", Some("b.example"), Some("b.example")),
            (&usual, &none, "tenant", Some("a.example"), Some("a.example")),
            (&usual, &none, "tenant", Some("b.example"), None),
            // It only selects among hosts of the platform.
            (&free, &none, "region", Some("eu"), Some("eu")),
        ] {
            let value = value_for_client(&method(), fields, variables, name, stored);
            assert_eq!(value, expected, "{name} {stored:?} {variables:?}");
        }
    }

    #[test]
    fn fields_that_choose_a_server_decide_too() {
        let server = |url: &str| Server { url: url.to_owned(), description: None };
        let servers = [
            server("https://{environment}"),
            server("https://{region}.acme.example"),
            server("https://{instance}"),
        ];
        let fields: Vec<Field> = ["environment", "region"]
            .map(|name| {
                let field = serde_json::json!({"name": name, "label": "L", "required": true, "secret": false});
                serde_json::from_value(field).unwrap()
            })
            .into();
        // `instance` is what the platform says in its token answer.
        let oauth = method();
        let deciding = deciding_fields(&oauth, &fields, &servers);
        assert_eq!(Vec::from_iter(deciding), ["environment", "tenant"]);
    }

    #[test]
    fn who_receives_the_secret_is_decided_by_some_variables() {
        let elsewhere = OAuth2 {
            refresh_url: Some("https://{new}/token".to_owned()),
            revocation_url: Some("https://{old}/{path}".to_owned()),
            ..method()
        };
        assert_eq!(Vec::from_iter(deciding(&method())), ["tenant"]);
        assert_eq!(Vec::from_iter(deciding(&elsewhere)), ["new", "old", "tenant"]);
    }
}
