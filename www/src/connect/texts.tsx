// The window's texts, in the language of the session or of the browser. English is part of the bundle. Other languages
// are loaded before the window shows a step.
import { type ComponentChildren, Fragment } from "preact";
import {
  type FieldTextKey,
  type Values,
  commonValue,
  fillPlaceholders,
  language,
  setCommonValues,
  setTexts,
  template,
} from "./translate";
import english from "./texts/en.json";
import fields from "./texts/en-fields.json";

export { fieldLabel, language } from "./translate";

export type TextKey = keyof typeof english | FieldTextKey;

/** Loads each language as a separate chunk. Must have the same languages as `src/texts/language.rs`. */
const LOADERS: Record<string, () => Promise<{ default: Record<TextKey, string> }>> = {
  de: () => import("./texts/de.json"),
  fr: () => import("./texts/fr.json"),
  es: () => import("./texts/es.json"),
  ja: () => import("./texts/ja.json"),
};

const ENGLISH: Record<TextKey, string> = { ...english, ...fields };
setTexts("en", ENGLISH);
setCommonValues(appPlaceholders(undefined));

/**
 * Returns the language for a BCP 47 tag, by its primary subtag; English if the window has no texts in this language.
 * Without a tag, returns the first of the browser's languages in which it has texts.
 */
export function chooseLanguage(tag: string | undefined): string {
  const tags = tag === undefined ? navigator.languages : [tag];
  const subtags = tags.map((bcp47Tag) => bcp47Tag.split("-")[0]?.toLowerCase() ?? "");
  return subtags.find((subtag) => subtag === "en" || Object.hasOwn(LOADERS, subtag)) ?? "en";
}

/** The timeout for loading the texts of a language. */
const LOADING_MS = 4_000;
let lastLoad = 0;

/**
 * Loads the texts of a language. Keeps the current language if they can't be loaded in time. If calls overlap, the last
 * one wins.
 */
export async function loadLanguage(chosen: string): Promise<void> {
  lastLoad += 1;
  const load = lastLoad;
  if (chosen === language) return;
  const loaded =
    LOADERS[chosen]?.().then(
      (chunk) => chunk.default,
      () => undefined,
    ) ?? ENGLISH;
  const timeout = new Promise<undefined>((resolve) => setTimeout(resolve, LOADING_MS, undefined));
  const texts = await Promise.race([loaded, timeout]);
  if (!texts || load !== lastLoad) return;
  setTexts(chosen, texts);
  document.documentElement.lang = chosen;
  setAppName(appName);
}

let appName: string | undefined;

/** Sets the app's name, a placeholder that every text can use. */
export function setAppName(name: string | undefined): void {
  appName = name;
  setCommonValues(appPlaceholders(name));
}

/** Returns the placeholders for the app: its name, or a generic phrase if it has none. German also needs the dative. */
function appPlaceholders(name: string | undefined): Values {
  const app = name ?? template("thisApp");
  return {
    app,
    App: name ?? capitalize(app),
    appDative: name ?? template("thisAppDative"),
    theApp: name ?? template("theApp"),
    theAppDative: name ?? template("theAppDative"),
  };
}

/** Returns a text with its placeholders filled in. */
export const translate = (key: TextKey, values: Values = {}): string => fillPlaceholders(key, values);

/** Like `translate`, but values can be elements. */
export function TranslatedText({ text, values }: { text: TextKey; values: Record<string, ComponentChildren> }) {
  const parts = template(text).split(/\{(\w+)\}/);
  return parts.map((part, index) => (
    <Fragment key={index}>{index % 2 === 0 ? part : (values[part] ?? commonValue(part))}</Fragment>
  ));
}

/** Returns a count with its noun, in the plural form that the language requires. */
export function translateCount(key: "choose.found", count: number): string {
  const form = new Intl.PluralRules(language).select(count) === "one" ? "one" : "other";
  return translate(`${key}.${form}`, { count: formatNumber(count) });
}

export const formatNumber = (count: number): string => count.toLocaleString(language);

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
