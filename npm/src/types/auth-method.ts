// The ways to connect to a platform.
import type { Names } from "./names.js";

/** A base URL of a platform's API. */
export interface ConnectorServer {
  /** An absolute URL. `{name}` is replaced with the field of that name. */
  url: string;
  /** The purpose of the server. */
  description: string | null;
}

/** A request to the platform. */
export interface PlatformRequest {
  /** The HTTP method. */
  method: Names["ActionMethod"];
  /** The path below the first server whose variables are all among the method's fields, or an absolute URL. */
  path: string;
  /** The JSON body; null for none. */
  body: unknown;
}

/** A request that verifies credentials: the platform accepts them if it responds with a 2xx. */
export interface VerifyRequest extends PlatformRequest {
  /** The statuses with which the platform rejects credentials. All others except 2xx are inconclusive. */
  rejected: number[];
  /**
   * The content of a response that rejects the credentials, regardless of its status; null if there is none. An array as `value`
   * lists alternatives.
   */
  rejectedWhen: { pointer: string; value: unknown } | null;
}

/** A way to connect to a platform. */
export type AuthMethod = OAuth2Method | ApiKeyMethod | BasicMethod | BearerMethod | AwsMethod;

interface MethodOf<Type extends string> {
  /** Unique within the connector. */
  id: string;
  /** The type of the method. */
  type: Type;
  /** The fields that the user fills in. */
  fields: AuthField[];
  /**
   * Headers of every request to the platform. In a value, `{name}` is replaced with the field of that name, or with the
   * member of the token response. With OAuth 2.0, `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced too.
   */
  headers: Record<string, string>;
  /** Query parameters of every request to the platform, as in `headers`. */
  query: Record<string, string>;
}

/** OAuth 2.0 (RFC 6749). URLs may contain variables in braces. */
export interface OAuth2Method extends MethodOf<"oauth2"> {
  /** The grant type. */
  grant: "authorization_code" | "client_credentials" | "account_credentials";
  /** The issuer (RFC 9207); null if unknown. */
  issuer: string | null;
  /** Where users are sent; null for the other grants. */
  authorizationUrl: string | null;
  /** Where codes and refresh tokens are exchanged. */
  tokenUrl: string;
  /** Where refresh tokens are exchanged, if not at `tokenUrl`. */
  refreshUrl: string | null;
  /** Where tokens are revoked (RFC 7009); null if unknown. */
  revocationUrl: string | null;
  /** The scopes that can be requested. */
  scopes: { name: string; description: string }[];
  /** The separator between scopes. */
  scopeSeparator: string;
  /** The method of PKCE (RFC 7636). */
  pkce: "S256" | "none";
  /** How the client authenticates at `tokenUrl`. */
  tokenAuth: "client_secret_post" | "client_secret_basic" | "client_secret_basic_raw" | "private_key_jwt" | "none";
  /** The platform's name for the parameter `client_id`. */
  clientIdParameter: string;
  /** More parameters of the authorization request. */
  authorizationParameters: Record<string, string>;
  /** More parameters of the token request. */
  tokenParameters: Record<string, string>;
  /** A template of the parameter `redirect_uri`; null for the service's callback address. */
  redirectUri: string | null;
  /** The parameters of the redirect that are repeated in the token request. */
  callbackParameters: string[];
  /** The form of the token request. */
  tokenBody: "form" | "json";
  /** Headers of token and revocation requests. */
  tokenHeaders: Record<string, string>;
  /** The form of the revocation request. */
  revocationBody: "form" | "json";
  /** The token that a revocation request names. */
  revocationToken: "refresh_token" | "access_token";
  /** The JSON Pointer of the object with the tokens; null for the whole response. */
  tokenPointer: string | null;
  /** The JSON Pointer to use if there are no tokens at `tokenPointer`; null if there is no other. */
  tokenFallback: string | null;
  /** The members of the token response that are stored. */
  tokenMembers: string[];
  /** The platform's name for the redirect's parameter `code`. */
  codeParameter: string;
  /** The unit of the access token's lifetime in the token response. */
  expiresUnit: "s" | "ms";
  /** The request that exchanges the first access token for a longer-lived one; null if there is none. */
  longLivedToken: AccessTokenRequest | null;
  /** The request that refreshes an access token without a refresh token; null if there is none. */
  accessTokenRefresh: AccessTokenRequest | null;
  /** The URL that returns values of fields for an access token; null if there is none. */
  lookupUrl: string | null;
  /** Fields whose values the platform supplies, so that the user does not fill them in. */
  fieldSources: FieldSource[];
}

/** A request for an access token that another access token authorizes. */
export interface AccessTokenRequest {
  /** The HTTP method. */
  method: "GET" | "POST";
  /** An absolute URL. */
  url: string;
  /** All parameters. `{accessToken}`, `{clientId}` and `{clientSecret}` are replaced. */
  parameters: Record<string, string>;
}

/** The place from which the service reads a field's value. */
export interface FieldSource {
  /** The field's name. */
  field: string;
  /** Where the value is: in the redirect, the token response, or the response at `lookupUrl`. */
  from: "callback" | "token" | "lookup";
  /** The name of a parameter of the redirect, or a JSON Pointer into the response. */
  at: string;
  /** A template of what the platform supplies, with `{field}` in place of the value; null if it supplies the value alone. */
  template: string | null;
}

/** A key that is sent with each request. */
export interface ApiKeyMethod extends MethodOf<"api_key"> {
  /** Where it is sent. */
  in: "header" | "query" | "cookie";
  /** The name of the header, parameter or cookie. */
  name: string;
  /** The prefix of the key. Can be empty. A space follows if it ends with a letter or a digit. */
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
  /** The prefix of the token. A space follows if it ends with a letter or a digit. */
  prefix: string;
}

/** Requests signed with AWS Signature Version 4. */
export interface AwsMethod extends MethodOf<"aws_sigv4"> {
  /** The name of the service in signatures. */
  service: string;
  /** Its regions; empty if unknown. */
  regions: string[];
}

/** A field that the user fills in. */
export interface AuthField {
  /** Its name in requests to connect. */
  name: string;
  /** The human-readable name. */
  label: string;
  /** Instructions for filling it in. */
  description: string | null;
  /** Whether its value must be hidden. */
  secret: boolean;
  /** Whether it must be filled in. */
  required: boolean;
  /** A regular expression that the whole value matches. */
  pattern: string | null;
  /** The allowed values; null for any. */
  enum: string[] | null;
  /** The value if the field is left empty. */
  default: string | null;
}
