// For whom the window asks, and what it may do.
import type { Scope, Whoami } from "connector-vault/slim";
import { type Reply, listenerOf } from "./embedder";
import { type Opening, originOf } from "./opening";
import { Service, exchange } from "./service";

export interface Session {
  service: Service;
  who: Whoami;
  may: (scope: Scope) => boolean;
  /** The origin that hears what becomes of the window. */
  listener: string | undefined;
  /** Where a full page leads back to. */
  returnUrl: string | undefined;
}

/** What the window was opened with, before its user has said that it is meant for them. */
export interface Invitation {
  /** Whose account is connected. */
  identity: string | undefined;
  /** Whether a page that the token is for has opened the window, or contains it. Then nobody else can have sent it. */
  isFromApp: boolean;
  open: () => Promise<Session>;
}

/** Reads what the window was opened with; undefined if there is nothing. */
export async function readInvitation(opening: Opening, reply: Reply | undefined): Promise<Invitation | undefined> {
  const { code } = opening;
  const isFromApp = (origins: readonly string[] | null | undefined) =>
    reply !== undefined && origins?.includes(reply.origin) === true;
  const token = opening.token ?? reply?.token;
  if (token !== undefined) {
    const session = await openSession(opening, token, reply);
    const { identity, origins } = session.who;
    return { identity, isFromApp: isFromApp(origins), open: async () => session };
  }
  if (code === undefined) return undefined;
  const { i: identity, o: origins } = claimsOf(code);
  const open = async () => openSession(opening, await exchange(code), reply);
  return { identity, isFromApp: isFromApp(origins?.split(",")), open };
}

/** What a code states: the identity, and the origins separated by commas. The service verifies it when it is exchanged. */
function claimsOf(code: string): { i?: string; o?: string } {
  const claims = code.replace(/^cc_(?:test|live)_/, "").split(".")[0] ?? "";
  try {
    const bytes = Uint8Array.from(atob(claims.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder().decode(bytes)) ?? {};
  } catch {
    return {};
  }
}

async function openSession(opening: Opening, token: string, reply: Reply | undefined): Promise<Session> {
  const service = new Service(token);
  const who = await service.whoami();
  // A token without origins is for the pages of all.
  const isHeard = reply !== undefined && (who.origins?.includes(reply.origin) ?? true);
  const backTo = originOf(opening.returnUrl);
  // Nobody is led to a page that the token is not for.
  const isMeant = backTo !== undefined && listenerOf({ ...opening, origin: backTo }, who) !== undefined;
  return {
    service,
    who,
    may: (scope) => who.scopes.includes(scope),
    listener: isHeard ? reply.origin : listenerOf(opening, who),
    returnUrl: isMeant ? opening.returnUrl : undefined,
  };
}
