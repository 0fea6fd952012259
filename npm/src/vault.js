// The calls, by what they are about.
import { callOptions, copyOf, jsonOf, queryOf, text } from "./arguments.js";
import { ValidationError, checked } from "./errors.js";
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
    this.sessions = new Sessions(this.#caller);
  }

  async whoami(options) {
    const isAnswer = (json) => typeof json?.account === "string";
    return this.#caller.one((core) => core.Call.whoami(), callOptions(options), isAnswer);
  }
}

// What makes calls whose arguments may be wrong: whoever sends one and whoever only validates it is told the same. Those of
// lists take a copy of the filters.
const connectorList = (filters) => (core) => core.Call.listConnectors(queryOf(filters, []));
const actionList = (platform) => (filters) => (core) => {
  const query = queryOf(filters, []);
  return core.Call.listActions(text(platform, "platform"), query);
};
const connectionList = (filters) => (core) => core.Call.listConnections(queryOf(filters, ["key", "tags"]));
const update = (id, changes) => (core) => core.Call.updateConnection(text(id, "id"), ...jsonOf(changes, "changes"));
const stateChange = (id, change) => (core) => core.Call.setState(text(id, "id"), ...jsonOf(change, "change"));
const naming = (id, name) => (core) => core.Call.setName(text(id, "id"), ...jsonOf({ name }, "name"));
const session = (wanted) => (core) => core.Call.createSession(...jsonOf(wanted, "session"));
const creation = (connection) => (core) => core.Call.createConnection(...jsonOf(connection, "connection"));

/** An id that nothing is wrong with. */
const ANY_ID = "00000000-0000-0000-0000-000000000000";

class Connectors {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(filters, options) {
    return this.#caller.list(connectorList, filters, options);
  }

  validateList(filters) {
    return this.#caller.faultsOfList(connectorList, filters);
  }
}

class Actions {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(platform, filters, options) {
    return this.#caller.list(actionList(platform), filters, options);
  }

  validateList(platform, filters) {
    return this.#caller.faultsOfList(actionList(platform), filters);
  }
}

const isConnection = (json) => [json?.id, json?.key, json?.version].every((value) => typeof value === "string");

class Connections {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  list(filters, options) {
    return this.#caller.list(connectionList, filters, options);
  }

  validateList(filters) {
    return this.#caller.faultsOfList(connectionList, filters);
  }

  async get(id, options) {
    return this.#caller.one((core) => core.Call.getConnection(text(id, "id")), callOptions(options), isConnection);
  }

  async update(id, changes, options) {
    return this.#change(update(id, changes), options);
  }

  validateUpdate(changes) {
    return this.#caller.faultsOf(update(ANY_ID, changes));
  }

  async setState(id, change, options) {
    return this.#change(stateChange(id, change), options);
  }

  validateSetState(change) {
    return this.#caller.faultsOf(stateChange(ANY_ID, change));
  }

  async setName(id, name, options) {
    return this.#change(naming(id, name), options);
  }

  validateSetName(name) {
    return this.#caller.faultsOf(naming(ANY_ID, name));
  }

  #change(make, options) {
    const how = callOptions(options, ["signal", "ifMatch"]);
    // A second change would meet the revision that the first one made.
    const repeatable = how.ifMatch === undefined;
    return this.#caller.one(make, { ...how, repeatable }, isConnection);
  }

  async create(connection, options) {
    // A second creation would meet the first one's connection.
    const how = { ...callOptions(options), repeatable: false };
    return this.#caller.one(creation(connection), how, isConnection);
  }

  validateCreate(connection) {
    return this.#caller.faultsOf(creation(connection));
  }

  async delete(id, options) {
    // Sent again with `ifMatch`, too: whatever the first try deleted is not there any more.
    const how = { ...callOptions(options, ["signal", "ifMatch"]), deletes: true };
    await this.#caller.one(
      (core) => core.Call.deleteConnection(text(id, "id")),
      how,
      (_, status) => status === 204,
    );
  }

  async summary(options) {
    return this.#caller.one(
      (core) => core.Call.summary(),
      callOptions(options),
      (json) => Number.isSafeInteger(json?.total),
    );
  }
}

class Sessions {
  #caller;

  constructor(caller) {
    this.#caller = caller;
  }

  // Of two tokens, one expires unused: this can be sent again.
  async create(wanted, options) {
    return this.#caller.one(session(wanted), callOptions(options), (json) => typeof json?.token === "string");
  }

  validateCreate(wanted) {
    return this.#caller.faultsOf(session(wanted));
  }
}

/** Sends calls that have been checked, or tells what is wrong with them. */
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

  /** A list. `makeFor` gives, for filters, what makes the call. */
  list(makeFor, filters, options) {
    const get = async (asked, how) => {
      const { json, headers } = await this.#send(makeFor(asked), callOptions(how), isPage);
      return { json, after: cursorIn(headers.get("link")) };
    };
    return new List(get, filters, options);
  }

  /** What is wrong with a call, which is not sent. What is wrong with no part of it is a fault of the whole. */
  faultsOf(make) {
    try {
      this.#checked(make).free();
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return error.errors.length > 0 ? error.errors : [{ detail: error.message }];
    }
    return [];
  }

  /** What is wrong with the call for a list's first page. */
  faultsOfList(makeFor, filters) {
    return this.faultsOf((core) => makeFor(copyOf(filters, "filters"))(core));
  }

  #checked(make) {
    return checked(() => make(this.#core));
  }

  async #send(make, how, isAnswer) {
    const call = this.#checked(make);
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
