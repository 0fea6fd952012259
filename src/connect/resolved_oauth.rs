//! An OAuth 2.0 method of a connection: URLs and parameters with their variables replaced.

use std::collections::{BTreeMap, BTreeSet};

use super::method::validation_error;
use super::rules;
use crate::catalog::detail::{self, AuthMethod, Field, OAuth2, Parameters, Server, urls};
use crate::oauth::token::{REDIRECT_URI, REDIRECT_URI_MEMBER};
use crate::ports::Patterns;
use crate::targets::Targets;
use crate::targets::fill::{
    FillError, Values, ends_with_listed_domain, fill, fill_text, host_variables,
};
use crate::util::patterns::Matcher;

/// The steps of connecting an account, in order. A method is resolved for a step, and each of its
/// values has a step that uses it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The redirect to the platform.
    SignIn,
    /// The exchange of the code.
    Exchange,
    /// Requests with a token.
    Token,
}

/// An OAuth 2.0 method whose variables were replaced.
#[derive(Debug, Clone)]
pub struct ResolvedOAuth {
    /// The method, with resolved parameters.
    pub oauth: OAuth2,
    /// `None` for client credentials.
    pub authorization_url: Option<String>,
    pub token_url: String,
    pub refresh_url: String,
    pub revocation_url: Option<String>,
}

impl ResolvedOAuth {
    /// Resolves a method. `value` returns the value of a variable.
    pub fn new(oauth: &OAuth2, targets: Targets, value: Values<'_, '_>) -> Result<Self, FillError> {
        Self::fill(oauth, targets, value, Step::Token)
    }

    /// Resolves a method for the exchange of a code. A URL that is needed only with a token may stay empty if the platform
    /// supplies its variable then.
    pub fn for_exchange(
        oauth: &OAuth2,
        targets: Targets,
        value: Values<'_, '_>,
    ) -> Result<Self, FillError> {
        Self::fill(oauth, targets, value, Step::Exchange)
    }

    /// Resolves a method for the redirect to the platform. A URL or parameter that is needed only after the sign-in may
    /// stay empty if the platform supplies its variable then.
    pub fn before_sign_in(
        oauth: &OAuth2,
        targets: Targets,
        value: Values<'_, '_>,
    ) -> Result<Self, FillError> {
        Self::fill(oauth, targets, value, Step::SignIn)
    }

    /// Resolves a method for a step. A value that is first used in a later step may stay empty if the platform supplies its
    /// variable before then.
    fn fill(
        oauth: &OAuth2,
        targets: Targets,
        value: Values<'_, '_>,
        step: Step,
    ) -> Result<Self, FillError> {
        let check = |first_use: Step, filled| match filled {
            Err(FillError::Missing(name)) if step < first_use && oauth.provides_field(&name) => {
                Ok(String::new())
            }
            filled => filled,
        };
        let url = |first_use, url: &str| check(first_use, targets.fill(url, value));
        let optional_url = |first_use, template: &Option<String>| {
            template.as_deref().map(|template| url(first_use, template)).transpose()
        };
        let parameters = |first_use, parameters: &Parameters| {
            let mut filled = Parameters::new();
            for (name, text) in parameters {
                let value = match fill_text(text, value) {
                    // Only a refresh sends this value: a code exchange has its own `redirect_uri`.
                    Err(FillError::Missing(name))
                        if first_use == Step::Exchange && name == REDIRECT_URI_MEMBER =>
                    {
                        REDIRECT_URI.to_owned()
                    }
                    filled => check(first_use, filled)?,
                };
                filled.insert(name.clone(), value);
            }
            Ok(filled)
        };
        let token_url = url(Step::Exchange, &oauth.token_url)?;
        let refresh_url = optional_url(Step::Token, &oauth.refresh_url)?;
        Ok(Self {
            authorization_url: optional_url(Step::SignIn, &oauth.authorization_url)?,
            refresh_url: refresh_url.unwrap_or_else(|| token_url.clone()),
            token_url,
            revocation_url: optional_url(Step::Token, &oauth.revocation_url)?,
            oauth: OAuth2 {
                issuer: optional_url(Step::Exchange, &oauth.issuer)?,
                authorization_parameters: parameters(
                    Step::SignIn,
                    &oauth.authorization_parameters,
                )?,
                token_parameters: parameters(Step::Exchange, &oauth.token_parameters)?,
                redirect_uri: match &oauth.redirect_uri {
                    Some(text) => Some(fill_text(text, value)?),
                    None => None,
                },
                ..oauth.clone()
            },
        })
    }

