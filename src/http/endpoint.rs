//! Every endpoint of the API, described once. Routes, `Allow`, scopes, what is read of a request, the client's
//! addresses and the `OpenAPI` document are derived from this table; a test compares the table in `docs/api.md` with it.

use super::body::Field;
use super::fields::{
    CLIENT_FIELDS, CONNECT_FIELDS, CREATE_FIELDS, CREDENTIALS_FIELDS, GRANT_FIELDS, INPUT_FIELDS,
    KEY_FIELDS, NAME_FIELDS, NEW_WEBHOOK_FIELDS, REPLAY_FIELDS, SESSION_FIELDS, SIGN_IN_FIELDS,
    STATE_FIELDS, UPDATE_FIELDS, WEBHOOK_FIELDS,
};
use super::parameters::{
    ACTION_DETAIL_PARAMETERS, ACTION_PARAMETERS, ATTEMPT_PARAMETERS, ATTEMPTS_PARAMETERS,
    AUDIT_PARAMETERS, CLIENT_PARAMETERS, CONNECTION_PARAMETERS, CONNECTOR_PARAMETERS,
    CREDENTIALS_PARAMETERS, DELIVERY_PARAMETERS, EVENT_PARAMETERS, GRANT_PARAMETERS,
    KEY_PARAMETERS, SEARCH_PARAMETERS,
};
use super::query::Parameter;
use crate::terms::{Method, Scope};
use crate::util::percent::encode;

/// The path of calls that are passed on to platforms.
const PROXY_PATH: &str = "/v1/vault/connections/{id}/proxy/{path}";

/// The parameter that stands for the whole rest of a path, percent-encoded as it was sent.
pub(super) const REST: &str = "{path}";

/// The endpoint's address and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The method. A `GET` endpoint also answers `HEAD`.
    pub method: Method,
    /// The path; a segment in braces is a path parameter.
    pub path: &'static str,
    /// The query parameters; all others are refused.
    pub query: &'static [Parameter],
    /// The fields of the body; `None` when the endpoint reads no body.
    pub body: Option<&'static [Field]>,
    /// Whether the endpoint heeds `If-Match`.
    pub if_match: bool,
}

/// What a key or a token needs to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing but to be valid. Storage is asked whether it still is.
    Valid,
    /// To be valid and to have this scope. Storage is asked whether it still is valid.
    Scope(Scope),
    /// The scope `catalog:read`. What the isolate learnt of a key within the last 30 seconds is enough, and so is the
    /// signature of a token.
    Catalog,
}

impl Access {
    /// The required scope. Returns `None` when any valid key or token is let in.
    #[must_use]
    pub const fn scope(self) -> Option<Scope> {
        match self {
            Self::Valid => None,
            Self::Scope(scope) => Some(scope),
            Self::Catalog => Some(Scope::CatalogRead),
        }
    }
}

/// An endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Open to everybody.
    Open(Open),
    /// For holders of a key or a token.
    Keyed(Keyed),
}

