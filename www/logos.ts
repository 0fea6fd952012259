// Logos of well-known brands: the site serves logos/<slug>.svg for each slug in providers.toml.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as icons from "simple-icons";
import type { SimpleIcon } from "simple-icons";
import type { Plugin } from "vite";

const PROVIDERS = join(import.meta.dirname, "..", "providers.toml");
// WCAG 2 (1.4.11) requires a contrast of at least 3:1 between an icon and its background.
const MAX_LUMINANCE = 1.05 / 3 - 0.05;

export function logos(): Plugin {
  return {
    name: "logos",
    generateBundle() {
      for (const [slug, source] of loadLogos(readFileSync(PROVIDERS, "utf8")))
        this.emitFile({ type: "asset", fileName: `logos/${slug}.svg`, source });
    },
  };
}

/** Returns the logos that `providers.toml` names, by slug. Throws if a slug has no icon with a suitable licence. */
export function loadLogos(providers: string): Map<string, string> {
  // A cast, because the package's types declare a default export that does not exist.
  const allIcons = Object.values(icons) as SimpleIcon[];
  const iconsBySlug = new Map(allIcons.map((icon) => [icon.slug, icon]));
  const logosBySlug = new Map<string, string>();
  const faults = [];
  for (const [, slug = ""] of providers.matchAll(/^\s*logo\s*=\s*["'](.*?)["']/gm)) {
    const icon = iconsBySlug.get(slug);
    if (!icon) faults.push(`the package simple-icons has no icon \`${slug}\``);
    // The package is CC0, but some of its icons have stricter licences.
    else if (icon.license && icon.license.type !== "CC0-1.0")
      faults.push(`the icon \`${slug}\` has a licence of its own, ${icon.license.type}`);
    else logosBySlug.set(slug, tile(icon));
  }
  if (faults.length > 0)
    throw new Error(`providers.toml: ${faults.join("; ")}: name another \`logo\`, or leave it out.`);
  return logosBySlug;
}

/** Draws the icon on a tile in the brand's colour: in white, or in black if the tile is too bright. */
function tile({ hex, path }: SimpleIcon) {
  const iconColour = luminance(hex) > MAX_LUMINANCE ? "#000" : "#fff";
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-7 -7 38 38">' +
    `<rect x="-7" y="-7" width="38" height="38" rx="7" fill="#${hex}"/><path fill="${iconColour}" d="${path}"/></svg>`
  );
}

/** The relative luminance of a colour (WCAG 2). */
function luminance(hex: string) {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((offset) => {
    const value = Number.parseInt(hex.slice(offset, offset + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