    /// The platform's fixed redirect URI, or else `default_uri`.
    pub fn redirect_uri(&self, default_uri: String) -> String {
        self.oauth.redirect_uri.clone().unwrap_or(default_uri)
    }

    /// Resolves a method for requests that carry the OAuth client's secret. A stored value is used unless it would choose the
    /// host and the catalog does not list it. In that case the client's `variables` are used, so correcting them also corrects
    /// stored connections.
    pub fn for_client<'v>(
        oauth: &OAuth2,
        fields: &[Field],
        targets: Targets,
        variables: &'v BTreeMap<String, String>,
        stored: Values<'_, 'v>,
    ) -> Result<Self, FillError> {
        let recipient_variables = recipient_variables(oauth, fields, variables);
        Self::new(oauth, targets, &|name| {
            let is_safe = |value: &&str| {
                !recipient_variables.contains(name) || is_listed(fields, name, value)
            };
            stored(name).filter(is_safe).or_else(|| variables.get(name).map(String::as_str))
        })
    }
}

/// The variables that choose the host of a token, refresh, revocation or lookup request, or the redirect URI. Such requests
/// carry the client's secret or the user's tokens, so the values must come from the OAuth client, never from a form.
fn recipient_variables<'a>(
    oauth: &'a OAuth2,
    fields: &[Field],
    variables: &BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    let urls = [
        Some(&oauth.token_url),
        oauth.refresh_url.as_ref(),
        oauth.revocation_url.as_ref(),
        oauth.lookup_url.as_ref(),
    ];
    let hosts = urls.into_iter().flatten().flat_map(|url| owner_variables(url, fields, variables));
    hosts.chain(oauth.redirect_uri.iter().flat_map(|text| detail::variables(text))).collect()
}

/// The fields of an OAuth 2.0 method that choose the host of a token request or of an API call.
/// `variables` belong to the OAuth client.
pub fn recipient_fields<'a>(
    (oauth, fields): (&'a OAuth2, &'a [Field]),
    servers: &'a [Server],
    variables: &BTreeMap<String, String>,
) -> BTreeSet<&'a str> {
    let api_variables =
        servers.iter().flat_map(|server| owner_variables(&server.url, fields, variables));
    let is_field = |name: &&str| fields.iter().any(|field| field.name == *name);
    let recipient_variables = recipient_variables(oauth, fields, variables);
    recipient_variables.into_iter().chain(api_variables.filter(is_field)).collect()
}

/// The variables that choose the owner of a URL's host. In `https://{subdomain}.{domain}`, where
/// the catalog lists the domains, only `domain` does.
fn owner_variables<'a>(
    url: &'a str,
    fields: &[Field],
    variables: &BTreeMap<String, String>,
) -> Vec<&'a str> {
    let choosers = host_variables(url);
    let Some(domain) = choosers.last().copied() else { return choosers };
    let listed = fields.iter().find(|field| field.name == domain);
    let listed = listed.and_then(|field| field.r#enum.as_deref()).unwrap_or_default();
    // The OAuth client may set an unlisted domain, even `com`. Then the label before the domain
    // chooses the owner as well.
    let is_listed = variables.get(domain).is_none_or(|value| listed.contains(value));
    if is_listed && ends_with_listed_domain(url, domain, listed) { vec![domain] } else { choosers }
}

