/** The longest `data:` URL: an image of 32 KiB, the most that the service stores. */
const MAX_LENGTH = 43_000;
/** Widths and heights to try, in pixels: pages show up to 32 CSS pixels, each of up to four device pixels in a row. */
const SIDES = [128, 96, 64];

/**
 * An image file as a small square PNG image, in a `data:` URL. The service stores no SVG images, because they can contain
 * scripts. Undefined if the browser can't read the file.
 */
export async function readLogo(file: File): Promise<string | undefined> {
  try {
    const image = new Image();
    image.src = await dataUrl(file);
    await image.decode();
    return SIDES.map((side) => drawn(image, side)).find((url) => url.length <= MAX_LENGTH);
  } catch {
    return undefined;
  }
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** The whole image in the middle of a square. */
function drawn(image: HTMLImageElement, side: number): string {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  // An SVG image without a size has none.
  const [width, height] = [image.naturalWidth || side, image.naturalHeight || side];
  const scale = side / Math.max(width, height);
  const [shownWidth, shownHeight] = [width * scale, height * scale];
  canvas.getContext("2d")?.drawImage(image, (side - shownWidth) / 2, (side - shownHeight) / 2, shownWidth, shownHeight);
  return canvas.toDataURL("image/png");
}
