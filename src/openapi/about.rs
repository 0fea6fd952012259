//! The description of an endpoint in the document.

/// The tag of the catalog's endpoints.
pub const CATALOG: &str = "Catalog";
/// The tag of the vault's endpoints.
pub const VAULT: &str = "Vault";
/// The tag of the endpoints that connect accounts.
pub const CONNECTING: &str = "Connecting";
/// The tag of events and webhooks.
pub const EVENTS: &str = "Events";
/// The tag of the service itself and its keys.
pub const SERVICE: &str = "Service";

/// The description of an endpoint in the document.
#[derive(Debug)]
pub struct About {
    /// Its tag.
    pub tag: &'static str,
    /// What it does, as an imperative.
    pub summary: &'static str,
    /// More details, in sentences.
    pub description: &'static str,
    /// The description of the successful response.
    pub answer: &'static str,
    /// The schema of the response; `None` if it has no body.
    pub schema: Option<&'static str>,
    /// The request's body, if there is one.
    pub body: Option<Body>,
    /// The path and query of the sample for a shell; `$ID` is a connection's id, `$ATTEMPT` an attempt's,
    /// `$WEBHOOK` a webhook's, `$API_KEY` an API key's.
    pub address: &'static str,
    /// The sample in JavaScript.
    pub script: &'static str,
}

/// Another response of an endpoint that succeeds with several statuses.
#[derive(Debug)]
pub struct Other {
    /// The description of the response.
    pub answer: &'static str,
    /// Its schema.
    pub schema: &'static str,
}

/// A request's body.
#[derive(Debug)]
pub struct Body {
    /// Its schema.
    pub schema: &'static str,
    /// Valid bodies, each with a name and a summary.
    pub examples: &'static [(&'static str, &'static str, &'static str)],
    /// The index of the one that the sample for a shell sends.
    pub sample: usize,
}
