// Access to web storage. If the browser blocks storage, every access throws.

type StorageArea = "localStorage" | "sessionStorage";

export function readStorage(area: StorageArea, name: string): string | undefined {
  try {
    return window[area].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it if it is undefined. Does nothing if storage is blocked. */
export function writeStorage(area: StorageArea, name: string, value: string | undefined): void {
  try {
    if (value === undefined) window[area].removeItem(name);
    else window[area].setItem(name, value);
  } catch {
    // Storage is blocked.
  }
}
