// What `wrangler dev` prints, without the line that it has for each request.
const REQUEST = /^\[wrangler:info\] [A-Z]+ \S+ (\d{3}) .*\(\d+m?s\)$/;
const COLOURS = /\u001b\[[\d;]*m/g;

/** Whether a line only says that a request was answered. One that failed is worth its line. */
function isRequest(line) {
  const [, status] = line.replaceAll(COLOURS, "").trimEnd().match(REQUEST) ?? [];
  return status !== undefined && status < "500";
}

/** Takes output in pieces and gives its whole lines, but for those. */
export class WithoutRequests {
  #open = "";

  take(text) {
    const lines = (this.#open + text).split("\n");
    this.#open = lines.pop();
    return lines
      .filter((line) => !isRequest(line))
      .map((line) => `${line}\n`)
      .join("");
  }

  /** What came last, without an end of its line. */
  end() {
    return this.#open;
  }
}
