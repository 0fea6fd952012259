// Access to web storage. Browsers that block storage throw on any access.

type StorageArea = "localStorage" | "sessionStorage";

export function readStorage(place: StorageArea, name: string): string | undefined {
  try {
    return window[place].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Stores a value, or removes it if undefined. If storage is blocked, the value lives in memory only. */
export function writeStorage(place: StorageArea, name: string, value: string | undefined): void {
  try {
    if (value === undefined) window[place].removeItem(name);
    else window[place].setItem(name, value);
  } catch {
    // Storage is blocked.
  }
}
