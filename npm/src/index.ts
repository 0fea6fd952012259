/**
 * The typed client of a connector-vault. Runs the service's own validation before it sends a request.
 *
 * @packageDocumentation
 */
export type {
  ActionAuth,
  ActionDetail,
  ActionParameter,
  ActionResponse,
  JsonSchema,
  JsonSchemaObject,
  JsonType,
  MemberEncoding,
  RequestBody,
} from "./types/action.js";
export type {
  AttemptError,
  AttemptErrorCode,
  AttemptPage,
  AttemptStatus,
  AttemptSummary,
  ConnectAttempt,
  ConnectAttempts,
  NewConnectAttempt,
  PendingAttempt,
} from "./resources/connect-attempts.js";
export type { CallOptions, ChangeOptions } from "./core/options.js";
export type { ActionAnswer, ActionInput, OmittedPart, PlatformRequestInit } from "./resources/proxy.js";
export type {
  Action,
  ActionMethod,
  ActionMatch,
  Actions,
  Connector,
  ConnectorDetail,
  Connectors,
  ConnectorStatus,
  Pagination,
} from "./resources/catalog.js";
export { ConnectorVault } from "./client.js";
export type {
  AgentContinuation,
  AgentGrant,
  AgentGrantPage,
  AgentGrants,
  AgentSignIn,
  AgentSignIns,
  NewAgentGrant,
  NewAgentSignIn,
} from "./resources/agents.js";
export type { Branding, Brandings, NewBranding } from "./resources/branding.js";
export type {
  ConsoleSession,
  ConsoleSessionPage,
  ConsoleSessions,
  ConsoleSignIn,
  ConsoleSignIns,
  NewConsoleSignIn,
} from "./resources/console.js";
export type {
  Audit,
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditPage,
  AuditTarget,
} from "./resources/audit.js";
export type { EndpointGroup, Usage, UsageGroup, UsageRow } from "./resources/usage.js";
export type { NewOauthClient, OauthClient, OauthClientOptions, OauthClients } from "./resources/oauth-clients.js";
export type { ConnectOptions, Platform } from "./browser/popup.js";
export type {
  ApiKeyMethod,
  AuthField,
  AuthMethod,
  AwsMethod,
  BasicMethod,
  BearerMethod,
  ConnectorServer,
  OAuth2Method,
  PlatformRequest,
  VerifyRequest,
} from "./types/auth-method.js";
export type {
  Connection,
  ConnectionState,
  ConnectionWithAccount,
  IdentityType,
  PlatformAccount,
} from "./types/connection.js";
export type {
  ConnectionChanges,
  Connections,
  ConnectionSummary,
  NewConnection,
  StateChange,
} from "./resources/connections.js";
export type {
  ApiKeyCredentials,
  AwsCredentials,
  BasicCredentials,
  BearerCredentials,
  ConnectionStatus,
  Credentials,
  CredentialType,
  ImportedConnection,
  ImportResult,
  ImportResults,
  NewCredentials,
  NewImport,
  OAuth2Credentials,
  Ready,
} from "./types/credentials.js";
export * from "./core/errors.js";
export type {
  ActionFilters,
  ActionQuery,
  ActionSearch,
  AgentGrantFilters,
  ApiKeyQuery,
  AttemptFilters,
  AttemptQuery,
  AuditFilters,
  ConnectionFilters,
  ConnectorFilters,
  ConsoleSessionFilters,
  CredentialsQuery,
  DeliveryQuery,
  EventFilters,
  UsageQuery,
} from "./types/filters.js";
export type {
  CallEvent,
  DecidedCall,
  DecisionEvent,
  ConnectionEvent,
  EventOf,
  EventPage,
  EventReason,
  Events,
  EventType,
  GrantEvent,
  OauthClientEvent,
  PlatformCall,
  VaultEvent,
  WebhookEvent,
} from "./resources/events.js";
export type {
  ApiKey,
  ApiKeyPage,
  ApiKeys,
  ApiKeyState,
  ApiKeyWithSecret,
  NewApiKey,
} from "./resources/api-keys.js";
export { parseConnectionKey, parseConnectorKey } from "./types/keys.js";
export type {
  ConnectionKey,
  ConnectionKeyParts,
  ConnectorKey,
  ConnectorKeyParts,
  Environment,
  PlatformVersion,
} from "./types/keys.js";
export type { ConnectorVaultOptions } from "./core/client-options.js";
export type { List, Page, Paging, ToArrayOptions } from "./core/pages.js";
export type { Token } from "./core/secret.js";
export type { NewSession, Scope, Session, Sessions, SessionScope, Whoami } from "./resources/sessions.js";
export { verifyWebhook } from "./resources/verify-webhook.js";
export type { VerifyOptions, WebhookRequest, WebhookTestEvent } from "./resources/verify-webhook.js";
export type {
  Delivery,
  DeliveryPage,
  DeliveryState,
  NewWebhook,
  Replay,
  Replayed,
  Webhook,
  WebhookChanges,
  Webhooks,
  WebhookTest,
  WebhookWithSecret,
} from "./resources/webhooks.js";
