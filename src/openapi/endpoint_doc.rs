//! The documentation of an endpoint, in addition to its row in the table: text, schemas, code samples.

use crate::http::endpoint::Keyed;

pub const CATALOG: &str = "Catalog";
pub const VAULT: &str = "Vault";
pub const CONNECTING: &str = "Connecting";
pub const EVENTS: &str = "Events";
pub const SERVICE: &str = "Service";

/// The `OpenAPI` document's text about an endpoint.
#[derive(Debug)]
pub struct EndpointDoc {
    /// The group of the endpoint.
    pub tag: &'static str,
    /// The summary, in the imperative.
    pub summary: &'static str,
    /// The rest of the description.
    pub description: &'static str,
    /// The response on success.
    pub response: &'static str,
    /// The schema of the response; `None` when it has no body.
    pub schema: Option<&'static str>,
    pub body: Option<Body>,
    /// The path and query of the shell sample; `$ID` is a connection's id, `$ATTEMPT` an attempt's, `$WEBHOOK` a
    /// webhook's, `$API_KEY` an API key's.
    pub address: &'static str,
    /// The JavaScript sample.
    pub script: &'static str,
}

/// Another response of an endpoint that succeeds with several statuses.
#[derive(Debug)]
pub struct OtherResponse {
    pub response: &'static str,
    pub schema: &'static str,
}

#[derive(Debug)]
pub struct Body {
    pub schema: &'static str,
    /// Valid bodies, each with a name and a description.
    pub examples: &'static [(&'static str, &'static str, &'static str)],
    /// The index of the body in the shell sample.
    pub sample: usize,
}

/// The other successful responses of an endpoint, without the one that its documentation describes.
pub const fn others(endpoint: Keyed) -> &'static [OtherResponse] {
    match endpoint {
        Keyed::Connect => &[
            OtherResponse { response: "The reconnected connection.", schema: "Connection" },
            OtherResponse {
                response: "The attempt, which waits for the user.",
                schema: "PendingAttempt",
            },
        ],
        Keyed::SetOauthClient => {
            &[OtherResponse { response: "The replaced OAuth client.", schema: "OauthClient" }]
        }
        Keyed::SetAgentSignIn => {
            &[OtherResponse { response: "The replaced sign-in.", schema: "AgentSignIn" }]
        }
        Keyed::SetConsoleSignIn => {
            &[OtherResponse { response: "The replaced sign-in.", schema: "ConsoleSignIn" }]
        }
        _ => &[],
    }
}
