//! Real responses of the service. Each comes from its own service, so that none affects another.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use connector_vault::catalog::action::unit::Units;
use connector_vault::catalog::detail::ConnectorDetail;
use connector_vault::catalog::model::{Action, Connector};
use connector_vault::catalog::write::{Platform, Sizes};
use connector_vault::http::config::SECRET_HEADER;
use connector_vault::http::endpoint::{Endpoint, Keyed, Open};
use connector_vault::http::message::Body;
use connector_vault::http::problem::Code;
use connector_vault::http::{Config, Request, Response, Service};
use connector_vault::jobs;
use connector_vault::openapi::agents::{GRANTING, SIGNING_IN};
use connector_vault::openapi::connect::{CLIENTS, CONNECTING_ACCOUNT, IMPORTING};
use connector_vault::openapi::connections::{CHANGING, CREATING, NAMING, SETTING};
use connector_vault::openapi::console::SIGNING_IN as CONSOLE_SIGN_INS;
use connector_vault::openapi::importing;
use connector_vault::openapi::keys::CREATING as NEW_KEYS;
use connector_vault::openapi::platform_calls::INPUTS;
use connector_vault::openapi::recorded_responses::{
    EndpointResponses, RecordedResponse, RecordedResponses,
};
use connector_vault::openapi::session::CREATING as NEW_SESSIONS;
use connector_vault::openapi::webhooks::{CHANGING as HOOK_CHANGES, CREATING as HOOKS, REPLAYING};
use connector_vault::terms::{Environment, Method, Scope};
use serde_json::{Value, json};

use crate::agents;
use crate::connect::{KEYS, agree, begin, refuse, response as answered, script};
use crate::console;
use crate::support::{
    Api, TestEnv, action, anonymous, as_key, body, config, connector, units, with_body, with_header,
};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code};

/// The stored catalog, which is written once for all scenes.
static PUBLISHED: LazyLock<HashMap<String, Vec<u8>>> = LazyLock::new(|| {
    let env = TestEnv::empty();
    env.publish_platforms(Sizes::PUBLISHED, &catalog());
    env.blobs.take()
});

/// A service with a small catalog and some connections.
pub struct Fixture {
    pub api: Api,
    /// The ids of the connections, in the order of creation.
    ids: Vec<String>,
}

pub fn settings() -> Config {
    config(&[
        ("SESSION_SECRET", &"an example ".repeat(3)),
        ("VAULT_KEYS", KEYS),
        ("ALLOWED_ORIGINS", "https://app.example.com"),
        ("BASE_URL", crate::support::ORIGIN),
    ])
}

impl Fixture {
    pub fn new() -> Self {
        let api = Api::new(settings());
        api.env.blobs.borrow_mut().clone_from(&PUBLISHED);
        *api.env.platform.borrow_mut() = Box::new(|request| match request.url.as_str() {
            "https://api.github.com/user" => {
                answered(200, &json!({"id": 583_231, "login": "octocat"}))
            }
            other => panic!("no server for {other}"),
        });
        let create = |(platform, identity, tags): (&str, &str, &[&str])| {
            api.env.wait(1_234_567);
            let document = json!({
                "platform": platform, "identity": identity, "identityType": "user", "tags": tags, "state": "operational",
            });
            let created = api.create(&document);
            created["id"].as_str().unwrap().to_owned()
        };
        let rows: [(&str, &str, &[&str]); 4] = [
            ("github", "bob@example.com", &["eu"]),
            ("gmail", "bob@example.com", &[]),
            ("github", "eve@example.com", &["us", "billing"]),
            ("jira", "eve@example.com", &["eu", "billing"]),
        ];
        let ids = rows.into_iter().map(create).collect();
        Self { api, ids }
    }

    /// Publishes a platform that issues tokens to the app itself, and returns the request to connect it.
    fn of_app(&mut self) -> String {
        let method = json!({
            "id": "app", "type": "oauth2", "grant": "client_credentials", "tokenUrl": "https://id.example.com/token",
            "scopeSeparator": " ", "fields": [],
        });
        let server = json!({"url": "https://api.example.com", "description": null});
        let detail = json!({"authMethods": [method], "servers": [server]});
        let platform = Platform {
            connector: connector("app", "App", "Email", 0),
            detail: serde_json::from_value(detail).unwrap(),
            authkit: true,
            aliases: Vec::new(),
            actions: Vec::new(),
            units: Units::default(),
        };
        self.api.env.publish_platforms(Sizes::PUBLISHED, &[platform]);
        self.api.service = Service::new(settings());
        let client = json!({"clientId": "an-id", "clientSecret": "a-secret"}).to_string();
        let path = "/v1/oauth-clients/app";
        self.api.send(&with_body(self.api.request("PUT", path), &client));
        json!({"platform": "app", "identity": "bob@example.com", "identityType": "user"})
            .to_string()
    }

