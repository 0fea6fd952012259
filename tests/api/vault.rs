//! Helpers for tests of the vault: paths, request bodies, and a few connections.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::{Request, Response};
use serde_json::{Value, json};

use crate::support::{Api, as_key, body, with_body, with_header};

pub const CONNECTIONS: &str = "/v1/vault/connections";
pub const SUMMARY: &str = "/v1/vault/summary";
/// A valid id that belongs to no connection.
pub const UNKNOWN_ID: &str = "00000000-0000-4000-8000-000000000000";

/// The path of a connection.
pub fn at(id: &str) -> String {
    format!("{CONNECTIONS}/{id}")
}

/// The path of a connection's state.
pub fn state(id: &str) -> String {
    format!("{}/state", at(id))
}

/// The path of a connection's name.
pub fn name(id: &str) -> String {
    format!("{}/name", at(id))
}

/// Encodes each byte as `%XX`.
pub fn encode(text: &str) -> String {
    text.bytes().fold(String::new(), |encoded, byte| encoded + &format!("%{byte:02X}"))
}

/// The smallest body that creates a connection.
pub fn minimal(identity: &str) -> Value {
    json!({"platform": "alpha", "identity": identity, "identityType": "user"})
}

pub fn post_as(key: &ApiKey, document: &Value) -> Request {
    with_body(as_key(key, "POST", CONNECTIONS), &document.to_string())
}

pub fn patch_as(key: &ApiKey, id: &str, document: &Value) -> Request {
    with_body(as_key(key, "PATCH", &at(id)), &document.to_string())
}

/// The code of a problem; empty for any other response.
pub fn code(response: &Response) -> String {
    if response.body.is_empty() || response.status < 400 {
        return String::new();
    }
    body(response)["code"].as_str().unwrap_or_default().to_owned()
}

/// Each error of a problem as `location` or `location>suggestion`, sorted.
pub fn faults(response: &Response) -> Vec<String> {
    let document = body(response);
    let name = |error: &Value| {
        assert!(error["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{error}");
        let place = error["parameter"].as_str().or(error["pointer"].as_str()).unwrap();
        let suggestion = error["suggestion"].as_str().map(|suggestion| format!(">{suggestion}"));
        format!("{place}{}", suggestion.unwrap_or_default())
    };
    let mut names: Vec<String> =
        document["errors"].as_array().into_iter().flatten().map(name).collect();
    names.sort();
    names
}

/// The status, headers and body of a response, without the parts that differ between equal
/// requests.
pub fn comparable(response: &Response) -> (u16, Vec<(&'static str, String)>, String) {
    let headers = response.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let id = response.header("x-request-id").unwrap();
    let text = String::from_utf8(response.body.clone()).unwrap().replace(id, "…");
    (response.status, headers.cloned().collect(), text)
}

/// The cursor in the `Link` header of a list.
pub fn cursor(response: &Response) -> Option<String> {
    let link = response.header("link")?;
    let (address, relation) = link.strip_prefix('<')?.split_once(">; ")?;
    assert_eq!(relation, "rel=\"next\"");
    Some(address.split("after=").nth(1)?.to_owned())
}

/// The path and query of the next page.
pub fn next(response: &Response) -> Option<String> {
    let link = response.header("link")?;
    let (address, _) = link.strip_prefix('<')?.split_once('>')?;
    Some(address.strip_prefix(crate::support::ORIGIN)?.to_owned())
}

impl Api {
    pub fn create(&self, document: &Value) -> Value {
        self.create_as(&self.key, document)
    }

    pub fn create_as(&self, key: &ApiKey, document: &Value) -> Value {
        let response = self.send(&post_as(key, document));
        assert_eq!(response.status, 201, "{document} {}", body(&response));
        body(&response)
    }

    pub fn patch(&self, id: &str, document: &Value) -> Response {
        self.send(&patch_as(&self.key, id, document))
    }

    /// Sends a request to a connection, optionally with `If-Match`.
    pub fn on(&self, method: &str, id: &str, if_match: Option<&str>) -> Response {
        let request = self.request(method, &at(id));
        self.send(&match if_match {
            Some(value) => with_header(request, "if-match", value),
            None => request,
        })
    }
}

/// Creates eleven connections with the labels `c1` to `c11`, in list order.
pub fn fixture(api: &Api) -> Vec<Value> {
    let rows = [
        // Label, platform, version, identity, type, name, tags, whether it is active, and the
        // milliseconds since the previous connection.
        json!(["c1", "alpha", "v1", "ann", "user", "Ann", ["red", "blue"], true, 0]),
        json!(["c2", "alpha", "v2", "Ann", "team", "ANN", ["red"], true, 0]),
        json!(["c3", "alpha", "v1", "bob", "user", null, ["blue"], false, 0]),
        json!([
            "c4",
            "alpha-two",
            "v1",
            "ann::x",
            "organization",
            "Ann's 100%_*\"\\",
            ["Red"],
            true,
            5
        ]),
        json!(["c5", "zeta", "v1", "100%", "project", "100%", ["100%", "_"], true, 0]),
        json!(["c6", "zeta", "v1", "1000", "project", "1000", ["1000"], true, 0]),
        json!(["c7", "zeta", "v1", "a_b", "user", "É", ["red", "red", "green"], true, 1]),
        json!(["c8", "zeta", "v10", "axb", "user", "école", ["re"], true, 1]),
        json!([
            "c9",
            "epsilon",
            "v1",
            "x'y\"z\\*",
            "user",
            "日本",
            ["it's", "\"q\"", "\\", "*"],
            true,
            1
        ]),
        json!(["c10", "epsilon", "v1", "annabel", "user", "Zoe", [], false, 1]),
        json!(["c11", "epsilon", "v1", "É", "user", "ann", ["red", "green"], true, 1000]),
    ];
    let create = |row: &Value| {
        api.env.wait(row[8].as_u64().unwrap());
        api.create(&json!({
            "label": row[0], "platform": row[1], "platformVersion": row[2], "identity": row[3],
            "identityType": row[4], "name": row[5], "tags": row[6], "active": row[7],
        }))
    };
    let mut created: Vec<Value> = rows.iter().map(create).collect();
    created.sort_by_key(place);
    created.reverse();
    created
}

/// The connection's sort key. Lists are in descending order of it.
pub fn place(row: &Value) -> (String, String) {
    ["createdAt", "id"].map(|member| row[member].as_str().unwrap().to_owned()).into()
}
