// Validates calls and sends them.
import type { Call } from "glue";
import { copyMembers } from "./arguments.js";
import { type CallOptions, type CheckedCallOptions, checkCallOptions } from "./options.js";
import { callModule } from "./wasm/start.js";
import { type Fault, ValidationError } from "./errors.js";
import type { ClientConfig } from "./client-options.js";
import { type Envelope, type List, type ListFilters, PagedList, isPage } from "./pages.js";
import { type SendOptions, type IsExpected, send } from "./send.js";

/** Builds a call. Throws a problem if its arguments are invalid. */
export type BuildRequest = () => Call;
/** Builds the call of a list from a copy of the filters. */
export type BuildListRequest = (filters: object) => Call;

export class Executor {
  #config: ClientConfig;

  constructor(config: ClientConfig) {
    this.#config = config;
  }

  /** Sends a call and returns the JSON of its response after `isExpected` has accepted it. */
  async send<Json>(
    build: BuildRequest,
    options: CheckedCallOptions & SendOptions,
    isExpected: IsExpected,
  ): Promise<Json> {
    const { json } = await this.#send(build, options, isExpected);
    return json as Json;
  }

  list<Row>(build: BuildListRequest, filters: ListFilters | undefined, options: CallOptions | undefined): List<Row> {
    const get = async (filters: ListFilters, options: CallOptions | undefined) => {
      const { json, headers } = await this.#send(() => build(filters), checkCallOptions(options), isPage);
      return { json: json as Envelope<Row>, after: parseNextCursor(headers.get("link")) };
    };
    return new PagedList<Row>(get, filters, options);
  }

  /** Returns the errors of a call without sending it. A problem without a list of errors counts as one error. */
  validate(build: BuildRequest): readonly Fault[] {
    try {
      callModule(build).free();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return error.errors.length > 0 ? error.errors : [{ detail: error.message }];
    }
    return [];
  }

  /** Returns the errors of a list's filters without sending a request. */
  validateList(build: BuildListRequest, filters: object | undefined): readonly Fault[] {
    return this.validate(() => build(copyMembers(filters, "filters")));
  }

  async #send(build: BuildRequest, options: CheckedCallOptions & SendOptions, isExpected: IsExpected) {
    const call = callModule(build);
    try {
      return await send(this.#config, call, options, isExpected);
    } finally {
      call.free();
    }
  }
}

/**
 * Extracts the cursor of the next page from `Link: <…>; rel="next"` (RFC 8288). Ignores the rest of the URL, because
 * the secret must only be sent to the configured `baseUrl`.
 */
function parseNextCursor(link: string | null): string | undefined {
  const address = /<([^<>]*)>\s*;\s*rel="next"/.exec(link ?? "")?.[1];
  return new URLSearchParams(address?.split("?")[1]).get("after") ?? undefined;
}
