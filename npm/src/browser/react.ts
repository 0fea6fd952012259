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

/** The state that all components below a provider share. */
class VaultStore {
  readonly connect: Connect;
  #listeners = new Set<() => void>();
  /** Incremented when connections change. */
  changes = 0;
  /** The result of a `ui: "page"` attempt, until a component consumes it. */
  returned: Return | VaultError | undefined;

  constructor(connect: Connect) {
    this.connect = connect;
  }

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  notify(returned?: Return | VaultError) {
    this.returned = returned ?? this.returned;
    this.changes += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Returns the result of a `ui: "page"` attempt and clears it, if it is for this platform. */
  consumePageResult(platform: string | undefined): Return | VaultError | undefined {
    const { returned } = this;
    if (!returned || (platform !== undefined && "platform" in returned && returned.platform !== platform))
      return undefined;
    this.returned = undefined;
    return returned;
  }
}

const Context = createContext<VaultStore | undefined>(undefined);

/** The properties of `<VaultProvider>`. */
export interface VaultProviderProps extends ConnectSettings {
  children?: ReactNode;
}

/** Provides the service and the token to all components and hooks below. On a server, it sends no requests. */
export function VaultProvider({ baseUrl, token, children }: VaultProviderProps): ReactElement {
  // A new `token` function does not mean another user, because each render may create one. A new token string does.
  const latestToken = useRef(token);
  useEffect(() => {
    latestToken.current = token;
  });
  const address = String(baseUrl);
  const staticToken = typeof token === "function" ? undefined : token;
  const value = typeof staticToken === "object" ? staticToken.token : staticToken;
  const store = useMemo(() => {
    const getToken = () => (typeof latestToken.current === "function" ? latestToken.current() : latestToken.current);
    return new VaultStore(createConnect({ baseUrl: address, token: value === undefined ? getToken : value }));
  }, [address, value]);
  useEffect(() => {
    store.connect.returned().then(
      (returned) => returned && store.notify(returned),
      (error: VaultError) => store.notify(error),
    );
  }, [store]);
  return createElement(Context.Provider, { value: store }, children);
}

function useStore(): VaultStore {
  const store = useContext(Context);
  if (!store) throw new Error("Components that connect accounts need a <VaultProvider> around them.");
  return store;
}

/** Rerenders when connections change. */
function useStoreVersion(store: VaultStore): number {
  const count = () => store.changes;
  return useSyncExternalStore(store.subscribe, count, count);
}

export interface UseConnectOptions extends Omit<ConnectOptions, "token" | "signal"> {
  /** Called with each new connection, including one from a `ui: "page"` attempt. */
  onConnect?: ((connection: Connection) => void) | undefined;
  /** Called with each error. Closing the window is an error with the code `closed`. */
  onError?: ((error: ConnectError | VaultError) => void) | undefined;
}

export interface UseConnect {
  /** Opens the window. Call it in a click handler. Never rejects: see `error` and `onError`. */
  connect(options?: Omit<ConnectOptions, "token">): Promise<Connection | undefined>;
  /** Whether the connect window is open. */
  isConnecting: boolean;
  /** The connection of the latest successful attempt. */
  connection: Connection | undefined;
  /** Undefined unless the latest attempt failed. */
  error: ConnectError | VaultError | undefined;
  /** A message for the user about the error, in English. */
  errorText: string | undefined;
}

interface Outcome {
  isConnecting: boolean;
  connection?: Connection | undefined;
  error?: ConnectError | VaultError | undefined;
}

/**
 * Lets the user connect an account. The result can also come from a `ui: "page"` attempt before this page was loaded.
 */
export function useConnect(options: UseConnectOptions = {}): UseConnect {
  const store = useStore();
  const changes = useStoreVersion(store);
  const [outcome, setOutcome] = useState<Outcome>({ isConnecting: false });
  const latestOptions = useRef(options);
  useEffect(() => {
    latestOptions.current = options;
  });
  const setResult = useCallback((connection?: Connection, error?: ConnectError | VaultError) => {
    setOutcome({ isConnecting: false, connection, error });
    if (connection) latestOptions.current.onConnect?.(connection);
    if (error) latestOptions.current.onError?.(error);
  }, []);
  // Picks up the result of a `ui: "page"` attempt, which the store announces as a change.
  useEffect(() => {
    const returned = store.consumePageResult(latestOptions.current.platform);
    if (returned)
      "platform" in returned ? setResult(returned.connection, returned.error) : setResult(undefined, returned);
  }, [store, changes, setResult]);
  const connect = useCallback<UseConnect["connect"]>(
    async (overrides) => {
      const { onConnect: _, onError: __, ...connectOptions } = latestOptions.current;
      setOutcome({ isConnecting: true });
      try {
        const connection = await store.connect.connect({ ...connectOptions, ...overrides });
        setResult(connection);
        store.notify();
        return connection;
      } catch (error) {
        setResult(undefined, error as VaultError);
        return undefined;
      }
    },
    [store, setResult],
  );
  const { isConnecting, connection, error } = outcome;
  return { connect, isConnecting, connection, error, errorText: error && errorText(error.code) };
}

export interface UseConnections {
  /** Newest first; undefined until they are loaded. */
  connections: Connection[] | undefined;
  /** Undefined unless the connections could not be loaded. */
  error: VaultError | undefined;
  reload(): void;
}

/** Lists the user's connections, and reloads them after a new one is created. Needs the scope `connections:read`. */
export function useConnections(query: ConnectionQuery = {}): UseConnections {
  const store = useStore();
  const changes = useStoreVersion(store);
  const [result, setResult] = useState<{ connections?: Connection[]; error?: VaultError }>({});
  const [reloads, setReloads] = useState(0);
  const { platform, state, active } = query;
  // The effect does not read `changes` and `reloads`: as dependencies, they trigger a reload.
  useEffect(() => {
    let isLatest = true;
    store.connect.connections({ platform, state, active }).then(
      (connections) => isLatest && setResult({ connections }),
      (error: VaultError) => isLatest && setResult((before) => ({ ...before, error })),
    );
    return () => {
      isLatest = false;
    };
  }, [store, changes, reloads, platform, state, active]);
  const reload = useCallback(() => setReloads((count) => count + 1), []);
  return { connections: result.connections, error: result.error, reload };
}

/** The properties of `<ConnectButton>`, in addition to those of a button. */
export interface ConnectButtonProps
  extends UseConnectOptions,
    Omit<ButtonHTMLAttributes<HTMLButtonElement>, "onError" | "type" | "onClick"> {
  /** Your own messages for errors, by code. An empty message shows nothing. */
  errorTexts?: { [Code in ErrorCode]?: string } | undefined;
}

/** An unstyled button that lets the user connect an account, followed by an alert if the attempt fails. */
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
  // Closing the window is the user's choice, so it shows no message.
  const message = error && (errorTexts?.[error.code] ?? (error.code === "closed" ? "" : errorText));
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
    message ? createElement("span", { role: "alert" }, message) : null,
  );
}
