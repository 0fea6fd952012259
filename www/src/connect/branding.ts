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
/** The background on which links and monograms are hardest to read in each theme: `--accent-soft`. */
const BACKGROUNDS = { light: [0xec, 0xea, 0xfd], dark: [0x26, 0x2a, 0x4a] } as const;
const TEXT_COLORS = { dark: [0, 0, 0], light: [255, 255, 255] } as const;

type Color = readonly number[];

/** Parses a colour such as `#1a2b3c`. Undefined if it is malformed. */
function parseColor(color: string): Color | undefined {
  if (!/^#[\da-f]{6}$/i.test(color)) return undefined;
  return [1, 3, 5].map((index) => Number.parseInt(color.slice(index, index + 2), 16));
}

const readableTextColor = (background: Color) =>
  contrast(background, TEXT_COLORS.light) >= MIN_CONTRAST ? TEXT_COLORS.light : TEXT_COLORS.dark;

/** The text colour that is readable on a background. Undefined if the background is not a valid colour. */
export function textColorOn(background: string): string | undefined {
  const color = parseColor(background);
  return color && css(readableTextColor(color));
}

/** Applies the app's colour to buttons, and a readable shade of it to links. */
export function applyBrandColor(color: string | null): void {
  const { style } = document.documentElement;
  const brand = parseColor(color ?? "");
  if (!brand) return;
  style.setProperty("--brand", css(brand));
  style.setProperty("--on-brand", css(readableTextColor(brand)));
  const [light, dark] = [
    readableColor(brand, BACKGROUNDS.light, TEXT_COLORS.dark),
    readableColor(brand, BACKGROUNDS.dark, TEXT_COLORS.light),
  ];
  style.setProperty("--accent", `light-dark(${css(light)}, ${css(dark)})`);
}

/** Mixes in just enough of the text colour to reach the minimum contrast. */
function readableColor(color: Color, background: Color, textColor: Color): Color {
  for (let weight = 0; weight < 1; weight += 0.05) {
    const mixed = color.map((value, index) => Math.round(value + ((textColor[index] ?? 0) - value) * weight));
    if (contrast(mixed, background) >= MIN_CONTRAST) return mixed;
  }
  return textColor;
}

const css = (color: Color) => `rgb(${color.join(" ")})`;

/** Contrast ratio as WCAG 2 defines it. */
export function contrast(first: Color, second: Color): number {
  const [a, b] = [luminance(first), luminance(second)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const fraction = value / 255;
    return fraction <= 0.04045 ? fraction / 12.92 : ((fraction + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
