//! Responses of the service, recorded by the tests. They are the examples of the document, and verify its schemas.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::endpoint::Endpoint;

/// The recorded responses of all endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedResponses {
    /// The responses, by the name of the endpoint.
    pub endpoints: BTreeMap<String, EndpointResponses>,
    /// The response of `whoami` to a token.
    pub whoami_of_token: RecordedResponse,
    /// The responses to each example of a new connection.
    pub created: Vec<RecordedResponse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointResponses {
    pub success: RecordedResponse,
    /// Successful responses with other statuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RecordedResponse>,
    /// The response to a client with a current copy; `None` when the endpoint does not support `If-None-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_modified: Option<RecordedResponse>,
    /// Problem responses, by problem code.
    pub problems: BTreeMap<String, RecordedResponse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedResponse {
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Empty if there is none.
    pub body: String,
}

impl RecordedResponses {
    /// The responses in the repository.
    pub fn recorded() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("answers.json"))
    }

    pub fn for_endpoint(&self, endpoint: Endpoint) -> &EndpointResponses {
        &self.endpoints[endpoint.name()]
    }
}

impl RecordedResponse {
    /// The value of a header. `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn document(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}
