import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether one of these files of a folder gives the app the name that its users are shown. */
export const isAppNamed = (folder, files) =>
  files
    .map((name) => join(folder, name))
    .some((file) => existsSync(file) && /^\s*APP_NAME\s*=/m.test(readFileSync(file, "utf8")));
