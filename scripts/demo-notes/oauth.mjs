// The authorization server of the demo platform: authorization code with PKCE (RFC 7636), short-lived access tokens, rotating
// refresh tokens (RFC 9700, 4.14.2), revocation (RFC 7009). It stores hashes of tokens, not the tokens.
import { createHash, randomBytes } from "node:crypto";

/** The only client. It is a public client, because `npm start` can't store a client secret safely. */
export const CLIENT = { id: "connector-vault-local", name: "Connector Vault (local)" };
export const SCOPES = { "notes:read": "Read notes", "notes:write": "Create, change and delete notes" };

const CODE_LIFETIME_MS = 60_000;
/** The number of used refresh tokens that a grant remembers, to detect reuse. */
const MAX_USED_TOKENS = 100;
const CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER_PATTERN = /^[A-Za-z0-9._~-]{43,128}$/;

const newSecret = (prefix) => `${prefix}_${randomBytes(32).toString("base64url")}`;
const hashOf = (token) => createHash("sha256").update(token).digest("base64url");

/** An OAuth error. `code` is the `error` value defined in RFC 6749. */
export class OAuthError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** The value of a parameter; undefined if it is missing or empty. A repeated parameter is an error (RFC 6749, 3.1). */
function parameterOf(parameters, name) {
  const values = parameters.getAll(name);
  if (values.length > 1) throw new OAuthError("invalid_request", `The parameter ${name} is repeated.`);
  return values[0] || undefined;
}

function required(parameters, name) {
  const value = parameterOf(parameters, name);
  if (value === undefined) throw new OAuthError("invalid_request", `The parameter ${name} is missing.`);
  return value;
}

/** The scopes in a parameter, without duplicates; `defaultScopes` if it is missing. */
function scopesOf(parameters, defaultScopes, allowed = Object.keys(SCOPES)) {
  const text = parameterOf(parameters, "scope");
  if (text === undefined) return defaultScopes;
  const scopes = [...new Set(text.split(" ").filter(Boolean))];
  const unknownScope = scopes.find((scope) => !allowed.includes(scope));
  if (scopes.length > 0 && unknownScope === undefined) return scopes;
  throw new OAuthError("invalid_scope", `The scopes here are ${allowed.join(" and ")}.`);
}

/** Validates the client and the redirect URI, and returns the URI. Its errors must not redirect the user (RFC 6749, 4.1.2.1). */
export function readClient(parameters, redirectUris) {
  const id = required(parameters, "client_id");
  if (id !== CLIENT.id)
    throw new OAuthError(
      "unauthorized_client",
      `There is no app with the client id ${id}; the only one is ${CLIENT.id}.`,
    );
  const redirectUri = required(parameters, "redirect_uri");
  if (!redirectUris.has(redirectUri)) {
    const uris = [...redirectUris].join(" and ");
    throw new OAuthError(
      "invalid_request",
      `${redirectUri} is not a redirect URI of this app; it has ${uris || "none"}.`,
    );
  }
  return redirectUri;
}

/** Parses the parameters of an authorization request, except those that `readClient` validates. */
export function readAuthorization(parameters) {
  if (required(parameters, "response_type") !== "code")
    throw new OAuthError("unsupported_response_type", "response_type must be code.");
  required(parameters, "state");
  const challenge = parameterOf(parameters, "code_challenge");
  if (challenge === undefined || parameterOf(parameters, "code_challenge_method") !== "S256")
    throw new OAuthError("invalid_request", "PKCE is required: code_challenge, with the code_challenge_method S256.");
  if (!CHALLENGE_PATTERN.test(challenge))
    throw new OAuthError("invalid_request", "code_challenge is not a SHA-256 in base64url without padding.");
  return { scopes: scopesOf(parameters, Object.keys(SCOPES)), challenge };
}

/**
 * The grants of people to the app, with the hashes of their tokens. They are stored in `state.grants`, and `save` is called after
 * each change.
 */
export class Grants {
  /** Codes by their hash. Not saved, because they expire within a minute. */
  #codes = new Map();

  constructor({ state, save, now, accessSeconds }) {
    Object.assign(this, { state, save, now, accessSeconds });
  }

