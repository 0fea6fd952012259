//! The schemas of the details of a connector and of an action.

use serde_json::{Value, json};

use super::json::Members as _;
use super::schema::{
    boolean, names, record, record_with, reference, string, strings, text_or_null, variants,
};
use super::string_schemas::described;
use crate::catalog::action::stored::ParameterLocation;
use crate::terms::Method;

const STYLE: &str = "How a list or an object is written, as in OpenAPI.";
const EXPLODE: &str = "Whether each value is a separate parameter, as in OpenAPI.";

pub fn connector(row: &Value) -> Value {
    let detail = record(
        "",
        vec![
            (
                "authMethods",
                list("The ways to connect, the preferred one first.", reference("AuthMethod")),
            ),
            ("servers", list("The base addresses of the API, the default one first.", server())),
            ("documentationUrl", url("The platform's documentation; null if unknown.")),
            (
                "license",
                nullable(
                    "The licence of the imported OpenAPI document; null if unknown.",
                    license(),
                ),
            ),
            (
                "headers",
                texts_by_name(
                    "Headers of every request to the platform, with every auth method. Values are templates, as in an auth method.",
                ),
            ),
            (
                "verify",
                nullable(
                    "A request that succeeds only with valid credentials; null if unknown.",
                    verify(),
                ),
            ),
            (
                "account",
                nullable(
                    "A request that identifies the connected account; null if unknown.",
                    account(),
                ),
            ),
            (
                "pagination",
                list(
                    "Where responses name the next page of a list, in addition to the header `Link`: the first match counts.",
                    pagination(),
                ),
            ),
        ],
    );
    let description =
        "A connector, with the ways to connect and the addresses of the platform's API.";
    row_with_detail(description, row, &detail, json!({}))
}

/// The schema of an object with the members of a row, the members of its detail, and optional
/// members.
fn row_with_detail(description: &str, row: &Value, detail: &Value, optional: Value) -> Value {
    let both = |name: &str| match (row.get(name), detail.get(name)) {
        (Some(Value::Array(own)), Some(Value::Array(more))) => {
            Value::Array(own.iter().chain(more).cloned().collect())
        }
        (Some(own), Some(more)) => own.clone().with(more.clone()),
        _ => Value::Null,
    };
    json!({
        "type": "object",
        "description": description,
        "required": both("required"),
        "properties": both("properties").with(optional),
    })
}

pub fn action(row: &Value) -> Value {
    let detail = record(
        "",
        vec![
            ("path", string("The path below the server; a part in braces is a parameter.")),
            ("server", text_or_null("The base address; null if unknown.")),
            ("description", string("What the action does; can be empty.")),
            ("deprecated", boolean("Whether the platform advises against it.")),
            ("documentationUrl", url("The platform's documentation of it; null if unknown.")),
            ("parameters", list("All parameters except the body.", parameter())),
            ("requestBody", nullable("The body; null if there is none.", request_body())),
            (
                "responseTypes",
                strings(
                    "The media types of a successful response, the preferred one first; empty if unknown.",
                ),
            ),
            (
                "auth",
                list(
                    "The ways to authorize it; any one is enough. Empty if it needs none, or none of the connector's methods is enough.",
                    authorization(),
                ),
            ),
            (
                "input",
                described(
                    "A JSON Schema (2020-12) with the members `path`, `query`, `header`, `cookie` and `body` that the action has. With `for=model`, one flat object instead.",
                    json!({"type": "object"}),
                ),
            ),
        ],
    );
    let responses = list("The action's responses; only with `include=responses`.", response());
    let optional = json!({"graphql": graphql(), "responses": responses});
    row_with_detail("An action, with its input and responses.", row, &detail, optional)
}

fn parameter() -> Value {
    record_with(
        "A parameter.",
        vec![
            ("name", string("The platform's name for it.")),
            ("in", names("Where it is sent.", variants::<ParameterLocation>())),
            ("required", boolean("Whether the platform needs it.")),
            ("schema", any_schema("Its values. References point into this response.")),
            ("style", string(STYLE)),
            ("explode", boolean(EXPLODE)),
            (
                "contentType",
                text_or_null("The media type of the serialized value; null if `style` applies."),
            ),
        ],
        json!({
            "allowReserved": boolean("True if reserved characters are sent unencoded, as in OpenAPI; otherwise absent."),
        }),
    )
}

