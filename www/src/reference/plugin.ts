// Customizes Swagger UI: adds an API key field and code samples, and hides secrets.
import type { Component, Plugin, System } from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { collectHeaders } from "./headers";
import { sessionSecret, requestSecret, useSecret } from "./session-key";

const HEADER = "x-service-secret";

interface Sample {
  lang: string;
  label: string;
  source: string;
}

export function plugin({ React }: System): Plugin {
  const h = React.createElement;
  const renderNothing = () => null;

  /**
   * The field for the API key of requests: the session's key, or one that the user enters, which stays in memory only.
   */
  function KeyForm(system: any) {
    const [text, setText] = React.useState("");
    const [usedKey, sessionKey] = [requestSecret(system), sessionSecret()];
    const submit = (event: Event) => {
      event.preventDefault();
      useSecret(system, usedKey === undefined ? text.trim() : undefined);
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
    const usesSessionKey = usedKey !== undefined && usedKey === sessionKey;
    const keyStatus = usesSessionKey ? "Requests use the key that you are signed in with." : "Requests use your key.";
    const submitLabel = usesSessionKey ? "Use another key" : usedKey === undefined ? "Use the key" : "Forget the key";
    const sessionKeyButton = h(
      "button",
      { className: "btn", type: "button", onClick: () => useSecret(system, sessionKey) },
      "Use the key that you are signed in with",
    );
    return h(
      "form",
      { className: "key", onSubmit: submit },
      usedKey !== undefined
        ? h("span", { className: "key-set" }, keyStatus)
        : h(React.Fragment, null, h("label", { htmlFor: "key" }, "API key"), input),
      h(
        "button",
        { className: "btn", type: "submit", disabled: usedKey === undefined && text.trim() === "" },
        submitLabel,
      ),
      sessionKey !== undefined && !usesSessionKey && sessionKeyButton,
      h(
        "small",
        null,
        usesSessionKey
          ? "Requests that you try out affect this account."
          : "Used to try out requests. The key stays in this page's memory, and is sent only to this service.",
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

  /** A table of the response headers of an operation, each with its statuses. */
  function headerTable(headers: ReturnType<typeof collectHeaders>) {
    const tableRow = (kind: string, ...texts: string[]) =>
      texts.map((text, index) => h(kind, { key: index, scope: kind === "th" ? "col" : undefined }, text));
    const row = ({ name, description, statuses }: (typeof headers)[number]) =>
      h("tr", { key: name }, ...tableRow("td", name, description, statuses));
    return h(
      "table",
      { className: "response-headers" },
      h("thead", null, h("tr", null, ...tableRow("th", "Name", "Description", "Statuses"))),
      h("tbody", null, ...headers.map(row)),
    );
  }

  /** Adds code samples above the responses, and a table of response headers below. */
  function withSamples(Responses: Component): Component {
    return (props: any) => {
      const document = props.specSelectors.specJson();
      const samples: Sample[] = document.getIn(["paths", props.path, props.method, "x-codeSamples"])?.toJS() ?? [];
      const sampleElements = samples.map((sample) => h(CodeSample, { key: sample.label, ...sample }));
      const headers = collectHeaders(document, props.path, props.method);
      return h(
        React.Fragment,
        null,
        samples.length > 0 && section("samples", "Code samples", ...sampleElements),
        h(Responses, props),
        headers.length > 0 && section("headers-section", "Response headers", headerTable(headers)),
      );
    };
  }

  /**
   * Removes the prefilled default of a parameter row, because an explicit default can conflict with other parameters.
   */
  function withoutDefault(Row: any): Component {
    return class extends Row {
      setDefaultValue = () => {};
      constructor(props: object) {
        // The constructor of Swagger UI's row fills in the default through `onChange`.
        super({ ...props, onChange: () => {} });
      }
    } as unknown as Component;
  }

  /** Replaces the API key in the curl command of a request with a placeholder. */
  function withoutKey(Curl: Component): Component {
    return ({ request, ...props }: any) => {
      const headers = request
        .get("headers")
        ?.map((value: string, name: string) => (name.toLowerCase() === HEADER ? "YOUR_API_KEY" : value));
      return h(Curl, { ...props, request: headers ? request.set("headers", headers) : request });
    };
  }

  /**
   * The path or group name as plain text: it is inside a button, which must not contain a link. Deep links still work.
   */
  const DeepLink = ({ text }: any) => h("span", null, text);

  /** The licence name without a link: an expression of several licences has no page. */
  const Licence = ({ specSelectors }: any) =>
    h("p", { className: "info__license" }, `Licence: ${specSelectors.specJson().getIn(["info", "license", "name"])}`);

  /** A link within the page. Keeps the URL's fragment, which Swagger UI uses for deep links. */
  function ContentsLink({ name, selector }: { name: string; selector: string }) {
    const scrollToTarget = (event: Event) => {
      event.preventDefault();
      const target = document.querySelector(selector);
      target?.scrollIntoView();
      target?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    };
    return h("a", { href: "#", onClick: scrollToTarget }, name);
  }

  /** The layout of the page, with one landmark around all content. */
  function ReferenceLayout({ getComponent, specSelectors }: any) {
    const render = (name: string) => h(getComponent(name, true));
    if (specSelectors.loadingStatus() !== "success") return h("main", { id: "main" }, render("BaseLayout"));
    const parts = ["InfoContainer", "AuthorizeBtnContainer", "operations", "Models"].map((name) =>
      h("div", { className: "wrapper", key: name }, render(name)),
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
      h("main", { id: "main", tabIndex: -1 }, render("errors"), contents, ...parts),
    );
  }

  return {
    components: {
      ReferenceLayout,
      DeepLink,
      OAS31License: Licence,
      AuthorizeBtnContainer: KeyForm,
      // Not needed with one API key and one server.
      authorizeOperationBtn: renderNothing,
      ServersContainer: renderNothing,
      // Replaced by one table for each operation.
      headers: renderNothing,
    },
    wrapComponents: { responses: withSamples, parameterRow: withoutDefault, curl: withoutKey },
    statePlugins: { spec: { wrapSelectors: { selectSchemas: withoutNestedSchemas } } },
  };
}

type Schemas = Record<string, { enum?: unknown }>;

/**
 * Removes enumerations and nested schemas such as `ConnectorDetailServer` from the list of schemas, because their
 * parents show them and Swagger UI truncates lists of a hundred schemas or more.
 */
function withoutNestedSchemas(original: (...args: unknown[]) => Schemas) {
  return (...args: unknown[]) => {
    const schemas = Object.entries(original(...args)).map(([name, schema]) => ({
      name,
      schema,
      text: JSON.stringify(schema),
    }));
    const isPart = (name: string) =>
      schemas.some(
        (schema) => schema.name !== name && name.startsWith(schema.name) && schema.text.includes(`/schemas/${name}"`),
      );
    return Object.fromEntries(
      schemas.flatMap(({ name, schema }) => (schema.enum === undefined && !isPart(name) ? [[name, schema]] : [])),
    );
  };
}
