// What the reference has otherwise than Swagger UI: a field for the key, code samples, and no key in what it shows.
import type { Component, Plugin, System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { headersOf } from "./headers";
import { sessionSecret, usedSecret, useSecret } from "./session-key";

/** The header that carries the key. */
const HEADER = "x-service-secret";

interface Sample {
  lang: string;
  label: string;
  source: string;
}

export function plugin({ React }: System): Plugin {
  const h = React.createElement;
  const hidden = () => null;

  /** Which key requests carry: that of the session, or one that is put in here and stays in this page's memory. */
  function KeyForm(system: any) {
    const [text, setText] = React.useState("");
    const [used, own] = [usedSecret(system), sessionSecret()];
    const submit = (event: Event) => {
      event.preventDefault();
      useSecret(system, used === undefined ? text.trim() : undefined);
      setText("");
    };
    const onChange = ({ target }: { target: HTMLInputElement }) => setText(target.value);
    const input = h("input", {
      id: "key",
      type: "password",
      autoComplete: "off",
      spellCheck: false,
      placeholder: "sk_test_…",
      value: text,
      onChange,
    });
    const isOwn = used !== undefined && used === own;
    const usedText = isOwn ? "Requests use the key that you are signed in with." : "Requests use your key.";
    const submitLabel = isOwn ? "Use another key" : used === undefined ? "Use the key" : "Forget the key";
    const sessionKeyButton = h(
      "button",
      { className: "btn", type: "button", onClick: () => useSecret(system, own) },
      "Use the key that you are signed in with",
    );
    return h(
      "form",
      { className: "key", onSubmit: submit },
      used !== undefined
        ? h("span", { className: "key-set" }, usedText)
        : h(React.Fragment, null, h("label", { htmlFor: "key" }, "API key"), input),
      h(
        "button",
        { className: "btn", type: "submit", disabled: used === undefined && text.trim() === "" },
        submitLabel,
      ),
      own !== undefined && !isOwn && sessionKeyButton,
      h(
        "small",
        null,
        isOwn
          ? "Requests that you try out change this account."
          : "To try out requests. The key stays in this page's memory, and is sent only to this service.",
      ),
    );
  }

  function CodeSample({ label, source }: Sample) {
    const [copied, setCopied] = React.useState(false);
    const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true));
    return h(
      "figure",
      { className: "sample" },
      h(
        "figcaption",
        null,
        label,
        h(
          "button",
          { className: "copy", type: "button", onClick: copy, "aria-label": `Copy the sample: ${label}` },
          copied ? "Copied" : "Copy",
        ),
      ),
      h("pre", { tabIndex: 0, role: "group", "aria-label": `Sample: ${label}` }, h("code", null, source)),
    );
  }

  const section = (className: string, title: string, ...content: unknown[]) =>
    h("div", { className }, h("div", { className: "opblock-section-header" }, h("h4", null, title)), ...content);

  /** The headers of all of an operation's answers: each once, with the statuses that have it. */
  function headerTable(headers: ReturnType<typeof headersOf>) {
    const cells = (kind: string, ...texts: string[]) =>
      texts.map((text, at) => h(kind, { key: at, scope: kind === "th" ? "col" : undefined }, text));
    const row = ({ name, description, statuses }: (typeof headers)[number]) =>
      h("tr", { key: name }, ...cells("td", name, description, statuses));
    return h(
      "table",
      { className: "answer-headers" },
      h("thead", null, h("tr", null, ...cells("th", "Name", "Description", "Statuses"))),
      h("tbody", null, ...headers.map(row)),
    );
  }

  /** An operation's answers, with its code samples before and their headers after them. */
  function withSamples(Responses: Component): Component {
    return (props: any) => {
      const document = props.specSelectors.specJson();
      const samples: Sample[] = document.getIn(["paths", props.path, props.method, "x-codeSamples"])?.toJS() ?? [];
      const shown = samples.map((sample) => h(CodeSample, { key: sample.label, ...sample }));
      const headers = headersOf(document, props.path, props.method);
      return h(
        React.Fragment,
        null,
        samples.length > 0 && section("samples", "Code samples", ...shown),
        h(Responses, props),
        headers.length > 0 && section("answer-headers-section", "Response headers", headerTable(headers)),
      );
    };
  }

  /** A parameter's row whose field is empty at first: a default that is not sent needs no agreement with other parameters. */
  function withoutDefault(Row: any): Component {
    return class extends Row {
      setDefaultValue = () => {};
      constructor(props: object) {
        // It fills in the default while it is made.
        super({ ...props, onChange: () => {} });
      }
    } as unknown as Component;
  }

  /** The curl command of a request that was tried out, with a name in place of the key. */
  function withoutKey(Curl: Component): Component {
    return ({ request, ...props }: any) => {
      const headers = request
        .get("headers")
        ?.map((value: string, name: string) => (name.toLowerCase() === HEADER ? "YOUR_API_KEY" : value));
      return h(Curl, { ...props, request: headers ? request.set("headers", headers) : request });
    };
  }

  /** A path or a group's name. It stands within a button, which a link may not do; the address still tells what is open. */
  const DeepLink = ({ text }: any) => h("span", null, text);

  /** The licence by its name: an expression of several has no page to link to. */
  const Licence = ({ specSelectors }: any) =>
    h("p", { className: "info__license" }, `Licence: ${specSelectors.specJson().getIn(["info", "license", "name"])}`);

  /** A link to a place in the page. The address is for operations, so that the place is not put into it. */
  function ContentsLink({ name, selector }: { name: string; selector: string }) {
    const follow = (event: Event) => {
      event.preventDefault();
      const place = document.querySelector(selector);
      place?.scrollIntoView();
      place?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    };
    return h("a", { href: "#", onClick: follow }, name);
  }

  /** All of the page's content in one landmark. */
  function ReferenceLayout({ getComponent, specSelectors }: any) {
    const all = (name: string) => h(getComponent(name, true));
    if (specSelectors.loadingStatus() !== "success") return h("main", { id: "main" }, all("BaseLayout"));
    const parts = ["InfoContainer", "AuthorizeBtnContainer", "operations", "Models"].map((name) =>
      h("div", { className: "wrapper", key: name }, all(name)),
    );
    const groups = specSelectors
      .specJson()
      .get("tags")
      .map((tag: any) => tag.get("name"))
      .toArray();
    const links = [
      ...groups.map((name: string) => h(ContentsLink, { key: name, name, selector: `#operations-tag-${name}` })),
      h(ContentsLink, { key: "Schemas", name: "Schemas", selector: "section.models" }),
    ];
    const contents = h(
      "nav",
      { className: "contents wrapper", "aria-label": "Contents" },
      ...links,
      h("a", { href: "/problems/" }, "Error codes"),
    );
    return h(
      "div",
      { className: "swagger-ui" },
      h(getComponent("SvgAssets")),
      h("main", { id: "main", tabIndex: -1 }, all("errors"), contents, ...parts),
    );
  }

  return {
    components: {
      ReferenceLayout,
      DeepLink,
      OAS31License: Licence,
      AuthorizeBtnContainer: KeyForm,
      // There is one key, and one server: the one that is asked for the document.
      authorizeOperationBtn: hidden,
      ServersContainer: hidden,
      // Those of all answers are told once.
      headers: hidden,
    },
    wrapComponents: { responses: withSamples, parameterRow: withoutDefault, curl: withoutKey },
    statePlugins: { spec: { wrapSelectors: { selectSchemas: withoutNestedSchemas } } },
  };
}

type Schemas = Record<string, { enum?: unknown }>;

/**
 * The list of schemas without enumerations and without what is named after the schema that has it, such as
 * `ConnectorDetailServer`: each shows its own. Swagger UI shows only a part of a list of a hundred schemas or more.
 */
function withoutNestedSchemas(original: (...args: unknown[]) => Schemas) {
  return (...args: unknown[]) => {
    const all = Object.entries(original(...args)).map(([name, schema]) => ({
      name,
      schema,
      text: JSON.stringify(schema),
    }));
    const isPart = (name: string) =>
      all.some((one) => one.name !== name && name.startsWith(one.name) && one.text.includes(`/schemas/${name}"`));
    return Object.fromEntries(
      all.flatMap(({ name, schema }) => (schema.enum === undefined && !isPart(name) ? [[name, schema]] : [])),
    );
  };
}
