// The call behind a view, for those who want it in a program.
import { useState } from "preact/hooks";
import { CopyButton } from "./copy-button";

const MAX_LINE_LENGTH = 80;

export interface ApiCall {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Path and query. */
  path: string;
  body?: unknown;
  /** The same call with the npm package. */
  javascript: string;
}

/** Quotes a text for a shell. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A value as JSON: on one line if that is short. */
export function toJson(value: unknown): string {
  const line = JSON.stringify(value);
  return line.length > MAX_LINE_LENGTH ? JSON.stringify(value, undefined, 2) : line;
}

/** The call in a shell; the key is in `$KEY`. */
export function curl({ method, path, body }: ApiCall): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${shellQuote(location.origin + path)}`,
    `-H "x-service-secret: $KEY"`,
  ];
  if (body !== undefined) lines.push(`-H 'content-type: application/json'`, `-d ${shellQuote(toJson(body))}`);
  return lines.join(" \\\n  ");
}

/** The call in JavaScript. */
export const javascript = (call: ApiCall) => `import { ConnectorVault } from "connector-vault";

const vault = new ConnectorVault({ baseUrl: ${JSON.stringify(location.origin)}, secret: process.env.KEY });
${call.javascript}`;

/** What a JavaScript object looks like, on one line. */
export function toLiteral(value: object): string {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return members.length === 0
    ? ""
    : `{ ${members.map(([name, member]) => `${name}: ${JSON.stringify(member)}`).join(", ")} }`;
}

/** Path with query. */
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

/** A call that is shown once somebody asks for it. */
export const Snippet = ({ call, title = "API request" }: { call: ApiCall; title?: string }) => (
  <details class="snippet">
    <summary>{title}</summary>
    <CodeTabs call={call} />
  </details>
);

/** Shows a call in one of the languages. */
export function CodeTabs({ call }: { call: ApiCall }) {
  const [selected, setSelected] = useState(0);
  const [, format] = LANGUAGES[selected] ?? LANGUAGES[0];
  const code = format(call);
  return (
    <>
      <div class="snippet-bar" role="group" aria-label="Language">
        {LANGUAGES.map(([name], at) => (
          <button key={name} type="button" aria-pressed={at === selected} onClick={() => setSelected(at)}>
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