/// Replaces values of the method's fields with those that the platform returned. The user can add
/// parameters to a redirect, so each value must be valid for its field. A value that chooses who
/// receives secrets or tokens must also be listed in the catalog, unless the OAuth client's
/// `variables` set it. Other values are ignored.
pub fn apply_platform_values(
    values: &mut BTreeMap<String, String>,
    (method, oauth, servers): (&AuthMethod, &OAuth2, &[Server]),
    variables: &BTreeMap<String, String>,
    platform_values: impl IntoIterator<Item = (String, String)>,
    patterns: &impl Patterns,
) {
    let recipient_variables = recipient_fields((oauth, &method.fields), servers, variables);
    let addresses: Vec<&str> =
        servers.iter().map(|server| server.url.as_str()).chain(urls(&method.kind)).collect();
    let matcher = Matcher::new(patterns);
    for (name, value) in platform_values {
        let Some(field) = method.fields.iter().find(|field| field.name == name) else { continue };
        let is_allowed_recipient =
            || !variables.contains_key(&name) && is_listed(&method.fields, &name, &value);
        let accepts = |address: &&str| {
            let filled = fill(address, &|other| {
                if other == name {
                    Some(value.as_str())
                } else {
                    values.get(other).map(String::as_str)
                }
            });
            match filled {
                Err(FillError::Invalid { field, .. }) => field != name,
                Err(FillError::Target(_)) => false,
                Ok(_) | Err(FillError::Missing(_) | FillError::Template) => true,
            }
        };
        let mut affected_addresses =
            addresses.iter().filter(|url| detail::variables(url).any(|variable| variable == name));
        let is_accepted = rules::field(&name, &value).is_none()
            && !value.is_empty()
            && affected_addresses.all(accepts)
            && validation_error(field, &value, &matcher).is_none()
            && (!recipient_variables.contains(name.as_str()) || is_allowed_recipient());
        if is_accepted {
            values.insert(name, value);
        }
    }
}

