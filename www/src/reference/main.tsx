// The API reference: Swagger UI shows the document that this service gives, in the frame that the console has.
import { render } from "preact";
import SwaggerUI, { type System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { startSession } from "../session/store";
import { Frame } from "./frame";
import { keepAccessible } from "./accessibility";
import { plugin } from "./plugin";
import { followSession } from "./session-key";

startSession();
render(<Frame />, document.querySelector("#frame")!);
const place = document.querySelector("#reference")!;
keepAccessible(place);

const reference: System = SwaggerUI({
  url: "/v1/openapi.json",
  domNode: place,
  plugins: [plugin],
  layout: "ReferenceLayout",
  // Links to an operation: /docs#/Vault/listConnections.
  deepLinking: true,
  docExpansion: "list",
  // Colours would be written into each element; the page's own fit both themes.
  syntaxHighlight: { activated: false },
  // The members of a schema with what is said about them.
  defaultModelExpandDepth: 2,
  // Lengths, ranges and patterns of parameters.
  showCommonExtensions: true,
  // Nobody else's service is asked whether the document is valid, and no address in the URL is fetched.
  validatorUrl: null,
  queryConfigEnabled: false,
  // A key is forgotten with the page.
  persistAuthorization: false,
  // The key belongs to this service only.
  requestInterceptor(request: { url: string }) {
    if (new URL(request.url, location.href).origin !== location.origin)
      throw new Error("The reference asks its own service only.");
    return request;
  },
  onComplete: () => followSession(reference),
});
