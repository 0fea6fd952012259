//! A user's and an app's requests with one platform, from the first connection to its deletion.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use connector_vault::catalog::detail::{AuthMethod, Grant as Granted, Kind, variables};
use connector_vault::catalog::write::Platform;
use connector_vault::http::{Request, Response};
use serde_json::{Map, Value, json};

use crate::row::{self, Grant, Refresh, Row};
use crate::service::{NativeService, RealService, Runtime, Service};
use crate::standin::{CLIENT_ID, CLIENT_SECRET, Secrets, Standin, pairs};
use crate::support::{anonymous, body, with_body, with_header};

const HOUR_MS: u64 = 3_600_000;

/// The values that a user enters, by field name. `$key`, `$app` and `$user` stand for the
/// stand-in's secrets.
pub type Inputs = BTreeMap<String, String>;

/// The error names the failed step and its cause.
type Outcome<T> = Result<T, String>;

struct Journey<'a> {
    name: &'a str,
    row: &'a Row,
    platform: &'a Platform,
    method: &'a AuthMethod,
    inputs: &'a Inputs,
    api: Box<dyn Service>,
    standin: Rc<RefCell<Standin>>,
}

fn secrets(inputs: &Inputs, index: u32) -> Secrets {
    let input = |name: &str| inputs.get(name).cloned();
    Secrets {
        key: input("=key").map_or_else(|| format!("key-{index}"), |key| format!("{key}{index}")),
        app: input("=app").unwrap_or_else(|| "app1".to_owned()),
        user: input("=user").unwrap_or_else(|| "ann@example.com".to_owned()),
    }
}

/// Runs a journey with OAuth: the user consents, and tokens are refreshed.
pub fn oauth(
    name: &str,
    row: &Row,
    platform: &Platform,
    inputs: &Inputs,
    runtime: Option<&Rc<RefCell<Runtime>>>,
) -> Outcome<()> {
    let expected = row.oauth.as_ref().map(|oauth| oauth.grant);
    let is_wanted = |method: &&AuthMethod| match &method.kind {
        Kind::OAuth2(oauth) => {
            Some(match oauth.grant {
                Granted::AuthorizationCode => Grant::AuthorizationCode,
                Granted::ClientCredentials => Grant::ClientCredentials,
                Granted::AccountCredentials => return false,
            }) == expected
        }
        _ => false,
    };
    let method = platform.detail.auth_methods.iter().find(is_wanted);
    let method = method.ok_or_else(|| format!("catalog: no OAuth 2.0 method with {expected:?}"))?;
    Journey::new(name, row, platform, method, inputs, runtime, false).oauth()
}

/// Runs a journey with a key that the user copies from the platform.
pub fn key(
    name: &str,
    row: &Row,
    platform: &Platform,
    inputs: &Inputs,
    runtime: Option<&Rc<RefCell<Runtime>>>,
) -> Outcome<()> {
    let is_wanted = |method: &&AuthMethod| match inputs.get("=method") {
        Some(id) => method.id == *id,
        None => !method.is_oauth2(),
    };
    let method = platform.detail.auth_methods.iter().find(is_wanted);
    let method = method.ok_or("catalog: no method with a key")?;
    Journey::new(name, row, platform, method, inputs, runtime, true).key()
}

impl<'a> Journey<'a> {
    fn new(
        name: &'a str,
        row: &'a Row,
        platform: &'a Platform,
        method: &'a AuthMethod,
        inputs: &'a Inputs,
        runtime: Option<&Rc<RefCell<Runtime>>>,
        is_key: bool,
    ) -> Self {
        let now = Rc::new(Cell::new(0));
        let standin = Standin::new(row, is_key, secrets(inputs, 1), Rc::clone(&now));
        let standin = Rc::new(RefCell::new(standin));
        let api: Box<dyn Service> = match runtime {
            Some(runtime) => Box::new(RealService::new(runtime, &standin, now)),
            None => Box::new(NativeService::new(platform, &standin, now)),
        };
        Self { name, row, platform, method, inputs, api, standin }
    }

    fn wait(&self, milliseconds: u64) {
        self.api.wait(milliseconds);
    }

    /// Returns the error of a step, with the requests that the platform has refused so far.
    fn fault<T>(&self, step: &str, seen: &str) -> Outcome<T> {
        let faults = self.standin.borrow().faults.join("; ");
        let faults =
            if faults.is_empty() { String::new() } else { format!(" | platform: {faults}") };
        Err(format!("{step}: {seen}{faults}"))
    }

    fn send(&self, method: &str, path: &str, payload: &Value) -> Response {
        self.api.send(&with_body(self.api.request(method, path), &payload.to_string()))
    }