/// Whether the catalog lists this value for the field, as an `enum` member or as the default.
pub fn is_listed(fields: &[Field], name: &str, value: &str) -> bool {
    let Some(field) = fields.iter().find(|field| field.name == name) else { return false };
    let contains_value = |known: &Vec<String>| known.iter().any(|known| known == value);
    field.r#enum.as_ref().is_some_and(contains_value) || field.default.as_deref() == Some(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{ResolvedOAuth, recipient_fields, recipient_variables};
    use crate::catalog::detail::{Field, Grant, OAuth2, Parameters, Server};
    use crate::targets::Targets;

    fn parameter(name: &str, value: &str) -> Parameters {
        Parameters::from([(name.to_owned(), value.to_owned())])
    }

    fn method() -> OAuth2 {
        let token = "https://{tenant}/token".to_owned();
        let authorization = Some("https://{region}.id.acme.example/authorize".to_owned());
        OAuth2::standard(Grant::AuthorizationCode, authorization, token)
    }

    #[test]
    fn variables_of_urls_and_parameters_are_replaced() {
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
        let resolved = ResolvedOAuth::new(&oauth, Targets { local: false }, &value).unwrap();
        let authorization = "https://eu.id.acme.example/authorize";
        assert_eq!(resolved.authorization_url.as_deref(), Some(authorization));
        assert_eq!(resolved.token_url, "https://acme.example/token");
        assert_eq!(resolved.refresh_url, resolved.token_url);
        assert_eq!(resolved.revocation_url.as_deref(), Some("https://acme.example/revoke"));
        assert_eq!(resolved.oauth.authorization_parameters, parameter("audience", "eu"));
        assert_eq!(resolved.oauth.token_parameters, parameter("resource", "acme.example"));
        let other = OAuth2 { refresh_url: Some("https://acme.example/new".to_owned()), ..oauth };
        let resolved = ResolvedOAuth::new(&other, Targets { local: false }, &value).unwrap();
        assert_eq!(resolved.refresh_url, "https://acme.example/new");
        assert!(ResolvedOAuth::new(&other, Targets { local: false }, &|_| None).is_err());
    }

    fn field(more: &serde_json::Value) -> Field {
        let mut field = json!({"name": "tenant", "label": "L", "required": true, "secret": false});
        field.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(field).unwrap()
    }

    #[test]
    fn token_hosts_come_from_the_client_or_the_catalog() {
        let free = field(&json!({}));
        let listed = field(&json!({"enum": ["a.example", "b.example"]}));
        let with_default = field(&json!({"default": "a.example"}));
        let no_variables = BTreeMap::new();
        let client_host = BTreeMap::from([("tenant".to_owned(), "own.example".to_owned())]);
        for (field, variables, stored, expected) in [
            (&free, &no_variables, Some("a.example"), None),
            (&free, &client_host, Some("a.example"), Some("own.example")),
            (&free, &client_host, None, Some("own.example")),
            (&listed, &no_variables, Some("b.example"), Some("b.example")),
            (&listed, &no_variables, Some("c.example"), None),
            (&listed, &client_host, Some("b.example"), Some("b.example")),
            (&with_default, &no_variables, Some("a.example"), Some("a.example")),
            (&with_default, &no_variables, Some("b.example"), None),
        ] {
            // `region` only selects one of the platform's own hosts, so the stored value is used.
            let value = |name: &str| if name == "region" { Some("eu") } else { stored };
            let fields = std::slice::from_ref(field);
            let resolved =
                ResolvedOAuth::for_client(&method(), fields, Targets::default(), variables, &value);
            let url = |host: &str| format!("https://{host}/token");
            let resolved = resolved.ok();
            let token_url = resolved.as_ref().map(|resolved| resolved.token_url.clone());
            assert_eq!(token_url, expected.map(url), "{stored:?} {variables:?}");
            let authorization = resolved.and_then(|resolved| resolved.authorization_url);
            let regional_url = "https://eu.id.acme.example/authorize".to_owned();
            assert_eq!(authorization, expected.map(|_| regional_url));
        }
    }

    #[test]
    fn fields_that_choose_a_server_are_recipient_fields() {
        let server = |url: &str| Server { url: url.to_owned(), description: None };
        let servers = [
            server("https://{environment}"),
            server("https://{region}.acme.example"),
            server("https://{instance}"),
        ];
        let fields = ["environment", "region"].map(|name| field(&json!({"name": name})));
        // `instance` comes from the platform's token response, so it is not a recipient field.
        let oauth = method();
        let found = recipient_fields((&oauth, &fields), &servers, &BTreeMap::new());
        assert_eq!(Vec::from_iter(found), ["environment", "tenant"]);
    }

    #[test]
    fn recipient_variables_choose_hosts() {
        let with_other_hosts = OAuth2 {
            refresh_url: Some("https://{new}/token".to_owned()),
            revocation_url: Some("https://{old}/{path}".to_owned()),
            ..method()
        };
        let no_variables = BTreeMap::new();
        let without_other_hosts = method();
        assert_eq!(
            Vec::from_iter(recipient_variables(&without_other_hosts, &[], &no_variables)),
            ["tenant"]
        );
        let found = recipient_variables(&with_other_hosts, &[], &no_variables);
        assert_eq!(Vec::from_iter(found), ["new", "old", "tenant"]);
    }

    #[test]
    fn labels_before_a_listed_domain_choose_no_owner() {
        let domains = |listed: &[&str]| field(&json!({"name": "domain", "enum": listed}));
        let both_labels = vec!["domain", "org"];
        let unlisted_domain = Some("acme.example");
        for (url, listed, client_domain, expected) in [
            ("https://{org}.{domain}/t", &["acme.com", "acme.co.uk"][..], None, vec!["domain"]),
            (
                "https://{org}.{domain}/t",
                &["acme.com", "acme.co.uk"],
                Some("acme.com"),
                vec!["domain"],
            ),
            ("https://{org}.{domain}/t", &["acme.com"], unlisted_domain, both_labels.clone()),
            ("https://{org}.{domain}/t", &["acme.com", "com"], None, both_labels.clone()),
            ("https://{org}.{domain}/t", &["acme.com", "co.uk"], None, both_labels.clone()),
            ("https://{org}.{domain}/t", &[], None, both_labels.clone()),
            ("https://{org}{domain}/t", &["acme.com"], None, both_labels.clone()),
            ("https://{org}-{domain}/t", &["acme.com"], None, both_labels.clone()),
            ("https://{org}.{domain}.com/t", &["acme.com"], None, both_labels.clone()),
            ("https://{domain}.{org}/t", &["acme.com"], None, both_labels.clone()),
            ("https://{domain}/{org}", &["acme.com"], None, vec!["domain"]),
        ] {
            let oauth = OAuth2::standard(Grant::ClientCredentials, None, url.to_owned());
            let client_domain =
                client_domain.map(|domain| ("domain".to_owned(), domain.to_owned()));
            let variables = BTreeMap::from_iter(client_domain);
            let fields = [domains(listed), field(&json!({"name": "org"}))];
            let names = recipient_variables(&oauth, &fields, &variables);
            assert_eq!(Vec::from_iter(names), expected, "{url} {listed:?}");
        }
    }
}
