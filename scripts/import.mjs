// `npm run import -- nango|composio|csv FILE`: moves connections from another service or a file into this one.
import { importConnections } from "./import/command.mjs";
import { main } from "./lib/problem.mjs";

await main(() => importConnections(process.argv.slice(2)));
