// The names of the service's Rust enums.
// Written by `WRITE_TYPE_FACTS=1 cargo test --features cli --test api typescript`; never edited by hand.

export interface Names {
  ActionMethod:
    | "GET"
    | "POST"
    | "PUT"
    | "PATCH"
    | "DELETE";
  ActorType:
    | "key"
    | "token"
    | "person"
    | "grant"
    | "operator"
    | "service";
  AttemptErrorCode:
    | "denied"
    | "account_mismatch"
    | "connection_exists"
    | "connection_not_found"
    | "connection_limit"
    | "client_rejected"
    | "request_rejected"
    | "code_rejected"
    | "platform_unavailable"
    | "invalid_answer"
    | "issuer_mismatch"
    | "changed"
    | "interrupted";
  AttemptStatus:
    | "pending"
    | "succeeded"
    | "failed"
    | "expired";
  AuditAction:
    | "key.created"
    | "key.rotated"
    | "key.revoked"
    | "oauth_client.created"
    | "oauth_client.updated"
    | "oauth_client.deleted"
    | "webhook.created"
    | "webhook.updated"
    | "webhook.rotated"
    | "webhook.disabled"
    | "webhook.deleted"
    | "agent_sign_in.updated"
    | "agent_sign_in.deleted"
    | "agent_grant.requested"
    | "agent_grant.created"
    | "agent_grant.declined"
    | "agent_grant.revoked"
    | "console_sign_in.updated"
    | "console_sign_in.deleted"
    | "console_session.created"
    | "console_session.ended"
    | "branding.updated"
    | "connection.created"
    | "connection.connected"
    | "connection.updated"
    | "connection.state_changed"
    | "connection.deleted"
    | "credentials.read";
  ConnectionState:
    | "operational"
    | "degraded"
    | "failed"
    | "unknown";
  ConnectorStatus:
    | "generally_available"
    | "beta"
    | "alpha"
    | "not_available";
  CredentialType:
    | "oauth2"
    | "api_key"
    | "basic"
    | "bearer"
    | "aws_sigv4";
  DeliveryState:
    | "pending"
    | "delivered"
    | "failed";
  EndpointGroup:
    | "catalog"
    | "connections"
    | "connect"
    | "credentials"
    | "calls"
    | "sessions"
    | "clients"
    | "events"
    | "webhooks"
    | "keys"
    | "agents"
    | "audit"
    | "usage"
    | "console";
  Environment:
    | "test"
    | "live";
  EventType:
    | "connection.created"
    | "connection.updated"
    | "connection.deleted"
    | "connection.connected"
    | "connection.reconnected"
    | "connection.degraded"
    | "connection.recovered"
    | "connection.failed"
    | "connection.scopes_changed"
    | "connection.called"
    | "call.approved"
    | "call.declined"
    | "oauth_client.rejected"
    | "grant.revoked"
    | "grant.revocation_failed"
    | "webhook.disabled";
  Grant:
    | "authorization_code"
    | "client_credentials"
    | "account_credentials";
  IdentityType:
    | "user"
    | "team"
    | "organization"
    | "project";
  KeyPlace:
    | "header"
    | "query"
    | "cookie";
  KeyState:
    | "active"
    | "expired"
    | "revoked";
  ParameterPlace:
    | "path"
    | "query"
    | "header"
    | "cookie";
  Pkce:
    | "S256"
    | "none";
  ProblemCode:
    | "unknown_parameter"
    | "repeated_parameter"
    | "invalid_parameter"
    | "query_too_broad"
    | "invalid_body"
    | "missing_key"
    | "invalid_key"
    | "insufficient_scope"
    | "route_not_found"
    | "platform_not_found"
    | "action_not_found"
    | "connection_not_found"
    | "attempt_not_found"
    | "credentials_not_found"
    | "oauth_client_not_found"
    | "webhook_not_found"
    | "key_not_found"
    | "agent_sign_in_not_found"
    | "agent_grant_not_found"
    | "console_sign_in_not_found"
    | "console_session_not_found"
    | "method_not_allowed"
    | "connection_exists"
    | "connection_failed"
    | "awaiting_cut_over"
    | "credentials_held"
    | "not_checkable"
    | "not_refreshable"
    | "oauth_client_missing"
    | "oauth_client_limit"
    | "connection_limit"
    | "webhook_limit"
    | "webhook_inactive"
    | "key_limit"
    | "key_inactive"
    | "precondition_failed"
    | "body_too_large"
    | "unsupported_media_type"
    | "credentials_rejected"
    | "account_mismatch"
    | "too_many_requests"
    | "internal"
    | "platform_unreachable"
    | "refresh_failed"
    | "unavailable"
    | "platform_timeout"
    | "vault_full";
  Scope:
    | "catalog:read"
    | "connections:read"
    | "connections:write"
    | "sessions:create"
    | "connections:connect"
    | "credentials:read"
    | "credentials:write"
    | "clients:read"
    | "clients:write"
    | "connections:call"
    | "events:read"
    | "webhooks:read"
    | "webhooks:write"
    | "keys:read"
    | "keys:write"
    | "agents:read"
    | "agents:write"
    | "audit:read"
    | "usage:read"
    | "console:read"
    | "console:write";
  SessionScope:
    | "catalog:read"
    | "connections:read"
    | "connections:write"
    | "connections:connect"
    | "connections:call";
  TokenAuth:
    | "client_secret_post"
    | "client_secret_basic"
    | "client_secret_basic_raw"
    | "private_key_jwt"
    | "none";
  RevocationToken:
    | "refresh_token"
    | "access_token";
  TokenBody:
    | "form"
    | "json";
  UsageGroup:
    | "day"
    | "endpoint"
    | "platform"
    | "identity"
    | "status";
}