    /// The path of a connection's credentials.
    fn credentials(&self) -> String {
        format!("{}/credentials", at(&self.ids[2]))
    }

    fn put(&self, path: &str, document: &str) -> Request {
        with_body(self.api.request("PUT", path), document)
    }

    fn connect(&self, document: &str) -> Request {
        with_body(self.api.request("POST", "/v1/vault/connect"), document)
    }

    /// Stores an OAuth client for GitHub.
    fn set_client(&self) {
        assert!(self.api.send(&self.put(CLIENT, CLIENTS[0].2)).status < 300);
    }

    /// Stores this document as the connection's credentials.
    fn hold(&self, document: &str) {
        let response = self.api.send(&self.put(&self.credentials(), document));
        assert_eq!(response.status, 204, "{}", String::from_utf8_lossy(&response.body));
    }

    /// Configures the sign-in to the console, and returns its id.
    fn console(&self) -> String {
        console::configure(&self.api, &console::oidc(&json!({})))
    }

    /// Configures the app to authenticate the users of agents. Returns the id of the endpoint.
    fn sign_in(&self) -> String {
        let sent = json!({"type": "app", "url": agents::APP}).to_string();
        let response = self.api.send(&self.put(SIGN_IN, &sent));
        assert!(response.status < 300, "{}", body(&response));
        agents::id_of(&body(&response))
    }

    /// Creates a webhook. Returns its path.
    fn webhook(&self) -> String {
        let created = self.api.send(&with_body(self.api.request("POST", WEBHOOKS), HOOKS[1].2));
        assert_eq!(created.status, 201, "{}", body(&created));
        format!("{WEBHOOKS}/{}", body(&created)["id"].as_str().unwrap())
    }

    /// Creates an API key. Returns its path.
    fn key(&self) -> String {
        let created =
            self.api.send(&with_body(self.api.request("POST", "/v1/keys"), NEW_KEYS[1].2));
        assert_eq!(created.status, 201, "{}", body(&created));
        format!("/v1/keys/{}", body(&created)["id"].as_str().unwrap())
    }

    /// Publishes a catalog without GitHub.
    fn forget_github(&mut self) {
        self.api.env.publish_platforms(Sizes::PUBLISHED, &catalog()[1..]);
        self.api.service = Service::new(settings());
    }

    /// Makes a refresh fail while the access token is still valid.
    fn degrade(&self) {
        self.set_client();
        self.hold(
            r#"{"type":"oauth2","accessToken":"a","refreshToken":"r","expiresAt":"2027-01-15T16:00:00Z","scopes":["repo"]}"#,
        );
        // Two minutes before the token expires.
        self.api.env.now.set(1_800_028_680_000);
        script(&self.api, &[(503, json!({}))]);
        assert_eq!(self.api.get(&self.credentials()).status, 200);
    }

