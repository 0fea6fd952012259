// `npm run export -- --recipient age1… FILE`: writes all connections with their credentials, encrypted by age.
import { exportConnections } from "./export/command.mjs";
import { buildNativeCli } from "./lib/native-cli.mjs";
import { main } from "./lib/problem.mjs";

await main(() => exportConnections(process.argv.slice(2), buildNativeCli));
