// Compares the published declarations with the service's Rust types in names.ts and facts.ts. Compiles only if they are
// equal. Otherwise the error message of `tsc` shows both types as `declared` and `served`.
import type * as declared from "connector-vault";
import type { Names } from "../src/types/names.js";
import { documents, fields, problems, rows } from "./facts.js";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** `true` if the types are equal, otherwise both types for the error message. */
type Same<Declared, Served> = Equal<Declared, Served> extends true ? true : { declared: Declared; served: Served };

/** `true` if the unions have the same names, otherwise the names that only one of them has. */
type SameNames<Declared, Served> =
  Equal<Declared, Served> extends true
    ? true
    : { declared: Exclude<Declared, Served>; served: Exclude<Served, Declared> };

/** Compiles only if all members are `true`. */
type Check<_Checks extends Record<string, true>> = true;

// ---------------------------------------------------------------------------------------------------------------------
// Enumerations
// ---------------------------------------------------------------------------------------------------------------------

export type Enumerations = Check<{
  ActionMethod: SameNames<declared.ActionMethod, Names["ActionMethod"]>;
  ActorType: SameNames<declared.AuditActor["type"], Names["ActorType"]>;
  AttemptErrorCode: SameNames<declared.AttemptErrorCode, Names["AttemptErrorCode"]>;
  AttemptStatus: SameNames<declared.AttemptStatus, Names["AttemptStatus"]>;
  AuditAction: SameNames<declared.AuditAction, Names["AuditAction"]>;
  CredentialType: SameNames<declared.CredentialType, Names["CredentialType"]>;
  credentialsHaveEachType: SameNames<declared.Credentials["type"], declared.CredentialType>;
  ConnectionState: SameNames<declared.ConnectionState, Names["ConnectionState"]>;
  ConnectorStatus: SameNames<declared.ConnectorStatus, Names["ConnectorStatus"]>;
  DeliveryState: SameNames<declared.DeliveryState, Names["DeliveryState"]>;
  Environment: SameNames<declared.Environment, Names["Environment"]>;
  EventType: SameNames<declared.EventType, Names["EventType"]>;
  eventsHaveEachType: SameNames<declared.VaultEvent["type"], declared.EventType>;
  IdentityType: SameNames<declared.IdentityType, Names["IdentityType"]>;
  ProblemCode: SameNames<declared.ProblemCode, Names["ProblemCode"]>;
  Scope: SameNames<declared.Scope, Names["Scope"]>;
  SessionScope: SameNames<declared.SessionScope, Names["SessionScope"]>;
  all: SameNames<
    keyof Names,
    | "ActionMethod"
    | "ActorType"
    | "AttemptErrorCode"
    | "AttemptStatus"
    | "AuditAction"
    | "ConnectionState"
    | "ConnectorStatus"
    | "CredentialType"
    | "DeliveryState"
    | "EndpointGroup"
    | "Environment"
    | "EventType"
    | "Grant"
    | "IdentityType"
    | "KeyPlace"
    | "KeyState"
    | "ParameterPlace"
    | "Pkce"
    | "ProblemCode"
    | "RevocationToken"
    | "Scope"
    | "SessionScope"
    | "TokenAuth"
    | "TokenBody"
    | "UsageGroup"
  >;
  EndpointGroup: SameNames<declared.EndpointGroup, Names["EndpointGroup"]>;
  UsageGroup: SameNames<declared.UsageGroup, Names["UsageGroup"]>;
  Grant: SameNames<declared.OAuth2Method["grant"], Names["Grant"]>;
  KeyState: SameNames<declared.ApiKeyState, Names["KeyState"]>;
  KeyPlace: SameNames<declared.ApiKeyMethod["in"], Names["KeyPlace"]>;
  ParameterPlace: SameNames<declared.ActionParameter["in"], Names["ParameterPlace"]>;
  Pkce: SameNames<declared.OAuth2Method["pkce"], Names["Pkce"]>;
  RevocationToken: SameNames<declared.OAuth2Method["revocationToken"], Names["RevocationToken"]>;
  TokenAuth: SameNames<declared.OAuth2Method["tokenAuth"], Names["TokenAuth"]>;
  TokenBody: SameNames<declared.OAuth2Method["tokenBody"], Names["TokenBody"]>;
  noCommonCodes: SameNames<declared.ClientCode & declared.ProblemCode, never>;
}>;

