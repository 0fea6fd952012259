// Maps other services' names to platforms. A name that is in neither a table nor `--map` is looked up unchanged, and with
// `-` for `_`.
import { readFileSync } from "node:fs";
import { Problem } from "../lib/problem.mjs";

/**
 * Nango's providers whose names differ, from https://github.com/NangoHQ/nango/blob/master/packages/providers/providers.yaml.
 * A sandbox, or a provider that connects an app instead of a user, is another platform, so it is not listed.
 */
export const NANGO = {
  "active-campaign": "activecampaign",
  "airtable-pat": "airtable",
  "azure-devops": "azure-devops-services",
  "bamboohr-basic": "bamboohr",
  "brevo-api-key": "brevo",
  "confluence-basic": "confluence",
  "front-api-key": "front",
  "github-pat": "github",
  "gitlab-pat": "gitlab",
  "google-bigquery": "bigquery",
  "google-mail": "gmail",
  "google-sheet": "google-sheets",
  "helpscout-mailbox": "help-scout",
  "jira-basic": "jira",
  "klaviyo-oauth": "klaviyo",
  microsoft: "microsoft-graph",
  "microsoft-excel": "excel",
  "microsoft-power-bi": "power-bi",
  "okta-api-key": "okta",
  "one-drive": "onedrive",
  "one-drive-personal": "onedrive",
  "one-note": "onenote",
  "posthog-oauth": "posthog",
  "sap-concur": "concur",
  "sentry-oauth": "sentry",
  "sharepoint-online": "sharepoint",
  squareup: "square",
  stackexchange: "stack-exchange",
  "stripe-api-key": "stripe",
  "survey-monkey": "surveymonkey",
  "twitter-v2": "x",
  "whatsapp-business": "whatsapp",
  "zendesk-api-key": "zendesk",
};

/** Composio's toolkits whose slugs differ, from https://docs.composio.dev/toolkits. */
export const COMPOSIO = {
  active_campaign: "activecampaign",
  googlebigquery: "bigquery",
  googlecalendar: "google-calendar",
  googlecontacts: "google-contacts",
  googledocs: "google-docs",
  googledrive: "google-drive",
  googlephotos: "google-photos",
  googlesheets: "google-sheets",
  googleslides: "google-slides",
  googletasks: "google-tasks",
  one_drive: "onedrive",
  share_point: "sharepoint",
  twitter: "x",
};

/**
 * The target of a name: the platform, and perhaps the id of its auth method and the sources of its fields.
 * @typedef {{ platform: string, authMethod?: string, fields?: Record<string, string> }} Target
 */

/** @returns {Record<string, Target>} the entries of the file of `--map` */
export function readMap(path) {
  let map;
  try {
    map = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Problem(`${path} can't be read as JSON.`, {
      hint: error.code ?? "See `npm run import -- --help`.",
      code: 2,
    });
  }
  const isNonEmptyString = (value) => typeof value === "string" && value !== "";
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const isTarget = (value) =>
    isObject(value) &&
    isNonEmptyString(value.platform) &&
    Object.keys(value).every((name) => ["platform", "authMethod", "fields"].includes(name)) &&
    (value.authMethod === undefined || isNonEmptyString(value.authMethod)) &&
    (value.fields === undefined || (isObject(value.fields) && Object.values(value.fields).every(isNonEmptyString)));
  if (!isObject(map)) throw new Problem(`${path} must contain a JSON object.`, { code: 2 });
  const entries = Object.entries(map).map(([name, value]) => {
    const target = isNonEmptyString(value) ? { platform: value } : value;
    if (isTarget(target)) return [name, target];
    throw new Problem(
      `${path}: \`${name}\` must be a platform, or an object with \`platform\`, \`authMethod\` and \`fields\`.`,
      {
        code: 2,
      },
    );
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the target of the first mapped name, or else the last name as the platform.
 * @param {"nango" | "composio" | "csv"} format
 * @param {string[]} names the most specific one first
 * @param {Record<string, Target>} map
 * @returns {Target}
 */
export function targetOf(format, names, map) {
  const mappedName = names.find((name) => Object.hasOwn(map, name));
  if (mappedName !== undefined) return map[mappedName];
  const name = names.at(-1).toLowerCase();
  const table = { nango: NANGO, composio: COMPOSIO, csv: {} }[format];
  return { platform: Object.hasOwn(table, name) ? table[name] : format === "csv" ? name : name.replaceAll("_", "-") };
}
