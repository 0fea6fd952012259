// Storage for the benchmarked Worker: Workers KV from a catalog folder, and a D1 that knows one API key.
// A warm catalog request asks neither, so nothing that is measured runs here.
const FOLDERS = { segment: (id) => `segments/${id}`, version: (id) => `versions/${id}.json` };

export default {
  async fetch(request, { DISK, KEY_ROW }) {
    if (request.method === "POST") {
      const statements = [await request.json()].flat();
      const meta = { rows_read: 1, rows_written: 0 };
      return Response.json(statements.map(() => ({ success: true, results: [KEY_ROW], meta })));
    }
    const [kind, id] = decodeURIComponent(new URL(request.url).pathname.slice(1)).split(":");
    const file = FOLDERS[kind]?.(id) ?? `${kind}.json`;
    const found = await DISK.fetch(`http://disk/${file}`);
    return found.ok ? new Response(found.body) : new Response(null, { status: 404 });
  },
};
