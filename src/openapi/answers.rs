//! The service's responses, recorded by the tests: the examples of the document, and the data that it is checked with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::node::Node;
use crate::http::endpoint::Endpoint;

/// The recorded responses of all endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answers {
    /// By the name of the endpoint.
    pub endpoints: BTreeMap<String, Recorded>,
    /// The response of `whoami` to a token.
    pub whoami_of_token: Answer,
    /// The connection that each example of a new connection creates.
    pub created: Vec<Answer>,
}

/// The responses of one endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// The successful response.
    pub success: Answer,
    /// Successful responses with other statuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Answer>,
    /// The 304; `None` if the endpoint ignores `If-None-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_modified: Option<Answer>,
    /// By the code of the problem.
    pub problems: BTreeMap<String, Answer>,
}

/// A response.
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
    /// The responses in the repository.
    ///
    /// # Errors
    /// If `answers.json` is damaged.
    pub fn recorded() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("answers.json"))
    }

    /// The responses of an endpoint.
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
