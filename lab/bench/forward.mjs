// A Worker that only proxies requests to one address: the cost of a call without a vault.
import address from "address";

export default {
  fetch: (request) => fetch(address, request),
};
