// `ConnectorVault.connect`: validates its options, then opens the connect window.
import { isApiKey } from "glue";
import { Faults, knownMembers, rejectArgument } from "../core/arguments.js";
import type { ConnectAttempts } from "../resources/connect-attempts.js";
import { isSignal } from "../core/options.js";
import type { Connection } from "../types/connection.js";
import { callModule } from "../core/wasm/start.js";
import type { ClientConfig } from "../core/client-options.js";
import { type ConnectOptions, connectInWindow } from "./popup.js";

const OPTION_NAMES = ["platform", "connection", "token", "ui", "returnUrl", "signal"] as const;

/** @internal */
export async function connect(
  config: ClientConfig,
  attempts: ConnectAttempts,
  options?: ConnectOptions,
): Promise<Connection> {
  const { token, ...request } = readOptions(options);
  const service = { base: config.base, attempt: (id: string, wait: number) => attempts.get(id, { wait }) };
  return connectInWindow(service, request, async () => {
    const { value } =
      token !== undefined ? { value: token } : (config.secret.current ?? (await config.secret.refresh()));
    if (callModule(() => isApiKey(value)))
      rejectArgument("token", "must be a short-lived token: the connect window does not accept API keys");
    return value;
  });
}

function readOptions(options: ConnectOptions | undefined) {
  const faults = new Faults();
  const {
    platform,
    connection,
    token,
    ui = "popup",
    returnUrl,
    signal,
  } = knownMembers(options, "options", OPTION_NAMES, faults);
  const id = typeof connection === "object" ? connection?.id : connection;
  for (const [name, value] of Object.entries({ platform, connection: id, token, returnUrl }))
    if (value !== undefined && typeof value !== "string") faults.add(name, "must be a string");
  if (ui !== "popup" && ui !== "page") faults.add("ui", "must be `popup` or `page`");
  if (signal !== undefined && !isSignal(signal)) faults.add("signal", "must be an AbortSignal");
  if (typeof document !== "object")
    faults.add("options", "can only be used in a page: on a server, call `connectAttempts.start`");
  faults.throwIfAny();
  return { platform, connection: id, token, ui, returnUrl, signal };
}
