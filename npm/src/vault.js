// The calls, by what they are about.
import { callOptions, jsonOf, queryOf, text } from "./arguments.js";
import { checked } from "./errors.js";
import { readOptions } from "./options.js";
import { List, isPage } from "./pages.js";
import { send } from "./send.js";

/** A client of one service with one secret. `core` is the WebAssembly that checks what is asked. */
export class Vault {
  #caller;

  constructor(core, options) {
    this.#caller = new Caller(core, readOptions(core, options));
    this.connectors = new Connectors(this.#caller);
    this.actions = new Actions(this.#caller);
    this.connections = new Connections(this.#caller);
  }

  async whoami(options) {
    const isAnswer = (json) => typeof json?.account === "string";
    return this.#caller.one((core) => core.Call.whoami(), callOptions(options), isAnswer);
  }
}

class Connectors {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(filters, options) {
    return this.#caller.list((core, query) => core.Call.listConnectors(query), [], filters, options);
  }
}

class Actions {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(platform, filters, options) {
    return this.#caller.list((core, query) => core.Call.listActions(text(platform, "platform"), query), [], filters, options);
  }
}

const isConnection = (json) => [json?.id, json?.key, json?.version].every((value) => typeof value === "string");

class Connections {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(filters, options) {
    return this.#caller.list((core, query) => core.Call.listConnections(query), ["key", "tags"], filters, options);
  }

  async get(id, options) {
    return this.#caller.one((core) => core.Call.getConnection(text(id, "id")), callOptions(options), isConnection);
  }

  async update(id, changes, options) {
    const how = callOptions(options, ["signal", "ifMatch"]);
    // A second change would meet the revision that the first one made.
    const repeatable = how.ifMatch === undefined;
    const call = (core) => core.Call.updateConnection(text(id, "id"), ...jsonOf(changes, "changes"));
    return this.#caller.one(call, { ...how, repeatable }, isConnection);
  }

  async create(connection, options) {
    // A second creation would meet the first one's connection.
    const how = { ...callOptions(options), repeatable: false };
    return this.#caller.one((core) => core.Call.createConnection(...jsonOf(connection, "connection")), how, isConnection);
  }

  async delete(id, options) {
    const how = { ...callOptions(options), deletes: true };
    await this.#caller.one((core) => core.Call.deleteConnection(text(id, "id")), how, (_, status) => status === 204);
  }

  async summary(options) {
    return this.#caller.one((core) => core.Call.summary(), callOptions(options), (json) => Number.isSafeInteger(json?.total));
  }
}

/** Sends calls that have been checked. */
class Caller {
  #core;
  #client;

  constructor(core, client) {
    this.#core = core;
    this.#client = client;
  }

  /** What a call is answered. `make` makes it, and throws what is wrong with it. */
  async one(make, how, isAnswer) {
    const { json } = await this.#send(make, how, isAnswer);
    return json;
  }

  /** A list. `make` makes the call for a query; of the filters, those named in `lists` may be arrays. */
  list(make, lists, filters, options) {
    const get = async (asked, how) => {
      const query = queryOf(asked, lists);
      const { json, headers } = await this.#send((core) => make(core, query), callOptions(how), isPage);
      return { json, after: cursorIn(headers.get("link")) };
    };
    return new List(get, filters, options);
  }

  async #send(make, how, isAnswer) {
    const call = checked(() => make(this.#core));
    try {
      return await send(this.#client, call, how, isAnswer);
    } finally {
      call.free();
    }
  }
}

/**
 * The cursor of the page that follows, in `Link: <…>; rel="next"` (RFC 8288). The rest of the address is not followed: the
 * secret goes to the service's own address only.
 */
function cursorIn(link) {
  const address = /<([^<>]*)>\s*;\s*rel="next"/.exec(link ?? "")?.[1];
  return new URLSearchParams(address?.split("?")[1]).get("after") ?? undefined;
}