    /// A request that succeeds.
    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    pub fn request(&self, endpoint: Keyed) -> Request {
        let get = |path: &str| self.api.request("GET", path);
        let one = || self.api.request("GET", &at(&self.ids[2]));
        let put = |part: &str, document: &str| {
            self.put(&format!("{}/{part}", at(&self.ids[2])), document)
        };
        match endpoint {
            Keyed::Whoami => {
                let expires_at = Some(self.api.env.now.get() + 86_400_000);
                let test = Environment::Test;
                let key = self.api.env.key("acme", test, &Scope::ALL, expires_at);
                as_key(&key, "GET", "/v1/whoami")
            }
            Keyed::CreateSession => {
                let [_, (_, _, whole)] = NEW_SESSIONS;
                with_body(self.api.request("POST", "/v1/sessions"), whole)
            }
            Keyed::ListConnectors => get("/v1/available-connectors?limit=2"),
            Keyed::GetConnector => get("/v1/available-connectors/github"),
            Keyed::GetAction => get("/v1/available-actions/github/issuesCreate?include=responses"),
            Keyed::SearchActions => get("/v1/available-actions?q=create+issue&limit=2"),
            Keyed::ListActions => get("/v1/available-actions/github?limit=2"),
            Keyed::ListConnections => get(&format!("{CONNECTIONS}?limit=2")),
            Keyed::CreateConnection => {
                let [(_, _, minimal), _] = CREATING;
                with_body(self.api.request("POST", CONNECTIONS), minimal)
            }
            Keyed::ReadConnection => one(),
            Keyed::UpdateConnection => {
                let request = Request { method: "PATCH".into(), ..one() };
                with_body(request, CHANGING[0].2)
            }
            Keyed::DeleteConnection => Request { method: "DELETE".into(), ..one() },
            Keyed::SetConnectionState => put("state", SETTING[1].2),
            Keyed::SetConnectionName => put("name", NAMING[0].2),
            Keyed::Summary => get(SUMMARY),
            Keyed::GetStatus => {
                self.degrade();
                get(&format!("{}/status", at(&self.ids[2])))
            }
            Keyed::CheckConnection => {
                self.set_client();
                self.hold(IMPORTING[0].2);
                let tokens = json!({"access_token": "example-access-token"});
                *self.api.env.platform.borrow_mut() = Box::new(move |_| answered(200, &tokens));
                let path = format!("{}/check", at(&self.ids[2]));
                self.api.request("POST", &path)
            }
            Keyed::GetCredentials => {
                self.hold(IMPORTING[0].2);
                get(&self.credentials())
            }
            Keyed::SetCredentials => put("credentials", IMPORTING[0].2),
            Keyed::ImportConnections => {
                let request = self.api.request("POST", "/v1/vault/connections/import");
                with_body(request, importing::IMPORTING[0].2)
            }
            Keyed::RunAction => {
                self.hold(IMPORTING[0].2);
                script(&self.api, &[(201, json!({"number": 1347}))]);
                let path = format!("{}/actions/issuesCreate", at(&self.ids[2]));
                with_body(self.api.request("POST", &path), INPUTS[0].2)
            }
            Keyed::ProxyGet
            | Keyed::ProxyPost
            | Keyed::ProxyPut
            | Keyed::ProxyPatch
            | Keyed::ProxyDelete => {
                self.hold(IMPORTING[0].2);
                script(&self.api, &[(200, json!({"login": "octocat"}))]);
                let path = format!("{}/proxy/user", at(&self.ids[2]));
                self.api.request(endpoint.spec().method.as_str(), &path)
            }
            Keyed::Connect => {
                self.set_client();
                self.connect(CONNECTING_ACCOUNT[1].2)
            }
            Keyed::ListAttempts => {
                self.set_client();
                let sent: Value = serde_json::from_str(CONNECTING_ACCOUNT[0].2).unwrap();
                let (_, link) = begin(&self.api, &sent);
                refuse(&self.api, &link, "access_denied");
                get("/v1/vault/connect")
            }
            Keyed::GetAttempt => {
                self.set_client();
                let sent: Value = serde_json::from_str(CONNECTING_ACCOUNT[0].2).unwrap();
                let (id, link) = begin(&self.api, &sent);
                let tokens =
                    json!({"access_token": "example-access-token", "token_type": "bearer"});
                agree(&self.api, &link, &tokens);
                get(&format!("/v1/vault/connect/{id}"))
            }
            Keyed::ListOauthClients => {
                self.set_client();
                get("/v1/oauth-clients")
            }
            Keyed::ListKeys => {
                // The recorded id must not change.
                let id = "UPDATE api_keys SET id = '00000000-0000-4000-8000-000000000001'";
                self.api.env.database.execute(id, []).unwrap();
                self.key();
                get("/v1/keys")
            }
            Keyed::CreateKey => with_body(self.api.request("POST", "/v1/keys"), NEW_KEYS[1].2),
            Keyed::RotateKey => self.api.request("POST", &format!("{}/rotate", self.key())),
            Keyed::RevokeKey => self.api.request("DELETE", &self.key()),
            Keyed::ListAudit => {
                self.set_client();
                get("/v1/audit?limit=2")
            }
            Keyed::GetUsage => {
                let _ = self.api.get("/v1/whoami");
                self.api.flush_usage();
                get("/v1/usage?groupBy=day,endpoint,platform,identity,status")
            }
            Keyed::ListEvents => get("/v1/events?limit=2"),
            Keyed::ListWebhooks => {
                self.webhook();
                get(WEBHOOKS)
            }
            Keyed::CreateWebhook => with_body(self.api.request("POST", WEBHOOKS), HOOKS[1].2),
            Keyed::GetWebhook => get(&self.webhook()),
            Keyed::UpdateWebhook => {
                with_body(self.api.request("PATCH", &self.webhook()), HOOK_CHANGES[0].2)
            }
            Keyed::DeleteWebhook => self.api.request("DELETE", &self.webhook()),
            Keyed::RotateWebhook => self.api.request("POST", &format!("{}/rotate", self.webhook())),
            Keyed::TestWebhook => {
                let path = format!("{}/test", self.webhook());
                script(&self.api, &[(204, json!({}))]);
                self.api.request("POST", &path)
            }
            Keyed::ReplayEvents => {
                let path = format!("{}/replay", self.webhook());
                with_body(self.api.request("POST", &path), REPLAYING[0].2)
            }
            Keyed::ListDeliveries => {
                let path = self.webhook();
                script(&self.api, &[(204, json!({}))]);
                let deleted = self.api.send(&Request { method: "DELETE".into(), ..one() });
                assert_eq!((deleted.status, deleted.has_deliveries), (204, true));
                let done = jobs::deliver_due(&self.api.service, &self.api.env);
                assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
                get(&format!("{path}/deliveries"))
            }
            Keyed::GetAgentSignIn => {
                self.sign_in();
                get(SIGN_IN)
            }
            Keyed::SetAgentSignIn => self.put(SIGN_IN, SIGNING_IN[0].2),
            Keyed::DeleteAgentSignIn => {
                self.sign_in();
                self.api.request("DELETE", SIGN_IN)
            }
            Keyed::ListAgentGrants => {
                agents::Agent::new(&self.api, &self.sign_in(), &agents::ALL);
                get(GRANTS)
            }
            Keyed::CreateAgentGrant => {
                let id = self.sign_in();
                let client = agents::register(&self.api, &id);
                let browser = agents::Browser::default();
                let request = agents::sent_to_app(&self.api, &id, &browser, &client);
                let mut sent: Value = serde_json::from_str(GRANTING[0].2).unwrap();
                sent["request"] = request.into();
                with_body(self.api.request("POST", GRANTS), &sent.to_string())
            }
            Keyed::DeleteAgentGrant => {
                agents::Agent::new(&self.api, &self.sign_in(), &agents::ALL);
                let rows = body(&self.api.get(GRANTS))["rows"].clone();
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                self.api.request("DELETE", &format!("{GRANTS}/{id}"))
            }
            Keyed::GetConsoleSignIn => {
                self.console();
                get(console::SIGN_IN)
            }
            Keyed::SetConsoleSignIn => {
                console::serve_example(&self.api);
                self.put(console::SIGN_IN, CONSOLE_SIGN_INS[0].2)
            }
            Keyed::DeleteConsoleSignIn => {
                console::admin(&self.api, &self.console());
                self.api.request("DELETE", console::SIGN_IN)
            }
            Keyed::ListConsoleSessions => {
                console::admin(&self.api, &self.console());
                get(console::SESSIONS)
            }
            Keyed::SignOut => {
                let token = console::admin(&self.api, &self.console());
                let request = self.api.request("DELETE", &format!("{}/current", console::SESSIONS));
                console::with_secret(request, &token)
            }
            Keyed::DeleteConsoleSession => {
                console::admin(&self.api, &self.console());
                let rows = body(&self.api.get(console::SESSIONS))["rows"].clone();
                let id = rows[0]["id"].as_str().unwrap().to_owned();
                self.api.request("DELETE", &format!("{}/{id}", console::SESSIONS))
            }
            Keyed::GetOauthClient => {
                self.set_client();
                get(CLIENT)
            }
            Keyed::SetOauthClient => self.put(CLIENT, CLIENTS[0].2),
            Keyed::DeleteOauthClient => {
                self.set_client();
                self.api.request("DELETE", CLIENT)
            }
        }
    }
}

