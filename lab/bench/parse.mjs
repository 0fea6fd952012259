// What the import is compared with: reads and parses the documents, and does nothing with them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
let documents = 0;
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith(".json")) continue;
  if (JSON.parse(readFileSync(join(entry.parentPath, entry.name), "utf8"))) documents += 1;
}
console.log(documents);
