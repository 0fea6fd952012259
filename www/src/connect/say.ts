// Fills texts in. The console shows the fields of auth methods as well, so that this module has their English texts only;
// the connect window sets the others.
import fields from "./texts/en-fields.json";

export type FieldTextKey = keyof typeof fields;
export type Values = Record<string, string>;

let texts: Record<string, string> = fields;
/** Values that each text can contain. */
let commonValues: Values = {};
/** The primary subtag of the language of the texts. */
export let language = "en";

export function setTexts(newLanguage: string, newTexts: Record<string, string>): void {
  language = newLanguage;
  texts = newTexts;
}

export function setCommonValues(values: Values): void {
  commonValues = values;
}

/** A text with its placeholders. */
export const template = (key: string): string => texts[key] ?? "";

/** The value of a placeholder that each text can contain. */
export const commonValue = (name: string): string => commonValues[name] ?? "";

/** A text of a field with its values. */
export function sayOfField(key: FieldTextKey, values: Values = {}): string {
  return fill(key, values);
}

/** A text with its values. */
export const fill = (key: string, values: Values): string =>
  template(key).replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? commonValue(name));

/** The label of a field. The catalog has it in English; the usual ones are translated. */
export const fieldLabel = (label: string): string => texts[`label.${label}`] ?? label;

/** The language of a text that only the catalog has, for `lang`; undefined if it is that of the page. */
export const catalogLanguage = (label?: string): "en" | undefined =>
  language === "en" || (label !== undefined && texts[`label.${label}`] !== undefined) ? undefined : "en";
