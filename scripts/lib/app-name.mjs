import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Whether one of these files in a folder sets `APP_NAME`, which users see. */
export const isAppNamed = (folder, files) =>
  files
    .map((name) => join(folder, name))
    .some((file) => existsSync(file) && /^\s*APP_NAME\s*=/m.test(readFileSync(file, "utf8")));
