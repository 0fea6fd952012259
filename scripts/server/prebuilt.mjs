// Locates the operator's command-line program in the npm package for this machine: there is one package for each platform, and npm
// installs the right one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../lib/paths.mjs";
import { Problem } from "../lib/problem.mjs";

/** The name of the npm package that contains the program for a platform. */
export const platformPackage = (platform, arch) => `connector-vault-server-${platform}-${arch}`;

/** The platforms for which this release has a program, such as `linux x64`. */
function platforms() {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const prefix = platformPackage("", "").slice(0, -1);
  return Object.keys(optionalDependencies).map((name) => name.slice(prefix.length).replace("-", " "));
}

/** The path of the program. Fails if there is none for this machine, or if it is not installed. */
export function prebuilt() {
  const { platform, arch } = process;
  const name = platformPackage(platform, arch);
  try {
    return createRequire(import.meta.url).resolve(`${name}/connector-vault`);
  } catch {
    const supported = platforms();
    if (!supported.includes(`${platform} ${arch}`))
      throw new Problem(`This release has no command line for ${platform} ${arch}, only for ${supported.join(", ")}.`, {
        hint: "Build connector-vault from source, which takes some minutes and needs Rust: its README says how.",
      });
    throw new Problem(`The command line for this machine (${platform} ${arch}) is not installed.`, {
      hint: `It is in the npm package ${name}, which npm installs unless optional packages are disabled (--omit=optional).`,
    });
  }
}