// ---------------------------------------------------------------------------------------------------------------------
// Requests
// ---------------------------------------------------------------------------------------------------------------------

/** `true` if both types have the same members, otherwise the differences. */
type SameMembers<Declared, Served> =
  | SameNames<keyof Declared, keyof Served>
  | {
      [Name in keyof Declared & keyof Served]: Equal<Declared[Name], Served[Name]> extends true
        ? true
        : { member: Name; declared: Declared[Name]; served: Served[Name] };
    }[keyof Declared & keyof Served];

/** The filters without `undefined` and `null`. */
type NonNullableMembers<Declared> = { [Name in keyof Declared]-?: NonNullable<Declared[Name]> };

/** The required members of `Declared`. */
type RequiredName<Declared> = keyof { [Name in keyof Declared as {} extends Pick<Declared, Name> ? never : Name]: 0 };
/** The nullable members of `Declared`. */
type NullableName<Declared> = keyof { [Name in keyof Declared as null extends Declared[Name] ? Name : never]: 0 };

/** The members with mutable arrays, and without `undefined`. */
type MutableMembers<Declared> = {
  [Name in keyof Declared]-?: Exclude<Declared[Name], undefined> extends readonly (infer Item)[]
    ? Item[]
    : Exclude<Declared[Name], undefined> extends Readonly<Record<string, string>>
      ? Record<string, string>
      : Exclude<Declared[Name], undefined>;
};

