//! What the service really answers, as the tests have recorded it: the examples of the document, and what it is checked by.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::http::endpoint::Endpoint;

/// The recorded answers to all endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// By the name of the endpoint.
    pub endpoints: BTreeMap<String, Recorded>,
    /// What a token learns of itself.
    pub whoami_of_token: Answer,
    /// What each example of a new connection becomes.
    pub created: Vec<Answer>,
}

/// The answers of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// When nothing goes wrong.
    pub success: Answer,
    /// When nothing goes wrong either, with other statuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Answer>,
    /// To who has the answer already; `None` when the endpoint does not heed `If-None-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_modified: Option<Answer>,
    /// By the code of the problem.
    pub problems: BTreeMap<String, Answer>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: String,
}

impl Answers {
    /// The answers in the repository.
    ///
    /// # Errors
    /// When `answers.json` is damaged.
    pub fn recorded() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("answers.json"))
    }

    /// The answers of an endpoint.
    #[must_use]
    pub fn of(&self, endpoint: Endpoint) -> &Recorded {
        &self.endpoints[endpoint.name()]
    }
}

impl Answer {
    /// The value of a header, its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body's JSON.
    #[must_use]
    pub fn document(&self) -> Node {
        Node::parse(&self.body)
    }
}
