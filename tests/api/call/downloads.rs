//! Files that an agent's call returns: the result contains a download link.

use connector_vault::http::Request;
use connector_vault::jobs;
use connector_vault::ports::HttpResponse;
use serde_json::{Value, json};

use super::*;
use crate::agents::{self, APP, Agent, id_of, sign_in_from_link};
use crate::connect::token;
use crate::support::{ORIGIN, anonymous, units};

const IMAGE: [u8; 5] = [0x89, b'P', b'N', b'G', 0];

fn api() -> Api {
    let action = |key: &str, method: &str| {
        json!({
            "title": key, "key": key, "method": method, "modelName": "Thing", "facts": {"path": "/files/{id}"},
            "parameters": [{
                "name": "id", "in": "path", "required": true, "schema": {"type": "string"}, "style": "simple",
                "explode": false, "contentType": null,
            }],
            "responses": [],
        })
    };
    let api = api_with_platforms(
        &[("BASE_URL", ORIGIN)],
        units(json!({}), &[action("getFile", "GET"), action("makeFile", "POST")], &[]),
    );
    platform(&api, |_| Ok(image(200)));
    api
}

fn session(api: &Api, identity: &str) -> String {
    token(api, &json!({"identity": identity, "scopes": ["connections:call"]}))
}

fn image(status: u16) -> HttpResponse {
    let headers = [
        ("content-type", "image/png"),
        ("content-disposition", "inline; filename=\"my cat.png\""),
        ("set-cookie", "a=b"),
        ("link", "</x>; rel=preload"),
        ("x-other", "1"),
    ];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    HttpResponse { status, headers: headers.into(), body: IMAGE.to_vec() }
}

fn id_in(path: &str) -> &str {
    path.rsplit('/').next().unwrap()
}

/// Calls a tool at `/mcp` with a secret. Returns the tool's result.
fn call_tool(api: &Api, secret: &str, tool: &str, arguments: &Value) -> Value {
    let response = agents::call(api, "/mcp", secret, tool, arguments);
    let returned = body(&response)["result"]["content"][0]["text"].clone();
    serde_json::from_str(returned.as_str().unwrap()).unwrap_or(returned)
}

fn get_file(path: &str) -> Value {
    json!({"connection": id_in(path), "key": "getFile", "input": {"path": {"id": "cat"}}})
}

/// The path of the link in a tool's result.
fn link_in(returned: &Value) -> String {
    let url = returned["body"]["url"].as_str().unwrap_or_else(|| panic!("{returned}"));
    url.strip_prefix(ORIGIN).unwrap().to_owned()
}

fn open(api: &Api, path: &str) -> Response {
    api.send(&anonymous("GET", path))
}

