// The API reference: Swagger UI inside the console's frame.
import { render } from "preact";
import SwaggerUI, { type System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { startSession } from "../session/store";
import { keepAccessible } from "./accessibility";
import { Frame } from "./frame";
import { plugin } from "./plugin";
import { followSession } from "./session-key";

startSession();
render(<Frame />, document.querySelector("#frame")!);
const root = document.querySelector("#reference")!;
keepAccessible(root);

const reference: System = SwaggerUI({
  url: "/v1/openapi.json",
  domNode: root,
  plugins: [plugin],
  layout: "ReferenceLayout",
  // Allow links to operations, such as /docs#/Vault/listConnections.
  deepLinking: true,
  docExpansion: "list",
  // No syntax highlighting: its inline colours do not follow the theme.
  syntaxHighlight: { activated: false },
  // Expand the members of a schema.
  defaultModelExpandDepth: 2,
  // Show lengths, ranges and patterns of parameters.
  showCommonExtensions: true,
  // Disable the external validator, and documents that the URL names.
  validatorUrl: null,
  queryConfigEnabled: false,
  // Do not store API keys.
  persistAuthorization: false,
  // Never send the key to another origin.
  requestInterceptor(request: { url: string }) {
    if (new URL(request.url, location.href).origin !== location.origin)
      throw new Error("The reference sends requests only to its own service.");
    return request;
  },
  onComplete: () => followSession(reference),
});
