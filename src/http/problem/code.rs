//! The codes of problems.

/// A stable identifier of what went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The endpoint has no such query parameter.
    UnknownParameter,
    /// A query parameter was sent more than once.
    RepeatedParameter,
    /// A query parameter has an invalid value.
    InvalidParameter,
    /// The list would read more rows than a request may.
    QueryTooBroad,
    /// The body does not match the endpoint's fields.
    InvalidBody,
    /// The request has no API key.
    MissingKey,
    /// The API key or token is malformed, unknown, revoked or expired, or the request has several.
    InvalidKey,
    /// The key or token lacks the required scope.
    InsufficientScope,
    /// The path does not exist.
    RouteNotFound,
    /// The catalog has no such platform.
    PlatformNotFound,
    /// The platform has no such action.
    ActionNotFound,
    /// The connection does not exist or is not visible to the caller.
    ConnectionNotFound,
    /// The connect attempt does not exist or is not visible to the caller.
    AttemptNotFound,
    /// The vault has no credentials of the connection.
    CredentialsNotFound,
    /// The environment has no OAuth client for the platform.
    OauthClientNotFound,
    /// The environment has no such webhook.
    WebhookNotFound,
    /// The environment has no such API key.
    KeyNotFound,
    /// Sign-in for agents is not configured.
    AgentSignInNotFound,
    /// The environment has no such grant.
    AgentGrantNotFound,
    /// Sign-in to the console is not configured.
    ConsoleSignInNotFound,
    /// The environment has no such session of a person in the console.
    ConsoleSessionNotFound,
    /// The path exists, but not with this method.
    MethodNotAllowed,
    /// Another connection has the same key.
    ConnectionExists,
    /// The connection has failed, and its user must reconnect it.
    ConnectionFailed,
    /// Another service still refreshes the imported connection.
    AwaitingCutOver,
    /// The vault refreshes the connection's credentials, so its state can't be set from outside.
    CredentialsHeld,
    /// The connector offers no way to check the connection.
    NotCheckable,
    /// A refresh was requested, and the access token can't be refreshed.
    NotRefreshable,
    /// The environment lacks the OAuth client that connecting needs.
    OauthClientMissing,
    /// The environment has the maximum number of OAuth clients.
    OauthClientLimit,
    /// The token's identity, or the account, has the maximum number of connections.
    ConnectionLimit,
    /// The environment has the maximum number of webhooks.
    WebhookLimit,
    /// The webhook is not active, so nothing is sent to it.
    WebhookInactive,
    /// The environment has the maximum number of API keys that the API creates.
    KeyLimit,
    /// The API key can't be replaced: it is revoked, expired or already replaced.
    KeyInactive,
    /// The resource's version does not match `If-Match`.
    PreconditionFailed,
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The platform rejects the credentials.
    CredentialsRejected,
    /// The credentials belong to a different account at the platform than the connection.
    AccountMismatch,
    /// The caller sends too many requests.
    TooManyRequests,
    /// The service has a bug.
    Internal,
    /// A platform can't be reached.
    PlatformUnreachable,
    /// The refresh failed, and the old access token no longer works.
    RefreshFailed,
    /// A platform does not respond in time.
    PlatformTimeout,
    /// Storage is temporarily unavailable.
    Unavailable,
    /// The database is nearly full.
    VaultFull,
}

impl Code {
    pub const ALL: [Self; 47] = [
        Self::UnknownParameter,
        Self::RepeatedParameter,
        Self::InvalidParameter,
        Self::QueryTooBroad,
        Self::InvalidBody,
        Self::MissingKey,
        Self::InvalidKey,
        Self::InsufficientScope,
        Self::RouteNotFound,
        Self::PlatformNotFound,
        Self::ActionNotFound,
        Self::ConnectionNotFound,
        Self::AttemptNotFound,
        Self::CredentialsNotFound,
        Self::OauthClientNotFound,
        Self::WebhookNotFound,
        Self::KeyNotFound,
        Self::AgentSignInNotFound,
        Self::AgentGrantNotFound,
        Self::ConsoleSignInNotFound,
        Self::ConsoleSessionNotFound,
        Self::MethodNotAllowed,
        Self::ConnectionExists,
        Self::ConnectionFailed,
        Self::AwaitingCutOver,
        Self::CredentialsHeld,
        Self::NotCheckable,
        Self::NotRefreshable,
        Self::OauthClientMissing,
        Self::OauthClientLimit,
        Self::ConnectionLimit,
        Self::WebhookLimit,
        Self::WebhookInactive,
        Self::KeyLimit,
        Self::KeyInactive,
        Self::PreconditionFailed,
        Self::BodyTooLarge,
        Self::UnsupportedMediaType,
        Self::CredentialsRejected,
        Self::AccountMismatch,
        Self::TooManyRequests,
        Self::Internal,
        Self::PlatformUnreachable,
        Self::RefreshFailed,
        Self::Unavailable,
        Self::PlatformTimeout,
        Self::VaultFull,
    ];

    /// The HTTP status, the `code` and the `title`.
    pub const fn describe(self) -> (u16, &'static str, &'static str) {
        let (status, code) = self.status_and_name();
        (status, code, self.title())
    }

