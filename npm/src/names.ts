// The names of the service's Rust enums.
// Written by `WRITE_TYPE_FACTS=1 cargo test --features cli --test api typescript`; never edited by hand.

export interface Names {
  ActionMethod:
    | "GET"
    | "POST"
    | "PUT"
    | "PATCH"
    | "DELETE";
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
  Environment:
    | "test"
    | "live";
  Grant:
    | "authorization_code"
    | "client_credentials";
  IdentityType:
    | "user"
    | "team"
    | "organization"
    | "project";
  KeyPlace:
    | "header"
    | "query"
    | "cookie";
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
    | "method_not_allowed"
    | "connection_exists"
    | "precondition_failed"
    | "body_too_large"
    | "unsupported_media_type"
    | "too_many_requests"
    | "internal"
    | "unavailable";
  Scope:
    | "catalog:read"
    | "connections:read"
    | "connections:write"
    | "sessions:create";
  SessionScope:
    | "catalog:read"
    | "connections:read"
    | "connections:write";
  TokenAuth:
    | "client_secret_post"
    | "client_secret_basic"
    | "none";
  TokenBody:
    | "form"
    | "json";
}
