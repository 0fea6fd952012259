// For whom the window asks, and what it may do.
import type { Scope, Whoami } from "connector-vault/slim";
import { listenerOf } from "./embedder";
import { type Opening, originOf } from "./opening";
import { Service } from "./service";

export interface Session {
  service: Service;
  who: Whoami;
  may: (scope: Scope) => boolean;
  /** The origin that hears what becomes of the window. */
  listener: string | undefined;
  /** Where a full page leads back to. */
  returnUrl: string | undefined;
}

/** Opens what the window was opened with. */
export async function openSession(opening: Opening, token: string): Promise<Session> {
  const service = new Service(token);
  const who = await service.whoami();
  const backTo = originOf(opening.returnUrl);
  // Nobody is led to a page that the token is not for.
  const isMeant = backTo !== undefined && listenerOf({ ...opening, origin: backTo }, who) !== undefined;
  return {
    service,
    who,
    may: (scope) => who.scopes.includes(scope),
    listener: listenerOf(opening, who),
    returnUrl: isMeant ? opening.returnUrl : undefined,
  };
}