export type Requests = Check<{
  create: SameNames<keyof declared.NewConnection, (typeof fields.NewConnection.all)[number]>;
  createRequires: SameNames<RequiredName<declared.NewConnection>, (typeof fields.NewConnection.required)[number]>;
  createMayBeNull: SameNames<NullableName<declared.NewConnection>, (typeof fields.NewConnection.nullable)[number]>;
  update: SameNames<keyof declared.ConnectionChanges, (typeof fields.ConnectionChanges.all)[number]>;
  updateRequires: SameNames<
    RequiredName<declared.ConnectionChanges>,
    (typeof fields.ConnectionChanges.required)[number]
  >;
  updateMayBeNull: SameNames<
    NullableName<declared.ConnectionChanges>,
    (typeof fields.ConnectionChanges.nullable)[number]
  >;
  state: SameNames<keyof declared.StateChange, (typeof fields.StateChange.all)[number]>;
  stateRequires: SameNames<RequiredName<declared.StateChange>, (typeof fields.StateChange.required)[number]>;
  stateMayBeNull: SameNames<NullableName<declared.StateChange>, (typeof fields.StateChange.nullable)[number]>;
  // `setName` has no declared body to compare: the name is a separate argument.
  name: Same<(typeof fields.NameChange)[keyof typeof fields.NameChange], readonly ["name"]>;
  nameType: declared.Connections["setName"] extends (id: string, name: infer Name, ...more: never) => unknown
    ? Same<Name, declared.Connection["name"]>
    : never;
  connect: SameNames<keyof declared.NewConnectAttempt, (typeof fields.NewConnectAttempt.all)[number]>;
  connectRequires: SameNames<
    RequiredName<declared.NewConnectAttempt>,
    (typeof fields.NewConnectAttempt.required)[number]
  >;
  connectMayBeNull: SameNames<
    NullableName<declared.NewConnectAttempt>,
    (typeof fields.NewConnectAttempt.nullable)[number]
  >;
  setCredentials: SameNames<keyof declared.NewCredentials, (typeof fields.NewCredentials.all)[number]>;
  setCredentialsRequires: SameNames<
    RequiredName<declared.NewCredentials>,
    (typeof fields.NewCredentials.required)[number]
  >;
  setCredentialsMayBeNull: SameNames<
    NullableName<declared.NewCredentials>,
    (typeof fields.NewCredentials.nullable)[number]
  >;
  import: SameNames<keyof declared.NewImport, (typeof fields.NewImport.all)[number]>;
  importRequires: SameNames<RequiredName<declared.NewImport>, (typeof fields.NewImport.required)[number]>;
  oauthClient: SameNames<keyof declared.NewOauthClient, (typeof fields.NewOauthClient.all)[number]>;
  oauthClientRequires: SameNames<
    RequiredName<declared.NewOauthClient>,
    (typeof fields.NewOauthClient.required)[number]
  >;
  oauthClientMayBeNull: SameNames<
    NullableName<declared.NewOauthClient>,
    (typeof fields.NewOauthClient.nullable)[number]
  >;
  agentSignIn: SameNames<keyof declared.NewAgentSignIn, (typeof fields.NewAgentSignIn.all)[number]>;
  agentSignInRequires: SameNames<
    RequiredName<declared.NewAgentSignIn>,
    (typeof fields.NewAgentSignIn.required)[number]
  >;
  agentSignInMayBeNull: SameNames<
    NullableName<declared.NewAgentSignIn>,
    (typeof fields.NewAgentSignIn.nullable)[number]
  >;
  agentGrant: SameNames<keyof declared.NewAgentGrant, (typeof fields.NewAgentGrant.all)[number]>;
  agentGrantRequires: SameNames<RequiredName<declared.NewAgentGrant>, (typeof fields.NewAgentGrant.required)[number]>;
  consoleSignIn: SameNames<keyof declared.NewConsoleSignIn, (typeof fields.NewConsoleSignIn.all)[number]>;
  consoleSignInRequires: SameNames<
    RequiredName<declared.NewConsoleSignIn>,
    (typeof fields.NewConsoleSignIn.required)[number]
  >;
  consoleSignInMayBeNull: SameNames<
    NullableName<declared.NewConsoleSignIn>,
    (typeof fields.NewConsoleSignIn.nullable)[number]
  >;
  webhook: SameNames<keyof declared.NewWebhook, (typeof fields.NewWebhook.all)[number]>;
  webhookRequires: SameNames<RequiredName<declared.NewWebhook>, (typeof fields.NewWebhook.required)[number]>;
  webhookMayBeNull: SameNames<NullableName<declared.NewWebhook>, (typeof fields.NewWebhook.nullable)[number]>;
  webhookChanges: SameNames<keyof declared.WebhookChanges, (typeof fields.WebhookChanges.all)[number]>;
  webhookChangesRequire: SameNames<
    RequiredName<declared.WebhookChanges>,
    (typeof fields.WebhookChanges)["required"][number]
  >;
  apiKey: SameNames<keyof declared.NewApiKey, (typeof fields.NewApiKey.all)[number]>;
  apiKeyRequires: SameNames<RequiredName<declared.NewApiKey>, (typeof fields.NewApiKey.required)[number]>;
  apiKeyMayBeNull: SameNames<NullableName<declared.NewApiKey>, (typeof fields.NewApiKey.nullable)[number]>;
  replay: SameNames<keyof declared.Replay, (typeof fields.Replay.all)[number]>;
  replayRequires: SameNames<RequiredName<declared.Replay>, (typeof fields.Replay.required)[number]>;
  session: SameNames<keyof declared.NewSession, (typeof fields.NewSession.all)[number]>;
  sessionRequires: SameNames<RequiredName<declared.NewSession>, (typeof fields.NewSession.required)[number]>;
  sessionMayBeNull: SameNames<NullableName<declared.NewSession>, (typeof fields.NewSession.nullable)[number]>;
  // A sent session and a returned one have the same types.
  newSessionTypes: SameMembers<
    Omit<MutableMembers<declared.NewSession>, "ttlSeconds">,
    Pick<NonNullableMembers<declared.Session>, Exclude<keyof declared.NewSession, "ttlSeconds">>
  >;
  newConnectionTypes: SameMembers<
    Omit<
      { [Name in keyof declared.NewConnection]-?: Exclude<declared.NewConnection[Name], undefined> },
      "label" | "tags"
    >,
    Pick<declared.Connection, Exclude<keyof declared.NewConnection, "label" | "tags">>
  >;
}>;

// ---------------------------------------------------------------------------------------------------------------------
// Responses
// ---------------------------------------------------------------------------------------------------------------------

/** The primitive type of a literal type. */
type WidenedLiteral<T> = T extends string ? string : T extends number ? number : T extends boolean ? boolean : T;

/** Whether a type is a union of string literals, and neither `string` nor a template literal type. */
type IsFinite<T> = [T] extends [string] ? ({} extends Record<T, unknown> ? false : true) : false;

