// Connecting an account from a page, as a call of the client.
import { isApiKey } from "glue";
import { Faults, membersOf } from "./arguments.js";
import type { ConnectAttempts } from "./attempts.js";
import { isSignal } from "./call.js";
import type { Connection } from "./connection.js";
import { checked } from "./core.js";
import type { Client } from "./options.js";
import { type ConnectOptions, throughWindow } from "./popup.js";

const NAMES = ["platform", "connection", "token", "ui", "returnUrl", "signal"] as const;

/** @internal */
export async function connect(
  client: Client,
  attempts: ConnectAttempts,
  options?: ConnectOptions,
): Promise<Connection> {
  const { token, ...given } = read(options);
  const service = { base: client.base, attempt: (id: string, wait: number) => attempts.get(id, { wait }) };
  return throughWindow(service, given, async () => {
    const { text } = token !== undefined ? { text: token } : (client.secret.held ?? (await client.secret.renew()));
    return checked(() => isApiKey(text)) ? refuseKey() : text;
  });
}

/** Checks the options. */
function read(options: ConnectOptions | undefined) {
  const faults = new Faults();
  const { platform, connection, token, ui = "popup", returnUrl, signal } = membersOf(options, "options", NAMES, faults);
  const id = typeof connection === "object" ? connection?.id : connection;
  for (const [name, value] of Object.entries({ platform, connection: id, token, returnUrl }))
    if (value !== undefined && typeof value !== "string") faults.add(name, "must be a string");
  if (ui !== "popup" && ui !== "page") faults.add("ui", "must be `popup` or `page`");
  if (signal !== undefined && !isSignal(signal)) faults.add("signal", "must be an AbortSignal");
  if (typeof document !== "object")
    faults.add("options", "can be used in a page only: on a server, call `connectAttempts.start`");
  faults.end();
  return { platform, connection: id, token, ui, returnUrl, signal };
}

function refuseKey(): never {
  const faults = new Faults();
  faults.add("token", "must be a short-lived token: the window does not take API keys");
  return faults.end() as never;
}
