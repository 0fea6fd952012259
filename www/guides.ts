// Publishes the repository's guides at /guides, under their paths in the repository, so that links between them work.
import { readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import type { Plugin } from "vite";

const ROOT = join(import.meta.dirname, "..");
const PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md", "npm/README.md", "python/README.md"];
// Relative links, except those to an anchor of the same page.
const LINK_PATTERN = /(?<!!)\[([^\][]*)\]\((?![a-z]+:|#)([^)#\s]+)[^)\s]*\)/g;
const IMAGE_PATTERN = /(?:!\[[^\]]*\]\(|(?:src|srcset)=")(?![a-z]+:)([^)"\s]+\.(?:png|svg))/g;

export function guides(): Plugin {
  return {
    name: "guides",
    generateBundle() {
      for (const [path, source] of guideFiles()) this.emitFile({ type: "asset", fileName: `guides/${path}`, source });
    },
  };
}

/** Returns the guides and their images by path. Links to source code become plain text, because the site has none. */
export function guideFiles(): Map<string, string | Uint8Array> {
  const docs = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  const pages = [...PAGES, ...docs.map((name) => `docs/${name}`)];
  const files = new Map<string, string | Uint8Array>();
  for (const page of pages) {
    const text = readFileSync(join(ROOT, page), "utf8");
    const resolve = (target: string) => posix.join(posix.dirname(page), target);
    for (const [, target = ""] of text.matchAll(IMAGE_PATTERN)) {
      const image = resolve(target);
      files.set(image, readFileSync(join(ROOT, image)));
    }
    const rewrittenText = text.replaceAll(LINK_PATTERN, (link, words: string, target: string) =>
      pages.includes(resolve(target)) ? link : words,
    );
    files.set(page, rewrittenText);
  }
  return files;
}
