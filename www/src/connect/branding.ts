// The app's name, logo and colour.

export interface Branding {
  name: string | null;
  logoUrl: string | null;
  color: string | null;
  url: string | null;
}

/**
 * The branding of the account that the window's code or token belongs to. Undefined on failure: the window also works
 * without it.
 */
export async function fetchBranding(secret: string | undefined): Promise<Branding | undefined> {
  try {
    const headers: HeadersInit = secret === undefined ? {} : { "x-connect-code": secret };
    const response = await fetch("/connect/app.json", { headers });
    return response.ok ? ((await response.json()) as Branding) : undefined;
  } catch {
    return undefined;
  }
}

/** WCAG 2 (1.4.3): minimum contrast of text. */
const MIN_CONTRAST = 4.5;
/** The hardest background for links and monograms in each theme: `--accent-soft`. */
const BACKGROUNDS = { light: [0xec, 0xea, 0xfd], dark: [0x26, 0x2a, 0x4a] } as const;
const TEXT_COLORS = { dark: [0, 0, 0], light: [255, 255, 255] } as const;

type Color = readonly number[];

/** Undefined unless it is a colour such as `#1a2b3c`. */
function parseColor(color: string): Color | undefined {
  if (!/^#[\da-f]{6}$/i.test(color)) return undefined;
  return [1, 3, 5].map((index) => Number.parseInt(color.slice(index, index + 2), 16));
}

const inkOn = (background: Color) =>
  contrast(background, TEXT_COLORS.light) >= MIN_CONTRAST ? TEXT_COLORS.light : TEXT_COLORS.dark;

/** The readable text colour on a background; undefined unless that is a colour. */
export function textColorOn(background: string): string | undefined {
  const color = parseColor(background);
  return color && css(inkOn(color));
}

/** Applies the app's colour to buttons, and to links as far as they stay readable. */
export function applyBrandColor(color: string | null): void {
  const { style } = document.documentElement;
  const brand = parseColor(color ?? "");
  if (!brand) return;
  style.setProperty("--brand", css(brand));
  style.setProperty("--on-brand", css(inkOn(brand)));
  const [light, dark] = [
    readableColor(brand, BACKGROUNDS.light, TEXT_COLORS.dark),
    readableColor(brand, BACKGROUNDS.dark, TEXT_COLORS.light),
  ];
  style.setProperty("--accent", `light-dark(${css(light)}, ${css(dark)})`);
}

/** Mixes in just enough of the text colour to reach the minimum contrast. */
function readableColor(colour: Color, behind: Color, ink: Color): Color {
  for (let part = 0; part < 1; part += 0.05) {
    const mixed = colour.map((value, index) => Math.round(value + ((ink[index] ?? 0) - value) * part));
    if (contrast(mixed, behind) >= MIN_CONTRAST) return mixed;
  }
  return ink;
}

const css = (colour: Color) => `rgb(${colour.join(" ")})`;

/** Contrast ratio as WCAG 2 defines it. */
export function contrast(one: Color, other: Color): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(colour: Color): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