  /** Issues a code for a grant of a person. */
  issueCode({ person, scopes, challenge, redirectUri }) {
    for (const [hash, { expiresAt }] of this.#codes) if (expiresAt <= this.now()) this.#codes.delete(hash);
    const code = newSecret("code");
    this.#codes.set(hashOf(code), { person, scopes, challenge, redirectUri, expiresAt: this.now() + CODE_LIFETIME_MS });
    return code;
  }

  exchange(parameters) {
    const client = required(parameters, "client_id");
    if (client !== CLIENT.id) throw new OAuthError("invalid_client", `There is no app with the client id ${client}.`);
    const type = required(parameters, "grant_type");
    if (type === "authorization_code") return this.#redeem(parameters);
    if (type === "refresh_token") return this.#refresh(parameters);
    throw new OAuthError("unsupported_grant_type", "grant_type must be authorization_code or refresh_token.");
  }

  #redeem(parameters) {
    const code = this.#codes.get(hashOf(required(parameters, "code")));
    const redirectUri = required(parameters, "redirect_uri");
    const verifier = required(parameters, "code_verifier");
    if (!code) throw new OAuthError("invalid_grant", "The code is unknown or has expired.");
    if (code.isUsed) {
      // A second use means that the code may have been stolen (RFC 6749, 4.1.2).
      this.revokeGrant(code.grant);
      throw new OAuthError("invalid_grant", "The code was used before. Its tokens are revoked.");
    }
    // The code is used up even if a check below fails.
    code.isUsed = true;
    if (code.expiresAt <= this.now()) throw new OAuthError("invalid_grant", "The code has expired.");
    if (code.redirectUri !== redirectUri)
      throw new OAuthError("invalid_grant", "redirect_uri is not that of the authorization request.");
    if (!VERIFIER_PATTERN.test(verifier) || hashOf(verifier) !== code.challenge)
      throw new OAuthError("invalid_grant", "code_verifier does not match code_challenge.");
    const grant = {
      id: randomBytes(8).toString("hex"),
      person: code.person,
      scopes: code.scopes,
      grantedAt: this.now(),
      refreshedAt: null,
      refreshes: 0,
      accesses: [],
      refresh: null,
      used: [],
    };
    this.state.grants.push(grant);
    code.grant = grant.id;
    return this.#issue(grant, grant.scopes);
  }

  #refresh(parameters) {
    const hash = hashOf(required(parameters, "refresh_token"));
    const grant = this.state.grants.find(({ refresh, used }) => refresh === hash || used.includes(hash));
    if (!grant) throw new OAuthError("invalid_grant", "The refresh token is unknown or revoked.");
    if (grant.refresh !== hash) {
      // A second use means that the token may have been stolen (RFC 9700, 4.14.2).
      this.revokeGrant(grant.id);
      throw new OAuthError("invalid_grant", "The refresh token was used before. The app's access is revoked.");
    }
    const scopes = scopesOf(parameters, grant.scopes, grant.scopes);
    grant.used = [...grant.used, hash].slice(-MAX_USED_TOKENS);
    grant.refreshes += 1;
    grant.refreshedAt = this.now();
    return this.#issue(grant, scopes);
  }

  #issue(grant, scopes) {
    const [access, refresh] = [newSecret("access"), newSecret("refresh")];
    const now = this.now();
    grant.accesses = grant.accesses.filter(({ expiresAt }) => expiresAt > now);
    grant.accesses.push({ hash: hashOf(access), scopes, expiresAt: now + this.accessSeconds * 1000 });
    grant.refresh = hashOf(refresh);
    this.save();
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: this.accessSeconds,
      refresh_token: refresh,
      scope: scopes.join(" "),
    };
  }

  /** Handles a revocation request. An unknown token is not an error (RFC 7009, 2.2). Either token revokes the whole grant. */
  revoke(parameters) {
    const hash = hashOf(required(parameters, "token"));
    const client = required(parameters, "client_id");
    if (client !== CLIENT.id) throw new OAuthError("invalid_client", `There is no app with the client id ${client}.`);
    const hasToken = ({ refresh, accesses }) => refresh === hash || accesses.some((access) => access.hash === hash);
    const grant = this.state.grants.find(hasToken);
    if (grant) this.revokeGrant(grant.id);
  }

  /** Revokes a grant and all of its tokens. */
  revokeGrant(id) {
    this.state.grants = this.state.grants.filter((grant) => grant.id !== id);
    this.save();
  }

  /** The person and the scopes of an access token; undefined if it is expired, revoked or unknown. */
  authenticate(token) {
    const hash = hashOf(token);
    for (const { person, accesses } of this.state.grants) {
      const found = accesses.find((access) => access.hash === hash && access.expiresAt > this.now());
      if (found) return { person, scopes: found.scopes };
    }
    return undefined;
  }

  forPerson(person) {
    return this.state.grants.filter((grant) => grant.person === person);
  }
}
