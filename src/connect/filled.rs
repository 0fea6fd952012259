//! A method of OAuth 2.0 for one connection: its addresses and parameters with their variables filled in.

use std::collections::BTreeSet;

use crate::catalog::detail::{OAuth2, Parameters};
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

/// The variables that decide to whom the client's secret and the user's tokens are sent. Whoever fills in a form must not
/// choose them: they come from the OAuth client.
#[must_use]
pub fn deciding(oauth: &OAuth2) -> BTreeSet<&str> {
    let urls = [Some(&oauth.token_url), oauth.refresh_url.as_ref(), oauth.revocation_url.as_ref()];
    urls.into_iter().flatten().flat_map(|url| host_choosers(url)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Filled, deciding};
    use crate::catalog::detail::{Grant, OAuth2, Parameters};
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
