import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether one of these files in a folder sets a variable of the service to a value that is not empty. */
export function isVariableSet(name, folder, files) {
  const line = new RegExp(`^\\s*${name}\\s*=[ \\t]*(?!""|'')[^\\s#]`, "m");
  return files
    .map((file) => join(folder, file))
    .some((path) => existsSync(path) && line.test(readFileSync(path, "utf8")));
}
