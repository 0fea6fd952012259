// The window in which a user connects an account to an app: `/connect#code=…`. It stores nothing.
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
// Another link was opened in the same page.
addEventListener("hashchange", draw);