/// The path of the sign-in for agents.
const SIGN_IN: &str = "/v1/agent-sign-in";

/// The path of the grants of agents.
const GRANTS: &str = "/v1/agent-grants";

/// The path of the webhooks.
const WEBHOOKS: &str = "/v1/webhooks";

/// The path of the OAuth client for GitHub.
const CLIENT: &str = "/v1/oauth-clients/github";

/// The responses of all endpoints except those that return files or pages.
pub fn responses() -> RecordedResponses {
    let endpoints = Endpoint::ALL.iter().filter_map(|endpoint| {
        let recorded = match endpoint {
            Endpoint::Open(Open::Health) => EndpointResponses {
                success: reply(&Fixture::new().api.send(&anonymous("GET", "/health"))),
                others: Vec::new(),
                not_modified: None,
                problems: BTreeMap::new(),
            },
            Endpoint::Open(_) => return None,
            Endpoint::Keyed(keyed) => EndpointResponses {
                success: reply(&success(*keyed)),
                others: others(*keyed).iter().map(reply).collect(),
                not_modified: not_modified(*keyed).as_ref().map(reply),
                problems: Code::ALL
                    .into_iter()
                    .filter_map(|code| Some((code, problem(*keyed, code)?)))
                    .map(|(code, response)| (code.as_str().to_owned(), reply(&response)))
                    .collect(),
            },
        };
        Some((endpoint.name().to_owned(), recorded))
    });
    RecordedResponses {
        endpoints: endpoints.collect(),
        whoami_of_token: reply(&whoami_of_token()),
        created: CREATING.iter().map(|(_, _, document)| reply(&created(document))).collect(),
    }
}

