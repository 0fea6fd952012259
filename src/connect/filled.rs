//! A method of OAuth 2.0 for one connection: its addresses and parameters with their variables filled in.

use std::collections::{BTreeMap, BTreeSet};

use super::method::objection;
use super::rules;
use crate::catalog::detail::{
    self, AuthMethod, Field, OAuth2, Parameters, Server, urls, variables,
};
use crate::ports::Patterns;
use crate::targets::Targets;
use crate::targets::fill::{FillError, fill, fill_text, host_choosers};
use crate::util::patterns::Matcher;

/// Sees what was filled in, or why it could not be.
type Seen<'s> = &'s dyn Fn(Result<String, FillError>) -> Result<String, FillError>;

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
        Self::fill(oauth, targets, value, |filled| filled)
    }

    /// Fills in what leads the user to the platform. Of the rest, what lacks a value that the platform says only then is
    /// left empty.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn before_sign_in<'v>(
        oauth: &OAuth2,
        targets: Targets,
        value: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<Self, FillError> {
        Self::fill(oauth, targets, value, |filled| match filled {
            Err(FillError::Missing(name)) if oauth.says(&name) => Ok(String::new()),
            filled => filled,
        })
    }

    /// Fills in a method. `later` sees what is used only after the user has signed in.
    fn fill<'v>(
        oauth: &OAuth2,
        targets: Targets,
        value: impl Fn(&str) -> Option<&'v str>,
        later: impl Fn(Result<String, FillError>) -> Result<String, FillError>,
    ) -> Result<Self, FillError> {
        let now = |filled| filled;
        let fill = |url: &str| targets.fill(url, &value);
        let optional =
            |url: &Option<String>| url.as_deref().map(|url| later(fill(url))).transpose();
        let parameters = |parameters: &Parameters, seen: Seen<'_>| {
            let mut filled = Parameters::new();
            for (name, text) in parameters {
                filled.insert(name.clone(), seen(fill_text(text, &value))?);
            }
            Ok(filled)
        };
        let token_url = later(fill(&oauth.token_url))?;
        Ok(Self {
            authorization_url: oauth.authorization_url.as_deref().map(fill).transpose()?,
            refresh_url: optional(&oauth.refresh_url)?.unwrap_or_else(|| token_url.clone()),
            token_url,
            revocation_url: optional(&oauth.revocation_url)?,
            oauth: OAuth2 {
                authorization_parameters: parameters(&oauth.authorization_parameters, &now)?,
                token_parameters: parameters(&oauth.token_parameters, &later)?,
                redirect_uri: match &oauth.redirect_uri {
                    Some(text) => Some(fill_text(text, &value)?),
                    None => None,
                },
                ..oauth.clone()
            },
        })
    }

    /// The parameter `redirect_uri`: what the platform wants in place of the service's own address.
    #[must_use]
    pub fn redirect_uri(&self, own: String) -> String {
        self.oauth.redirect_uri.clone().unwrap_or(own)
    }

    /// Fills in a method for requests that carry the OAuth client's secret. Each variable has the value that is stored with
    /// the connection, unless that value would choose the host and the catalog does not name it. Such a value comes from
    /// the client's `variables`, so correcting them also corrects stored connections.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn for_client<'v>(
        oauth: &OAuth2,
        fields: &[Field],
        targets: Targets,
        variables: &'v BTreeMap<String, String>,
        stored: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<Self, FillError> {
        let deciding = deciding(oauth);
        Self::new(oauth, targets, |name| {
            let is_safe = |value: &&str| !deciding.contains(name) || is_named(fields, name, value);
            stored(name).filter(is_safe).or_else(|| variables.get(name).map(String::as_str))
        })
    }
}

/// The variables that choose the host of a token, refresh or revocation request, or where codes are sent. Such requests carry the client's secret or
/// the user's tokens, so the values come from the OAuth client and never from a form.
#[must_use]
pub fn deciding(oauth: &OAuth2) -> BTreeSet<&str> {
    let urls = [Some(&oauth.token_url), oauth.refresh_url.as_ref(), oauth.revocation_url.as_ref()];
    let hosts = urls.into_iter().flatten().flat_map(|url| host_choosers(url));
    hosts.chain(oauth.redirect_uri.iter().flat_map(|text| variables(text))).collect()
}

/// The fields of an OAuth 2.0 method that choose the host of a token request or of a call.
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

