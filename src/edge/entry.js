// The module that the runtime loads: a plain handler around the class that `worker-build` makes. For a class the runtime
// makes an object for each request, and `worker-build` several proxies around it: a tenth of what a warm request costs.
// The WebAssembly module starts afresh after a panic without them, too.
import Entrypoint from "../../build/index.js";

const { fetch } = Entrypoint.prototype;

export default {
  fetch(request, env, ctx) {
    return fetch.call({ env, ctx }, request);
  },
};
