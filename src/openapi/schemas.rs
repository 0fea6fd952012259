//! The schemas of requests and responses.

use serde_json::{Value, json};

use super::endpoint_doc::others;
use super::json::{Members as _, object, texts};
use super::recorded_responses::{RecordedResponse, RecordedResponses};
use super::schema::{names, record, record_with, reference, string};
use super::string_schemas::described;
use super::{
    agents, audit, branding, catalog, connect, connections, console, credentials, events,
    importing, keys, platform_calls, session, usage, webhooks,
};
use crate::http::endpoint::{Endpoint, Keyed, Open};
use crate::http::problem::Code;

/// All schemas by name. Checks them against the recorded responses.
pub fn all(responses: &RecordedResponses) -> Value {
    let own = vec![
        (
            "Health",
            record(
                "The health of the service.",
                vec![("status", json!({"type": "string", "const": "ok"}))],
            ),
        ),
        ("Problem", problem()),
        ("Fault", fault()),
    ];
    let features = [
        catalog::schemas(),
        connections::schemas(responses),
        connect::schemas(),
        importing::schemas(),
        platform_calls::schemas(),
        connect::client_schemas(),
        agents::schemas(),
        branding::schemas(),
        console::schemas(),
        audit::schemas(),
        usage::schemas(),
        events::schemas(),
        webhooks::schemas(),
        keys::schemas(),
        session::schemas(),
        own,
    ];
    let schemas = object(features.into_iter().flatten());
    for endpoint in Endpoint::ALL {
        match endpoint {
            Endpoint::Open(Open::Health) => {
                assert_same_members(
                    "Health",
                    &schemas,
                    &responses.for_endpoint(*endpoint).success.document(),
                );
            }
            // These responses have no schema: programs don't parse them, or they describe
            // themselves.
            Endpoint::Open(_) => {}
            Endpoint::Keyed(keyed) => {
                let Some(name) = keyed.doc().schema else { continue };
                let recorded = responses.for_endpoint(*endpoint);
                check(*keyed, name, &schemas, &recorded.success, responses);
                for (other, response) in others(*keyed).iter().zip(&recorded.others) {
                    assert_same_members(other.schema, &schemas, &response.document());
                }
            }
        }
    }
    schemas
}

/// Asserts that the schema `name` matches the recorded response of an endpoint.
fn check(
    endpoint: Keyed,
    name: &str,
    schemas: &Value,
    response: &RecordedResponse,
    responses: &RecordedResponses,
) {
    let response = response.document();
    if endpoint == Keyed::Whoami {
        // Some members exist only in responses to requests with a token.
        let token = responses.whoami_of_token.document();
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&texts(response.names())));
        let mut properties = schema.get("properties").unwrap().names();
        // Only responses to console users have this member.
        properties.retain(|name| *name != "person");
        assert_eq!(properties, token.names());
        return;
    }
    if endpoint == Keyed::GetAction {
        // The last member is optional, and present in this response. Only GraphQL actions have
        // `graphql`.
        let schema = schemas.get(name).unwrap();
        let (names, optional) = (response.names(), 1);
        let mut properties = schema.get("properties").unwrap().names();
        properties.retain(|name| *name != "graphql");
        assert_eq!(properties, names);
        let required_members = names.iter().take(names.len() - optional);
        assert_eq!(schema.get("required"), Some(&texts(required_members)));
        return;
    }
    if endpoint == Keyed::GetCredentials {
        credentials::check(schemas.get(name).unwrap(), &response);
        return;
    }
    if endpoint == Keyed::RunAction {
        // One member is present only if the body is too large.
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&texts(response.names())));
        return;
    }
    if matches!(endpoint, Keyed::SearchActions | Keyed::CreateSession | Keyed::SetOauthClient) {
        // Each of these responses has one optional member.
        let schema = schemas.get(name).unwrap();
        assert_eq!(schema.get("required"), Some(&texts(response.names())));
        return;
    }
    assert_same_members(name, schemas, &response);
    if let Some(Value::Array(rows)) = response.get("rows") {
        let row = name.strip_suffix("Page").map_or_else(|| format!("{name}Row"), str::to_owned);
        assert_same_members(&row, schemas, rows.first().unwrap());
    }
}

/// Asserts that a schema and a response have the same members in the same order, and that all
/// members are required.
fn assert_same_members(name: &str, schemas: &Value, response: &Value) {
    let schema = schemas.get(name).unwrap();
    let properties = schema.get("properties").unwrap();
    assert_eq!(properties.names(), response.names(), "members of {name}");
    assert_eq!(schema.get("required"), Some(&texts(response.names())), "members of {name}");
    for part in response.names() {
        if let (Some(inner @ Value::Object(_)), Some(own)) =
            (response.get(part), properties.get(part).and_then(|own| own.get("properties")))
        {
            assert_eq!(own.names(), inner.names(), "members of {name}, {part}");
        }
    }
}

fn problem() -> Value {
    let status = Code::ALL.map(|code| u64::from(code.describe().0));
    let (least, limit) = (status.iter().min().unwrap(), status.iter().max().unwrap());
    let uri = json!({"type": "string", "format": "uri"});
    let id = json!({"type": "string", "format": "uuid"});
    json!({
        "type": "object",
        "description": "An error (RFC 9457).",
        "required": ["type", "title", "status", "detail", "code", "requestId"],
        "properties": {
            "type": described("The URL of a page about the code.", uri),
            "title": string("A title for the code."),
            "status": described("The HTTP status.", json!({"type": "integer", "minimum": *least, "maximum": *limit})),
            "detail": string("A human-readable description of what went wrong in this case."),
            "code": names("What went wrong, for programs.", Code::ALL.map(Code::as_str)),
            "requestId": described("Identifies the request in the service's log.", id.clone()),
            "errors": described(
                "With status 400: the errors of the request. `code` is that of the first one.",
                json!({"type": "array", "minItems": 1, "items": reference("Fault")}),
            ),
            "suggestions": described("Similar valid values.", json!({
                "type": "array", "minItems": 1, "items": {"type": "string"},
            })),
            "connectionId": described("The id of the connection that already has the key.", id),
            "redirectUri": string("The redirect URI to register at an OpenID provider before you configure the sign-in for agents."),
        },
    })
}

fn fault() -> Value {
    let at = |title: &str, description: &str, place: &str, about: &str| {
        let required_members = vec![
            (place, string(about)),
            ("detail", string("A human-readable description of the error.")),
        ];
        let suggestion = json!({"suggestion": string("A similar valid value.")});
        json!({"title": title}).with(record_with(description, required_members, suggestion))
    };
    let pointer = "The position of the error in the body: a JSON pointer (RFC 6901), empty for the whole body.";
    json!({
        "description": "One error in the query or in the body.",
        "oneOf": [
            at("QueryFault", "An error in the query.", "parameter", "The name of the query parameter, as sent."),
            at("BodyFault", "An error in the body.", "pointer", pointer),
        ],
    })
}
