// A Worker that measures the minimum cost of a request to D1: runs the statements of our request, and sends the raw results as JSON.
import statements from "statements";

export default {
  async fetch(_request, { VAULT }) {
    return Response.json(await VAULT.batch(statements.map(({ sql, params }) => VAULT.prepare(sql).bind(...params))));
  },
};
