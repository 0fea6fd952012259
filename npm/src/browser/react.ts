/**
 * React components and hooks to connect accounts.
 *
 * @packageDocumentation
 */
import {
  type ButtonHTMLAttributes,
  type ReactElement,
  type ReactNode,
  createContext,
  createElement,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import {
  type Connect,
  type ConnectError,
  type ConnectOptions,
  type ConnectSettings,
  type Connection,
  type ConnectionQuery,
  type ErrorCode,
  type Return,
  type VaultError,
  createConnect,
  errorText,
} from "./connect.js";

export type {
  Connection,
  ConnectionQuery,
  ConnectOptions,
  ErrorCode,
  KnownPlatform,
  Platform,
  Token,
  TokenSource,
} from "./connect.js";
export { ConnectError, VaultError, errorText } from "./connect.js";

/** What all components below a provider share. */
class Shared {
  readonly connect: Connect;
  #listeners = new Set<() => void>();
  /** How often the connections have changed. */
  changes = 0;
  /** What the window has led back with, until somebody has told it. */
  returned: Return | VaultError | undefined;

  constructor(connect: Connect) {
    this.connect = connect;
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  change(returned?: Return | VaultError) {
    this.returned = returned ?? this.returned;
    this.changes += 1;
    for (const listener of this.#listeners) listener();
  }

  /** What the window has led back with, for whom it concerns. */
  take(platform: string | undefined): Return | VaultError | undefined {
    const { returned } = this;
    if (!returned || (platform !== undefined && "platform" in returned && returned.platform !== platform))
      return undefined;
    this.returned = undefined;
    return returned;
  }
}

const Context = createContext<Shared | undefined>(undefined);

/** Where the service is, and who the user is. */
export interface VaultProviderProps extends ConnectSettings {
  children?: ReactNode;
}

/** What all components and hooks below need to know. On a server, it renders its children and asks nobody. */
export function VaultProvider({ baseUrl, token, children }: VaultProviderProps): ReactElement {
  // A function may be another one each time; a text is another user's.
  const latest = useRef(token);
  useEffect(() => {
    latest.current = token;
  });
  const [address, text] = [String(baseUrl), typeof token === "function" ? undefined : token];
  const identity = typeof text === "object" ? text.token : text;
  const shared = useMemo(() => {
    const supplied = () => (typeof latest.current === "function" ? latest.current() : latest.current);
    return new Shared(createConnect({ baseUrl: address, token: identity === undefined ? supplied : identity }));
  }, [address, identity]);
  useEffect(() => {
    shared.connect.returned().then(
      (returned) => returned && shared.change(returned),
      (error: VaultError) => shared.change(error),
    );
  }, [shared]);
  return createElement(Context.Provider, { value: shared }, children);
}

function useShared(): Shared {
  const shared = useContext(Context);
  if (!shared) throw new Error("Put a <VaultProvider> around what connects accounts.");
  return shared;
}

/** How often the connections have changed: what depends on it renders anew. */
function useChanges(shared: Shared): number {
  const count = () => shared.changes;
  return useSyncExternalStore(shared.subscribe, count, count);
}

/** What to connect. */
export interface UseConnectOptions extends Omit<ConnectOptions, "token" | "signal"> {
  /** Called with each connection, also with the one that the window has led back with. */
  onConnect?: ((connection: Connection) => void) | undefined;
  /** Called with each error, also if the user has closed the window. */
  onError?: ((error: ConnectError | VaultError) => void) | undefined;
}

/** What `useConnect` returns. */
export interface UseConnect {
  /** Opens the window, to be called while a click is handled. Never fails: `error` and `onError` have what went wrong. */
  connect(options?: Omit<ConnectOptions, "token">): Promise<Connection | undefined>;
  /** Whether the window is open. */
  isConnecting: boolean;
  /** The latest connection. */
  connection: Connection | undefined;
  /** Why the latest attempt has failed. */
  error: ConnectError | VaultError | undefined;
  /** What to tell the user about it, in English. */
  errorText: string | undefined;
}

interface Outcome {
  isConnecting: boolean;
  connection?: Connection | undefined;
  error?: ConnectError | VaultError | undefined;
}

/** Lets the user connect an account, and tells what has become of it, also after a `ui: "page"`. */
export function useConnect(options: UseConnectOptions = {}): UseConnect {
  const shared = useShared();
  const changes = useChanges(shared);
  const [outcome, setOutcome] = useState<Outcome>({ isConnecting: false });
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  const tell = useCallback((connection?: Connection, error?: ConnectError | VaultError) => {
    setOutcome({ isConnecting: false, connection, error });
    if (connection) latest.current.onConnect?.(connection);
    if (error) latest.current.onError?.(error);
  }, []);
  // Each change may be that the window has led back.
  useEffect(() => {
    const returned = shared.take(latest.current.platform);
    if (returned) "platform" in returned ? tell(returned.connection, returned.error) : tell(undefined, returned);
  }, [shared, changes, tell]);
  const connect = useCallback<UseConnect["connect"]>(
    async (more) => {
      const { onConnect: _, onError: __, ...given } = latest.current;
      setOutcome({ isConnecting: true });
      try {
        const connection = await shared.connect.connect({ ...given, ...more });
        tell(connection);
        shared.change();
        return connection;
      } catch (error) {
        tell(undefined, error as VaultError);
        return undefined;
      }
    },
    [shared, tell],
  );
  const { isConnecting, connection, error } = outcome;
  return { connect, isConnecting, connection, error, errorText: error && errorText(error.code) };
}

/** What `useConnections` returns. */
export interface UseConnections {
  /** The connections, the newest first; undefined until they are known. */
  connections: Connection[] | undefined;
  /** Why they could not be listed. */
  error: VaultError | undefined;
  /** Lists them anew. */
  reload(): void;
}

/** The user's connections. They are listed anew after each one that is connected. Needs the scope `connections:read`. */
export function useConnections(query: ConnectionQuery = {}): UseConnections {
  const shared = useShared();
  const changes = useChanges(shared);
  const [found, setFound] = useState<{ connections?: Connection[]; error?: VaultError }>({});
  const [reloads, setReloads] = useState(0);
  const { platform, state, active } = query;
  // After each change and each wish.
  useEffect(() => {
    let isLatest = true;
    shared.connect.connections({ platform, state, active }).then(
      (connections) => isLatest && setFound({ connections }),
      (error: VaultError) => isLatest && setFound((before) => ({ ...before, error })),
    );
    return () => {
      isLatest = false;
    };
  }, [shared, changes, reloads, platform, state, active]);
  const reload = useCallback(() => setReloads((count) => count + 1), []);
  return { connections: found.connections, error: found.error, reload };
}

/** What a `<ConnectButton>` takes, besides what every button does. */
export interface ConnectButtonProps
  extends UseConnectOptions,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, "onError" | "type" | "onClick"> {
  /** Your own texts for errors, by code. An empty one shows nothing. */
  errorTexts?: { [Code in ErrorCode]?: string } | undefined;
}

/** A button that lets the user connect an account, and an alert if that has failed. Style both as you like. */
export function ConnectButton(props: ConnectButtonProps): ReactElement {
  const { platform, connection, ui, returnUrl, onConnect, onError, errorTexts, children, disabled, ...rest } = props;
  const { connect, isConnecting, error, errorText } = useConnect({
    platform,
    connection,
    ui,
    returnUrl,
    onConnect,
    onError,
  });
  // Who closes the window knows that.
  const told = error && (errorTexts?.[error.code] ?? (error.code === "closed" ? "" : errorText));
  return createElement(
    "span",
    null,
    createElement(
      "button",
      {
        ...rest,
        type: "button",
        disabled: disabled || isConnecting,
        "aria-busy": isConnecting,
        onClick: () => void connect(),
      },
      children ?? (connection === undefined ? "Connect an account" : "Reconnect"),
    ),
    told ? createElement("span", { role: "alert" }, told) : null,
  );
}
