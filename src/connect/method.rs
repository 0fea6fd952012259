//! Selects a connector's auth method, and checks the values of its fields.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::catalog::detail::{
    Account, AuthMethod, Field, Kind, Pagination, Parameters, Server, Verify, urls,
};
use crate::credentials::request_auth::unsendable_reason;
use crate::ports::Patterns;
use crate::targets::fill::{Rule, broken_rule};
use crate::terms::CredentialType;
use crate::util::patterns::Matcher;

/// The members of a connector that the vault uses.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Connector {
    pub platform: String,
    /// The version in the catalog: `v` followed by a number.
    pub platform_version: String,
    pub name: String,
    /// The URL of the logo, or its path on this site; empty for none.
    #[serde(default)]
    pub image: String,
    pub description: String,
    /// The auth methods, the preferred one first.
    pub auth_methods: Vec<AuthMethod>,
    /// The base URLs of the API.
    pub servers: Vec<Server>,
    /// Headers of every request to the platform, for all methods.
    #[serde(default)]
    pub headers: Parameters,
    /// A request that succeeds only with valid credentials.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// The request that returns the id and the name of the account.
    #[serde(default)]
    pub account: Option<Account>,
    /// Where responses contain the link to the next page.
    #[serde(default)]
    pub pagination: Vec<Pagination>,
}

impl Connector {
    pub fn find_method(&self, id: &str) -> Option<&AuthMethod> {
        self.auth_methods.iter().find(|method| method.id == id)
    }

    /// The method with this id, or the only method. The error is the end of a sentence that begins
    /// with the member's name.
    pub fn method(&self, id: Option<&str>) -> Result<&AuthMethod, String> {
        let ids = || {
            self.auth_methods.iter().map(|method| format!("`{}`", method.id)).collect::<Vec<_>>()
        };
        match (id, self.auth_methods.as_slice()) {
            (_, []) => Err(format!(
                "can't be chosen: the catalog knows no way to connect to `{}`",
                self.platform
            )),
            (None, [only]) => Ok(only),
            (None, _) => Err(format!("is required, since there are several: {}", ids().join(", "))),
            (Some(id), _) => {
                self.find_method(id).ok_or_else(|| format!("must be one of {}", ids().join(", ")))
            }
        }
    }
}

impl AuthMethod {
    pub const fn credential_type(&self) -> CredentialType {
        match self.kind {
            Kind::OAuth2(_) => CredentialType::OAuth2,
            Kind::ApiKey(_) => CredentialType::ApiKey,
            Kind::Basic { .. } => CredentialType::Basic,
            Kind::Bearer { .. } => CredentialType::Bearer,
            Kind::AwsSigv4 { .. } => CredentialType::AwsSigv4,
        }
    }

    /// Checks the value of a field that is part of the platform's URLs. The error completes a
    /// sentence that begins with the field's name.
    pub fn address_error(
        &self,
        servers: &[Server],
        field: &str,
        value: &str,
    ) -> Option<&'static str> {
        let called = servers.iter().map(|server| server.url.as_str());
        let mut addresses = called.chain(urls(&self.kind));
        addresses.find_map(|address| broken_rule(address, field, value)).map(Rule::as_str)
    }

    /// The values of the fields, with defaults. Calls `fault` for each invalid value, with the name of the field and an
    /// error that completes a sentence beginning with the name.
    pub fn fill(
        &self,
        connector: &Connector,
        given_values: &BTreeMap<String, String>,
        patterns: &impl Patterns,
        mut fault: impl FnMut(&str, String),
    ) -> BTreeMap<String, String> {
        for name in given_values.keys() {
            if !self.fields.iter().any(|field| field.name == *name) {
                let names: Vec<String> =
                    self.fields.iter().map(|field| format!("`{}`", field.name)).collect();
                let names = if names.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("it has {}", names.join(", "))
                };
                fault(name, format!("is not a field of the method `{}`: {names}", self.id));
            }
        }
        let matcher = Matcher::new(patterns);
        let mut values = BTreeMap::new();
        for field in &self.fields {
            let value = given_values.get(&field.name).filter(|value| !value.is_empty());
            match value.or(field.default.as_ref()) {
                Some(value) => {
                    let reason = || {
                        unsendable_reason(&connector.headers, self, &field.name, value)
                            .or_else(|| self.address_error(&connector.servers, &field.name, value))
                    };
                    let validation_error = validation_error(field, value, &matcher);
                    if let Some(message) = validation_error.or_else(|| reason().map(str::to_owned))
                    {
                        fault(&field.name, message);
                    }
                    values.insert(field.name.clone(), value.clone());
                }
                // The platform returns the value later.
                None if self.oauth2().is_some_and(|oauth| oauth.provides_field(&field.name)) => {}
                None if field.required => fault(&field.name, "is required".to_owned()),
                None => {}
            }
        }
        values
    }
}

