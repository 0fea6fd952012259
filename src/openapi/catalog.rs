//! The endpoints of the catalog.

use serde_json::{Value, json};

use super::endpoint_doc::{CATALOG, EndpointDoc};
use super::json::Members as _;
use super::parameters::platform;
use super::schema::{boolean, count, names, page, record, string, strings, variants};
use super::string_schemas::{self, described};
use super::{auth_methods, details};
use crate::catalog::model::Status;
use crate::terms::Method;

/// The greatest safe integer of JavaScript.
const MAX_SAFE: u64 = (1 << 53) - 1;

pub const LIST_CONNECTORS: EndpointDoc = EndpointDoc {
    tag: CATALOG,
    summary: "List connectors",
    description: "Lists the connectors of the catalog, ordered by name (ignoring case), then by key; with `q`, the best match first. A connector must match all filters.",
    response: "A page of the list.",
    schema: Some("ConnectorPage"),
    body: None,
    address: "/v1/available-connectors?q=git&limit=5",
    script: "\
const page = await vault.connectors.list({ q: \"git\", limit: 5 });
for (const { platform, name } of page.rows) console.log(platform, name);
",
};

pub const GET_CONNECTOR: EndpointDoc = EndpointDoc {
    tag: CATALOG,
    summary: "Retrieve a connector",
    description: "Returns a connector with the ways to connect, and the addresses of the platform's API. An earlier name of a platform is an alias.",
    response: "The connector.",
    schema: Some("ConnectorDetail"),
    body: None,
    address: "/v1/available-connectors/github",
    script: "\
const connector = await vault.connectors.get(\"github\");
for (const { id, type, fields } of connector.authMethods) console.log(id, type, fields.length);
",
};

pub const SEARCH_ACTIONS: EndpointDoc = EndpointDoc {
    tag: CATALOG,
    summary: "Search the actions of all platforms",
    description: "Finds actions by what they do, the best match first: use plain words, such as `create github issue` or `send an email`. Words may match an action's title, key, path, description or platform, also in another form or through a common synonym. Words such as `the` and `my` are ignored. An action matches if it contains at least 40% of the query; rare words weigh more. Matches of equal rank have a fixed order.",
    response: "A page of the matches. `total` is exact up to 10,000; if there are more, it is 10,000 and `totalIsMinimum` is `true`.",
    schema: Some("ActionSearchPage"),
    body: None,
    address: "/v1/available-actions?q=create%20github%20issue&limit=5",
    script: "\
const page = await vault.actions.search({ q: \"create github issue\", limit: 5 });
for (const { platform, key, title } of page.rows) console.log(platform, key, title);
",
};

pub const LIST_ACTIONS: EndpointDoc = EndpointDoc {
    tag: CATALOG,
    summary: "List the actions of a platform",
    description: "Lists the actions of the platform, ordered by title (ignoring case), then by key; with `q`, the best match first. An action must match all filters.",
    response: "A page of the list.",
    schema: Some("ActionPage"),
    body: None,
    address: "/v1/available-actions/github?method=GET&limit=5",
    script: "\
const page = await vault.actions.list(\"github\", { method: \"GET\", limit: 5 });
for (const { key, title } of page.rows) console.log(key, title);
",
};

pub const GET_ACTION: EndpointDoc = EndpointDoc {
    tag: CATALOG,
    summary: "Retrieve an action",
    description: "Returns an action with its address, its parameters, its body and how it is authorized. `input` is one JSON Schema (2020-12) of the action's whole input. Definitions that would make it too large allow any value, and their description says so.",
    response: "The action.",
    schema: Some("ActionDetail"),
    body: None,
    address: "/v1/available-actions/github/issuesCreate",
    script: "\
const action = await vault.actions.get(\"github\", \"issuesCreate\");
console.log(action.method, action.path, Object.keys(action.input.properties));
",
};

/// The schemas of the catalog, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("ConnectorPage", page("Connector", "connectors")),
        ("Connector", connector()),
        ("ConnectorDetail", details::connector(&connector())),
        ("AuthMethod", auth_methods::auth_method()),
        ("AuthField", auth_methods::field()),
        ("ActionPage", page("Action", "actions")),
        ("ActionSearchPage", search_page()),
        ("Action", action()),
        ("ActionMatch", action_match()),
        ("ActionDetail", details::action(&action())),
        (
            "ActionPattern",
            json!({
                "description": "Actions of a platform: `platform/key`, or `platform/prefix*` for all whose keys begin like that.",
                "type": "string", "pattern": "^[A-Za-z0-9-]{1,64}/[^,*\n]{0,256}\\*?$",
            }),
        ),
    ]
}

fn search_page() -> Value {
    let page = page("ActionMatch", "actions");
    let more = described(
        "`true` if there are more matches than `total`; otherwise omitted.",
        json!({"type": "boolean", "const": true}),
    );
    let notes = described(
        "What is easily misunderstood, such as that a platform that the question names has no actions; otherwise omitted.",
        json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
    );
    let total = count("The number of matches; exact up to 10,000.");
    let own = |name: &str| page.get("properties").unwrap().get(name).unwrap().clone();
    json!({
        "type": "object",
        "description": "A page of the matches.",
        "required": page.get("required").unwrap().clone(),
        "properties": {
            "rows": own("rows"), "total": total, "pages": own("pages"), "page": own("page"), "totalIsMinimum": more,
            "notes": notes,
        },
    })
}

fn action_match() -> Value {
    let connected = described(
        "`true` if the identity of the token has connected the platform; otherwise omitted.",
        json!({"type": "boolean", "const": true}),
    );
    let action = action();
    let own = |name: &str| action.get(name).unwrap().clone();
    json!({
        "type": "object",
        "description": "An operation of a platform that matches a search.",
        "required": own("required"),
        "properties": own("properties").with(json!({"connected": connected})),
    })
}

fn connector() -> Value {
    let id = json!({"type": "integer", "minimum": 1, "maximum": MAX_SAFE});
    let image = json!({"type": "string", "format": "uri"});
    record(
        "A platform that users can connect.",
        vec![
            ("id", described("Derived from `key`, so it stays the same after every import.", id)),
            ("name", string("The display name.")),
            ("key", string("`api::<platform>::<platformVersion>`")),
            ("platform", described("The platform's identifier.", platform())),
            (
                "platformVersion",
                described("The version of the platform's API.", string_schemas::version()),
            ),
            ("status", names("The release stage of the connector.", variants::<Status>())),
            ("description", string("A description in one line.")),
            ("category", string("The category; `Other` if unknown.")),
            (
                "image",
                described(
                    "The logo's absolute URL. Logos of well-known brands are on the service's own origin.",
                    image,
                ),
            ),
            ("tags", strings("Free-form tags.")),
            ("oauth", boolean("Whether the platform offers OAuth.")),
            ("tools", count("The number of actions of the platform.")),
            ("version", string("The version that the platform's own OpenAPI document states.")),
            ("active", boolean("Whether the operator offers the connector.")),
        ],
    )
}

fn action() -> Value {
    record(
        "An operation of a platform.",
        vec![
            ("title", string("A title in one line.")),
            ("key", string("Unique within the platform.")),
            ("method", names("The HTTP method that the action uses.", Method::NAMES)),
            ("platform", described("The platform that the action belongs to.", platform())),
            (
                "modelName",
                string("The resource that the action works on, in PascalCase; can be empty."),
            ),
        ],
    )
}
