// Sends the request of an action with npm's `swagger-client`, independently of this project's code.
import SwaggerClient from "swagger-client";

const OPERATION = "operation";

export async function sendWithSwaggerClient(document, action, input) {
  const { path, operation, item } = document.operation(action);
  const method = action.method.toLowerCase();
  const operationResult = await SwaggerClient.resolveSubtree(document.api, ["paths", path, method]);
  const sharedResult = await SwaggerClient.resolveSubtree(document.api, ["paths", path, "parameters"]);
  const resolved = { ...(operationResult.spec ?? operation), operationId: OPERATION };
  const pathItem = { parameters: sharedResult.spec ?? item.parameters ?? [], [method]: resolved };
  const [mediaType] = action.requestBody?.contentTypes ?? [];
  const request = SwaggerClient.buildRequest({
    // A fragment distinguishes operations of one path, and is never sent.
    spec: { openapi: document.api.openapi, servers: document.api.servers, paths: { [path.split("#")[0]]: pathItem } },
    operationId: OPERATION,
    parameters: Object.fromEntries(
      ["path", "query", "header", "cookie"].flatMap((place) =>
        Object.entries(input[place] ?? {}).map(([name, value]) => [`${place}.${name}`, value]),
      ),
    ),
    requestBody: input.body,
    requestContentType: input.body === undefined ? undefined : mediaType,
  });
  const { url, headers } = request;
  const isPlain = typeof request.body === "object" && !(request.body instanceof FormData);
  const body = isPlain ? JSON.stringify(request.body) : request.body;
  // `fetch` sets the media type of a form with its boundary.
  if (body instanceof FormData)
    for (const name of Object.keys(headers)) if (/^content-type$/i.test(name)) delete headers[name];
  const response = await fetch(url, { method: action.method, headers, body });
  await response.arrayBuffer();
}
