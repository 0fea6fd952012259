// A Worker that passes every request on to one address, and its answer back: what a call costs without a vault.
import address from "address";

export default {
  fetch: (request) => fetch(address, request),
};
