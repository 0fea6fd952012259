/**
 * Typed calls to a connector-vault, with the service's own validation before anything is sent.
 *
 * @packageDocumentation
 */
export type {
  ActionAuth,
  ActionDetail,
  ActionParameter,
  ActionQuery,
  ActionResponse,
  JsonSchema,
  JsonSchemaObject,
  JsonType,
  MemberEncoding,
  RequestBody,
} from "./action.js";
export type {
  AttemptError,
  AttemptErrorCode,
  AttemptFilters,
  AttemptPage,
  AttemptQuery,
  AttemptStatus,
  AttemptSummary,
  ConnectAttempt,
  ConnectAttempts,
  NewConnectAttempt,
  PendingAttempt,
} from "./attempts.js";
export type { CallOptions, ChangeOptions } from "./call.js";
export type { ActionAnswer, ActionInput, OmittedPart, PlatformRequestInit } from "./calling.js";
export type {
  Action,
  ActionFilters,
  ActionSearch,
  ActionMethod,
  Actions,
  Connector,
  ConnectorDetail,
  ConnectorFilters,
  Connectors,
  ConnectorStatus,
  Pagination,
} from "./catalog.js";
export { ConnectorVault } from "./client.js";
export type {
  AgentContinuation,
  AgentGrant,
  AgentGrantFilters,
  AgentGrantPage,
  AgentGrants,
  AgentSignIn,
  AgentSignIns,
  NewAgentGrant,
  NewAgentSignIn,
} from "./agents.js";
export type {
  Audit,
  AuditAction,
  AuditActor,
  AuditEntry,
  AuditFilters,
  AuditPage,
  AuditTarget,
} from "./audit.js";
export type { NewOauthClient, OauthClient, OauthClients } from "./clients.js";
export type { ConnectOptions, Platform } from "./popup.js";
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
} from "./connecting.js";
export type {
  Connection,
  ConnectionState,
  ConnectionWithAccount,
  IdentityType,
  PlatformAccount,
} from "./connection.js";
export type {
  ConnectionChanges,
  ConnectionFilters,
  Connections,
  ConnectionSummary,
  NewConnection,
  StateChange,
} from "./connections.js";
export type {
  ApiKeyCredentials,
  AwsCredentials,
  BasicCredentials,
  BearerCredentials,
  ConnectionStatus,
  Credentials,
  CredentialsQuery,
  CredentialType,
  NewCredentials,
  OAuth2Credentials,
  Ready,
} from "./credentials.js";
export * from "./errors.js";
export type {
  CallEvent,
  DecidedCall,
  DecisionEvent,
  ConnectionEvent,
  EventFilters,
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
} from "./events.js";
export type { ApiKey, ApiKeyPage, ApiKeyQuery, ApiKeys, ApiKeyState, ApiKeyWithSecret, NewApiKey } from "./api-keys.js";
export { parseConnectionKey, parseConnectorKey } from "./keys.js";
export type {
  ConnectionKey,
  ConnectionKeyParts,
  ConnectorKey,
  ConnectorKeyParts,
  Environment,
  PlatformVersion,
} from "./keys.js";
export type { ConnectorVaultOptions } from "./options.js";
export type { List, Page, Paging, ToArrayOptions } from "./pages.js";
export type { Token } from "./secret.js";
export type { NewSession, Scope, Session, Sessions, SessionScope, Whoami } from "./sessions.js";
export { verifyWebhook } from "./verify.js";
export type { VerifyOptions, WebhookRequest, WebhookTestEvent } from "./verify.js";
export type {
  Delivery,
  DeliveryPage,
  DeliveryQuery,
  DeliveryState,
  NewWebhook,
  Replay,
  Replayed,
  Webhook,
  WebhookChanges,
  Webhooks,
  WebhookTest,
  WebhookWithSecret,
} from "./webhooks.js";
