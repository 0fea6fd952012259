// What Swagger UI leaves out for people who do not see the page or use no mouse, added to what it draws.

/** The nearest text that tells what an element is about. */
function describeTarget(element: Element): string {
  const parameter = element.closest<HTMLElement>("[data-param-name]")?.dataset.paramName;
  if (parameter !== undefined) return parameter;
  const status = element.closest<HTMLElement>("[data-code]")?.dataset.code;
  return status === undefined ? "request body" : `status ${status}`;
}

const setLabel = (text: string) => (element: Element) => {
  if (!element.hasAttribute("aria-label")) element.setAttribute("aria-label", text);
};
const setLevel = (number: number) => (element: Element) => element.setAttribute("aria-level", String(number));

/** Elements, and what each of them needs. */
const FIXES: [string, (element: Element) => void][] = [
  [".examples-select-element", (element) => setLabel(`Examples, ${describeTarget(element)}`)(element)],
  [".parameters-col_description :is(select, input)", (element) => setLabel(describeTarget(element))(element)],
  [".opblock-section-request-body textarea", setLabel("Request body")],
  // Texts that may be too long for their box are scrolled by keyboard.
  [
    "pre.microlight, pre.version",
    (element) => element.setAttribute("tabindex", element.classList.contains("version") ? "-1" : "0"),
  ],
  // A table is a table; as a region it would be one of many without a name.
  ["table.responses-table[role=region]", (element) => element.removeAttribute("role")],
  ["table.responses-table", setLabel("Responses")],
  [
    ".json-schema-2020-12-accordion",
    (element) => {
      if (element.textContent?.trim() === "") setLabel("Schema")(element);
    },
  ],
  // Title and introduction are at 1 and 2; groups stand beside the introduction's parts.
  ["h3.opblock-tag, section.models > h4", setLevel(2)],
  [".opblock h4", setLevel(3)],
  [".opblock h5", setLevel(4)],
];

function applyFixes(place: Element) {
  for (const [selector, change] of FIXES) place.querySelectorAll(selector).forEach(change);
}

/** Mends what is drawn below an element, now and later. */
export function keepAccessible(place: Element) {
  new MutationObserver(() => applyFixes(place)).observe(place, { childList: true, subtree: true });
}
