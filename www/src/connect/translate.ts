// Looks up texts and fills in their placeholders. The console also uses this module, for the fields of auth methods, so
// it contains only their English texts. The connect window adds all other texts.
import fields from "./texts/en-fields.json";

export type FieldTextKey = keyof typeof fields;
export type Values = Record<string, string>;

let texts: Record<string, string> = fields;
/** Values of placeholders that every text can use. */
let commonValues: Values = {};
/** The language of the texts: the primary subtag of a BCP 47 tag. */
export let language = "en";

export function setTexts(newLanguage: string, newTexts: Record<string, string>): void {
  language = newLanguage;
  texts = newTexts;
}

export function setCommonValues(values: Values): void {
  commonValues = values;
}

/** Returns a text with its placeholders. */
export const template = (key: string): string => texts[key] ?? "";

/** Returns the value of a placeholder that every text can use. */
export const commonValue = (name: string): string => commonValues[name] ?? "";

/** Returns a text about a field, with its placeholders filled in. */
export function fieldText(key: FieldTextKey, values: Values = {}): string {
  return fillPlaceholders(key, values);
}

/** Returns a text with its placeholders filled in. */
export const fillPlaceholders = (key: string, values: Values): string =>
  template(key).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? commonValue(name));

/** Translates common labels of fields. Others stay in English, the only language of the catalog. */
export const fieldLabel = (label: string): string => texts[`label.${label}`] ?? label;

/**
 * Returns the `lang` attribute for a text from the catalog, which is in English. Returns undefined if the page is in
 * English or the label is translated.
 */
export const catalogLanguage = (label?: string): "en" | undefined =>
  language === "en" || (label !== undefined && texts[`label.${label}`] !== undefined) ? undefined : "en";
