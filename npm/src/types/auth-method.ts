// The auth methods of connectors.
import type { Names } from "./names.js";

/** A server of a platform's API. */
export interface ConnectorServer {
  /** An absolute URL. The field `name` replaces `{name}`. */
  url: string;
  description: string | null;
}

/** A request to the platform. */
export interface PlatformRequest {
  method: Names["ActionMethod"];
  /** A path on the first server whose variables are all fields of the method, or an absolute URL. */
  path: string;
  /** The JSON body; null for none. */
  body: unknown;
}

/** A request that verifies credentials. A response with a status of 2xx means that they are valid. */
export interface VerifyRequest extends PlatformRequest {
  /** The statuses that mean that the credentials are invalid. All other statuses except 2xx are inconclusive. */
  rejected: number[];
  /**
   * Response content that means that the credentials are invalid, with any status; null if there is none. An array
   * in `value` lists alternatives.
   */
  rejectedWhen: { pointer: string; value: unknown } | null;
}

/** An auth method: how a connection authenticates at its platform. */
export type AuthMethod = OAuth2Method | ApiKeyMethod | BasicMethod | BearerMethod | AwsMethod;

interface MethodOf<Type extends string> {
  /** Unique within the connector. */
  id: string;
  type: Type;
  /** The fields that the user fills in. */
  fields: AuthField[];
  /**
   * Headers of every request to the platform. The field `name`, or the member `name` of the token response, replaces
   * `{name}` in a value. With OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are also variables.
   */
  headers: Record<string, string>;
  /** Query parameters of every request to the platform, with the same variables as `headers`. */
  query: Record<string, string>;
}

/** OAuth 2.0 (RFC 6749). URLs may contain variables in braces. */
export interface OAuth2Method extends MethodOf<"oauth2"> {
  grant: "authorization_code" | "client_credentials" | "account_credentials";
  /** The issuer identifier (RFC 9207); null if unknown. */
  issuer: string | null;
  /** The authorization endpoint; null except with `authorization_code`. */
  authorizationUrl: string | null;
  /** The token endpoint. */
  tokenUrl: string;
  /** The endpoint that exchanges refresh tokens; null for `tokenUrl`. */
  refreshUrl: string | null;
  /** The revocation endpoint (RFC 7009); null if unknown. */
  revocationUrl: string | null;
  /** The scopes that can be requested. */
  scopes: { name: string; description: string }[];
  /** The separator between scopes. */
  scopeSeparator: string;
  /** The PKCE method (RFC 7636). */
  pkce: "S256" | "none";
  /** How the client authenticates at `tokenUrl`. */
  tokenAuth: "client_secret_post" | "client_secret_basic" | "client_secret_basic_raw" | "private_key_jwt" | "none";
  /** The platform's name for the parameter `client_id`. */
  clientIdParameter: string;
  /** Additional parameters of the authorization request. */
  authorizationParameters: Record<string, string>;
  /** Additional parameters of the token request. */
  tokenParameters: Record<string, string>;
  /** A template of the parameter `redirect_uri`; null for the service's callback URL. */
  redirectUri: string | null;
  /** The parameters to copy from the redirect to the token request. */
  callbackParameters: string[];
  /** The encoding of the token request's body. */
  tokenBody: "form" | "json";
  /** Headers of token and revocation requests. */
  tokenHeaders: Record<string, string>;
  /** The encoding of the revocation request's body. */
  revocationBody: "form" | "json";
  /** The token to send in the revocation request. */
  revocationToken: "refresh_token" | "access_token";
  /** The JSON Pointer of the object in the token response that contains the tokens; null for the whole response. */
  tokenPointer: string | null;
  /** The JSON Pointer to try if there are no tokens at `tokenPointer`; null for none. */
  tokenFallback: string | null;
  /** The members of the token response to store. */
  tokenMembers: string[];
  /** The platform's name for the parameter `code` of the redirect. */
  codeParameter: string;
  /** The unit of `expires_in` in the token response. */
  expiresUnit: "s" | "ms";
  /** Exchanges the first access token for a longer-lived one; null if the platform has no such request. */
  longLivedToken: AccessTokenRequest | null;
  /** Refreshes an access token without a refresh token; null if the platform has no such request. */
  accessTokenRefresh: AccessTokenRequest | null;
  /** A URL that returns values of fields for an access token; null if there is none. */
  lookupUrl: string | null;
  /** Where to read the values that the platform supplies. The user does not fill in these fields. */
  fieldSources: FieldSource[];
}

/** A request that exchanges an access token for another one. */
export interface AccessTokenRequest {
  method: "GET" | "POST";
  /** An absolute URL. */
  url: string;
  /** All parameters, with the variables `{accessToken}`, `{clientId}` and `{clientSecret}`. */
  parameters: Record<string, string>;
}

/** Where the service reads the value of a field. */
export interface FieldSource {
  /** The field's name. */
  field: string;
  /** The source of the value: the redirect, the token response, or the response of `lookupUrl`. */
  from: "callback" | "token" | "lookup";
  /** The name of the redirect's parameter, or a JSON Pointer into the response. */
  at: string;
  /** A template of the supplied string, with `{field}` for the value; null if the string is the value. */
  template: string | null;
}

/** An API key that is sent with each request. */
export interface ApiKeyMethod extends MethodOf<"api_key"> {
  /** Where the key is sent. */
  in: "header" | "query" | "cookie";
  /** The name of the header, parameter or cookie. */
  name: string;
  /** Precedes the key. Can be empty. If the prefix ends with a letter or a digit, a space follows it. */
  prefix: string;
}

/** A user name and a password (RFC 7617). */
export interface BasicMethod extends MethodOf<"basic"> {
  /** The platform's label for the user name. */
  usernameLabel: string;
  /** The platform's label for the password. */
  passwordLabel: string;
  /** A template of the user name; null if the user enters it in the field `username`. */
  username: string | null;
  /** A template of the password; null if the user enters it in the field `password`. */
  password: string | null;
}

/** A token in the header `Authorization` (RFC 6750). */
export interface BearerMethod extends MethodOf<"bearer"> {
  /** Precedes the token. If the prefix ends with a letter or a digit, a space follows it. */
  prefix: string;
}

/** Requests signed with AWS Signature Version 4. */
export interface AwsMethod extends MethodOf<"aws_sigv4"> {
  /** The service name in signatures. */
  service: string;
  /** The regions of the service; empty if unknown. */
  regions: string[];
}

/** A field that the user fills in. */
export interface AuthField {
  /** The field's key in `NewConnectAttempt.fields`. */
  name: string;
  /** The human-readable name of the field. */
  label: string;
  /** Instructions for the user. */
  description: string | null;
  /** Whether the input must hide the value. */
  secret: boolean;
  required: boolean;
  /** A regular expression that must match the whole value. */
  pattern: string | null;
  enum: string[] | null;
  /** The value to use if the user leaves the field empty. */
  default: string | null;
}
