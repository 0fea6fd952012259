// Reads the files of other services. Errors name a position but never quote the text, which contains secrets.
import { createReadStream } from "node:fs";
import { parse } from "csv-parse";
import { Problem } from "../lib/problem.mjs";

/** The maximum size of a JSON file in bytes: a larger one does not fit into a string. */
const MAX_JSON = 500 * 1024 * 1024;
/** The longest line of a CSV file, in bytes. */
const MAX_RECORD = 1 << 20;

/** @param {string} path `-` for standard input */
const open = (path) => (path === "-" ? process.stdin : createReadStream(path));

const unreadable = (path, error) =>
  new Problem(
    `${path} can't be read${error.code === "ENOENT" ? ": there is no such file" : ` (${error.code ?? "unknown error"})`}.`,
    {
      code: 2,
    },
  );

async function readText(path) {
  const chunks = [];
  let length = 0;
  try {
    for await (const chunk of open(path)) {
      length += chunk.length;
      if (length > MAX_JSON) throw new Problem(`${path} has more than 500 MiB: split it.`, { code: 2 });
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Problem ? error : unreadable(path, error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Problem(`${path} is not encoded in UTF-8.`, { code: 2 });
  }
}

function parseJson(text) {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * The values of a JSON file: one value, or one on each line.
 * @returns {Promise<unknown[]>}
 */
export async function readJson(path) {
  const text = await readText(path);
  const single = parseJson(text);
  if (single) return [single.value];
  const lines = text.split("\n").map((line, index) => ({ line: line.trim(), number: index + 1 }));
  return lines
    .filter(({ line }) => line !== "")
    .map(({ line, number }) => {
      const parsed = parseJson(line);
      if (parsed) return parsed.value;
      throw new Problem(`${path} is neither JSON nor one JSON value per line: see line ${number}.`, { code: 2 });
    });
}

/**
 * The rows of a CSV file (RFC 4180) as objects, with the number of the line on which each ends.
 * @returns {AsyncGenerator<{ line: number, row: Record<string, string> }>}
 */
export async function* readCsv(path, checkHeader) {
  const parser = parse({
    bom: true,
    columns: (header) => {
      checkHeader(header);
      return header;
    },
    info: true,
    max_record_size: MAX_RECORD,
    skip_empty_lines: true,
  });
  const source = open(path);
  source.on("error", (error) => parser.destroy(unreadable(path, error)));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser) yield { line: info.lines, row: record };
  } catch (error) {
    // The parser's messages quote cells, which may be secrets.
    if (error instanceof Problem) throw error;
    const position = error.lines === undefined ? "" : ` near line ${error.lines}`;
    throw new Problem(`${path} is not valid CSV${position} (${error.code ?? "unknown error"}).`, {
      hint: "Each line needs as many cells as the header. Put cells with commas, quotes or line breaks in double quotes, and double the quotes in them.",
      code: 2,
    });
  }
}