macro_rules! endpoints {
    (
        open { $($(#[$open_doc:meta])* $open:ident: $open_facts:expr;)+ }
        keyed { $($(#[$doc:meta])* $name:ident($access:expr): $facts:expr;)+ }
    ) => {
        /// The endpoints open to everybody.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Open {
            $($(#[$open_doc])* $open),+
        }

        /// The endpoints that need a key or a token.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Keyed {
            $($(#[$doc])* $name),+
        }

        impl Endpoint {
            /// All endpoints.
            pub const ALL: &'static [Self] =
                &[$(Self::Keyed(Keyed::$name),)+ $(Self::Open(Open::$open),)+];

            /// The endpoint's address and what it takes.
            #[must_use]
            pub const fn facts(self) -> &'static Facts {
                match self {
                    $(Self::Open(Open::$open) => {
                        const FACTS: Facts = $open_facts;
                        &FACTS
                    })+
                    $(Self::Keyed(Keyed::$name) => {
                        const FACTS: Facts = $facts;
                        &FACTS
                    })+
                }
            }

            /// The variant's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::Open(Open::$open) => stringify!($open),)+
                    $(Self::Keyed(Keyed::$name) => stringify!($name),)+
                }
            }
        }

        impl Keyed {
            /// What the endpoint takes, and where.
            #[must_use]
            pub const fn facts(self) -> &'static Facts {
                Endpoint::Keyed(self).facts()
            }

            /// What a caller needs to be let in.
            #[must_use]
            pub const fn access(self) -> Access {
                match self {
                    $(Self::$name => $access),+
                }
            }
        }
    };
}

endpoints! {
    open {
        /// Whether the Worker runs.
        Health: Facts { method: Method::Get, path: "/health", query: &[], body: None, if_match: false };
        /// Where to report vulnerabilities (RFC 9116).
        SecurityTxt: Facts {
            method: Method::Get, path: "/.well-known/security.txt", query: &[], body: None, if_match: false,
        };
        /// The `OpenAPI` document, a static file of the site.
        Document: Facts { method: Method::Get, path: "/v1/openapi.json", query: &[], body: None, if_match: false };
        /// The window in which users connect their accounts, a static file of the site.
        ConnectWindow: Facts { method: Method::Get, path: "/connect", query: &[], body: None, if_match: false };
        /// Exchanges the code of a connect link for its token, once.
        ConnectToken: Facts { method: Method::Post, path: "/connect/token", query: &[], body: None, if_match: false };
        /// What the window shows of the app.
        ConnectApp: Facts { method: Method::Get, path: "/connect/app.json", query: &[], body: None, if_match: false };
        /// The link of an attempt to connect: asks whether its reader began it.
        ConnectLink: Facts { method: Method::Get, path: "/connect/go/{secret}", query: &[], body: None, if_match: false };
        /// The answer to that question: binds the attempt to the browser and leads to the platform.
        ConnectGo: Facts { method: Method::Post, path: "/connect/go/{secret}", query: &[], body: None, if_match: false };
        /// The tools of agents, which need a key or a token too.
        Mcp: Facts { method: Method::Post, path: "/mcp", query: &[], body: None, if_match: false };
        /// The tools of agents at the address of one account and environment, for access tokens of that address only.
        AgentMcp: Facts { method: Method::Post, path: "/mcp/{endpointId}", query: &[], body: None, if_match: false };
        /// Where an agent gets access tokens for that address (RFC 9728).
        AgentResource: Facts {
            method: Method::Get, path: "/.well-known/oauth-protected-resource/mcp/{endpointId}", query: &[], body: None, if_match: false,
        };
        /// What the authorization server of that address can do (RFC 8414).
        AgentServer: Facts {
            method: Method::Get, path: "/.well-known/oauth-authorization-server/mcp/{endpointId}", query: &[], body: None, if_match: false,
        };
        /// Registers a client (RFC 7591).
        AgentRegister: Facts {
            method: Method::Post, path: "/mcp/{endpointId}/register", query: &[], body: None, if_match: false,
        };
        /// Begins the sign-in of an agent's user.
        AgentAuthorize: Facts {
            method: Method::Get, path: "/mcp/{endpointId}/authorize", query: &[], body: None, if_match: false,
        };
        /// Where the OpenID provider sends users back to.
        AgentCallback: Facts {
            method: Method::Get, path: "/mcp/{endpointId}/callback", query: &[], body: None, if_match: false,
        };
        /// Where the account's own app sends a user back to.
        AgentContinue: Facts {
            method: Method::Get, path: "/mcp/{endpointId}/continue", query: &[], body: None, if_match: false,
        };
        /// What the user decides on the consent page.
        AgentConsent: Facts {
            method: Method::Post, path: "/mcp/{endpointId}/consent", query: &[], body: None, if_match: false,
        };
        /// The link of a call that waits for its user: begins the user's sign-in.
        AgentApproval: Facts {
            method: Method::Get, path: "/mcp/{endpointId}/approval", query: &[], body: None, if_match: false,
        };
        /// What the user decides about that call.
        AgentDecision: Facts {
            method: Method::Post, path: "/mcp/{endpointId}/approval", query: &[], body: None, if_match: false,
        };
        /// Exchanges codes and refresh tokens.
        AgentToken: Facts {
            method: Method::Post, path: "/mcp/{endpointId}/token", query: &[], body: None, if_match: false,
        };
        /// Ends a grant, as its client asks (RFC 7009).
        AgentRevoke: Facts {
            method: Method::Post, path: "/mcp/{endpointId}/revoke", query: &[], body: None, if_match: false,
        };
        /// Where platforms send users back to.
        ConnectCallback: Facts { method: Method::Get, path: "/connect/callback", query: &[], body: None, if_match: false };
        /// The same, for platforms that answer with a form.
        ConnectReturn: Facts { method: Method::Post, path: "/connect/callback", query: &[], body: None, if_match: false };
    }
    keyed {
        /// The connectors of the catalog.
        ListConnectors(Access::Catalog): Facts {
            method: Method::Get,
            path: "/v1/available-connectors",
            query: &CONNECTOR_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// A connector: how users connect to its platform, and where its API is.
        GetConnector(Access::Catalog): Facts {
            method: Method::Get,
            path: "/v1/available-connectors/{platform}",
            query: &[],
            body: None,
            if_match: false,
        };
        /// The actions of all platforms that match a question.
        SearchActions(Access::Catalog): Facts {
            method: Method::Get,
            path: "/v1/available-actions",
            query: &SEARCH_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// The actions of a platform.
        ListActions(Access::Catalog): Facts {
            method: Method::Get,
            path: "/v1/available-actions/{platform}",
            query: &ACTION_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// An action: what it takes and answers.
        GetAction(Access::Catalog): Facts {
            method: Method::Get,
            path: "/v1/available-actions/{platform}/{key}",
            query: &ACTION_DETAIL_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// The connections of the vault.
        ListConnections(Access::Scope(Scope::ConnectionsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/connections",
            query: &CONNECTION_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// Creates a connection.
        CreateConnection(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Post,
            path: "/v1/vault/connections",
            query: &[],
            body: Some(&CREATE_FIELDS),
            if_match: false,
        };
        /// One connection.
        ReadConnection(Access::Scope(Scope::ConnectionsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/connections/{id}",
            query: &[],
            body: None,
            if_match: false,
        };
        /// Changes the tags of a connection.
        UpdateConnection(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Patch,
            path: "/v1/vault/connections/{id}",
            query: &[],
            body: Some(&UPDATE_FIELDS),
            if_match: true,
        };
        /// Deletes a connection.
        DeleteConnection(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Delete,
            path: "/v1/vault/connections/{id}",
            query: &[],
            body: None,
            if_match: true,
        };
        /// Sets the state of a connection.
        SetConnectionState(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Put,
            path: "/v1/vault/connections/{id}/state",
            query: &[],
            body: Some(&STATE_FIELDS),
            if_match: true,
        };
        /// Sets the name of a connection.
        SetConnectionName(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Put,
            path: "/v1/vault/connections/{id}/name",
            query: &[],
            body: Some(&NAME_FIELDS),
            if_match: true,
        };
        /// The health of a connection, with its reasons.
        GetStatus(Access::Scope(Scope::ConnectionsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/connections/{id}/status",
            query: &[],
            body: None,
            if_match: false,
        };
        /// Finds out whether a connection works.
        CheckConnection(Access::Scope(Scope::ConnectionsWrite)): Facts {
            method: Method::Post,
            path: "/v1/vault/connections/{id}/check",
            query: &[],
            body: None,
            if_match: false,
        };
        /// The credentials of a connection, fresh and ready to use.
        GetCredentials(Access::Scope(Scope::CredentialsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/connections/{id}/credentials",
            query: &CREDENTIALS_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// Stores the credentials of a connection that another service held.
        SetCredentials(Access::Scope(Scope::CredentialsWrite)): Facts {
            method: Method::Put,
            path: "/v1/vault/connections/{id}/credentials",
            query: &[],
            body: Some(&CREDENTIALS_FIELDS),
            if_match: false,
        };
        /// Runs an action of the platform of a connection.
        RunAction(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Post,
            path: "/v1/vault/connections/{id}/actions/{key}",
            query: &[],
            body: Some(&INPUT_FIELDS),
            if_match: false,
        };
        /// Reads from the platform of a connection.
        ProxyGet(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Get, path: PROXY_PATH, query: &[], body: None, if_match: false,
        };
        /// Sends something to the platform of a connection.
        ProxyPost(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Post, path: PROXY_PATH, query: &[], body: None, if_match: false,
        };
        /// Replaces something at the platform of a connection.
        ProxyPut(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Put, path: PROXY_PATH, query: &[], body: None, if_match: false,
        };
        /// Changes something at the platform of a connection.
        ProxyPatch(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Patch, path: PROXY_PATH, query: &[], body: None, if_match: false,
        };
        /// Deletes something at the platform of a connection.
        ProxyDelete(Access::Scope(Scope::ConnectionsCall)): Facts {
            method: Method::Delete, path: PROXY_PATH, query: &[], body: None, if_match: false,
        };
        /// Connects an account.
        Connect(Access::Scope(Scope::ConnectionsConnect)): Facts {
            method: Method::Post,
            path: "/v1/vault/connect",
            query: &[],
            body: Some(&CONNECT_FIELDS),
            if_match: false,
        };
        /// Attempts to connect, newest first.
        ListAttempts(Access::Scope(Scope::ConnectionsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/connect",
            query: &ATTEMPTS_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// What became of an attempt to connect.
        GetAttempt(Access::Scope(Scope::ConnectionsConnect)): Facts {
            method: Method::Get,
            path: "/v1/vault/connect/{id}",
            query: &ATTEMPT_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// The OAuth clients of the environment.
        ListOauthClients(Access::Scope(Scope::ClientsRead)): Facts {
            method: Method::Get,
            path: "/v1/oauth-clients",
            query: &CLIENT_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// The OAuth client for a platform.
        GetOauthClient(Access::Scope(Scope::ClientsRead)): Facts {
            method: Method::Get,
            path: "/v1/oauth-clients/{platform}",
            query: &[],
            body: None,
            if_match: false,
        };
        /// Sets the OAuth client for a platform.
        SetOauthClient(Access::Scope(Scope::ClientsWrite)): Facts {
            method: Method::Put,
            path: "/v1/oauth-clients/{platform}",
            query: &[],
            body: Some(&CLIENT_FIELDS),
            if_match: false,
        };
        /// Deletes the OAuth client for a platform.
        DeleteOauthClient(Access::Scope(Scope::ClientsWrite)): Facts {
            method: Method::Delete,
            path: "/v1/oauth-clients/{platform}",
            query: &[],
            body: None,
            if_match: false,
        };
        /// The counts of connections by state, identity type and platform.
        Summary(Access::Scope(Scope::ConnectionsRead)): Facts {
            method: Method::Get,
            path: "/v1/vault/summary",
            query: &[],
            body: None,
            if_match: false,
        };
        /// What happened.
        ListEvents(Access::Scope(Scope::EventsRead)): Facts {
            method: Method::Get,
            path: "/v1/events",
            query: &EVENT_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// Who changed what, and who read credentials, newest first.
        ListAudit(Access::Scope(Scope::AuditRead)): Facts {
            method: Method::Get, path: "/v1/audit", query: &AUDIT_PARAMETERS, body: None, if_match: false,
        };
        /// The webhooks of the environment.
        ListWebhooks(Access::Scope(Scope::WebhooksRead)): Facts {
            method: Method::Get, path: "/v1/webhooks", query: &[], body: None, if_match: false,
        };
        /// Creates a webhook.
        CreateWebhook(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Post,
            path: "/v1/webhooks",
            query: &[],
            body: Some(&NEW_WEBHOOK_FIELDS),
            if_match: false,
        };
        /// One webhook.
        GetWebhook(Access::Scope(Scope::WebhooksRead)): Facts {
            method: Method::Get, path: "/v1/webhooks/{id}", query: &[], body: None, if_match: false,
        };
        /// Changes a webhook.
        UpdateWebhook(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Patch,
            path: "/v1/webhooks/{id}",
            query: &[],
            body: Some(&WEBHOOK_FIELDS),
            if_match: false,
        };
        /// Deletes a webhook.
        DeleteWebhook(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Delete, path: "/v1/webhooks/{id}", query: &[], body: None, if_match: false,
        };
        /// Gives a webhook another secret.
        RotateWebhook(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Post,
            path: "/v1/webhooks/{id}/rotate",
            query: &[],
            body: None,
            if_match: false,
        };
        /// Sends a webhook an example.
        TestWebhook(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Post, path: "/v1/webhooks/{id}/test", query: &[], body: None, if_match: false,
        };
        /// Sends a webhook events once more.
        ReplayEvents(Access::Scope(Scope::WebhooksWrite)): Facts {
            method: Method::Post,
            path: "/v1/webhooks/{id}/replay",
            query: &[],
            body: Some(&REPLAY_FIELDS),
            if_match: false,
        };
        /// What became of the events at a webhook.
        ListDeliveries(Access::Scope(Scope::WebhooksRead)): Facts {
            method: Method::Get,
            path: "/v1/webhooks/{id}/deliveries",
            query: &DELIVERY_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// The API keys of the environment.
        ListKeys(Access::Scope(Scope::KeysRead)): Facts {
            method: Method::Get, path: "/v1/keys", query: &KEY_PARAMETERS, body: None, if_match: false,
        };
        /// Creates an API key.
        CreateKey(Access::Scope(Scope::KeysWrite)): Facts {
            method: Method::Post, path: "/v1/keys", query: &[], body: Some(&KEY_FIELDS), if_match: false,
        };
        /// Replaces an API key by one with the same scopes.
        RotateKey(Access::Scope(Scope::KeysWrite)): Facts {
            method: Method::Post, path: "/v1/keys/{id}/rotate", query: &[], body: None, if_match: false,
        };
        /// Revokes an API key.
        RevokeKey(Access::Scope(Scope::KeysWrite)): Facts {
            method: Method::Delete, path: "/v1/keys/{id}", query: &[], body: None, if_match: false,
        };
        /// Who authenticates the users of agents.
        GetAgentSignIn(Access::Scope(Scope::AgentsRead)): Facts {
            method: Method::Get, path: "/v1/agent-sign-in", query: &[], body: None, if_match: false,
        };
        /// Configures who authenticates the users of agents.
        SetAgentSignIn(Access::Scope(Scope::AgentsWrite)): Facts {
            method: Method::Put,
            path: "/v1/agent-sign-in",
            query: &[],
            body: Some(&SIGN_IN_FIELDS),
            if_match: false,
        };
        /// Switches sign-in for agents off.
        DeleteAgentSignIn(Access::Scope(Scope::AgentsWrite)): Facts {
            method: Method::Delete, path: "/v1/agent-sign-in", query: &[], body: None, if_match: false,
        };
        /// What users granted to agents, newest first.
        ListAgentGrants(Access::Scope(Scope::AgentsRead)): Facts {
            method: Method::Get,
            path: "/v1/agent-grants",
            query: &GRANT_PARAMETERS,
            body: None,
            if_match: false,
        };
        /// Says who the user is that an agent's request has sent to the app.
        CreateAgentGrant(Access::Scope(Scope::AgentsWrite)): Facts {
            method: Method::Post,
            path: "/v1/agent-grants",
            query: &[],
            body: Some(&GRANT_FIELDS),
            if_match: false,
        };
        /// Ends a grant.
        DeleteAgentGrant(Access::Scope(Scope::AgentsWrite)): Facts {
            method: Method::Delete, path: "/v1/agent-grants/{id}", query: &[], body: None, if_match: false,
        };
        /// What the caller's key or token may do.
        Whoami(Access::Valid): Facts {
            method: Method::Get, path: "/v1/whoami", query: &[], body: None, if_match: false,
        };
        /// Creates a session token.
        CreateSession(Access::Scope(Scope::SessionsCreate)): Facts {
            method: Method::Post,
            path: "/v1/sessions",
            query: &[],
            body: Some(&SESSION_FIELDS),
            if_match: false,
        };
    }
}

impl Keyed {
    /// Whether the endpoint passes requests on, with any query and body.
    #[must_use]
    pub fn is_proxy(self) -> bool {
        self.facts().path == PROXY_PATH
    }

    /// Whether the endpoint makes the database larger, so that it is refused when that is nearly full. What keeps
    /// connections alive, or makes the database smaller, is not; a [`Self::Connect`] may be either. A
    /// [`Self::CreateAgentGrant`] asks for room itself, once its body is checked.
    #[must_use]
    pub const fn adds(self) -> bool {
        matches!(
            self,
            Self::CreateConnection
                | Self::UpdateConnection
                | Self::SetConnectionName
                | Self::CreateWebhook
                | Self::ReplayEvents
                | Self::CreateKey
        )
    }

    /// Whether the header `x-vault-bookmark` says something to the endpoint, and its response returns one: whether storage of
    /// the vault has a part in it, besides checking the key.
    #[must_use]
    pub fn takes_bookmark(self) -> bool {
        self.access() != Access::Catalog && !self.is_proxy()
    }

    /// Whether a copy of the database may answer a caller who asks for it: the endpoint only reads, and calls nobody by what it
    /// reads.
    #[must_use]
    pub const fn may_be_near(self) -> bool {
        matches!(
            self,
            Self::ListConnections
                | Self::ReadConnection
                | Self::GetStatus
                | Self::Summary
                | Self::ListAttempts
                | Self::GetAttempt
                | Self::ListOauthClients
                | Self::GetOauthClient
                | Self::ListEvents
                | Self::ListAudit
                | Self::ListWebhooks
                | Self::GetWebhook
                | Self::ListDeliveries
                | Self::ListKeys
                | Self::GetAgentSignIn
                | Self::ListAgentGrants
                | Self::Whoami
        )
    }

    /// Whether what the endpoint changes is the caller's doing. What comes out when a connection is used or checked is not.
    #[must_use]
    pub fn has_actor(self) -> bool {
        self.facts().method != Method::Get && !self.is_call() && self != Self::CheckConnection
    }

    /// Whether the endpoint calls the platform of a connection.
    #[must_use]
    pub fn is_call(self) -> bool {
        self.is_proxy() || self == Self::RunAction
    }

    /// The path with its parameters replaced, in order, by the percent-encoded `arguments`.
    #[must_use]
    pub fn address(self, arguments: &[&str]) -> String {
        let mut arguments = arguments.iter();
        let mut address = String::new();
        for segment in self.facts().path.split('/').skip(1) {
            address.push('/');
            match is_parameter(segment).then(|| arguments.next()).flatten() {
                Some(argument) => address.push_str(&encode(argument)),
                None => address.push_str(segment),
            }
        }
        address
    }
}

/// Whether a segment of an endpoint's path is a parameter.
pub(super) fn is_parameter(segment: &str) -> bool {
    segment.starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[test]
    fn no_two_endpoints_have_the_same_method_and_path() {
        for (nth, one) in Endpoint::ALL.iter().enumerate() {
            for other in Endpoint::ALL.iter().skip(nth.saturating_add(1)) {
                let place = |endpoint: &Endpoint| (endpoint.facts().method, endpoint.facts().path);
                assert_ne!(place(one), place(other));
            }
        }
    }

    #[test]
    fn a_body_or_a_precondition_belongs_to_what_writes() {
        for endpoint in Endpoint::ALL {
            let facts = endpoint.facts();
            let reads = facts.method == crate::terms::Method::Get;
            assert!(!reads || (facts.body.is_none() && !facts.if_match), "{endpoint:?}");
        }
    }
}
