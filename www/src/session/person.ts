// Sign-in of people: the service redirects them to `#sign-in=<sign-in>.<code>`, and the console exchanges the code for
// a token. The code works once, and only in the browser in which the sign-in started.
import { readStorage, writeStorage } from "../components/storage";

/** The last sign-in in this browser. Contains no secret: the page names the account, and asks before it continues. */
interface Remembered {
  id: string;
  account: string;
  environment: string;
}

const REMEMBERED_KEY = "connector-vault.sign-in";
const RETURN_KEY = "connector-vault.return";
const FRAGMENT = /^#sign-in=([\w-]{43,45})\.([0-9a-f-]{36}\.[\w-]{43,45})$/;

/** A completed sign-in. */
export interface CompletedSignIn {
  id: string;
  code: string;
}

/** Reads the completed sign-in, removes it from the address, and restores the page from which it started. */
export function takeSignIn(): CompletedSignIn | undefined {
  const [, id, code] = FRAGMENT.exec(location.hash) ?? [];
  if (id === undefined || code === undefined) return undefined;
  const page = readStorage("sessionStorage", RETURN_KEY);
  writeStorage("sessionStorage", RETURN_KEY, undefined);
  // Require a single leading slash: two would begin the address of another host.
  history.replaceState(history.state, "", page !== undefined && /^\/(?![/\\])/.test(page) ? page : location.pathname);
  return { id, code };
}

/** Exchanges the code for a token. Undefined if it is rejected. */
export async function exchange({ id, code }: CompletedSignIn): Promise<string | undefined> {
  const response = await fetch(`/sign-in/${id}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  if (response.status === 401) return undefined;
  if (!response.ok) throw new Error(`The sign-in could not be completed (HTTP status ${response.status}). Try again.`);
  const { token } = (await response.json()) as { token: string };
  return token;
}

/** Remembers how this browser signed in, for the next time. */
export const rememberSignIn = (signIn: Remembered) =>
  writeStorage("localStorage", REMEMBERED_KEY, JSON.stringify(signIn));

export const forgetSignIn = () => writeStorage("localStorage", REMEMBERED_KEY, undefined);

export function rememberedSignIn(): Remembered | undefined {
  try {
    const { id, account, environment } = JSON.parse(
      readStorage("localStorage", REMEMBERED_KEY) ?? "null",
    ) as Remembered;
    return /^[\w-]{43,45}$/.test(id) ? { id, account, environment } : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers the current page until the person returns. */
export const rememberPage = () => writeStorage("sessionStorage", RETURN_KEY, location.pathname + location.search);

/** Whether a secret is the token of a person. */
export const isPersonToken = (secret: string | undefined) => secret?.startsWith("cs_") === true;
