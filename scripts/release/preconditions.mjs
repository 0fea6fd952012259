// Checks whether a version can be released.

/**
 * @param {{ version: string, crate?: string, scripts: string, server: string, python?: string, changelog: string, changes: string, tags: string[] }} state
 *   `version` is that of the npm package, `crate` that of Cargo.toml, `scripts` that of package.json; `changes` are the uncommitted
 *   changes, `tags` those of the commit
 * @returns {string[]} the reasons against it, as sentences; empty if there are none
 */
export function unmetPreconditions({ version, crate, scripts, server, python, changelog, changes, tags }) {
  const unmetConditions = [];
  if (crate !== version) unmetConditions.push(`Cargo.toml has version ${crate}, npm/package.json ${version}.`);
  if (scripts !== version) unmetConditions.push(`package.json has version ${scripts}, npm/package.json ${version}.`);
  if (server !== version)
    unmetConditions.push(`server/package.json has version ${server}, npm/package.json ${version}.`);
  if (python !== version)
    unmetConditions.push(`The Python package has version ${python}, npm/package.json ${version}.`);
  const sections = [...changelog.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
  const escaped = version.replaceAll(".", "\\.");
  if (!sections.some((title) => new RegExp(`^${escaped} - \\d{4}-\\d\\d-\\d\\d$`).test(title)))
    unmetConditions.push(`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD".`);
  if (changes !== "") unmetConditions.push("There are changes that are not committed.");
  if (!tags.includes(`v${version}`)) unmetConditions.push(`The commit has no tag v${version}.`);
  return unmetConditions;
}
