// Type tests of `connector-vault/connect` and `connector-vault/react`.
import { type ConnectError, type KnownPlatform, createConnect, errorText } from "connector-vault/connect";
import {
  ConnectButton,
  type ConnectButtonProps,
  type Platform,
  VaultProvider,
  useConnect,
  useConnections,
} from "connector-vault/react";
import { createElement } from "react";

// Editors complete the names of the union, but any other name is also valid.
const knownPlatform: KnownPlatform = "github";
const customPlatform: Platform = "a-platform-of-one-s-own";
// @ts-expect-error: not a well-known platform
const misspeltPlatform: KnownPlatform = "githb";

const props: ConnectButtonProps = {
  platform: knownPlatform,
  ui: "page",
  className: "x",
  errorTexts: { denied: "You said no." },
  onConnect: ({ id }) => id.length,
  onError: ({ code }) => errorText(code),
};
// @ts-expect-error: the button sets `onClick` itself
const propsWithOnClick: ConnectButtonProps = { onClick: () => {} };
// @ts-expect-error: no such code
const propsWithUnknownCode: ConnectButtonProps = { errorTexts: { denyed: "" } };

export function App() {
  const { connect, error } = useConnect({ platform: customPlatform, connection: "x" });
  const { connections } = useConnections({ state: "failed", active: false });
  const rows: readonly { id: string }[] | undefined = connections;
  const attempt: string | undefined = (error as ConnectError | undefined)?.attempt;
  const button = createElement(ConnectButton, { ...props, onClickCapture: () => void connect() });
  return createElement(
    VaultProvider,
    { baseUrl: "https://vault.example", token: async () => "st_test_x" },
    button,
    attempt,
    rows?.length,
  );
}

const { returned } = createConnect({ baseUrl: new URL("https://vault.example"), token: { token: "st_test_x" } });
returned().then((result) => [
  result?.connection?.id,
  result?.error?.attempt,
  misspeltPlatform,
  propsWithOnClick,
  propsWithUnknownCode,
]);
