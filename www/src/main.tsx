// The console's entry point.
import { render } from "preact";
import { App } from "./app";
import { ErrorBoundary } from "./components/error-boundary";
import { startSession } from "./session/store";
import "./style/base.css";
import "./style/layout.css";
import "./style/shared.css";
import "./style/components.css";

startSession();
const root = document.getElementById("app");
if (root)
  render(
    <ErrorBoundary resetKey="console">
      <App />
    </ErrorBoundary>,
    root,
  );