    fn connection_path(id: &str) -> String {
        format!("/v1/vault/connections/{id}")
    }

    /// The values of the method's fields, as the user enters them.
    fn fields(&self) -> Value {
        let secrets = self.standin.borrow().secrets.clone();
        let fill = |text: &str| {
            text.replace("$key", &secrets.key)
                .replace("$app", &secrets.app)
                .replace("$user", &secrets.user)
        };
        let default_value = |name: &str| match name {
            "apiKey" | "token" => Some("$key"),
            "username" => Some(self.basic_credential(0)),
            "password" => Some(self.basic_credential(1)),
            _ => None,
        };
        let mut filled = Map::new();
        for field in &self.method.fields {
            let input = self.inputs.get(&field.name).map(String::as_str);
            let input = input.or_else(|| default_value(&field.name));
            let is_needed = field.required && field.default.is_none();
            let first = field.r#enum.as_ref().and_then(|all| all.first()).map(String::as_str);
            let guess = || is_needed.then(|| first.unwrap_or("acme"));
            if let Some(value) = input.or_else(guess) {
                filled.insert(field.name.clone(), json!(fill(value)));
            }
        }
        Value::Object(filled)
    }

    /// The user name (0) or password (1) for Basic authentication, as the row documents it.
    fn basic_credential(&self, index: usize) -> &'a str {
        let sends = self.row.key.iter().flat_map(|key| key.send.iter().flatten());
        let mut pairs = sends.filter_map(|part| part.split_once("Basic(")?.1.strip_suffix(')'));
        let pair = pairs.next().and_then(|pair| pair.rsplit_once(':')).unwrap_or_default();
        match [pair.0, pair.1][index] {
            "*" | "" => "x",
            part => part,
        }
    }

    fn begin(&self, connection: Option<&str>) -> Response {
        let mut payload = json!({"authMethod": self.method.id, "fields": self.fields()});
        if let Some(id) = connection {
            payload["connection"] = json!(id);
        } else {
            payload["platform"] = json!(self.name);
            payload["identity"] = json!("ann");
            payload["identityType"] = json!("user");
        }
        self.send("POST", "/v1/vault/connect", &payload)
    }

    /// Connects or reconnects as the user. Returns the connection's id.
    fn connect(&self, step: &str, connection: Option<&str>) -> Outcome<String> {
        let start = self.begin(connection);
        let started = body(&start);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        if [200, 201].contains(&start.status) {
            return Ok(text(&started["id"]));
        }
        if start.status != 202 {
            return self.fault(step, &started.to_string());
        }
        let link = text(&started["authorizationUrl"]);
        let origin = self.api.origin();
        let path = link.strip_prefix(origin).unwrap_or(&link);
        let request = with_header(anonymous("POST", path), "accept", "text/html");
        let request = with_header(request, "origin", origin);
        let redirect = self.api.send(&with_header(request, "sec-fetch-site", "same-origin"));
        let Some(location) = redirect.header("location").filter(|_| redirect.status == 303) else {
            return self.fault(step, "the link leads nowhere");
        };
        let callback = format!("{origin}/connect/callback");
        let back = self.standin.borrow_mut().authorize(location, &callback);
        let back = back.map_err(|why| format!("{step}: {why}"))?;
        let encode = |(name, value): &(String, String)| {
            format!("{name}={}", connector_vault::util::percent::encode(value))
        };
        let query: Vec<String> = back.iter().map(encode).collect();
        let cookie = redirect.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        let request = anonymous("GET", &format!("/connect/callback?{}", query.join("&")));
        let request = with_header(request, "accept", "text/html");
        self.api.send(&with_header(request, "cookie", cookie.unwrap_or_default()));
        let attempt = self.api.get(&format!("/v1/vault/connect/{}", text(&started["id"])));
        let attempt = body(&attempt);
        if attempt["status"] != "succeeded" {
            return self.fault(step, &attempt.to_string());
        }
        Ok(text(&attempt["connection"]["id"]))
    }

    /// Calls the platform as the app. Returns the status.
    fn call(&self, id: &str) -> u16 {
        let key = self.row.key.as_ref().filter(|_| !self.method.is_oauth2());
        let oauth = self.row.oauth.as_ref().filter(|_| self.method.is_oauth2());
        let base = key.and_then(|key| key.base.clone());
        let base = base.or_else(|| oauth.and_then(|oauth| oauth.base.clone()));
        let base = base.unwrap_or_else(|| self.row.api.base.clone());
        let secrets = self.standin.borrow().secrets.clone();
        let base = base.replace("$app", &secrets.app).replace("$user", &secrets.user);
        let check = self.row.api.check[0].replace("$user", &secrets.user);
        let (method, check) = match check.strip_prefix("POST ") {
            Some(check) => ("POST", check.to_owned()),
            None => ("GET", check),
        };
        let (path, query) = check.split_once('?').unwrap_or((&check, ""));
        let servers = self.platform.detail.servers.iter();
        let server_and_path = servers
            .flat_map(|server| base.split(' ').map(move |base| (server, base)))
            .find_map(|(server, base)| {
                path_below(&server.url, &format!("{base}{path}")).map(|path| (server, path))
            });
        let (server, path) = match server_and_path {
            Some((server, path)) => (Some(&server.url), path),
            None => (None, path.to_owned()),
        };
        let path = path.trim_start_matches('/').replace('*', "1");
        let query = if query.is_empty() { String::new() } else { format!("?{query}") };
        let request =
            self.api.request(method, &format!("{}/proxy/{path}{query}", Self::connection_path(id)));
        // The proxy calls the first server unless the app names another one.
        let other = server.filter(|url| *url != &self.platform.detail.servers[0].url);
        let request = match other {
            Some(url) => with_header(request, "x-vault-server", url),
            None => request,
        };
        let request = self
            .row
            .api
            .app_headers
            .iter()
            .fold(request, |request, (name, value)| with_header(request, name, value));
        let request: Request = match method {
            "POST" => with_body(request, r#"{"query": "{ me { id } }"}"#),
            _ => request,
        };
        self.api.send(&request).status
    }

    fn check_call(&self, step: &str, id: &str) -> Outcome<()> {
        let status = self.call(id);
        if status == 200 { Ok(()) } else { self.fault(step, &format!("the call returns {status}")) }
    }

    fn state(&self, id: &str) -> Value {
        body(&self.api.get(&Self::connection_path(id)))["state"].clone()
    }

    fn oauth(&self) -> Outcome<()> {
        let oauth = self.row.oauth.as_ref().unwrap();
        let mut client =
            json!({"clientId": CLIENT_ID, "clientSecret": CLIENT_SECRET, "scopes": oauth.scopes});
        // Only the operator may set these fields.
        if let Some(name) = self.inputs.get("=variable") {
            client["variables"] = json!({name: self.inputs[name]});
        }
        let set = self.send("PUT", &format!("/v1/oauth-clients/{}", self.name), &client);
        if set.status != 201 {
            return self.fault("client", &body(&set).to_string());
        }
        let id = self.connect("connect", None)?;
        if self.platform.detail.verify.is_some() && self.state(&id) != "operational" {
            return self.fault("connect", &format!("its state is {}", self.state(&id)));
        }
        self.check_call("call", &id)?;
        let refreshes = oauth.refresh != Refresh::None || oauth.grant == Grant::ClientCredentials;
        if refreshes && oauth.expires > 0 {
            // Refresh twice: the second refresh uses the refresh token of the first response.
            for step in ["refresh", "refresh again"] {
                self.wait(oauth.expires * 1000 + 1);
                self.check_call(step, &id)?;
            }
        } else if refreshes {
            for step in ["refresh", "refresh again"] {
                self.wait(HOUR_MS);
                let response = self
                    .api
                    .get(&format!("{}/credentials?refresh=true", Self::connection_path(&id)));
                if response.status != 200 {
                    return self.fault(step, &body(&response).to_string());
                }
                self.check_call(step, &id)?;
            }
        }
        if let Some(long) = &oauth.long {
            self.wait(oauth.expires * 1000 + 1);
            self.check_call("long", &id)?;
            if !self.standin.borrow().served_long_lived_token() {
                return self.fault("long", "the call has the short token");
            }
            if long.refresh_url.is_some() {
                // The check runs a week before the long-lived token expires.
                self.wait((long.expires - 7 * 86_400) * 1000);
                body(&self.send(
                    "POST",
                    &format!("{}/check", Self::connection_path(&id)),
                    &Value::Null,
                ));
                self.wait(8 * 86_400 * 1000);
                self.check_call("long, refreshed", &id)?;
            }
        }
        if oauth.grant == Grant::ClientCredentials {
            // There is no user grant to end. The client itself can request another token.
            self.wait(60_000);
            self.standin.borrow_mut().end_all();
            self.check_call("call with an ended token", &id)?;
        } else {
            self.end_access(&id, oauth.refresh != Refresh::None)?;
        }
        let reconnected = self.connect("reconnect", Some(&id))?;
        if reconnected != id {
            return self.fault("reconnect", "it is another connection");
        }
        self.check_call("call after reconnect", &id)?;
        if refreshes && oauth.expires > 0 {
            self.wait(oauth.expires * 1000 + 1);
            self.check_call("refresh after reconnect", &id)?;
        }
        self.delete(&id)?;
        if oauth.revoke.is_some() {
            self.api.settle(&|| self.standin.borrow().revoked > 0);
            if self.standin.borrow().revoked != 1 {
                return self.fault("revoke", "nothing was revoked");
            }
        }
        self.ensure_nothing_refused()
    }

    /// Fails if the platform refused a request for any reason other than ended credentials.
    fn ensure_nothing_refused(&self) -> Outcome<()> {
        if self.standin.borrow().faults.is_empty() {
            return Ok(());
        }
        self.fault("refused", "the platform refused some requests")
    }

    fn key(&self) -> Outcome<()> {
        let accepted = self.standin.borrow().secrets.clone();
        let wrong = secrets(self.inputs, 9);
        let fields = self.fields();
        // The user enters a key that the platform rejects.
        self.standin.borrow_mut().secrets = wrong;
        let wrong_fields = self.fields();
        self.standin.borrow_mut().secrets = accepted;
        if fields == wrong_fields {
            return self.fault("catalog", "no field takes the key");
        }
        let payload = json!({
            "authMethod": self.method.id, "fields": wrong_fields, "platform": self.name,
            "identity": "bob", "identityType": "user",
        });
        let refused = self.send("POST", "/v1/vault/connect", &payload);
        let code = body(&refused)["code"].clone();
        if refused.status != 422 || code != "credentials_rejected" {
            return self.fault("wrong key", &format!("{} {}", refused.status, body(&refused)));
        }
        self.standin.borrow_mut().faults.clear();
        let id = self.connect("connect", None)?;
        if self.state(&id) != "operational" {
            return self.fault("connect", &format!("its state is {}", self.state(&id)));
        }
        self.check_call("call", &id)?;
        // The user replaces the key at the platform.
        self.standin.borrow_mut().secrets = secrets(self.inputs, 2);
        self.end_access(&id, false)?;
        let reconnected = self.connect("reconnect", Some(&id))?;
        if reconnected != id {
            return self.fault("reconnect", "it is another connection");
        }
        self.check_call("call after reconnect", &id)?;
        self.delete(&id)?;
        self.ensure_nothing_refused()
    }

    /// Ends the access at the platform. The next refreshes or checks must fail the connection.
    fn end_access(&self, id: &str, has_refresh: bool) -> Outcome<()> {
        self.standin.borrow_mut().end_all();
        let is_verified = self.platform.detail.verify.is_some();
        if !has_refresh && !is_verified {
            return Ok(());
        }
        for _ in 0..4 {
            self.wait(2 * HOUR_MS);
            let path = if has_refresh { "credentials?refresh=true" } else { "check" };
            let method = if has_refresh { "GET" } else { "POST" };
            let request =
                self.api.request(method, &format!("{}/{path}", Self::connection_path(id)));
            self.api.send(&request);
            if self.state(id) == "failed" {
                return Ok(());
            }
        }
        self.fault("ended at the platform", &format!("its state is {}", self.state(id)))
    }

    fn delete(&self, id: &str) -> Outcome<()> {
        let response = self.api.send(&self.api.request("DELETE", &Self::connection_path(id)));
        if [200, 204].contains(&response.status) {
            return Ok(());
        }
        self.fault("delete", &format!("{}", response.status))
    }
}

