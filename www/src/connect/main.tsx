// Entry point of the connect window, in which a user connects an account to an app: `/connect#code=…`.
import { render } from "preact";
import { ConnectWindow } from "./connect-window";
import { takeLaunchParams } from "./launch-params";
import { decodeLanguage } from "./session";
import { chooseLanguage, loadLanguage } from "./texts";
import "../style/base.css";
import "../style/shared.css";
import "./connect.css";

const root = document.getElementById("window");
let renderCount = 0;
async function renderWindow() {
  renderCount += 1;
  const ownRenderCount = renderCount;
  const launchParams = takeLaunchParams();
  await loadLanguage(chooseLanguage(decodeLanguage(launchParams.token ?? launchParams.code)));
  if (root && ownRenderCount === renderCount)
    render(<ConnectWindow key={ownRenderCount} launchParams={launchParams} />, root);
}
void renderWindow();
// The user has opened another link in the same page.
addEventListener("hashchange", () => void renderWindow());
