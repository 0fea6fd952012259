// The console: what it draws follows from the session, the address, and what the service answers.
import { render } from "preact";
import { App } from "./app";
import "./style/base.css";
import "./style/layout.css";
import "./style/parts.css";
import { openByLink } from "./session/token";
import { showTheme } from "./theme";

openByLink();
showTheme();
const place = document.getElementById("app");
if (place) render(<App />, place);
