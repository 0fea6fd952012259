// Filters the output of `wrangler dev`: removes request lines, and messages that are misleading here.
const REQUEST_LINE = /^\[wrangler:info\] [A-Z]+ \S+ (\d{3}) .*\(\d+m?s\)$/;
const COLOURS = /\u001b\[[\d;]*m/g;

/** Whether a line reports a request that did not fail. */
function isRequest(line) {
  const [, status] = line.replaceAll(COLOURS, "").trimEnd().match(REQUEST_LINE) ?? [];
  return status !== undefined && status < "500";
}

/** Paragraphs to remove: [pattern of the first line, of the last line, number of occurrences to keep]. */
const REMOVED_PARAGRAPHS = [
  // Misleading, because `npm start` triggers scheduled jobs.
  [/Scheduled Workers are not automatically triggered/, /For more details, see/, 0],
  // wrangler lists the bindings twice.
  [/^Your Worker has access to the following bindings/, /^$/, 1],
];

/** Receives output in chunks, and returns the complete lines that remain. */
export class RequestLogFilter {
  #incompleteLine = "";
  #occurrences = REMOVED_PARAGRAPHS.map(() => 0);
  #until;

  /** Whether a line is part of a removed paragraph. */
  #isRemoved(line) {
    const text = line.replaceAll(COLOURS, "").trim();
    if (this.#until) {
      if (this.#until.test(text)) this.#until = undefined;
      return true;
    }
    const at = REMOVED_PARAGRAPHS.findIndex(([first]) => first.test(text));
    if (at < 0) return false;
    const [, lastLine, maxKept] = REMOVED_PARAGRAPHS[at];
    this.#occurrences[at] += 1;
    if (this.#occurrences[at] <= maxKept) return false;
    this.#until = lastLine;
    return true;
  }

  take(text) {
    const lines = (this.#incompleteLine + text).split("\n");
    this.#incompleteLine = lines.pop();
    return lines
      .filter((line) => !isRequest(line) && !this.#isRemoved(line))
      .map((line) => `${line}\n`)
      .join("");
  }

  /** The rest of the output, without a line break. */
  end() {
    return this.#incompleteLine;
  }
}
