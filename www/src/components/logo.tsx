import { useState } from "preact/hooks";

const TINTS = 6;

function monogram(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? ["?"];
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? "?")].slice(0, 2);
  return letters.join("").toUpperCase();
}

const tint = (name: string) => [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % TINTS;

/** Whether the logo is on this origin. Loading it from another host would reveal to that host what the user views. */
const isSameOrigin = (image: string) => new URL(image, location.href).origin === location.origin;

interface Props {
  name: string;
  image?: string | undefined;
  size?: number;
  /** The app's own logo, which may be on another host. */
  isAppLogo?: boolean;
}

/** A logo, or the initials of the name if there is none. Decorative, because the name is always next to it. */
export function Logo({ name, image, size = 40, isAppLogo = false }: Props) {
  const [failedImage, setFailedImage] = useState<string>();
  if (!image || failedImage === image || !(isAppLogo || isSameOrigin(image))) {
    return (
      <span class="logo monogram" data-tint={tint(name)} data-size={size} aria-hidden="true">
        {monogram(name)}
      </span>
    );
  }
  return (
    <img
      class="logo"
      src={image}
      width={size}
      height={size}
      alt=""
      loading="lazy"
      decoding="async"
      referrerpolicy="no-referrer"
      onError={() => setFailedImage(image)}
    />
  );
}
