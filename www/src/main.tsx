import { render } from "preact";
import { init } from "connector-vault/slim";
import wasm from "connector-vault/connector-vault.wasm?url";
const ready = init(wasm);
render(<p>hi</p>, document.getElementById("app")!);
await ready;