/// Checks the value of a field. The error completes a sentence that begins with the field's name.
pub fn validation_error(
    field: &Field,
    value: &str,
    matcher: &Matcher<'_, impl Patterns>,
) -> Option<String> {
    if let Some(allowed) = &field.r#enum
        && !allowed.iter().any(|other| other == value)
    {
        let names: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
        return Some(format!("must be one of {}", names.join(", ")));
    }
    let pattern = field.pattern.as_deref()?;
    match matcher.is_match(pattern, value) {
        Some(true) => None,
        Some(false) => Some(format!("must match the pattern `{pattern}`")),
        // An unchecked value could choose any host.
        None => Some(format!("is too long to be checked with the pattern `{pattern}`")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::Connector;
    use crate::ports::Patterns;

    /// Supports one pattern: lower-case letters.
    struct LowercaseOnly;

    impl Patterns for LowercaseOnly {
        fn is_match(&self, pattern: &str, text: &str) -> bool {
            assert_eq!(pattern, "^[a-z]+$");
            text.bytes().all(|byte| byte.is_ascii_lowercase())
        }
    }

    fn connector(methods: &Value) -> Connector {
        serde_json::from_value(json!({
            "platform": "p", "platformVersion": "v1", "name": "P", "description": "", "servers": [],
            "authMethods": methods,
        }))
        .unwrap()
    }

    #[test]
    fn a_method_is_chosen_by_its_id() {
        let (a, b) = (
            json!({"id": "a", "type": "bearer", "prefix": "Bearer", "fields": []}),
            json!({"id": "b", "type": "bearer", "prefix": "Bearer", "fields": []}),
        );
        for (methods, id, expected) in [
            (json!([a]), None, Ok("a")),
            (json!([a, b]), Some("b"), Ok("b")),
            (json!([a, b]), None, Err("is required, since there are several: `a`, `b`")),
            (json!([a, b]), Some("c"), Err("must be one of `a`, `b`")),
            (json!([]), None, Err("can't be chosen: the catalog knows no way to connect to `p`")),
        ] {
            let connector = connector(&methods);
            let chosen = connector.method(id).map(|method| method.id.as_str());
            assert_eq!(chosen, expected.map_err(str::to_owned));
        }
    }

    #[test]
    fn fields_are_checked_and_defaults_filled_in() {
        let method = json!({"id": "a", "type": "bearer", "prefix": "Bearer", "fields": [
            {"name": "token", "label": "Token", "secret": true, "required": true},
            {"name": "region", "label": "Region", "enum": ["eu", "us"], "default": "eu"},
            {"name": "shop", "label": "Shop", "pattern": "^[a-z]+$"},
        ]});
        let connector = connector(&json!([method]));
        let method = connector.method(None).unwrap();
        for (given, filled, faults) in [
            (json!({"token": "t"}), json!({"token": "t", "region": "eu"}), json!([])),
            (
                json!({"token": "t", "region": "", "shop": "a"}),
                json!({"token": "t", "region": "eu", "shop": "a"}),
                json!([]),
            ),
            (
                json!({"region": "moon", "shop": "a.evil", "x": ""}),
                json!({"region": "moon", "shop": "a.evil"}),
                json!([
                    ["x", "is not a field of the method `a`: it has `token`, `region`, `shop`"],
                    ["token", "is required"],
                    ["region", "must be one of `eu`, `us`"],
                    ["shop", "must match the pattern `^[a-z]+$`"],
                ]),
            ),
            (
                json!({"token": "t\u{200b}"}),
                json!({"token": "t\u{200b}", "region": "eu"}),
                json!([[
                    "token",
                    "has a character that can't be sent in a header, or a space at an end: copy it again"
                ]]),
            ),
        ] {
            let given: BTreeMap<String, String> = serde_json::from_value(given).unwrap();
            let mut reported = Vec::new();
            let values = method.fill(&connector, &given, &LowercaseOnly, |name, message| {
                reported.push(json!([name, message]));
            });
            assert_eq!(json!(values), filled);
            assert_eq!(json!(reported), faults);
        }
    }
}
