// Uses the session's key for requests of the API reference.
import type { System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { onSession, sessionState } from "../session/store";

/** The name of the security scheme in the OpenAPI document. */
export const SCHEME = "apiKey";

/** Returns the session's key or token; undefined if the user is signed out. */
export function sessionSecret(): string | undefined {
  const state = sessionState();
  return state.kind === "in" ? state.session.secret : undefined;
}

export const requestSecret = ({ authSelectors }: System): string | undefined =>
  authSelectors.authorized()?.getIn([SCHEME, "value"]);

/** Sets the key for requests, or removes it if `value` is undefined. */
export function useSecret({ authActions, specSelectors }: System, value: string | undefined): void {
  if (value === undefined) {
    authActions.logout([SCHEME]);
    return;
  }
  const schema = specSelectors.securityDefinitions().get(SCHEME);
  authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value } });
}

/** Uses the session's key, now and after each change of the session. */
export function followSession(system: System): void {
  let lastSecret: string | undefined;
  const applySessionKey = () => {
    const secret = sessionSecret();
    // Keep a key that the user has entered until the session changes.
    if (secret !== lastSecret) useSecret(system, secret);
    lastSecret = secret;
  };
  applySessionKey();
  onSession(applySessionKey);
}