fn reply(response: &Response) -> RecordedResponse {
    let header = |(name, value): &(&str, String)| ((*name).to_owned(), value.clone());
    RecordedResponse {
        status: response.status,
        headers: response.headers.iter().map(header).collect(),
        body: String::from_utf8(response.body.clone()).unwrap(),
    }
}

/// The successful response of an endpoint.
fn success(endpoint: Keyed) -> Response {
    let fixture = Fixture::new();
    let response = fixture.api.send(&fixture.request(endpoint));
    assert!(response.status < 300, "{endpoint:?}: {}", body(&response));
    response
}

/// The other successful responses, in the order in which they are described.
fn others(endpoint: Keyed) -> Vec<Response> {
    let fixture = Fixture::new();
    let send = |request: &Request| fixture.api.send(request);
    fixture.set_client();
    match endpoint {
        Keyed::Connect => {
            let again = json!({
                "connection": fixture.ids[2], "authMethod": "token", "fields": {"token": "example-token"},
            });
            let reconnected = send(&fixture.connect(&again.to_string()));
            vec![reconnected, send(&fixture.connect(CONNECTING_ACCOUNT[0].2))]
        }
        Keyed::SetOauthClient => vec![send(&fixture.put(CLIENT, CLIENTS[0].2))],
        Keyed::SetConsoleSignIn => {
            console::serve_example(&fixture.api);
            let put = || send(&fixture.put(console::SIGN_IN, CONSOLE_SIGN_INS[0].2));
            put();
            vec![put()]
        }
        Keyed::SetAgentSignIn => {
            fixture.sign_in();
            vec![send(&fixture.put(SIGN_IN, SIGNING_IN[0].2))]
        }
        _ => Vec::new(),
    }
}

/// The response of `whoami` for a token.
fn whoami_of_token() -> Response {
    let fixture = Fixture::new();
    let made = body(&fixture.api.send(&fixture.request(Keyed::CreateSession)));
    let mut request = anonymous("GET", "/v1/whoami");
    for (name, value) in
        [(SECRET_HEADER, &made["token"]), ("origin", &json!("https://app.example.com"))]
    {
        request = with_header(request, name, value.as_str().unwrap());
    }
    let response = fixture.api.send(&request);
    assert_eq!(response.status, 200, "{}", body(&response));
    response
}

/// Creates a connection with this body, and returns the response.
fn created(document: &str) -> Response {
    let fixture = Fixture::new();
    let request = with_body(fixture.api.request("POST", CONNECTIONS), document);
    let response = fixture.api.send(&request);
    assert_eq!(response.status, 201, "{document}: {}", body(&response));
    response
}

/// The response to a caller that already has the document. Returns `None` if the endpoint ignores `If-None-Match`.
fn not_modified(endpoint: Keyed) -> Option<Response> {
    let fixture = Fixture::new();
    let request = fixture.request(endpoint);
    let tag = fixture.api.send(&request).header("etag")?.to_owned();
    let response = fixture.api.send(&with_header(fixture.request(endpoint), "if-none-match", &tag));
    (response.status == 304).then_some(response)
}

