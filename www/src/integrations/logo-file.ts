/** Maximum length of the `data:` URL, for an image of 32 KiB, the service's limit. */
const MAX_LENGTH = 43_000;
/**
 * Side lengths to try, in pixels. Pages show logos with up to 32 CSS pixels, and screens have up to four device pixels
 * per CSS pixel.
 */
const SIDES = [128, 96, 64];

/**
 * Converts an image file to a small square PNG image in a `data:` URL. The service rejects SVG images, because they can
 * contain scripts. Returns undefined if the browser can't read the file.
 */
export async function readLogo(file: File): Promise<string | undefined> {
  try {
    const image = new Image();
    image.src = await dataUrl(file);
    await image.decode();
    return SIDES.map((side) => drawToUrl(image, side)).find((url) => url.length <= MAX_LENGTH);
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

/** Scales the image to fit into a square, centred. Returns a `data:` URL. */
function drawToUrl(image: HTMLImageElement, side: number): string {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = side;
  // An SVG image may have no intrinsic size.
  const [width, height] = [image.naturalWidth || side, image.naturalHeight || side];
  const scale = side / Math.max(width, height);
  const [drawnWidth, drawnHeight] = [width * scale, height * scale];
  canvas.getContext("2d")?.drawImage(image, (side - drawnWidth) / 2, (side - drawnHeight) / 2, drawnWidth, drawnHeight);
  return canvas.toDataURL("image/png");
}
