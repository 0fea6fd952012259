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
  // Deep links such as /docs#/Vault/listConnections.
  deepLinking: true,
  docExpansion: "list",
  // The highlighter writes inline colours, which do not follow the theme.
  syntaxHighlight: { activated: false },
  // Expands the members of a schema.
  defaultModelExpandDepth: 2,
  // Shows lengths, ranges and patterns of parameters.
  showCommonExtensions: true,
  // Uses no external validator and fetches no document named in the URL.
  validatorUrl: null,
  queryConfigEnabled: false,
  // Keys are not persisted.
  persistAuthorization: false,
  // Never send the key to another origin.
  requestInterceptor(request: { url: string }) {
    if (new URL(request.url, location.href).origin !== location.origin)
      throw new Error("The reference sends requests only to its own service.");
    return request;
  },
  onComplete: () => followSession(reference),
});
