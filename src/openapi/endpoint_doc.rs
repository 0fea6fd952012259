//! The documentation of an endpoint in addition to its row in the table of endpoints: descriptions,
//! schemas, code samples.

use crate::http::endpoint::Keyed;

pub const CATALOG: &str = "Catalog";
pub const VAULT: &str = "Vault";
pub const CONNECTING: &str = "Connecting";
pub const EVENTS: &str = "Events";
pub const SERVICE: &str = "Service";

/// The documentation of an endpoint in the `OpenAPI` document.
#[derive(Debug)]
pub struct EndpointDoc {
    /// The tag that groups endpoints.
    pub tag: &'static str,
    /// The summary, in the imperative.
    pub summary: &'static str,
    /// The description after the summary.
    pub description: &'static str,
    /// The description of the successful response.
    pub response: &'static str,
    /// The name of the schema of the successful response. `None` for a response without a body.
    pub schema: Option<&'static str>,
    pub body: Option<Body>,
    /// The path and query of the shell sample. Variables: `$ID` (a connection), `$ATTEMPT`,
    /// `$WEBHOOK` and `$API_KEY`.
    pub address: &'static str,
    /// The source of the JavaScript sample.
    pub script: &'static str,
}

/// An additional successful response, with another status.
#[derive(Debug)]
pub struct OtherResponse {
    pub response: &'static str,
    pub schema: &'static str,
}

#[derive(Debug)]
pub struct Body {
    pub schema: &'static str,
    /// Example bodies, each with a name and a description.
    pub examples: &'static [(&'static str, &'static str, &'static str)],
    /// The index in `examples` of the body in the shell sample.
    pub sample: usize,
}

/// The successful responses of an endpoint, except the one in [`EndpointDoc::response`].
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
