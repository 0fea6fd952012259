// The window in which somebody connects an account to an app: `/connect#code=…`. It remembers nothing.
import { render } from "preact";
import "../style/base.css";
import "../style/shared.css";
import "./connect.css";
import { takeLaunchParams } from "./launch-params";
import { ConnectWindow } from "./connect-window";

const place = document.getElementById("window");
let number = 0;
function draw() {
  number += 1;
  if (place) render(<ConnectWindow key={number} opening={takeLaunchParams()} />, place);
}
draw();
// Another link, opened in this very page.
addEventListener("hashchange", draw);