fn request_body() -> Value {
    let encoding = record_with(
        "How a member of a form is written, like a parameter of a query, or as a part.",
        vec![("style", string(STYLE)), ("explode", boolean(EXPLODE))],
        json!({
            "allowReserved": boolean("Whether reserved characters are sent unencoded; otherwise absent."),
            "contentType": string("The media types that a part may have, comma-separated; else absent."),
            "headers": strings("The headers that a part may have; else absent."),
        }),
    );
    record_with(
        "The body of a request.",
        vec![
            ("required", boolean("Whether the platform needs it.")),
            ("contentTypes", strings("The media types; the schema describes the first.")),
            ("schema", any_schema("Its content. References point into this response.")),
        ],
        json!({
            "encoding": described(
                "For a form: the serialization of members, where the document specifies it; otherwise absent.",
                json!({"type": "object", "additionalProperties": encoding}),
            ),
        }),
    )
}

fn authorization() -> Value {
    record(
        "A way to authorize the action.",
        vec![
            ("method", string("The id of one of the connector's auth methods.")),
            ("scopes", strings("The required scopes; empty if none are known.")),
        ],
    )
}

fn response() -> Value {
    record(
        "The response with one status.",
        vec![
            ("status", string("Such as `200`, `4XX` or `default`.")),
            ("description", string("When this response is returned; can be empty.")),
            ("contentType", text_or_null("The media type; null without a body.")),
            (
                "schema",
                described(
                    "A JSON Schema (2020-12) of the content; null if unknown.",
                    json!({"type": ["object", "boolean", "null"]}),
                ),
            ),
        ],
    )
}

fn graphql() -> Value {
    record(
        "The request of a field of a GraphQL API; absent for other actions.",
        vec![
            ("document", string("What is sent; `{selection}` stands for the selected fields.")),
            ("selection", string("The fields selected without `select`; empty for a scalar.")),
        ],
    )
}

fn any_schema(description: &str) -> Value {
    described(description, json!({"type": ["object", "boolean"]}))
}

pub(super) fn list(description: &str, items: Value) -> Value {
    described(description, json!({"type": "array", "items": items}))
}

pub(super) fn nullable(description: &str, schema: Value) -> Value {
    described(description, json!({"oneOf": [schema, {"type": "null"}]}))
}

/// The schema of a URL. Its format is not `uri`, because it may contain variables in braces.
pub(super) fn url(description: &str) -> Value {
    text_or_null(description)
}

pub(super) fn texts_by_name(description: &str) -> Value {
    described(description, json!({"type": "object", "additionalProperties": {"type": "string"}}))
}

fn server() -> Value {
    record(
        "A base address of the API.",
        vec![
            (
                "url",
                string(
                    "An absolute URL. Each `{name}` in it is replaced by the field of that name.",
                ),
            ),
            ("description", text_or_null("What the server is for.")),
        ],
    )
}

fn license() -> Value {
    record(
        "A licence.",
        vec![
            ("name", text_or_null("Its name, or its SPDX identifier.")),
            ("url", url("The address of its text.")),
        ],
    )
}

fn request_members() -> Vec<(&'static str, Value)> {
    vec![
        ("method", names("The HTTP method.", Method::NAMES)),
        (
            "path",
            string(
                "The path below the first server whose variables are all among the method's fields, or an absolute URL.",
            ),
        ),
        ("body", described("The JSON body; null for none.", json!({}))),
    ]
}

fn verify() -> Value {
    let value = record(
        "A value in a JSON response.",
        vec![
            ("pointer", string("Its position: a JSON Pointer.")),
            ("value", described("The value; an array lists several.", json!({}))),
        ],
    );
    let mut members = request_members();
    let status = json!({"type": "integer", "minimum": 100, "maximum": 599});
    members.push((
        "rejected",
        list(
            "The statuses with which the platform rejects credentials. All others, except 2xx, prove nothing.",
            status,
        ),
    ));
    members.push((
        "rejectedWhen",
        nullable(
            "The content of a response that rejects the credentials, with any status; null if none does.",
            value,
        ),
    ));
    record("A request to the platform that checks credentials.", members)
}

fn pagination() -> Value {
    record(
        "Where a JSON response names the next page of a list.",
        vec![
            (
                "next",
                string(
                    "The JSON Pointer of the next page's address, or of the value of `parameter`.",
                ),
            ),
            (
                "parameter",
                text_or_null("The query parameter that takes the value; null if it is an address."),
            ),
            (
                "items",
                text_or_null(
                    "The JSON Pointer of the list whose last item has the value; null if the response itself has it.",
                ),
            ),
            (
                "more",
                text_or_null(
                    "The JSON Pointer of a value that is true if there is another page; null if the pointer to the next page is enough.",
                ),
            ),
        ],
    )
}

fn account() -> Value {
    let mut members = request_members();
    members.push(("id", string("The JSON Pointer of the account's id in the response.")));
    members.push(("name", text_or_null("The JSON Pointer of the account's name in the response.")));
    record("A request to the platform that identifies the connected account.", members)
}