fn assert_is_file(response: Response) {
    for (name, value) in [
        ("content-disposition", "attachment; filename=\"my_cat.png\""),
        ("content-security-policy", "default-src 'none'; sandbox"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "private, no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        let mut all = response.headers.iter().filter(|(known, _)| *known == name);
        assert_eq!(all.next().map(|(_, value)| value.as_str()), Some(value), "{name}");
        assert_eq!(all.next(), None, "{name}");
    }
    assert_eq!(response.header("set-cookie"), None);
    let passed = &response.proxied.as_ref().unwrap().headers;
    assert_eq!(passed, &[("content-type".to_owned(), "image/png".to_owned())]);
    assert_eq!((response.status, response.body), (200, IMAGE.to_vec()));
}

/// Returns a service, and a request that opens a download link. With `signs_in`, the link belongs
/// to a grant, so the user must sign in.
pub fn open_request(signs_in: bool) -> (Api, Request) {
    if signs_in {
        let (api, id, agent, path) = with_agent(&agents::ALL);
        let link = link_in(&run(&api, &id, &agent, &get_file(&path)));
        return (api, anonymous("GET", &link));
    }
    let api = api();
    let path = acme(&api);
    let link = link_in(&call_tool(&api, api.key.reveal(), "run_action", &get_file(&path)));
    (api, anonymous("GET", &link))
}

#[test]
fn a_file_becomes_a_link_that_repeats_the_call() {
    let api = api();
    let path = acme(&api);
    let secrets = [api.key.reveal().to_owned(), session(&api, "ann")];
    for secret in &secrets {
        for (tool, arguments) in [
            ("run_action", get_file(&path)),
            (
                "call_platform",
                json!({"connection": id_in(&path), "path": "/files/cat", "query": {"a": "b"}}),
            ),
        ] {
            sent(&api);
            let returned = call_tool(&api, secret, tool, &arguments);
            let file = &returned["body"];
            assert_eq!(
                (&returned["status"], &file["contentType"], &file["size"]),
                (&json!(200), &json!("image/png"), &json!(5))
            );
            assert!(file["expiresAt"].is_string() && file.get("base64").is_none(), "{file}");
            let link = link_in(&returned);
            assert!(link.starts_with("/download/") && !link.contains(secret), "{link}");
            let first = sent(&api);
            for _ in 0..2 {
                assert_is_file(open(&api, &link));
            }
            let repeated = sent(&api);
            assert_eq!(repeated.len(), 2);
            assert!(repeated.iter().all(|one| one.url == first[0].url), "{repeated:?}");
        }
    }
    // Link scanners send HEAD requests, which don't call the platform.
    let link = link_in(&call_tool(&api, &secrets[1], "run_action", &get_file(&path)));
    sent(&api);
    assert_eq!(api.send(&anonymous("HEAD", &link)).status, 200);
    assert_eq!(sent(&api).len(), 0);
    // Only the hash of the link's secret is stored, and the request is stored encrypted.
    let rows = api.env.texts("SELECT json_array(id, sealed, identity) AS row FROM agent_approvals");
    assert!(rows.iter().all(|row| !row.contains(id_in(&link)) && !row.contains("cat")), "{rows:?}");
    // The schedule deletes the row of an expired link.
    api.env.wait(10 * 60_000);
    assert_eq!(open(&api, &link).status, 410);
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!(api.env.texts("SELECT id AS row FROM agent_approvals").len(), 0);
}

#[test]
fn only_files_that_an_agent_reads_become_links() {
    let api = api();
    let path = acme(&api);
    let make =
        json!({"connection": id_in(&path), "key": "makeFile", "input": {"path": {"id": "cat"}}});
    let returned = call_tool(&api, api.key.reveal(), "run_action", &make);
    assert!(returned["body"]["base64"].is_string(), "{returned}");
    // A caller that is not an agent gets the file itself.
    let input = json!({"path": {"id": "cat"}});
    let response = send(&api, "POST", &format!("{path}/actions/getFile"), &input);
    assert!(body(&response)["body"]["base64"].is_string());
    // An error response is not treated as a file.
    platform(&api, |_| Ok(image(404)));
    let returned = call_tool(&api, api.key.reveal(), "run_action", &get_file(&path));
    assert_eq!((&returned["status"], returned["body"]["base64"].is_string()), (&json!(404), true));
    // A text response is not treated as a file.
    platform(&api, |_| Ok(platform_response(200, &[("content-type", "text/csv")], "a,b")));
    let returned = call_tool(&api, api.key.reveal(), "run_action", &get_file(&path));
    assert_eq!(returned["body"], "a,b");
    assert_eq!(api.env.texts("SELECT id AS row FROM agent_approvals").len(), 0);
}

/// `select` and `maxBytes` apply to bodies only: it would be false to say that they select nothing.
#[test]
fn a_link_says_what_it_is_although_parts_were_selected() {
    let api = api();
    let path = acme(&api);
    let call = |key: &str| {
        let mut arguments = get_file(&path);
        arguments["key"] = key.into();
        arguments["select"] = json!(["/items/*/id"]);
        call_tool(&api, api.key.reveal(), "run_action", &arguments)
    };
    let file = call("getFile");
    assert_eq!((file["body"]["url"].is_string(), file.get("omitted")), (true, None), "{file}");
    assert!(file["body"]["hint"].as_str().unwrap().starts_with("This is a file."), "{file}");
    platform(&api, |_| {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Ok(HttpResponse { status: 200, headers, body: vec![b' '; (8 << 20) + 1] })
    });
    let list = call("getFile");
    assert_eq!((list["body"]["url"].is_string(), list.get("omitted")), (true, None), "{list}");
    assert!(list["body"]["hint"].as_str().unwrap().contains("Ask for fewer items"), "{list}");
    let made = call("makeFile");
    assert_eq!((&made["body"], &made["bodyTooLarge"]), (&Value::Null, &json!(true)), "{made}");
    let hint = made["omitted"]["hint"].as_str().unwrap();
    assert!(hint.contains("larger than 8 MiB") && hint.contains("fewer items"), "{made}");
}

#[test]
fn a_download_ends_with_its_connection_or_grant() {
    for ends in ["key", "connection", "platform", "unreachable", "reconnected", "expired token"] {
        let api = api();
        let path = acme(&api);
        let short = json!({"identity": "ann", "ttlSeconds": 60, "scopes": ["connections:call"]});
        let secret = token(&api, &short);
        let link = link_in(&call_tool(&api, &secret, "run_action", &get_file(&path)));
        sent(&api);
        let database = &api.env.database;
        let status = match ends {
            "key" => {
                database.execute_batch("UPDATE api_keys SET revoked_at = 1").unwrap();
                410
            }
            "connection" => {
                assert_eq!(api.send(&api.request("DELETE", &path)).status, 204);
                410
            }
            "platform" => {
                platform(&api, |_| Ok(image(403)));
                502
            }
            "unreachable" => {
                platform(&api, |_| Err(HttpError::Unreachable));
                502
            }
            "reconnected" => {
                // The connection now belongs to another user.
                database.execute_batch("UPDATE connections SET identity = 'bob'").unwrap();
                410
            }
            _ => {
                api.env.wait(60_000);
                410
            }
        };
        let response = open(&api, &link);
        assert_eq!(response.status, status, "{ends}: {}", text(&response));
        assert!(response.proxied.is_none(), "{ends}");
    }
}

#[test]
fn a_forged_link_costs_no_query() {
    let api = api();
    acme(&api);
    for link in ["/download/x", &format!("/download/{}", "A".repeat(43)), "/download/%00"] {
        let response = open(&api, link);
        assert!(matches!(response.status, 404 | 410), "{link}");
        assert!(response.header("server-timing").unwrap().contains("calls=0"), "{link}");
    }
}

#[test]
fn a_caller_has_at_most_a_hundred_open_links() {
    let api = api();
    let path = acme(&api);
    let secret = session(&api, "ann");
    let mut last = String::new();
    for _ in 0..100 {
        last = link_in(&call_tool(&api, &secret, "run_action", &get_file(&path)));
    }
    let beyond = call_tool(&api, &secret, "run_action", &get_file(&path));
    assert!(beyond["body"]["base64"].is_string(), "{beyond}");
    assert_is_file(open(&api, &last));
    // The links of another user of the same key are counted separately.
    let other = connection_of(&api, "bearer", "bob", &json!({"type": "bearer", "token": "t"}));
    let arguments = json!({"connection": id_in(&other), "path": "/x"});
    let bob = session(&api, "bob");
    link_in(&call_tool(&api, &bob, "call_platform", &arguments));
}

fn with_agent(fields: &[(&str, &str)]) -> (Api, String, Agent, String) {
    let api = api();
    let response = send(&api, "PUT", "/v1/agent-sign-in", &json!({"type": "app", "url": APP}));
    let id = id_of(&body(&response));
    let path = acme(&api);
    let agent = Agent::new(&api, &id, fields);
    (api, id, agent, path)
}

fn run(api: &Api, id: &str, agent: &Agent, arguments: &Value) -> Value {
    let response = agent.call(api, id, "run_action", arguments);
    serde_json::from_str(body(&response)["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[test]
fn a_file_of_a_grant_needs_the_sign_in_of_its_user() {
    let all = ("accounts", "all");
    for fields in [
        &agents::ALL[..],
        &[("access", "read"), all],
        &[("access", "write"), all, ("confirm", "write")],
    ] {
        let (api, id, agent, path) = with_agent(fields);
        let link = link_in(&run(&api, &id, &agent, &get_file(&path)));
        assert!(link.starts_with(&format!("/mcp/{id}/download?id=")), "{link}");
        sent(&api);
        // Another user can't download the file.
        assert_eq!(sign_in_from_link(&api, &link, "bob").status, 410);
        assert_eq!(sent(&api).len(), 0);
        for _ in 0..2 {
            assert_is_file(sign_in_from_link(&api, &link, "ann"));
        }
        // The link's id can't be used as the id of an approval.
        let query = json!({
            "connection": id_in(&path), "key": "getFile", "approval": link.rsplit('=').next().unwrap(),
        });
        assert!(
            run(&api, &id, &agent, &query)["detail"].as_str().unwrap().contains("no such approval")
        );
        let grant = api.env.texts("SELECT id AS row FROM agent_grants WHERE state = 'active'");
        let ended = api.send(&api.request("DELETE", &format!("/v1/agent-grants/{}", grant[0])));
        assert_eq!(ended.status, 204);
        sent(&api);
        assert_eq!(sign_in_from_link(&api, &link, "ann").status, 410);
        assert_eq!(sent(&api).len(), 0);
    }
}

#[test]
fn a_download_of_one_endpoint_is_unknown_at_another() {
    let (api, id, agent, path) = with_agent(&agents::ALL);
    let link = link_in(&run(&api, &id, &agent, &get_file(&path)));
    let secret = link.rsplit('=').next().unwrap();
    assert_eq!(open(&api, &format!("/download/{secret}")).status, 410);
    let session = session(&api, "ann");
    let own = link_in(&call_tool(&api, &session, "run_action", &get_file(&path)));
    let at_endpoint = format!("/mcp/{id}/download?id={}", own.rsplit('/').next().unwrap());
    assert_eq!(open(&api, &at_endpoint).status, 410);
}
