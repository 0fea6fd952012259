// The operator's command line in the npm package: each platform's program is a separate package, of which npm
// installs the one for this machine.
import { createRequire } from "node:module";
import { Problem } from "../lib/problem.mjs";

/** The name of the npm package with the command line for a platform. */
export const platformPackage = (platform, arch) => `connector-vault-server-${platform}-${arch}`;

/** The path of the program. */
export function prebuilt() {
  const { platform, arch } = process;
  const name = platformPackage(platform, arch);
  try {
    return createRequire(import.meta.url).resolve(`${name}/connector-vault`);
  } catch {
    throw new Problem(`The command line for this machine (${platform} ${arch}) is not installed.`, {
      hint: `It is in the npm package ${name}, which npm installs unless optional packages are disabled (--omit=optional).\nIf there is no such package, build connector-vault from source: its README says how.`,
    });
  }
}