/** `true` if recorded values match the declared type. A declared union of names must match exactly. */
type SameValue<Declared, Values> =
  IsFinite<Declared> extends true
    ? SameNames<Declared, Values>
    : [null] extends [Declared]
      ? SameNullable<Declared, Values>
      : SameContent<Declared, Values>;

/** `true` if one recorded value is null, and the others match the declared type. */
type SameNullable<Declared, Values> = [null] extends [Values]
  ? SameValue<Exclude<Declared, null>, Exclude<Values, null>>
  : { declared: Declared; served: Values };

type SameContent<Declared, Values> = [Declared, Values] extends [readonly (infer Item)[], readonly (infer Values)[]]
  ? SameValue<Item, Values>
  : [Declared] extends [object]
    ? SameObject<Declared, Values>
    : [Values] extends [Declared]
      ? Same<WidenedLiteral<Declared>, WidenedLiteral<Values>>
      : { declared: Declared; served: Values };

/** `true` if each recorded object has exactly the declared members, otherwise the differences. */
type SameObject<Declared, Objects> =
  | (Objects extends Objects ? SameNames<keyof Declared, keyof Objects> : never)
  | {
      [Name in keyof Declared & keyof Objects]: SameValue<Declared[Name], Objects[Name]> extends true
        ? true
        : { member: Name; differs: SameValue<Declared[Name], Objects[Name]> };
    }[keyof Declared & keyof Objects];

type Row<Interface extends keyof typeof rows> = (typeof rows)[Interface][number];
type Document<Interface extends keyof typeof documents> = (typeof documents)[Interface][number];
type WhoamiOfToken = { [Name in keyof declared.Whoami]-?: Exclude<declared.Whoami[Name], undefined> };
type Method = Document<"ConnectorDetail">["authMethods"][number];
type Action = Document<"ActionDetail">;
type Problem = (typeof problems)[number];
type Fault = Extract<Problem, { errors: unknown }>["errors"][number];
/** Omits a property from each member of a union. */
type Without<Shapes, Name extends PropertyKey> = Shapes extends Shapes ? Omit<Shapes, Name> : never;
type RestrictionName = "access" | "actions" | "client" | "confirm" | "connections" | "fields" | "fixedFields" | "lang";
/** The property names of all members of a union. */
type DistributiveKey<Shapes> = Shapes extends Shapes ? keyof Shapes : never;

