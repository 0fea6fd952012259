// Fills the placeholders in texts. The console also shows the fields of auth methods, so this module contains only
// their English texts; the connect window adds all others.
import fields from "./texts/en-fields.json";

export type FieldTextKey = keyof typeof fields;
export type Values = Record<string, string>;

let texts: Record<string, string> = fields;
/** Values that every text can use. */
let commonValues: Values = {};
/** The language of the texts, as a primary subtag. */
export let language = "en";

export function setTexts(newLanguage: string, newTexts: Record<string, string>): void {
  language = newLanguage;
  texts = newTexts;
}

export function setCommonValues(values: Values): void {
  commonValues = values;
}

/** A text whose placeholders are not filled in. */
export const template = (key: string): string => texts[key] ?? "";

/** The value of a placeholder that every text can use. */
export const commonValue = (name: string): string => commonValues[name] ?? "";

/** A text about a field, with its placeholders filled in. */
export function fieldText(key: FieldTextKey, values: Values = {}): string {
  return fill(key, values);
}

/** A text with its placeholders filled in. */
export const fill = (key: string, values: Values): string =>
  template(key).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? commonValue(name));

/** The label of a field, translated if it is a common one. The catalog contains English labels only. */
export const fieldLabel = (label: string): string => texts[`label.${label}`] ?? label;

/**
 * The `lang` of a text from the catalog, which is in English. Undefined if the page is in English or the label is
 * translated.
 */
export const catalogLanguage = (label?: string): "en" | undefined =>
  language === "en" || (label !== undefined && texts[`label.${label}`] !== undefined) ? undefined : "en";
