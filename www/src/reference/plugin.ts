// What the reference has otherwise than Swagger UI: a field for the key, code samples, and no key in what it shows.
import type { Component, Plugin, System } from "swagger-ui-dist/swagger-ui-es-bundle.js";

/** The security scheme of the document, and the header that carries the key. */
const SCHEME = "apiKey";
const HEADER = "x-service-secret";

interface Sample {
  lang: string;
  label: string;
  source: string;
}

export function plugin({ React }: System): Plugin {
  const h = React.createElement;
  const nothing = () => null;

  /** Where a caller puts the own key to try something out. It stays in this page's memory. */
  function Key({ authActions, authSelectors, specSelectors }: any) {
    const [text, setText] = React.useState("");
    const isSet = Boolean(authSelectors.authorized()?.get(SCHEME));
    const submit = (event: Event) => {
      event.preventDefault();
      if (isSet) {
        authActions.logout([SCHEME]);
        return;
      }
      const schema = specSelectors.securityDefinitions().get(SCHEME);
      authActions.authorize({ [SCHEME]: { name: SCHEME, schema, value: text.trim() } });
      setText("");
    };
    const onChange = ({ target }: { target: HTMLInputElement }) => setText(target.value);
    const input = h("input", { id: "key", type: "password", autoComplete: "off", spellCheck: false, placeholder: "sk_test_…", value: text, onChange });
    return h(
      "form",
      { className: "key", onSubmit: submit },
      isSet ? h("span", { className: "key-set" }, "Requests carry your key.") : h(React.Fragment, null, h("label", { htmlFor: "key" }, "API key"), input),
      h("button", { className: "btn", type: "submit", disabled: !isSet && text.trim() === "" }, isSet ? "Forget the key" : "Use the key"),
      h("small", null, "To try requests out. It stays in the memory of this page, and goes to this service only."),
    );
  }

  function CodeSample({ label, source }: Sample) {
    const [copied, setCopied] = React.useState(false);
    const copy = () => navigator.clipboard.writeText(source).then(() => setCopied(true));
    return h(
      "figure",
      { className: "sample" },
      h("figcaption", null, label, h("button", { className: "copy", type: "button", onClick: copy, "aria-label": `Copy the sample: ${label}` }, copied ? "Copied" : "Copy")),
      h("pre", { tabIndex: 0, role: "group", "aria-label": `Sample: ${label}` }, h("code", null, source)),
    );
  }

  /** An operation's answers, with its code samples before them. */
  function withSamples(Responses: Component): Component {
    return (props: any) => {
      const samples: Sample[] = props.specSelectors.specJson().getIn(["paths", props.path, props.method, "x-codeSamples"])?.toJS() ?? [];
      if (samples.length === 0) return h(Responses, props);
      const shown = samples.map((sample) => h(CodeSample, { key: sample.label, ...sample }));
      const section = h("div", { className: "samples" }, h("div", { className: "opblock-section-header" }, h("h4", null, "Code samples")), ...shown);
      return h(React.Fragment, null, section, h(Responses, props));
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
      const headers = request.get("headers")?.map((value: string, name: string) => (name.toLowerCase() === HEADER ? "YOUR_API_KEY" : value));
      return h(Curl, { ...props, request: headers ? request.set("headers", headers) : request });
    };
  }

  /** A path or a group's name. It stands within a button, which a link may not do; the address still tells what is open. */
  const DeepLink = ({ text }: any) => h("span", null, text);

  /** The licence by its name: an expression of several has no page to link to. */
  const Licence = ({ specSelectors }: any) => h("p", { className: "info__license" }, `Licence: ${specSelectors.specJson().getIn(["info", "license", "name"])}`);

  /** A link to a place in the page. The address is for operations, so that the place is not put into it. */
  function Way({ name, selector }: { name: string; selector: string }) {
    const go = (event: Event) => {
      event.preventDefault();
      const place = document.querySelector(selector);
      place?.scrollIntoView();
      place?.querySelector<HTMLElement>("button")?.focus({ preventScroll: true });
    };
    return h("a", { href: "#", onClick: go }, name);
  }

  /** All of the page's content in one landmark. */
  function ReferenceLayout({ getComponent, specSelectors }: any) {
    const all = (name: string) => h(getComponent(name, true));
    if (specSelectors.loadingStatus() !== "success") return h("main", null, all("BaseLayout"));
    const parts = ["InfoContainer", "AuthorizeBtnContainer", "operations", "Models"].map((name) => h("div", { className: "wrapper", key: name }, all(name)));
    const groups = specSelectors.specJson().get("tags").map((tag: any) => tag.get("name")).toArray();
    const ways = [...groups.map((name: string) => h(Way, { key: name, name, selector: `#operations-tag-${name}` })), h(Way, { key: "Schemas", name: "Schemas", selector: "section.models" })];
    const contents = h("nav", { className: "contents wrapper", "aria-label": "Contents" }, ...ways);
    return h("div", { className: "swagger-ui" }, h(getComponent("SvgAssets")), h("main", null, all("errors"), contents, ...parts));
  }

  return {
    components: {
      ReferenceLayout,
      DeepLink,
      OAS31License: Licence,
      AuthorizeBtnContainer: Key,
      // There is one key, and one server: the one that is asked for the document.
      authorizeOperationBtn: nothing,
      ServersContainer: nothing,
    },
    wrapComponents: { responses: withSamples, parameterRow: withoutDefault, curl: withoutKey },
  };
}
