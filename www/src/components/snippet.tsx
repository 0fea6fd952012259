// Shows the API request behind a view.
import { useState } from "preact/hooks";
import { CopyButton } from "./copy-button";

const MAX_LINE_LENGTH = 80;

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Includes the query. */
  path: string;
  body?: unknown;
  /** The request as code for the npm package. */
  javascript: string;
}

/** Quotes a string for a shell. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Formats a value as JSON, on one line if it is short. */
export function toJson(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length > MAX_LINE_LENGTH ? JSON.stringify(value, undefined, 2) : line;
}

/** Formats a request as a curl command, with the key in `$KEY`. */
export function curl({ method, path, body }: ApiCall): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${shellQuote(location.origin + path)}`,
    `-H "x-service-secret: $KEY"`,
  ];
  if (body !== undefined) lines.push(`-H 'content-type: application/json'`, `-d ${shellQuote(toJson(body))}`);
  return lines.join(" \\\n  ");
}

export const javascript = (call: ApiCall) => `import { ConnectorVault } from "connector-vault";

const vault = new ConnectorVault({ baseUrl: ${JSON.stringify(location.origin)}, secret: process.env.KEY });
${call.javascript}`;

/** Formats an object as a JavaScript literal on one line. */
export function toLiteral(value: object): string {
  const members = Object.entries(value).filter(([, memberValue]) => memberValue !== undefined);
  return members.length === 0
    ? ""
    : `{ ${members.map(([name, memberValue]) => `${name}: ${JSON.stringify(memberValue)}`).join(", ")} }`;
}

export function pathWithQuery(path: string, query: object = {}): string {
  const search = new URLSearchParams(
    Object.entries(query)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  );
  return search.size > 0 ? `${path}?${search}` : path;
}

const LANGUAGES = [
  ["curl", curl],
  ["JavaScript", javascript],
] as const;

/** An API request in a collapsed section. */
export const Snippet = ({ call, title = "API request" }: { call: ApiCall; title?: string }) => (
  <details class="snippet">
    <summary>{title}</summary>
    <CodeTabs call={call} />
  </details>
);

/** An API request as code in the selected language. */
export function CodeTabs({ call }: { call: ApiCall }) {
  const [selected, setSelected] = useState(0);
  const [, format] = LANGUAGES[selected] ?? LANGUAGES[0];
  const code = format(call);
  return (
    <>
      <div class="snippet-bar" role="group" aria-label="Language">
        {LANGUAGES.map(([name], index) => (
          <button key={name} type="button" aria-pressed={index === selected} onClick={() => setSelected(index)}>
            {name}
          </button>
        ))}
        <CopyButton text={code} label="Copy the code" />
      </div>
      <pre tabIndex={0} aria-label="Code">
        <code>{code}</code>
      </pre>
    </>
  );
}
