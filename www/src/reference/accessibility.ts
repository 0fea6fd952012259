// Fixes accessibility problems in the markup that Swagger UI renders.

/** Describes the parameter, response status or request body to which an element belongs. */
function describeTarget(element: Element): string {
  const parameter = element.closest<HTMLElement>("[data-param-name]")?.dataset.paramName;
  if (parameter !== undefined) return parameter;
  const status = element.closest<HTMLElement>("[data-code]")?.dataset.code;
  return status === undefined ? "request body" : `status ${status}`;
}

const setLabel = (text: string) => (element: Element) => {
  if (!element.hasAttribute("aria-label")) element.setAttribute("aria-label", text);
};
const setLevel = (level: number) => (element: Element) => element.setAttribute("aria-level", String(level));

/** The fixes by selector. */
const FIXES: [string, (element: Element) => void][] = [
  [".examples-select-element", (element) => setLabel(`Examples, ${describeTarget(element)}`)(element)],
  [".parameters-col_description :is(select, input)", (element) => setLabel(describeTarget(element))(element)],
  [".opblock-section-request-body textarea", setLabel("Request body")],
  // Make overflowing text scrollable with the keyboard.
  [
    "pre.microlight, pre.version",
    (element) => element.setAttribute("tabindex", element.classList.contains("version") ? "-1" : "0"),
  ],
  // A table with the role `region` but without a name is an unlabelled landmark.
  ["table.responses-table[role=region]", (element) => element.removeAttribute("role")],
  ["table.responses-table", setLabel("Responses")],
  [
    ".json-schema-2020-12-accordion",
    (element) => {
      if (element.textContent?.trim() === "") setLabel("Schema")(element);
    },
  ],
  // Title and introduction have levels 1 and 2; operation groups are on the same level as the introduction's sections.
  ["h3.opblock-tag, section.models > h4", setLevel(2)],
  [".opblock h4", setLevel(3)],
  [".opblock h5", setLevel(4)],
];

function applyFixes(root: Element) {
  for (const [selector, change] of FIXES) root.querySelectorAll(selector).forEach(change);
}

/** Applies the fixes now and after each change of the page. */
export function keepAccessible(root: Element) {
  new MutationObserver(() => applyFixes(root)).observe(root, { childList: true, subtree: true });
}
