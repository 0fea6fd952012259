import { Faults, knownMembers } from "./arguments.js";
import type { Connection } from "../types/connection.js";

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, which then fails with an `AbortError`. */
  signal?: AbortSignal | undefined;
}

/** Options of a call that changes or deletes a connection. */
export interface ChangeOptions extends CallOptions {
  /**
   * The connection as you read it, an entity tag in double quotes, or `*`. If the connection has changed in the
   * meantime, the call fails with a `PreconditionError`, and nothing is written.
   */
  ifMatch?: string | Pick<Connection, "id" | "version"> | undefined;
}

/** The validated options of a call. @internal */
export interface CheckedCallOptions {
  signal: AbortSignal | undefined;
  /** The value of the header `If-Match`. */
  ifMatch: string | undefined;
}

/** Validates the options of a call. Only the options in `known` are allowed. @internal */
export function checkCallOptions(
  options: ChangeOptions | undefined,
  known: readonly (keyof ChangeOptions)[] = ["signal"],
): CheckedCallOptions {
  const faults = new Faults();
  const { signal, ifMatch } = knownMembers(options, "options", known, faults);
  if (signal !== undefined && !isSignal(signal)) faults.add("signal", "must be an AbortSignal");
  const tag = ifMatch === undefined ? undefined : toEntityTag(ifMatch);
  if (ifMatch !== undefined && tag === undefined)
    faults.add("ifMatch", "must be an entity tag in double quotes, `*`, or a connection");
  faults.throwIfAny();
  return { signal, ifMatch: tag };
}

/** Whether a value is an `AbortSignal`. Checks for its methods, because it can be a polyfill. @internal */
export function isSignal(value: AbortSignal | null): boolean {
  return (
    typeof value?.aborted === "boolean" &&
    (["addEventListener", "removeEventListener"] as const).every((name) => typeof value[name] === "function")
  );
}

// `*`, or entity tags separated by commas (RFC 9110).
const IF_MATCH_PATTERN = /^(\*|(W\/)?"[!#-~]*"( *, *(W\/)?"[!#-~]*")*)$/;

/** Returns the value of `If-Match` for a connection or an entity tag, or undefined for anything else. */
function toEntityTag(value: NonNullable<ChangeOptions["ifMatch"]> | null): string | undefined {
  const { id, version } = (value ?? {}) as Partial<Connection>;
  const tag = typeof id === "string" && /^\d+$/.test(version as string) ? `"${id}-${version}"` : value;
  return typeof tag === "string" && IF_MATCH_PATTERN.test(tag) ? tag : undefined;
}
