// What is tried out carries the key that its reader is signed in with.
import type { System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { onSession, sessionState } from "../session/store";

/** The security scheme of the document. */
export const SCHEME = "apiKey";

/** The secret of the session, which stays in memory; undefined when nobody is signed in. */
export function sessionSecret(): string | undefined {
  const state = sessionState();
  return state.is === "in" ? state.opened.secret : undefined;
}

/** The secret that requests carry. */
export const usedSecret = ({ authSelectors }: System): string | undefined =>
  authSelectors.authorized()?.getIn([SCHEME, "value"]);

/** Lets requests carry this secret; with undefined, none. */
export function useSecret({ authActions, specSelectors }: System, value: string | undefined): void {
  if (value === undefined) {
    authActions.logout([SCHEME]);
    return;
  }
  const schema = specSelectors.securityDefinitions().get(SCHEME);
  authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value } });
}

/** Lets requests carry the session's secret, now and whenever the session changes. */
export function followSession(system: System): void {
  let last: string | undefined;
  const follow = () => {
    const secret = sessionSecret();
    // What somebody has filled in goes before, until they sign in or out.
    if (secret !== last) useSecret(system, secret);
    last = secret;
  };
  follow();
  onSession(follow);
}
