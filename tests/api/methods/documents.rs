//! Security schemes, constant headers and response media types of OpenAPI documents.

use super::*;

fn key(place: &str, name: &str) -> Value {
    json!({"type": "apiKey", "in": place, "name": name})
}

/// The ids of the auth methods of a connector or an action.
fn ids(found: &Value) -> Vec<&str> {
    let all = found.as_array().unwrap().iter();
    all.map(|one| one["id"].as_str().or(one["method"].as_str()).unwrap()).collect()
}

#[test]
fn schemes_that_are_required_together_become_one_method() {
    let schemes = json!({
        "app": key("header", "X-App-Id"), "key": key("header", "X-Api-Key"), "other": key("query", "k"),
        "bearer": {"type": "http", "scheme": "bearer"},
    });
    let security = json!([{"app": [], "key": []}]);
    let paths = json!({
        "/both": {"get": operation("both", &json!({}))},
        "/alone": {"get": operation("alone", &json!({"security": [{"app": []}]}))},
        "/either": {"get": operation("either", &json!({"security": [{"other": []}, {"app": [], "key": []}]}))},
        "/three": {"get": operation("three", &json!({"security": [{"bearer": [], "app": [], "other": []}]}))},
        "/open": {"get": operation("open", &json!({"security": []}))},
        "/optional": {"get": operation("optional", &json!({"security": [{}, {"app": [], "key": []}]}))},
    });
    let api = import_catalog("together", &[document(&schemes, &security, &paths)], "");
    let detail = detail(&api, "acme");
    let methods = &detail["authMethods"];
    assert_eq!(ids(methods), ["bearer-app-other", "app", "other", "app-key"]);
    let method = |id: &str| {
        let mut all = methods.as_array().unwrap().iter();
        all.find(|method| method["id"] == id).unwrap().clone()
    };
    let both = method("app-key");
    assert_eq!((&both["in"], &both["name"]), (&json!("header"), &json!("X-Api-Key")));
    assert_eq!(both["headers"], json!({"X-App-Id": "{appId}"}));
    let fields: Vec<(&str, &str, bool)> = both["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| {
            let text = |name: &str| field[name].as_str().unwrap();
            (text("name"), text("label"), field["secret"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(fields, [("apiKey", "API key", true), ("appId", "App ID", true)]);
    for (action_key, enough) in [
        ("both", &["app-key"][..]),
        ("alone", &["bearer-app-other", "app", "app-key"]),
        ("either", &["bearer-app-other", "other", "app-key"]),
        ("three", &["bearer-app-other"]),
        ("open", &[]),
        ("optional", &["app-key"]),
    ] {
        let found = action(&api, action_key);
        let mut found = ids(&found["auth"]);
        found.sort_unstable();
        let mut enough = enough.to_vec();
        enough.sort_unstable();
        assert_eq!(found, enough, "{action_key}");
    }
    let path = connected(&api, "acme", Some("app-key"), &json!({"apiKey": "k", "appId": "a"}));
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/both"), &[]);
    assert_eq!(header(&sent_requests[0], "x-app-id"), Some("a"));
    assert_eq!(header(&sent_requests[0], "x-api-key"), Some("k"));
}

#[test]
fn two_keys_in_the_query_are_one_method() {
    let schemes = json!({"k": key("query", "key"), "t": key("query", "token")});
    let paths = json!({"/members/me": {"get": operation("getSelf", &json!({}))}});
    let security = json!([{"k": [], "t": []}]);
    let providers = "[platforms.acme]\nname = 'Acme'\nservers = ['https://api.acme.example']\nverify = 'GET /members/me'\n";
    let documents = [document(&schemes, &security, &paths)];
    let api = import_catalog("query", &documents, providers);
    platform(&api, |request| {
        let is_expected = request.url.ends_with("/members/me?key=k&token=t");
        Ok(platform_response(if is_expected { 200 } else { 401 }, &[], "{}"))
    });
    let mut expected = ann_connect_body("acme");
    expected["fields"] = json!({"apiKey": "k", "token": "t"});
    let response = connect(&api, &expected);
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("operational")));
    let path = at(body(&response)["id"].as_str().unwrap());
    sent(&api);
    let run = send(&api, "POST", &format!("{path}/actions/getSelf"), &json!({}));
    assert_eq!(body(&run)["status"], 200, "{}", text(&run));
}

#[test]
fn keys_in_cookies_and_the_id_of_an_oauth_client_are_joined_too() {
    let oauth = json!({"type": "oauth2", "flows": {"authorizationCode": {
        "authorizationUrl": "https://acme.example/a", "tokenUrl": "https://acme.example/t", "scopes": {"read": ""},
    }}});
    let schemes = json!({
        "sid": key("cookie", "sid"), "csrf": key("cookie", "csrf"), "oauth": oauth, "client": key("header", "Client-Id"),
        "basic": {"type": "http", "scheme": "basic"}, "bearer": {"type": "http", "scheme": "bearer"},
    });
    let paths = json!({
        "/cookies": {"get": operation("cookies", &json!({"security": [{"sid": [], "csrf": []}]}))},
        "/client": {"get": operation("client", &json!({"security": [{"oauth": ["read"], "client": []}]}))},
        "/never": {"get": operation("never", &json!({"security": [{"basic": [], "bearer": []}]}))},
    });
    let api = import_catalog("cookies", &[document(&schemes, &json!([]), &paths)], "");
    let detail = detail(&api, "acme");
    let mut found = ids(&detail["authMethods"]);
    found.sort_unstable();
    // No request can contain two `Authorization` headers, so the schemes stay separate, and neither
    // alone satisfies the action.
    assert_eq!(found, ["basic", "bearer", "oauth-client", "sid-csrf"]);
    assert_eq!(action(&api, "never")["auth"], json!([]));
    let auth = json!([{"method": "oauth-client", "scopes": ["read"]}]);
    assert_eq!(action(&api, "client")["auth"], auth);
    let path = connected(&api, "acme", Some("sid-csrf"), &json!({"apiKey": "a", "csrf": "b;c"}));
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/cookies"), &[]);
    assert_eq!(header(&sent_requests[0], "cookie"), Some("sid=a; csrf=b%3Bc"));
    set_client(&api, "acme");
    let tokens = json!({"type": "oauth2", "accessToken": "at"});
    let bob = json!({"platform": "acme", "identity": "bob", "identityType": "user"});
    let created = send(&api, "POST", "/v1/vault/connections", &bob);
    let path = at(body(&created)["id"].as_str().unwrap());
    assert_eq!(send(&api, "PUT", &format!("{path}/credentials"), &tokens).status, 204);
    let (_, sent_requests) = requests(&api, &format!("{path}/proxy/client"), &[]);
    assert_eq!(header(&sent_requests[0], "client-id"), Some("an id"));
    assert_eq!(header(&sent_requests[0], "authorization"), Some("Bearer at"));
}

/// A document with ten operations. For each schema, one operation requires a header with that
/// schema.
fn with_header_parameter(name: &str, schemas: &[Value]) -> Value {
    let mut paths = json!({});
    for index in 0..10 {
        let parameters = schemas.get(index).map_or(
            json!([]),
            |schema| json!([{"name": name, "in": "header", "required": true, "schema": schema}]),
        );
        let found = operation(&format!("get{index}"), &json!({"parameters": parameters}));
        paths[format!("/{index}")] = json!({"get": found});
    }
    let bearer = json!({"bearer": {"type": "http", "scheme": "bearer"}});
    document(&bearer, &json!([{"bearer": []}]), &paths)
}

#[test]
fn a_header_with_one_value_becomes_one_of_the_connector() {
    for (name, schema) in [
        ("const", json!({"const": "2022-06-28"})),
        ("enum", json!({"type": "string", "enum": ["2022-06-28"]})),
        ("default", json!({"type": "string", "default": "2022-06-28"})),
    ] {
        let mut schemas = vec![schema; 8];
        // This operation requires another version, so its header remains a parameter.
        schemas.push(json!({"enum": ["2025-01-01"]}));
        let api = import_catalog(name, &[with_header_parameter("Acme-Version", &schemas)], "");
        assert_eq!(
            detail(&api, "acme")["headers"],
            json!({"Acme-Version": "2022-06-28"}),
            "{name}"
        );
        assert_eq!(action(&api, "get0")["input"]["properties"], json!({}), "{name}");
        let other = action(&api, "get8")["input"].clone();
        assert_eq!(other["properties"]["header"]["required"], json!(["Acme-Version"]), "{name}");
        let path = connected(&api, "acme", None, &json!({"token": "t"}));
        for (action_key, input, version) in [
            ("get0", json!({}), "2022-06-28"),
            ("get9", json!({}), "2022-06-28"),
            ("get8", json!({"header": {"Acme-Version": "2025-01-01"}}), "2025-01-01"),
        ] {
            let run = send(&api, "POST", &format!("{path}/actions/{action_key}"), &input);
            assert_eq!(body(&run)["status"], 200, "{}", text(&run));
            assert_eq!(header(&sent(&api)[0], "acme-version"), Some(version), "{name}");
        }
    }
}

#[test]
fn shared_parameters_and_schemas_with_one_value_become_headers() {
    let schema = json!({"$ref": "#/components/schemas/Version"});
    let mut shared = with_header_parameter("Acme-Version", &vec![schema; 10]);
    shared["components"]["schemas"] = json!({"Version": {"type": "string", "enum": ["7"]}});
    let mut parameter = with_header_parameter("Acme-Version", &[]);
    parameter["components"]["parameters"] = json!({"Version": {
        "name": "Acme-Version", "in": "header", "required": true, "schema": {"const": "7"},
    }});
    for item in parameter["paths"].as_object_mut().unwrap().values_mut() {
        item["parameters"] = json!([{"$ref": "#/components/parameters/Version"}]);
    }
    let second = json!({
        "swagger": "2.0", "info": {"title": "Acme", "version": "1", "x-providerName": "acme.example"},
        "host": "api.acme.example", "schemes": ["https"],
        "paths": {"/0": {"get": operation("get0", &json!({"parameters": [
            {"name": "Acme-Version", "in": "header", "required": true, "type": "string", "default": "7"},
        ]}))}},
    });
    for (name, document) in [("schema", shared), ("parameter", parameter), ("swagger", second)] {
        let api = import_catalog(&format!("shared-{name}"), &[document], "");
        assert_eq!(detail(&api, "acme")["headers"], json!({"Acme-Version": "7"}), "{name}");
        assert_eq!(action(&api, "get0")["input"]["properties"], json!({}), "{name}");
    }
}

#[test]
fn other_headers_stay_input() {
    let one = json!({"const": "1"});
    for (name, header_name, schemas) in [
        ("few", "Acme-Version", vec![one.clone(); 7]),
        ("several", "Acme-Version", vec![json!({"enum": ["1", "2"]}); 10]),
        ("free", "Acme-Version", vec![json!({"type": "string"}); 10]),
        ("braces", "Acme-Version", vec![json!({"const": "{token}"}); 10]),
        ("letters", "Acme-Version", vec![json!({"const": "é"}); 10]),
    ] {
        let api = import_catalog(name, &[with_header_parameter(header_name, &schemas)], "");
        assert_eq!(detail(&api, "acme")["headers"], json!({}), "{name}");
        let input = action(&api, "get0")["input"].clone();
        assert_eq!(input["properties"]["header"]["required"], json!([header_name]), "{name}");
    }
    // Headers in `providers.toml` take precedence over those in documents.
    let providers = "[platforms.acme]\nname = 'Acme'\nservers = ['https://api.acme.example']\nheaders = { 'acme-version' = '3' }\n";
    let schemas = vec![json!({"enum": ["1", "3"], "default": "1"}); 10];
    let api = import_catalog("wins", &[with_header_parameter("Acme-Version", &schemas)], providers);
    assert_eq!(detail(&api, "acme")["headers"], json!({"acme-version": "3"}));
    assert_eq!(action(&api, "get0")["input"]["properties"], json!({}));
}

#[test]
fn headers_of_the_connection_are_not_input() {
    let parameters = json!([
        {"name": "x-api-key", "in": "header", "required": true, "schema": {"type": "string"}},
        {"name": "X-Other", "in": "header", "required": true, "schema": {"type": "string"}},
    ]);
    let paths = json!({"/a": {"get": operation("getA", &json!({"parameters": parameters}))}});
    let schemes = json!({"key": key("header", "X-Api-Key")});
    let api = import_catalog("own", &[document(&schemes, &json!([{"key": []}]), &paths)], "");
    let input = action(&api, "getA")["input"].clone();
    assert_eq!(input["properties"]["header"]["required"], json!(["X-Other"]));
}

#[test]
fn a_caller_chooses_among_the_media_types_of_the_response() {
    let responses = |types: &[&str]| {
        let content: Value = types.iter().map(|one| ((*one).to_owned(), json!({}))).collect();
        json!({"responses": {"200": {"description": "ok", "content": content}}})
    };
    let vendor = "application/vnd.acme+json; version=3";
    let paths = json!({
        "/vendor": {"get": operation("vendor", &responses(&[vendor]))},
        "/csv": {"get": operation("csv", &responses(&["text/csv", "application/json"]))},
        "/json": {"get": operation("json", &responses(&["application/json"]))},
        "/any": {"get": operation("any", &responses(&["*/*"]))},
        "/none": {"get": operation("none", &json!({}))},
    });
    let bearer = json!({"bearer": {"type": "http", "scheme": "bearer"}});
    let api = import_catalog("accept", &[document(&bearer, &json!([{"bearer": []}]), &paths)], "");
    assert_eq!(action(&api, "csv")["responseTypes"], json!(["application/json", "text/csv"]));
    let path = connected(&api, "acme", None, &json!({"token": "t"}));
    let usual = "application/json, */*;q=0.5";
    for (action_key, chosen, expected) in [
        ("vendor", None, Some(format!("{vendor}, */*;q=0.5"))),
        ("vendor", Some(vendor), Some(vendor.to_owned())),
        ("vendor", Some("text/csv"), None),
        ("csv", None, Some(usual.to_owned())),
        ("csv", Some("text/csv"), Some("text/csv".to_owned())),
        ("json", None, Some(usual.to_owned())),
        ("json", Some("application/json"), None),
        ("any", None, Some(usual.to_owned())),
        ("none", None, Some(usual.to_owned())),
    ] {
        let header_sent = chosen.map_or(json!({}), |chosen| json!({"header": {"Accept": chosen}}));
        let run = send(&api, "POST", &format!("{path}/actions/{action_key}"), &header_sent);
        let sent_requests = sent(&api);
        match expected {
            None => {
                assert_eq!((run.status, sent_requests.len()), (400, 0), "{action_key} {chosen:?}");
            }
            Some(expected) => {
                assert_eq!(run.status, 200, "{}", text(&run));
                assert_eq!(header(&sent_requests[0], "accept"), Some(expected.as_str()));
            }
        }
    }
}

#[test]
fn callers_and_documents_override_the_connectors_accept_header() {
    let vendor = "application/vnd.acme+json; version=3";
    let responses =
        json!({"responses": {"200": {"description": "ok", "content": {"text/csv": {}}}}});
    let paths = json!({
        "/usual": {"get": operation("usual", &json!({}))},
        "/csv": {"get": operation("csv", &responses)},
    });
    let providers = format!(
        "[platforms.acme]\nname = 'Acme'\nservers = ['https://api.acme.example']\nheaders = {{ Accept = '{vendor}' }}\nverify = 'GET /account'\n[[platforms.acme.auth]]\nid = 'token'\ntype = 'bearer'\nsource = 's'\nread = '2026-11-27'\n"
    );
    let api = import_catalog("vendor", &[document(&json!({}), &json!([]), &paths)], &providers);
    platform(&api, move |request| {
        let is_expected = header(request, "accept") == Some(vendor);
        Ok(platform_response(if is_expected { 200 } else { 400 }, &[], "{}"))
    });
    let mut requested = ann_connect_body("acme");
    requested["fields"] = json!({"token": "t"});
    let response = connect(&api, &requested);
    assert_eq!((response.status, &body(&response)["state"]), (201, &json!("operational")));
    let path = at(body(&response)["id"].as_str().unwrap());
    sent(&api);
    for (action_key, expected) in [("usual", vendor), ("csv", "text/csv, */*;q=0.5")] {
        send(&api, "POST", &format!("{path}/actions/{action_key}"), &json!({}));
        assert_eq!(header(&sent(&api)[0], "accept"), Some(expected));
    }
    for (own, expected) in
        [(&[][..], vendor), (&[("accept", "*/*")], vendor), (&[("accept", "text/csv")], "text/csv")]
    {
        let (_, sent_requests) = requests(&api, &format!("{path}/proxy/usual"), own);
        assert_eq!(header(&sent_requests[0], "accept"), Some(expected));
    }
}