/// A problem of this kind, caused by changing a valid request. Returns `None` if the endpoint does not have the
/// problem.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn problem(endpoint: Keyed, expected: Code) -> Option<Response> {
    let mut fixture = Fixture::new();
    let mut request = fixture.request(endpoint);
    match expected {
        Code::UnknownParameter | Code::RepeatedParameter | Code::BodyTooLarge
            if endpoint.is_proxy() =>
        {
            return None;
        }
        Code::InvalidParameter if endpoint.is_proxy() => {
            request = with_header(request, "x-vault-server", "https://example.com");
        }
        Code::PlatformUnreachable | Code::PlatformTimeout
            if endpoint.is_proxy() || endpoint == Keyed::RunAction =>
        {
            script(&fixture.api, &[(u16::from(expected == Code::PlatformTimeout), json!({}))]);
        }
        Code::UnknownParameter => request.query = "lmit=50".into(),
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetAction => {
            let query = ["include=request", "include=responses&include=responses"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetCredentials => {
            let query = ["refresh=yes", "refresh=true&refresh=true"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter if endpoint == Keyed::GetAttempt => {
            let query = ["wait=60", "wait=5&wait=25"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::RepeatedParameter | Code::InvalidParameter
            if matches!(
                endpoint,
                Keyed::GetOauthClient | Keyed::SetOauthClient | Keyed::DeleteOauthClient
            ) =>
        {
            let query = ["name=My%20bot", "name=bot&name=user"];
            request.query = query[usize::from(expected == Code::RepeatedParameter)].into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListAttempts => {
            request.query = "status=refused&limit=1000".into();
        }
        Code::InvalidParameter
            if matches!(
                endpoint,
                Keyed::ListAudit
                    | Keyed::ListKeys
                    | Keyed::ListAgentGrants
                    | Keyed::ListConsoleSessions
            ) =>
        {
            request.query = "limit=1000".into();
        }
        Code::InvalidParameter if endpoint == Keyed::GetUsage => {
            request.query = "from=yesterday".into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListDeliveries => {
            request.query = "before=yesterday".into();
        }
        Code::InvalidParameter if endpoint == Keyed::ListEvents => {
            request.query = "types=connection.broken&limit=1000".into();
        }
        Code::InvalidParameter if endpoint.spec().query.is_empty() && endpoint.takes_bookmark() => {
            request = with_header(request, "x-vault-bookmark", "yesterday's");
        }
        Code::RepeatedParameter => request.query = "limit=10&limit=50".into(),
        Code::InvalidParameter => request.query = "limit=1000&page=0".into(),
        Code::QueryTooBroad => {
            // The counters suffice to refuse, so nothing else is read.
            let counts = "UPDATE connection_counts SET n = iif(value = 'eu', 402114, 214630) WHERE dimension = 'tag'";
            fixture.api.env.database.execute(counts, []).unwrap();
            request.query = "tags=eu,billing&tagsMatch=any".into();
        }
        Code::InvalidBody => {
            let bad = json!({"platform": "githb", "tags": ["eu", " billing"], "nme": "Ann"});
            request.body = Body::Whole(bad.to_string().into());
        }
        Code::MissingKey => request.headers.retain(|(name, _)| name != SECRET_HEADER),
        Code::InvalidKey => set_key(&mut request, "sk_test_mistyped"),
        Code::InsufficientScope => {
            let key = fixture.api.env.key("acme", Environment::Test, &[], None);
            set_key(&mut request, key.reveal());
        }
        Code::PlatformNotFound | Code::ConnectionNotFound if endpoint == Keyed::Connect => {
            let id = if expected == Code::PlatformNotFound { &fixture.ids[2] } else { UNKNOWN_ID };
            request.body = Body::Whole(json!({"connection": id}).to_string().into());
            fixture.forget_github();
        }
        Code::PlatformNotFound if matches!(endpoint, Keyed::SetCredentials | Keyed::RunAction) => {
            fixture.forget_github();
        }
        Code::PlatformNotFound => request.path = request.path.replace("github", "githb"),
        Code::ActionNotFound => request.path = request.path.replace("issuesCreate", "issuesCraete"),
        Code::ConnectionNotFound => {
            request.path = request.path.replace(&fixture.ids[2], UNKNOWN_ID);
        }
        Code::AttemptNotFound => {
            let (path, _) = request.path.rsplit_once('/').unwrap();
            request.path = format!("{path}/{UNKNOWN_ID}");
        }
        Code::CredentialsNotFound => {
            request.path = request.path.replace(&fixture.ids[2], &fixture.ids[0]);
        }
        Code::WebhookNotFound if request.path.contains("/wh_") => {
            request.path = request.path.replace("/wh_", "/wh_0");
        }
        Code::AgentSignInNotFound if endpoint == Keyed::GetAgentSignIn => {
            fixture.api.send(&fixture.api.request("DELETE", SIGN_IN));
        }
        Code::AgentGrantNotFound if endpoint == Keyed::DeleteAgentGrant => {
            request.path = format!("{GRANTS}/{UNKNOWN_ID}");
        }
        Code::ConsoleSignInNotFound if endpoint == Keyed::GetConsoleSignIn => {
            fixture.api.send(&fixture.api.request("DELETE", console::SIGN_IN));
        }
        Code::ConsoleSessionNotFound if endpoint == Keyed::SignOut => {
            request = fixture.api.request("DELETE", &request.path);
        }
        Code::ConsoleSessionNotFound if endpoint == Keyed::DeleteConsoleSession => {
            request.path = format!("{}/{UNKNOWN_ID}", console::SESSIONS);
        }
        Code::KeyNotFound if request.path.starts_with("/v1/keys/") => {
            let last = if endpoint == Keyed::RotateKey { "/rotate" } else { "" };
            request.path = format!("/v1/keys/{UNKNOWN_ID}{last}");
        }
        Code::KeyInactive if endpoint == Keyed::RotateKey => {
            assert_eq!(fixture.api.send(&request).status, 200);
        }
        Code::KeyLimit if endpoint == Keyed::CreateKey => {
            // The fixture already has one.
            (1..100).for_each(|_| drop(fixture.key()));
        }
        Code::WebhookInactive => {
            fixture.api.env.database.execute("UPDATE webhooks SET active = 0", []).unwrap();
        }
        Code::ConnectionLimit => {
            let counts = "UPDATE connection_counts SET n = 2000000 WHERE dimension = 'all'";
            fixture.api.env.database.execute(counts, []).unwrap();
        }
        Code::WebhookLimit if endpoint == Keyed::CreateWebhook => {
            (0..20).for_each(|_| drop(fixture.webhook()));
        }
        Code::OauthClientNotFound => request.path = request.path.replace("github", "gmail"),
        Code::ConnectionFailed => {
            let sql = "UPDATE connections SET state = 'failed', active = 0";
            fixture.api.env.database.execute(sql, []).unwrap();
        }
        Code::RefreshFailed if endpoint.is_call() || endpoint == Keyed::GetCredentials => {
            fixture.set_client();
            let known = (200, json!({"id": 7, "login": "eve"}));
            script(&fixture.api, &[known.clone(), known]);
            fixture.hold(
                r#"{"type":"oauth2","accessToken":"a","refreshToken":"r","expiresAt":"2027-01-15T16:00:00Z","scopes":["repo"]}"#,
            );
            // Two minutes after the token expired.
            fixture.api.env.now.set(1_800_028_920_000);
            script(&fixture.api, &[(503, json!({}))]);
        }
        Code::AwaitingCutOver => {
            let sql = "UPDATE credentials SET awaits_cut_over = 1, expires_at = 1893456000000";
            fixture.api.env.database.execute(sql, []).unwrap();
            fixture.api.env.now.set(1_893_456_000_000);
        }
        Code::NotCheckable if endpoint == Keyed::CheckConnection => fixture.forget_github(),
        Code::CredentialsHeld if endpoint == Keyed::SetConnectionState => {
            fixture.hold(IMPORTING[0].2);
        }
        Code::OauthClientMissing => {
            fixture.api.env.database.execute("DELETE FROM oauth_clients", []).unwrap();
            request.body = Body::Whole(CONNECTING_ACCOUNT[0].2.into());
        }
        // An inconclusive check does not prevent storing credentials; without a token of the app, there are none.
        Code::PlatformUnreachable if endpoint == Keyed::Connect => {
            request.body = Body::Whole(fixture.of_app().into());
            script(&fixture.api, &[(0, json!({}))]);
        }
        Code::CredentialsRejected if matches!(endpoint, Keyed::Connect | Keyed::SetCredentials) => {
            script(&fixture.api, &[(401, json!({}))]);
            if endpoint == Keyed::SetCredentials {
                request.body = Body::Whole(IMPORTING[1].2.into());
            }
        }
        Code::ConnectionExists => {
            let requested_key = json!({"platform": "github", "identity": "bob@example.com", "identityType": "user"});
            request.body = Body::Whole(requested_key.to_string().into());
        }
        Code::PreconditionFailed => {
            request = with_header(request, "if-match", &format!("\"{}-7\"", fixture.ids[2]));
        }
        Code::BodyTooLarge => request.body = Body::TooLarge,
        Code::UnsupportedMediaType => request.headers.retain(|(name, _)| name != "content-type"),
        Code::TooManyRequests => fixture.api.env.limited.set(true),
        Code::VaultFull => {
            fixture.api.env.size.set(9_900_000_000);
            // Makes the isolate cache the catalog.
            fixture.api.get("/v1/whoami");
        }
        Code::Unavailable => {
            fixture.api.env.db_fails.set(true);
            // An isolate with empty caches.
            fixture.api.service = Service::new(Config::default());
        }
        // No request to an endpoint causes these.
        _ => return None,
    }
    let response = fixture.api.send(&request);
    (code(&response) == expected.as_str()).then_some(response)
}

fn set_key(request: &mut Request, secret: &str) {
    for (name, value) in &mut request.headers {
        if name == SECRET_HEADER {
            *value = secret.into();
        }
    }
}

/// Three connectors; the first has three actions and two auth methods.
fn catalog() -> Vec<Platform> {
    let of = |model: &str, title, key, method| Action {
        model_name: model.into(),
        ..action("github", title, key, method)
    };
    let actions = vec![
        of("Issues", "Create an issue", "issuesCreate", Method::Post),
        of("Repos", "List branches", "reposListBranches", Method::Get),
        of("Issues", "Lock an issue", "issuesLock", Method::Put),
    ];
    let named = |platform, name, category, tools, description: &str| {
        let image = format!("https://images.example/{platform}.svg");
        let description = description.into();
        Connector { description, image, ..connector(platform, name, category, tools) }
    };
    let github = named("github", "GitHub", "Developer Tools", 3, "Code hosting and reviews.");
    let gmail = named("gmail", "Gmail", "Email", 0, "Mail, threads and labels.");
    let jira = named("jira", "Jira", "Developer Tools", 0, "Issues and projects.");
    let platform = |connector, detail, authkit, actions, units| Platform {
        connector,
        detail,
        authkit,
        aliases: Vec::new(),
        actions,
        units,
    };
    let none = ConnectorDetail::default;
    vec![
        platform(github, detail(), true, actions, github_units()),
        platform(gmail, none(), true, Vec::new(), Units::default()),
        platform(jira, none(), false, Vec::new(), Units::default()),
    ]
}

/// The details of one action, with every member.
fn github_units() -> Units {
    let text = |about: &str| json!({"type": "string", "description": about});
    let of_path = |name: &str, about: &str| {
        json!({
            "name": name, "in": "path", "required": true, "schema": text(about), "style": "simple", "explode": false,
        })
    };
    let create = json!({
        "title": "Create an issue", "key": "issuesCreate", "method": "POST", "modelName": "Issues",
        "facts": {
            "path": "/repos/{owner}/{repo}/issues",
            "description": "Any user with pull access to a repository can create an issue.",
            "documentationUrl": "https://docs.github.com/rest/issues/issues#create-an-issue",
        },
        "parameters": [
            of_path("owner", "The account owner of the repository."),
            of_path("repo", "The name of the repository."),
        ],
        "requestBody": {
            "required": true,
            "contentTypes": ["application/json"],
            "schema": {
                "type": "object",
                "properties": {
                    "title": text("The title of the issue."),
                    "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}},
                },
                "required": ["title"],
            },
        },
        "security": [[{"scheme": "oauth", "scopes": ["repo"]}], [{"scheme": "token"}]],
        "reached": {"whole": [0]},
        "responses": [
            {
                "status": "201",
                "description": "Created",
                "contentType": "application/json",
                "schema": {"$ref": "#/$defs/issue"},
                "reached": {"whole": [1]},
            },
            {"status": "410", "description": "Gone", "contentType": null, "schema": null},
        ],
    });
    let definitions = [
        ("label", r#"{"type":"string"}"#),
        (
            "issue",
            r#"{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"]}"#,
        ),
    ];
    units(json!({"oauth": ["oauth2"], "token": ["token"]}), &[create], &definitions)
}

/// The details of a connector with two auth methods and every member.
fn detail() -> ConnectorDetail {
    let detail = json!({
        "authMethods": [
            {
                "id": "oauth2", "type": "oauth2", "grant": "authorization_code", "issuer": null,
                "authorizationUrl": "https://github.com/login/oauth/authorize",
                "tokenUrl": "https://github.com/login/oauth/access_token", "refreshUrl": null, "revocationUrl": null,
                "scopes": [{"name": "repo", "description": "Full control of repositories"}], "scopeSeparator": " ",
                "pkce": "S256", "tokenAuth": "client_secret_post", "clientIdParameter": "client_id",
                "authorizationParameters": {}, "tokenParameters": {},
                "tokenBody": "form", "tokenPointer": null, "tokenMembers": [], "fields": [],
            },
            {
                "id": "token", "type": "bearer", "prefix": "Bearer",
                "fields": [{
                    "name": "token", "label": "Personal access token", "description": "From the developer settings.",
                    "secret": true, "required": true, "pattern": null, "enum": null, "default": null,
                }],
            },
        ],
        "servers": [{"url": "https://api.github.com", "description": null}],
        "documentationUrl": "https://docs.github.com/rest",
        "license": {"name": "MIT", "url": "https://spdx.org/licenses/MIT"},
        "verify": {"method": "GET", "path": "/user"},
        "account": {"method": "GET", "path": "/user", "id": "/id", "name": "/login"},
    });
    serde_json::from_value(detail).unwrap()
}
