// The app's name, logo and colour.

export interface Branding {
  name: string | null;
  logoUrl: string | null;
  color: string | null;
  url: string | null;
}

/** Undefined on failure: the window also works without branding. */
export async function fetchBranding(): Promise<Branding | undefined> {
  try {
    const response = await fetch("/connect/app.json");
    return response.ok ? ((await response.json()) as Branding) : undefined;
  } catch {
    return undefined;
  }
}

/** WCAG 2 (1.4.3): minimum contrast of text. */
const MIN_CONTRAST = 4.5;
/** The hardest backgrounds for links: `--surface` in the light theme, `--raised` in the dark one. */
const BACKGROUNDS = { light: [0xf6, 0xf7, 0xfa], dark: [0x1e, 0x21, 0x2c] } as const;
const TEXT_COLORS = { dark: [0, 0, 0], light: [255, 255, 255] } as const;

type Color = readonly number[];

/** Applies the app's colour to buttons, and to links as far as they stay readable. */
export function applyBrandColor(color: string | null): void {
  const { style } = document.documentElement;
  if (color === null || !/^#[\da-f]{6}$/i.test(color)) return;
  const brand = [1, 3, 5].map((index) => Number.parseInt(color.slice(index, index + 2), 16));
  const ink = contrast(brand, TEXT_COLORS.light) >= MIN_CONTRAST ? TEXT_COLORS.light : TEXT_COLORS.dark;
  style.setProperty("--brand", css(brand));
  style.setProperty("--on-brand", css(ink));
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
