//! Values that the app sets for its user: the language, and the values of fields. The user can change these in the connect
//! window, unless the app has fixed them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::method::{Connector, validation_error};
use super::resolved_oauth::recipient_fields;
use crate::auth::Caller;
use crate::catalog::detail::{AuthMethod, Field};
use crate::http::body::BodyReader;
use crate::ports::Patterns;
use crate::util::collect::by_insertion;
use crate::util::patterns::Matcher;

/// The language, and values by the names of fields. Never contains secrets, because the user's
/// browser receives it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presets {
    /// Values that the user can change.
    #[serde(rename = "f", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
    /// Values that the user can't change.
    #[serde(rename = "x", default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fixed: BTreeMap<String, String>,
    /// The language tag for the connect window and the pages.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
}

impl Presets {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reports values that no method can use, that only the user or the OAuth client may set, or that are invalid.
    pub fn check<'m>(
        &self,
        connector: &Connector,
        methods: impl Iterator<Item = &'m AuthMethod>,
        body: &mut BodyReader,
        patterns: &impl Patterns,
    ) {
        let (matcher, methods) = (Matcher::new(patterns), methods.collect::<Vec<_>>());
        for (member, values) in [("fields", &self.fields), ("fixedFields", &self.fixed)] {
            for (name, value) in values {
                let validation_error = field_error(connector, &methods, (name, value), &matcher);
                if let Some(message) = validation_error {
                    body.invalid(&[member, name], &message);
                } else if member == "fixedFields" && self.fields.contains_key(name) {
                    body.invalid(&[member, name], "must not be in `fields` as well");
                }
            }
        }
    }

    /// Adds the presets of the caller's token. Reports a value in the body's `fields` or
    /// `fixedFields` that differs from a fixed value.
    pub fn with_token_presets(mut self, caller: &Caller, body: &mut BodyReader) -> Self {
        let Some(token_presets) = caller.token().map(|token| &token.presets) else { return self };
        for (name, value) in &token_presets.fixed {
            for (member, values) in [("fields", &self.fields), ("fixedFields", &self.fixed)] {
                if values.get(name).is_some_and(|sent| sent != value) {
                    let message = "is fixed by the token: omit it, or send the token's value";
                    body.invalid(&[member, name], message);
                }
            }
            self.fields.remove(name);
            self.fixed.insert(name.clone(), value.clone());
        }
        for (name, value) in &token_presets.fields {
            if !self.fixed.contains_key(name) {
                self.fields.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        self.lang = self.lang.or_else(|| token_presets.lang.clone());
        self
    }

    /// Adds the fixed values of the method's fields to those that the user entered.
    pub fn apply(&self, method: &AuthMethod, field_values: &mut BTreeMap<String, String>) {
        for (name, value) in &self.fixed {
            if method.fields.iter().any(|field| field.name == *name) {
                field_values.insert(name.clone(), value.clone());
            }
        }
    }

    /// Keeps the language, and the fixed values that are among the connection's `values`: the OAuth
    /// client's variables take precedence over fixed values.
    pub fn for_connection(self, values: &BTreeMap<String, String>) -> Self {
        let fixed = self.fixed.into_iter().filter(|(name, value)| values.get(name) == Some(value));
        Self { fields: BTreeMap::new(), fixed: by_insertion(fixed), lang: self.lang }
    }

    /// Whether the platform returned a value that differs from a fixed value, because the user
    /// signed in to another account.
    pub fn conflicts_with(&self, values: &BTreeMap<String, String>) -> bool {
        self.fixed.iter().any(|(name, value)| values.get(name) != Some(value))
    }
}

/// The values. Returns `None` if there are none.
pub fn none_if_empty(values: &BTreeMap<String, String>) -> Option<&BTreeMap<String, String>> {
    Some(values).filter(|values| !values.is_empty())
}

/// Describes the error in a value, as the end of a sentence.
fn field_error(
    connector: &Connector,
    methods: &[&AuthMethod],
    (name, value): (&str, &str),
    matcher: &Matcher<'_, impl Patterns>,
) -> Option<String> {
    let field_of =
        |method: &AuthMethod| method.fields.iter().find(|field| field.name == name).cloned();
    let fields: Vec<(&AuthMethod, Field)> =
        methods.iter().filter_map(|method| Some((*method, field_of(method)?))).collect();
    if fields.is_empty() {
        return Some(format!("is not a field of `{}`", connector.platform));
    }
    if fields.iter().any(|(_, field)| field.secret) {
        return Some("is a secret, which only the user enters".to_owned());
    }
    if value.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if fields.iter().all(|(method, field)| chooses_recipient(connector, method, field, value)) {
        return Some(
            "decides who receives the secret and the tokens of the OAuth client: set it in the client's `variables`"
                .to_owned(),
        );
    }
    fields.iter().find_map(|(method, field)| {
        validation_error(field, value, matcher)
            .or_else(|| method.address_error(&connector.servers, name, value).map(str::to_owned))
    })
}

/// Whether only the OAuth client's `variables` may set the value.
fn chooses_recipient(
    connector: &Connector,
    method: &AuthMethod,
    field: &Field,
    value: &str,
) -> bool {
    let is_known = field.r#enum.is_some() || field.default.as_deref() == Some(value);
    !is_known
        && method.oauth2().is_some_and(|oauth| {
            let oauth_method = (oauth, method.fields.as_slice());
            recipient_fields(oauth_method, &connector.servers, &BTreeMap::new())
                .contains(field.name.as_str())
        })
}
