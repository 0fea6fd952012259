// The baseline for the import: reads and parses the documents.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [folder] = process.argv.slice(2);
let documents = 0;
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith(".json")) continue;
  if (JSON.parse(readFileSync(join(entry.parentPath, entry.name), "utf8"))) documents += 1;
}
console.log(documents);
