// What the browser keeps. One that may keep nothing refuses even the question.

type StorageArea = "localStorage" | "sessionStorage";

/** What is kept under a name; undefined where nothing is, or may be. */
export function readStorage(place: StorageArea, name: string): string | undefined {
  try {
    return window[place].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a value under a name, or with undefined forgets it; where nothing may be kept, the page's memory has to do. */
export function writeStorage(place: StorageArea, name: string, value: string | undefined): void {
  try {
    if (value === undefined) window[place].removeItem(name);
    else window[place].setItem(name, value);
  } catch {
    // Nothing is kept.
  }
}
