// The notes of a release: its section of the changelog, and how to check its files.

/**
 * @param {{ version: string, changelog: string, worker: { path: string, sha256: string }[] }} release `worker` are the files of the
 *   Worker
 * @returns {string} Markdown
 */
export function notes({ version, changelog, worker }) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`${version} `)) ?? sections[0] ?? "";
  const changes = section.slice(section.indexOf("\n")).trim();
  const hashes = worker.map(({ path, sha256 }) => `${sha256}  ${path}`).join("\n");
  return `# connector-vault ${version}

${changes}

## Check the files

In the folder with the files, \`sha256sum --check --ignore-missing SHA256SUMS\` checks those that you downloaded. The Worker of
\`connector-vault-server\`, and of each deployment of this release, has these SHA-256 hashes:

\`\`\`text
${hashes}
\`\`\`

Build the commit of the tag v${version} yourself, and compare: \`npm run reproducible\` builds it twice, and \`sha256sum build/*\`
prints the hashes. \`SHA256SUMS.build\` also has those of the site. The files \`*.cdx.json\` are bills of materials (CycloneDX
1.6) of the Worker with its site, of the client package, and of the command line. The Python package is in the repository only:
\`pip install ./python\` builds it.
`;
}
