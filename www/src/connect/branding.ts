import { readStorage, writeStorage } from "../components/storage";

const STORAGE_KEY = "connect-app";

export interface Branding {
  name: string | null;
  logoUrl: string | null;
  color: string | null;
  url: string | null;
}

/**
 * Loads the branding of the account to which the window's code or token belongs. Returns undefined on failure, because
 * the window also works without branding. Stores it in this tab, and without a secret, as after a reload, returns what
 * is stored.
 */
export async function fetchBranding(secret: string | undefined): Promise<Branding | undefined> {
  try {
    const stored = secret === undefined && readStorage("sessionStorage", STORAGE_KEY);
    if (stored) return JSON.parse(stored) as Branding;
    const headers: HeadersInit = secret === undefined ? {} : { "x-connect-code": secret };
    const response = await fetch("/connect/app.json", { headers });
    if (!response.ok) return undefined;
    const branding = (await response.json()) as Branding;
    if (secret !== undefined) storeBranding(branding);
    return branding;
  } catch {
    return undefined;
  }
}

export const storeBranding = (branding: Branding) =>
  writeStorage("sessionStorage", STORAGE_KEY, JSON.stringify(branding));

/** The minimum contrast of text (WCAG 2, 1.4.3). */
const MIN_CONTRAST = 4.5;
/** `--accent-soft` in each theme: the background with the least contrast to links and monograms. */
const BACKGROUNDS = { light: [0xec, 0xea, 0xfd], dark: [0x26, 0x2a, 0x4a] } as const;
const TEXT_COLORS = { dark: [0, 0, 0], light: [255, 255, 255] } as const;

type Color = readonly number[];

/** Parses a colour such as `#1a2b3c`. Returns undefined if it is malformed. */
function parseColor(color: string): Color | undefined {
  if (!/^#[\da-f]{6}$/i.test(color)) return undefined;
  return [1, 3, 5].map((index) => Number.parseInt(color.slice(index, index + 2), 16));
}

const chooseReadableTextColor = (background: Color) =>
  contrast(background, TEXT_COLORS.light) >= MIN_CONTRAST ? TEXT_COLORS.light : TEXT_COLORS.dark;

/**
 * Returns the text colour that is readable on a background. Returns undefined if the background is not a valid colour.
 */
export function chooseTextColor(background: string): string | undefined {
  const color = parseColor(background);
  return color && toCssColor(chooseReadableTextColor(color));
}

/** Applies the app's colour to buttons, and a readable shade of it to links. */
export function applyBrandColor(color: string | null): void {
  const { style } = document.documentElement;
  const brand = parseColor(color ?? "");
  if (!brand) return;
  style.setProperty("--brand", toCssColor(brand));
  style.setProperty("--on-brand", toCssColor(chooseReadableTextColor(brand)));
  const [light, dark] = [
    toReadableColor(brand, BACKGROUNDS.light, TEXT_COLORS.dark),
    toReadableColor(brand, BACKGROUNDS.dark, TEXT_COLORS.light),
  ];
  style.setProperty("--accent", `light-dark(${toCssColor(light)}, ${toCssColor(dark)})`);
}

/** Mixes as much of the text colour into `color` as the minimum contrast requires. */
function toReadableColor(color: Color, background: Color, textColor: Color): Color {
  for (let weight = 0; weight < 1; weight += 0.05) {
    const mixedColor = color.map((value, index) => Math.round(value + ((textColor[index] ?? 0) - value) * weight));
    if (contrast(mixedColor, background) >= MIN_CONTRAST) return mixedColor;
  }
  return textColor;
}

const toCssColor = (color: Color) => `rgb(${color.join(" ")})`;

/** Contrast ratio (WCAG 2). */
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
