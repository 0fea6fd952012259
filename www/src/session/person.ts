// Sign-in of people. The service redirects the browser to `#sign-in=<sign-in>.<code>`, and the console exchanges the
// code for a token. The code works once, and only in the browser in which the sign-in started.
import { readStorage, writeStorage } from "../components/storage";

/** The last sign-in in this browser, without secrets. The sign-in page offers it, with the account's name. */
interface LastSignIn {
  id: string;
  account: string;
  environment: string;
}

const REMEMBERED_KEY = "connector-vault.sign-in";
const RETURN_KEY = "connector-vault.return";
const SIGN_IN_FRAGMENT = /^#sign-in=([\w-]{43,45})\.([0-9a-f-]{36}\.[\w-]{43,45})$/;

/** A completed sign-in: its id, and the code to exchange for a token. */
export interface CompletedSignIn {
  id: string;
  code: string;
}

/** Reads the completed sign-in, removes it from the URL, and restores the page from which it started. */
export function takeSignIn(): CompletedSignIn | undefined {
  const [, id, code] = SIGN_IN_FRAGMENT.exec(location.hash) ?? [];
  if (id === undefined || code === undefined) return undefined;
  const page = readStorage("sessionStorage", RETURN_KEY);
  writeStorage("sessionStorage", RETURN_KEY, undefined);
  // Require a single leading slash: two would begin the address of another host.
  history.replaceState(history.state, "", page !== undefined && /^\/(?![/\\])/.test(page) ? page : location.pathname);
  return { id, code };
}

/** Exchanges the code for a token. Returns undefined if the service rejects the code. */
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

/** Stores how this browser signed in, for the next sign-in. */
export const storeLastSignIn = (signIn: LastSignIn) =>
  writeStorage("localStorage", REMEMBERED_KEY, JSON.stringify(signIn));

export const clearLastSignIn = () => writeStorage("localStorage", REMEMBERED_KEY, undefined);

export function readLastSignIn(): LastSignIn | undefined {
  try {
    const { id, account, environment } = JSON.parse(
      readStorage("localStorage", REMEMBERED_KEY) ?? "null",
    ) as LastSignIn;
    return /^[\w-]{43,45}$/.test(id) ? { id, account, environment } : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the current page until the person returns from the provider. */
export const storeReturnPage = () => writeStorage("sessionStorage", RETURN_KEY, location.pathname + location.search);

export const isPersonToken = (secret: string | undefined) => secret?.startsWith("cs_") === true;