/// The path of a documented URL relative to a server. Returns `None` for a URL of another server.
fn path_below(server: &str, documented: &str) -> Option<String> {
    let mut server = server.to_owned();
    for name in variables(&server.clone()) {
        server = server.replace(&format!("{{{name}}}"), "*");
    }
    let (expected, found): (Vec<&str>, Vec<&str>) =
        (server.split('/').collect(), documented.split('/').collect());
    let is_below = expected.len() <= found.len()
        && expected.iter().zip(&found).all(|(server, documented)| {
            row::segment_fits(server, documented) || row::segment_fits(documented, server)
        });
    is_below.then(|| found.get(expected.len()..).unwrap_or_default().join("/"))
}

#[test]
fn a_documented_path_is_found_below_a_server() {
    for (server, documented, expected) in [
        ("https://api.example/v1", "https://api.example/v1/me", Some("me")),
        ("https://api.example", "https://api.example/v1/me", Some("v1/me")),
        (
            "https://{shop}.example/api/2026-10",
            "https://acme.example/api/*/shop.json",
            Some("shop.json"),
        ),
        ("https://api.example/v2", "https://api.example/v1/me", None),
        ("https://other.example", "https://api.example/v1/me", None),
    ] {
        assert_eq!(path_below(server, documented).as_deref(), expected, "{server}");
    }
    assert_eq!(pairs("a=1&b=%20").len(), 2);
}
