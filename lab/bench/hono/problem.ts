// Errors as RFC 9457 problem documents.
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Environment } from "./types";

const CODES = {
  unknown_parameter: [400, "Unknown query parameter"],
  repeated_parameter: [400, "Repeated query parameter"],
  invalid_parameter: [400, "Invalid query parameter"],
  invalid_body: [400, "Invalid body"],
  missing_key: [401, "Missing API key"],
  invalid_key: [401, "Invalid API key"],
  insufficient_scope: [403, "Insufficient scope"],
  route_not_found: [404, "Route not found"],
  platform_not_found: [404, "Platform not found"],
  connection_not_found: [404, "Connection not found"],
  method_not_allowed: [405, "Method not allowed"],
  precondition_failed: [412, "Precondition failed"],
  body_too_large: [413, "Body too large"],
  unsupported_media_type: [415, "Unsupported media type"],
  internal: [500, "Internal error"],
  unavailable: [503, "Temporarily unavailable"],
} as const satisfies Record<string, readonly [ContentfulStatusCode, string]>;

export type Code = keyof typeof CODES;

export interface Fault {
  code: Code;
  parameter?: string;
  pointer?: string;
  detail: string;
  suggestion?: string;
}

export class Problem extends Error {
  constructor(
    readonly code: Code,
    detail: string,
    readonly members: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(detail);
  }

  /** A problem with all errors of a request. Its code is that of the first error. */
  static of([first, ...more]: [Fault, ...Fault[]]): Problem {
    const errors = [first, ...more].map(({ code, ...fault }) => fault);
    return new Problem(
      first.code,
      more.length > 0 ? `${first.detail} (${more.length} more in \`errors\`)` : first.detail,
      { errors },
    );
  }
}

export function respond(c: Context<Environment>, { code, message, members, headers }: Problem): Response {
  const [status, title] = CODES[code];
  const requestId = c.get("requestId");
  const document = {
    type: `${new URL(c.req.url).origin}/problems/${code}`,
    title,
    status,
    detail: message,
    code,
    requestId,
    ...members,
  };
  return c.body(JSON.stringify(document), status, {
    "content-type": "application/problem+json",
    "cache-control": "private, no-store",
    ...(status === 401 && { "www-authenticate": "ApiKey" }),
    ...(status === 503 && { "retry-after": "5" }),
    ...headers,
  });
}
