// Access to web storage. Browsers that block storage throw on any access.

type StorageArea = "localStorage" | "sessionStorage";

export function readStorage(area: StorageArea, name: string): string | undefined {
  try {
    return window[area].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it if undefined. If storage is blocked, the value lives in memory only. */
export function writeStorage(area: StorageArea, name: string, value: string | undefined): void {
  try {
    if (value === undefined) window[area].removeItem(name);
    else window[area].setItem(name, value);
  } catch {
    // Storage is blocked.
  }
}
