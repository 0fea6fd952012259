//! What the vault holds of a connection: sealed as JSON, and shown only by the endpoint for credentials.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::terms::CredentialType;

/// The credentials of a connection. `Debug` shows their type only.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// What kind of credentials they are.
    #[serde(rename = "type")]
    pub kind: CredentialType,
    /// What the user filled in: keys and passwords under the names of their fields, and the variables of URLs.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    /// What an authorization server issued.
    #[serde(default)]
    pub tokens: Option<HeldTokens>,
    /// The account at the platform, where it is known.
    #[serde(default)]
    pub account: Option<String>,
}

/// Tokens of OAuth 2.0.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldTokens {
    /// What is sent to the platform.
    pub access: String,
    /// The word before it in the header `Authorization`.
    pub kind: String,
    /// What the next access token is asked for with.
    #[serde(default)]
    pub refresh: Option<String>,
    /// Further members of the token answer, which calls to the platform need.
    #[serde(default)]
    pub members: BTreeMap<String, Value>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({})", self.kind.as_str())
    }
}

impl fmt::Debug for HeldTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldTokens(…)")
    }
}

impl Held {
    /// The value of a field or of a member of the token answer, for the variables of URLs. Returns `None` when there is
    /// none.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        let member = || self.tokens.as_ref()?.members.get(name)?.as_str();
        self.fields.get(name).map(String::as_str).or_else(member)
    }
}
