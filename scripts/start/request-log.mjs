// What `wrangler dev` prints, without the line that it has for each request, and without what only misleads here.
const REQUEST = /^\[wrangler:info\] [A-Z]+ \S+ (\d{3}) .*\(\d+m?s\)$/;
const COLOURS = /\u001b\[[\d;]*m/g;

/** Whether a line only says that a request was answered. One that failed is worth its line. */
function isRequest(line) {
  const [, status] = line.replaceAll(COLOURS, "").trimEnd().match(REQUEST) ?? [];
  return status !== undefined && status < "500";
}

/** Paragraphs that are left out from their first line to their last one: [first, last, how many are shown before]. */
const LEFT_OUT = [
  // `npm start` triggers them.
  [/Scheduled Workers are not automatically triggered/, /For more details, see/, 0],
  // They are listed twice.
  [/^Your Worker has access to the following bindings/, /^$/, 1],
];

/** Takes output in pieces and gives its whole lines, but for those. */
export class WithoutRequests {
  #open = "";
  #met = LEFT_OUT.map(() => 0);
  #until;

  /** Whether a line is part of a paragraph that is left out. */
  #isLeftOut(line) {
    const text = line.replaceAll(COLOURS, "").trim();
    if (this.#until) {
      if (this.#until.test(text)) this.#until = undefined;
      return true;
    }
    const at = LEFT_OUT.findIndex(([first]) => first.test(text));
    if (at < 0) return false;
    const [, last, most] = LEFT_OUT[at];
    this.#met[at] += 1;
    if (this.#met[at] <= most) return false;
    this.#until = last;
    return true;
  }

  take(text) {
    const lines = (this.#open + text).split("\n");
    this.#open = lines.pop();
    return lines
      .filter((line) => !isRequest(line) && !this.#isLeftOut(line))
      .map((line) => `${line}\n`)
      .join("");
  }

  /** What came last, without an end of its line. */
  end() {
    return this.#open;
  }
}