export type Responses = Check<{
  Action: SameObject<declared.Action, Row<"Action">>;
  Connection: SameObject<declared.Connection, Row<"Connection">>;
  Connector: SameObject<declared.Connector, Row<"Connector">>;
  allRows: SameNames<keyof typeof rows, "Action" | "Connection" | "Connector">;
  ConnectionSummary: SameObject<declared.ConnectionSummary, Document<"ConnectionSummary">>;
  // Without restrictions, which are only `null` or `write` in the recorded token.
  Session: SameObject<
    Omit<declared.Session, "connectUrl" | RestrictionName>,
    Without<Document<"Session">, "connectUrl" | RestrictionName>
  >;
  // `connectUrl` is returned only with the scope `connections:connect`.
  sessionOptionalMembers: SameNames<keyof declared.Session, DistributiveKey<Document<"Session">>>;
  // Only the required members: the others exist only for tokens.
  Whoami: SameObject<Pick<declared.Whoami, RequiredName<declared.Whoami>>, Document<"Whoami">>;
  WhoamiOfToken: SameObject<
    Omit<WhoamiOfToken, "person" | "expiresAt" | "scopes" | RestrictionName>,
    Omit<Document<"WhoamiOfToken">, "expiresAt" | "scopes" | RestrictionName>
  >;
  whoamiMembers: SameNames<Exclude<keyof declared.Whoami, "person">, keyof Document<"WhoamiOfToken">>;
  ConnectorDetail: SameNames<keyof declared.ConnectorDetail, keyof Document<"ConnectorDetail">>;
  Pagination: SameNames<keyof declared.Pagination, keyof Document<"ConnectorDetail">["pagination"][number]>;
  ConnectorServer: SameNames<keyof declared.ConnectorServer, keyof Document<"ConnectorDetail">["servers"][number]>;
  AuthField: SameNames<keyof declared.AuthField, keyof Method["fields"][number]>;
  OAuth2Method: SameNames<keyof declared.OAuth2Method, keyof Extract<Method, { type: "oauth2" }>>;
  ApiKeyMethod: SameNames<keyof declared.ApiKeyMethod, keyof Extract<Method, { type: "api_key" }>>;
  BasicMethod: SameNames<keyof declared.BasicMethod, keyof Extract<Method, { type: "basic" }>>;
  BearerMethod: SameNames<keyof declared.BearerMethod, keyof Extract<Method, { type: "bearer" }>>;
  AwsMethod: SameNames<keyof declared.AwsMethod, keyof Extract<Method, { type: "aws_sigv4" }>>;
  authTypes: SameNames<declared.AuthMethod["type"], Method["type"]>;
  // The recorded action has no `graphql`, because its platform has no GraphQL API.
  ActionDetail: SameNames<keyof declared.ActionDetail, keyof Action | "graphql">;
  onlyResponsesAreOptional: SameNames<
    keyof declared.ActionDetail,
    RequiredName<declared.ActionDetail> | "responses" | "graphql"
  >;
  ActionParameter: SameNames<keyof declared.ActionParameter, DistributiveKey<Action["parameters"][number]>>;
  parameterRequiredMembers: SameNames<RequiredName<declared.ActionParameter>, keyof Action["parameters"][number]>;
  RequestBody: SameObject<
    Omit<declared.RequestBody, "schema" | "encoding">,
    Omit<NonNullable<Action["requestBody"]>, "schema" | "encoding">
  >;
  // Optional members are absent if the platform's document does not specify them.
  Encoding: SameObject<
    Omit<NonNullable<declared.RequestBody["encoding"]>[string], "allowReserved" | "contentType" | "headers">,
    NonNullable<Action["requestBody"]>["encoding"]["meta"]
  >;
  ActionAuth: SameObject<declared.ActionAuth, Action["auth"][number]>;
  ActionResponse: SameObject<Omit<declared.ActionResponse, "schema">, Omit<Action["responses"][number], "schema">>;
  // Without `after`, because the service returns the cursor in a header.
  Page: SameNames<
    // Without `totalIsMinimum` and `notes`, which only responses to searches have.
    Exclude<
      keyof declared.Page<unknown>,
      "after" | "next" | "toArray" | "notes" | "totalIsMinimum" | typeof Symbol.asyncIterator
    >,
    keyof Document<"Page">
  >;
  allDocuments: SameNames<
    keyof typeof documents,
    "ActionDetail" | "ConnectionSummary" | "ConnectorDetail" | "Page" | "Session" | "Whoami" | "WhoamiOfToken"
  >;

  // Members with enumerations or template literal types must not be declared as `string`.
  type: Same<declared.Connection["type"], Row<"Connection">["type"]>;
  state: Same<declared.Connection["state"], declared.ConnectionState>;
  identityType: Same<declared.Connection["identityType"], declared.IdentityType>;
  environment: Same<declared.Connection["environment"] | declared.Whoami["environment"], declared.Environment>;
  scopes: Same<[declared.Whoami["scopes"], declared.Session["scopes"]], [declared.Scope[], declared.SessionScope[]]>;
  status: Same<declared.Connector["status"], declared.ConnectorStatus>;
  method: Same<declared.Action["method"], declared.ActionMethod>;
  versions: Same<(declared.Connection | declared.Connector)["platformVersion"], declared.PlatformVersion>;
  keys: Same<[declared.Connection["key"], declared.Connector["key"]], [declared.ConnectionKey, declared.ConnectorKey]>;

  // Errors have no `type` and `title`, which `code` implies. `detail` is their message.
  problem: SameNames<
    | Exclude<keyof (declared.NotFoundError & declared.ConflictError), keyof Error | "headers">
    | "type"
    | "title"
    | "detail",
    DistributiveKey<Problem>
  >;
  code: Same<declared.VaultError["code"], declared.ProblemCode | declared.ClientCode | declared.ConnectCode>;
  suggestions: Same<Extract<Problem, { suggestions: unknown }>["code"], "platform_not_found" | "action_not_found">;
  connectionId: Same<Extract<Problem, { connectionId: unknown }>["code"], "connection_exists">;
  fault: SameNames<keyof declared.Fault, DistributiveKey<Fault>>;
  faultRequiredMembers: SameNames<RequiredName<declared.Fault>, keyof Fault>;
}>;