    /// The HTTP status and the `code`. Separate from the titles, so that the client's module does not contain them.
    pub const fn status_and_name(self) -> (u16, &'static str) {
        match self {
            Self::UnknownParameter => (400, "unknown_parameter"),
            Self::RepeatedParameter => (400, "repeated_parameter"),
            Self::InvalidParameter => (400, "invalid_parameter"),
            Self::QueryTooBroad => (400, "query_too_broad"),
            Self::InvalidBody => (400, "invalid_body"),
            Self::MissingKey => (401, "missing_key"),
            Self::InvalidKey => (401, "invalid_key"),
            Self::InsufficientScope => (403, "insufficient_scope"),
            Self::RouteNotFound => (404, "route_not_found"),
            Self::PlatformNotFound => (404, "platform_not_found"),
            Self::ActionNotFound => (404, "action_not_found"),
            Self::ConnectionNotFound => (404, "connection_not_found"),
            Self::AttemptNotFound => (404, "attempt_not_found"),
            Self::CredentialsNotFound => (404, "credentials_not_found"),
            Self::OauthClientNotFound => (404, "oauth_client_not_found"),
            Self::WebhookNotFound => (404, "webhook_not_found"),
            Self::KeyNotFound => (404, "key_not_found"),
            Self::AgentSignInNotFound => (404, "agent_sign_in_not_found"),
            Self::AgentGrantNotFound => (404, "agent_grant_not_found"),
            Self::ConsoleSignInNotFound => (404, "console_sign_in_not_found"),
            Self::ConsoleSessionNotFound => (404, "console_session_not_found"),
            Self::MethodNotAllowed => (405, "method_not_allowed"),
            Self::ConnectionExists => (409, "connection_exists"),
            Self::ConnectionFailed => (409, "connection_failed"),
            Self::AwaitingCutOver => (409, "awaiting_cut_over"),
            Self::CredentialsHeld => (409, "credentials_held"),
            Self::NotCheckable => (409, "not_checkable"),
            Self::NotRefreshable => (409, "not_refreshable"),
            Self::OauthClientMissing => (409, "oauth_client_missing"),
            Self::OauthClientLimit => (409, "oauth_client_limit"),
            Self::ConnectionLimit => (409, "connection_limit"),
            Self::WebhookLimit => (409, "webhook_limit"),
            Self::WebhookInactive => (409, "webhook_inactive"),
            Self::KeyLimit => (409, "key_limit"),
            Self::KeyInactive => (409, "key_inactive"),
            Self::PreconditionFailed => (412, "precondition_failed"),
            Self::BodyTooLarge => (413, "body_too_large"),
            Self::UnsupportedMediaType => (415, "unsupported_media_type"),
            Self::CredentialsRejected => (422, "credentials_rejected"),
            Self::AccountMismatch => (422, "account_mismatch"),
            Self::TooManyRequests => (429, "too_many_requests"),
            Self::Internal => (500, "internal"),
            Self::RefreshFailed => (503, "refresh_failed"),
            Self::PlatformUnreachable => (502, "platform_unreachable"),
            Self::PlatformTimeout => (504, "platform_timeout"),
            Self::Unavailable => (503, "unavailable"),
            Self::VaultFull => (507, "vault_full"),
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::UnknownParameter => "Unknown query parameter",
            Self::RepeatedParameter => "Repeated query parameter",
            Self::InvalidParameter => "Invalid parameter",
            Self::QueryTooBroad => "Query too broad",
            Self::InvalidBody => "Invalid body",
            Self::MissingKey => "Missing API key",
            Self::InvalidKey => "Invalid API key",
            Self::InsufficientScope => "Insufficient scope",
            Self::RouteNotFound => "Route not found",
            Self::PlatformNotFound => "Platform not found",
            Self::ActionNotFound => "Action not found",
            Self::ConnectionNotFound => "Connection not found",
            Self::AttemptNotFound => "Attempt not found",
            Self::CredentialsNotFound => "Credentials not found",
            Self::OauthClientNotFound => "OAuth client not found",
            Self::WebhookNotFound => "Webhook not found",
            Self::KeyNotFound => "API key not found",
            Self::AgentSignInNotFound => "Sign-in for agents not found",
            Self::AgentGrantNotFound => "Grant not found",
            Self::ConsoleSignInNotFound => "Sign-in to the console not found",
            Self::ConsoleSessionNotFound => "Session not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::ConnectionExists => "Connection exists",
            Self::ConnectionFailed => "Connection failed",
            Self::AwaitingCutOver => "Awaiting cut-over",
            Self::CredentialsHeld => "Credentials held",
            Self::NotCheckable => "Not checkable",
            Self::NotRefreshable => "Not refreshable",
            Self::OauthClientMissing => "OAuth client missing",
            Self::OauthClientLimit => "Too many OAuth clients",
            Self::ConnectionLimit => "Too many connections",
            Self::WebhookLimit => "Too many webhooks",
            Self::KeyLimit => "Too many API keys",
            Self::KeyInactive => "API key not active",
            Self::WebhookInactive => "Webhook inactive",
            Self::PreconditionFailed => "Precondition failed",
            Self::BodyTooLarge => "Body too large",
            Self::UnsupportedMediaType => "Unsupported media type",
            Self::CredentialsRejected => "Credentials rejected",
            Self::AccountMismatch => "Different account",
            Self::TooManyRequests => "Too many requests",
            Self::Internal => "Internal error",
            Self::RefreshFailed => "No new access token",
            Self::PlatformUnreachable => "Platform unreachable",
            Self::PlatformTimeout => "Platform timeout",
            Self::Unavailable => "Temporarily unavailable",
            Self::VaultFull => "Vault full",
        }
    }

    /// The `code` member.
    pub const fn as_str(self) -> &'static str {
        self.status_and_name().1
    }
}
