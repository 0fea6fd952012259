//! The endpoints that call platforms.

use serde_json::{Value, json};

use super::bodies::body;
use super::endpoint_doc::{Body, EndpointDoc};
use super::schema::{boolean, count};
use super::string_schemas::described;
use crate::http::fields::INPUT_FIELDS;
use crate::terms::Method;

pub const CALLING: &str = "Calling";

/// Example inputs of an action, each with a name and a description.
pub const INPUT_EXAMPLES: [(&str, &str, &str); 1] = [(
    "issue",
    "Create an issue",
    r#"{"path":{"owner":"octocat","repo":"hello-world"},"body":{"title":"Found a bug"}}"#,
)];

pub const RUN: EndpointDoc = EndpointDoc {
    tag: CALLING,
    summary: "Run an action",
    description: "Runs an action of the connection's platform with the connection's credentials. The input is checked against the action's `input` schema before anything is sent: a 400 lists all errors, each with a JSON pointer. Parameters and body are then serialized as the platform's OpenAPI document specifies. The response has the platform's status, headers and body, with any status. A JSON body is returned as JSON, text as a string, anything else as `{ base64, contentType }`, and a body of more than 8 MiB as null, with `bodyTooLarge`. Files in the input (`format: binary`) are strings in base64. `arguments` in place of the other members has the input as one flat object, as the action's detail describes it with `for=model`. With `select` (up to 20 JSON Pointers; `*` is every item) and `maxBytes` in the body, a response with a status below 400 has only these parts, and every response has at most this size; `omitted` lists what is missing. For larger inputs and responses, use the proxy.",
    response: "The platform's response, with any status.",
    schema: Some("ActionAnswer"),
    body: Some(Body { schema: "ActionInput", examples: &INPUT_EXAMPLES, sample: 0 }),
    address: "/v1/vault/connections/$ID/actions/issuesCreate",
    script: "\
const { status, body } = await vault.actions.run(process.env.ID, \"issuesCreate\", {
  path: { owner: \"octocat\", repo: \"hello-world\" },
  body: { title: \"Found a bug\" },
});
console.log(status, typeof body);
",
};

const PROXY_DESCRIPTION: &str = "Sends the request to the platform of the connection, with the connection's credentials, and returns the platform's response: its status, headers and body. `path` is everything after `/proxy/`, below the platform's first server, with any query; without the slash, the server's own address is called. Bodies of any size stream in both directions. Your API key, cookies, and proxy headers such as `x-forwarded-for` are not forwarded, and neither is the platform's `set-cookie`; credentials that you send yourself are replaced. To call another of the platform's servers, name it in the header `x-vault-server`; no other host can be called. Redirects to the same origin are followed, all others are returned, with `x-platform-location` instead of `Location`, so that no client follows them with your key. If the platform returns 401, the credentials are refreshed and the request is repeated once, unless its body has more than 1 MiB or no `Content-Length`. A request with `x-vault-retries` (1–3) is repeated if the platform returns 429 or 503 with a wait of at most 20 seconds, and the request is a `GET`, a `HEAD` or has an `Idempotency-Key`; `x-vault-retry-at` has the time of a longer wait. `x-vault-next` is the `path` of the next page, which the platform names in `Link`, or in its JSON response as the connector's `pagination` describes. A body with `GET` is rejected. The response says in `x-vault-source` whether it comes from the `platform` or from the `vault`.";

/// The documentation of the proxy endpoint for this method.
pub const fn proxy(method: Method) -> EndpointDoc {
    let (summary, script) = match method {
        Method::Get => (
            "Read from a platform",
            "\
const response = await vault.proxy(process.env.ID, \"user/repos?per_page=5\");
for (const { full_name } of await response.json()) console.log(full_name);
",
        ),
        Method::Post => (
            "Send to a platform",
            "\
const response = await vault.proxy(process.env.ID, \"user/repos\", {
  method: \"POST\",
  headers: { \"content-type\": \"application/json\" },
  body: JSON.stringify({ name: \"example\" }),
});
console.log(response.status);
",
        ),
        Method::Put => (
            "Replace at a platform",
            "\
const response = await vault.proxy(process.env.ID, \"user/starred/octocat/hello-world\", { method: \"PUT\" });
console.log(response.status);
",
        ),
        Method::Patch => (
            "Change at a platform",
            "\
const response = await vault.proxy(process.env.ID, \"user\", {
  method: \"PATCH\",
  headers: { \"content-type\": \"application/json\" },
  body: JSON.stringify({ location: \"Example City\" }),
});
console.log(response.status);
",
        ),
        Method::Delete => (
            "Delete at a platform",
            "\
const response = await vault.proxy(process.env.ID, \"user/starred/octocat/hello-world\", { method: \"DELETE\" });
console.log(response.status);
",
        ),
    };
    let address = match method {
        Method::Get => "/v1/vault/connections/$ID/proxy/user/repos?per_page=5",
        Method::Post => "/v1/vault/connections/$ID/proxy/user/repos",
        Method::Patch => "/v1/vault/connections/$ID/proxy/user",
        Method::Put | Method::Delete => {
            "/v1/vault/connections/$ID/proxy/user/starred/octocat/hello-world"
        }
    };
    EndpointDoc {
        tag: CALLING,
        summary,
        description: PROXY_DESCRIPTION,
        response: "The platform's response, with any status.",
        schema: None,
        body: None,
        address,
        script,
    }
}

pub fn response() -> Value {
    let text = json!({"type": "string"});
    let headers = json!({"type": "object", "additionalProperties": text});
    let properties = json!({
        "status": count("The HTTP status of the platform's response."),
        "headers": described("Its headers, with names in lower case.", headers),
        "body": described(
            "JSON as JSON, text as a string, anything else as `{ base64, contentType }`; null if there is none.",
            json!({}),
        ),
        "failed": boolean("True if the platform's API is GraphQL and the body reports `errors`, which it can with status 200; else absent."),
        "bodyTooLarge": boolean("True if the body has more than 8 MiB and is therefore null; else absent."),
        "omitted": described(
            "The parts that do not fit into `maxBytes`: `parts`, each with a JSON Pointer, and a `hint`. Without parts, `select` selects nothing. Else absent.",
            json!({"type": "object"}),
        ),
    });
    json!({
        "type": "object",
        "description": "A platform's response to an action.",
        "required": ["status", "headers", "body"],
        "properties": properties,
    })
}

/// The schemas of platform calls, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("ActionInput", action_input()), ("ActionAnswer", response())]
}

fn action_input() -> Value {
    let description =
        "The input of an action. The `input` of the action's detail is its exact schema.";
    body(description, &INPUT_FIELDS, &json!({}))
}
