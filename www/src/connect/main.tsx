// The window in which a user connects an account to an app: `/connect#code=…`. It stores nothing.
import { render } from "preact";
import { ConnectWindow } from "./connect-window";
import { takeLaunchParams } from "./launch-params";
import "../style/base.css";
import "../style/shared.css";
import "./connect.css";

const root = document.getElementById("window");
let renderCount = 0;
function renderWindow() {
  renderCount += 1;
  if (root) render(<ConnectWindow key={renderCount} launchParams={takeLaunchParams()} />, root);
}
renderWindow();
// Another link was opened in the same page.
addEventListener("hashchange", renderWindow);
