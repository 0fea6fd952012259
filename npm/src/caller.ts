// Checks calls, and sends them or reports what is wrong with them.
import type { Call } from "glue";
import { copyOf } from "./arguments.js";
import { type CallOptions, type Checked, callOptions } from "./call.js";
import { checked } from "./core.js";
import { type Fault, ValidationError } from "./errors.js";
import type { Client } from "./options.js";
import { type Envelope, type List, type ListFilters, Rows, isPage } from "./pages.js";
import { type How, type IsExpected, send } from "./send.js";

/** Creates a call, or throws what is wrong with it. */
export type Make = () => Call;
/** Creates the call of a list for these filters, which are a copy. */
export type MakeList = (filters: object) => Call;

export class Caller {
  #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  /** Sends a call and returns the JSON of its response, which `isExpected` checks. */
  async one<Json>(make: Make, how: Checked & How, isExpected: IsExpected): Promise<Json> {
    const { json } = await this.#send(make, how, isExpected);
    return json as Json;
  }

  list<Row>(make: MakeList, filters: ListFilters | undefined, options: CallOptions | undefined): List<Row> {
    const get = async (filters: ListFilters, options: CallOptions | undefined) => {
      const { json, headers } = await this.#send(() => make(filters), callOptions(options), isPage);
      return { json: json as Envelope<Row>, after: cursorIn(headers.get("link")) };
    };
    return new Rows<Row>(get, filters, options);
  }

  /** What is wrong with a call, which is not sent. A problem of no part of the call is a fault of the whole. */
  faultsOf(make: Make): readonly Fault[] {
    try {
      checked(make).free();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return error.errors.length > 0 ? error.errors : [{ detail: error.message }];
    }
    return [];
  }

  /** What is wrong with the call for the first page of a list. */
  faultsOfList(make: MakeList, filters: object | undefined): readonly Fault[] {
    return this.faultsOf(() => make(copyOf(filters, "filters")));
  }

  async #send(make: Make, how: Checked & How, isExpected: IsExpected) {
    const call = checked(make);
    try {
      return await send(this.#client, call, how, isExpected);
    } finally {
      call.free();
    }
  }
}

/**
 * The cursor of the next page in `Link: <…>; rel="next"` (RFC 8288). The rest of its address is ignored, because the secret
 * goes only to the service's own address.
 */
function cursorIn(link: string | null): string | undefined {
  const address = /<([^<>]*)>\s*;\s*rel="next"/.exec(link ?? "")?.[1];
  return new URLSearchParams(address?.split("?")[1]).get("after") ?? undefined;
}
