// Builds the Worker and the site. wrangler calls this through `npm run build`.
import { buildSite } from "./build-site.mjs";
import { buildWorker } from "./build-worker.mjs";
import { main } from "./lib/problem.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  const tools = await setup();
  await buildWorker(tools);
  await buildSite(tools);
});
