//! Responses of the service that the tests have recorded. They are the examples in the document,
//! and its schemas are checked against them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::endpoint::Endpoint;

/// The recorded responses of all endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedResponses {
    /// The responses, by endpoint name.
    pub endpoints: BTreeMap<String, EndpointResponses>,
    /// The response of `whoami` to a request with a session token.
    pub whoami_of_token: RecordedResponse,
    /// The response to each example body that creates a connection.
    pub created: Vec<RecordedResponse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointResponses {
    pub success: RecordedResponse,
    /// Additional successful responses, with other statuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RecordedResponse>,
    /// The 304 response. `None` if the endpoint does not support `If-None-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_modified: Option<RecordedResponse>,
    /// Problem responses, by problem code.
    pub problems: BTreeMap<String, RecordedResponse>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedResponse {
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, possibly empty.
    pub body: String,
}

impl RecordedResponses {
    /// Parses the recorded responses in the repository.
    pub fn recorded() -> serde_json::Result<Self> {
        serde_json::from_str(include_str!("answers.json"))
    }

    pub fn for_endpoint(&self, endpoint: Endpoint) -> &EndpointResponses {
        &self.endpoints[endpoint.name()]
    }
}

impl RecordedResponse {
    /// The value of a header. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn document(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}