/// Takes over what the platform said of a method's fields, in place of what a user typed. Whoever has the browser can add
/// parameters to a redirect, so a value is held to what the field says, as one in a form; and one that chooses who receives
/// secrets or tokens must be listed in the catalog, unless the OAuth client's `variables` choose. Other values are ignored.
pub fn take_told(
    values: &mut BTreeMap<String, String>,
    (method, oauth, servers): (&AuthMethod, &OAuth2, &[Server]),
    variables: &BTreeMap<String, String>,
    told: impl IntoIterator<Item = (String, String)>,
    patterns: &impl Patterns,
) {
    let deciding = deciding_fields(oauth, &method.fields, servers);
    let addresses: Vec<&str> =
        servers.iter().map(|server| server.url.as_str()).chain(urls(&method.kind)).collect();
    let matcher = Matcher::new(patterns);
    for (name, value) in told {
        let Some(field) = method.fields.iter().find(|field| field.name == name) else { continue };
        let is_free = || !variables.contains_key(&name) && is_named(&method.fields, &name, &value);
        let stands = |address: &&str| {
            let filled = fill(address, |other| {
                if other == name { Some(&value) } else { values.get(other).map(String::as_str) }
            });
            match filled {
                Err(FillError::Invalid { field, .. }) => field != name,
                Err(FillError::Target(_)) => false,
                Ok(_) | Err(FillError::Missing(_) | FillError::Template) => true,
            }
        };
        let mut own = addresses.iter().filter(|url| detail::variables(url).any(|it| it == name));
        let is_good = rules::field(&name, &value).is_none()
            && !value.is_empty()
            && own.all(stands)
            && objection(field, &value, &matcher).is_none()
            && (!deciding.contains(name.as_str()) || is_free());
        if is_good {
            values.insert(name, value);
        }
    }
}

/// Whether the catalog lists this value for the field, in its `enum` or as its default.
#[must_use]
pub fn is_named(fields: &[Field], name: &str, value: &str) -> bool {
    let Some(field) = fields.iter().find(|field| field.name == name) else { return false };
    let among = |known: &Vec<String>| known.iter().any(|known| known == value);
    field.r#enum.as_ref().is_some_and(among) || field.default.as_deref() == Some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{Filled, deciding, deciding_fields};
    use crate::catalog::detail::{Field, Grant, OAuth2, Parameters, Server};
    use crate::targets::Targets;

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

    fn field(more: &serde_json::Value) -> Field {
        let mut field = json!({"name": "tenant", "label": "L", "required": true, "secret": false});
        field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(field).unwrap()
    }

    #[test]
    fn the_address_of_a_secret_is_the_clients_or_one_that_the_catalog_names() {
        let free = field(&json!({}));
        let listed = field(&json!({"enum": ["a.example", "b.example"]}));
        let usual = field(&json!({"default": "a.example"}));
        let none = BTreeMap::new();
        let own = BTreeMap::from([("tenant".to_owned(), "own.example".to_owned())]);
        for (field, variables, stored, expected) in [
            (&free, &none, Some("a.example"), None),
            (&free, &own, Some("a.example"), Some("own.example")),
            (&free, &own, None, Some("own.example")),
            (&listed, &none, Some("b.example"), Some("b.example")),
            (&listed, &none, Some("c.example"), None),
            (&listed, &own, Some("b.example"), Some("b.example")),
            (&usual, &none, Some("a.example"), Some("a.example")),
            (&usual, &none, Some("b.example"), None),
        ] {
            // `region` only selects among the platform's own hosts, so the stored value counts.
            let value = |name: &str| if name == "region" { Some("eu") } else { stored };
            let fields = std::slice::from_ref(field);
            let filled =
                Filled::for_client(&method(), fields, Targets::default(), variables, value);
            let url = |host: &str| format!("https://{host}/token");
            let filled = filled.ok();
            let token_url = filled.as_ref().map(|filled| filled.token_url.clone());
            assert_eq!(token_url, expected.map(url), "{stored:?} {variables:?}");
            let authorization = filled.and_then(|filled| filled.authorization_url);
            let of_region = "https://eu.id.acme.example/authorize".to_owned();
            assert_eq!(authorization, expected.map(|_| of_region));
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
        let fields = ["environment", "region"].map(|name| field(&json!({"name": name})));
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
