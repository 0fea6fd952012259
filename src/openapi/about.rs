//! What is said about an endpoint.

/// The group of what is about the catalog.
pub const CATALOG: &str = "Catalog";
/// The group of what is about the vault.
pub const VAULT: &str = "Vault";
/// The group of what connects accounts.
pub const CONNECTING: &str = "Connecting";
/// The group of events and webhooks.
pub const EVENTS: &str = "Events";
/// The group of what is about the service and its keys.
pub const SERVICE: &str = "Service";

/// What the document says about an endpoint.
#[derive(Debug)]
pub struct About {
    /// The group that it belongs to.
    pub tag: &'static str,
    /// What it does, as an imperative.
    pub summary: &'static str,
    /// More about it, in sentences.
    pub description: &'static str,
    /// What the answer is when nothing goes wrong.
    pub answer: &'static str,
    /// The schema of the answer; `None` when it has no body.
    pub schema: Option<&'static str>,
    /// The request's body, when there is one.
    pub body: Option<Body>,
    /// The path and query that the sample for a shell asks for; `$ID` is a connection's id, `$ATTEMPT` an attempt's,
    /// `$WEBHOOK` a webhook's, `$API_KEY` an API key's.
    pub address: &'static str,
    /// The sample in JavaScript.
    pub script: &'static str,
}

/// Another answer of an endpoint that succeeds with several statuses.
#[derive(Debug)]
pub struct Other {
    /// What the answer is.
    pub answer: &'static str,
    /// Its schema.
    pub schema: &'static str,
}

/// A request's body.
#[derive(Debug)]
pub struct Body {
    /// Its schema.
    pub schema: &'static str,
    /// Bodies that are taken, each with a name and what it is.
    pub examples: &'static [(&'static str, &'static str, &'static str)],
    /// The one that the sample for a shell sends.
    pub sample: usize,
}
