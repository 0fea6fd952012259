// Requests of the reference use the session's key.
import type { System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { onSession, sessionState } from "../session/store";

/** The security scheme's name in the document. */
export const SCHEME = "apiKey";

/** The session's key or token; undefined when signed out. */
export function sessionSecret(): string | undefined {
  const state = sessionState();
  return state.kind === "in" ? state.session.secret : undefined;
}

export const usedSecret = ({ authSelectors }: System): string | undefined =>
  authSelectors.authorized()?.getIn([SCHEME, "value"]);

/** Sets the key for requests, or removes it if undefined. */
export function useSecret({ authActions, specSelectors }: System, value: string | undefined): void {
  if (value === undefined) {
    authActions.logout([SCHEME]);
    return;
  }
  const schema = specSelectors.securityDefinitions().get(SCHEME);
  authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value } });
}

/** Follows the session's key, now and after each change. */
export function followSession(system: System): void {
  let lastSecret: string | undefined;
  const follow = () => {
    const secret = sessionSecret();
    // A key entered by the user stays until the session changes.
    if (secret !== lastSecret) useSecret(system, secret);
    lastSecret = secret;
  };
  follow();
  onSession(follow);
}
