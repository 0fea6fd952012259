//! A stand-in that behaves as a platform's row describes. It refuses what the documentation
//! refuses, and records the reason in [`Standin::faults`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use base64ct::{Base64, Base64UrlUnpadded, Encoding as _};
use connector_vault::ports::{HttpRequest, HttpResponse};
use connector_vault::terms::Method;
use connector_vault::util::percent::decode_form;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::row::{self, Grant, Pkce, Refresh, Row, ScriptedResponse, list_contains};

/// The OAuth client that the app has registered at the platform.
pub const CLIENT_ID: &str = "app-id-1";
pub const CLIENT_SECRET: &str = "app-secret-1";

type Pairs = Vec<(String, String)>;

/// The key that the user copies from the platform.
#[derive(Debug, Clone)]
pub struct Secrets {
    pub key: String,
    pub app: String,
    pub user: String,
}

#[derive(Default)]
struct Code {
    redirect_uri: String,
    challenge: Option<String>,
    state: String,
    is_offline: bool,
    grant: usize,
}

struct Token {
    /// The expiry, in milliseconds since 1970-01-01 UTC.
    expires_at: u64,
    grant: usize,
    is_long: bool,
}

/// A stand-in for a platform.
pub struct Standin {
    row: Row,
    /// Whether users authenticate with a key instead of OAuth.
    has_key: bool,
    /// The key that the platform accepts.
    pub secrets: Secrets,
    now: Rc<Cell<u64>>,
    codes: BTreeMap<String, Code>,
    access: BTreeMap<String, Token>,
    refresh: BTreeMap<String, usize>,
    /// The redirect URI of the last exchange.
    redirect_uri: String,
    /// The refresh tokens that can't be used again, each with the index of its grant.
    used: BTreeMap<String, usize>,
    /// Whether each grant has ended.
    has_ended: Vec<bool>,
    /// The number of times that the user has consented.
    consents: u32,
    /// The number of codes and tokens that were issued.
    issued_count: u32,
    /// The access tokens of successful calls.
    pub served: Vec<String>,
    /// The number of revoked grants.
    pub revoked: u32,
    /// The reasons for refusing requests, oldest first.
    pub faults: Vec<String>,
}

fn json_response(status: u16, body: &Value) -> HttpResponse {
    HttpResponse {
        status,
        headers: vec![("content-type".into(), "application/json".into())],
        body: body.to_string().into_bytes(),
    }
}

pub fn pairs(query: &str) -> Pairs {
    let decode = |text: &str| decode_form(text).map_or_else(|| text.to_owned(), Into::into);
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    };
    query.split('&').filter(|part| !part.is_empty()).map(pair).collect()
}

fn value<'a>(pairs: &'a Pairs, name: &str) -> Option<&'a str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    request.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
}

/// Describes the first required header that a request lacks or whose value is wrong.
fn missing_header(request: &HttpRequest, needed: &[String]) -> Option<String> {
    needed.iter().find_map(|needed| {
        let needed =
            needed.replace("$client_id", CLIENT_ID).replace("$client_secret", CLIENT_SECRET);
        let (name, pattern) = needed.split_once(": ").unwrap();
        let pattern = regress::Regex::new(&format!("^(?:{pattern})$")).unwrap();
        let found = header(request, name);
        let is_match = found.is_some_and(|found| pattern.find(found).is_some());
        (!is_match).then(|| format!("the header {name} is {found:?}, not {needed}"))
    })
}

/// Describes the first required parameter that is missing or wrong.
fn missing_parameter(needed: &row::Pairs, found: &Pairs, state: &str) -> Option<String> {
    let expected = |expected: &String| expected.replace("$state", state);
    let lacks =
        |(name, needed): &(&String, &String)| value(found, name) != Some(expected(needed).as_str());
    needed.iter().find(lacks).map(|(name, value)| format!("{name}={value} is missing"))
}

fn basic(request: &HttpRequest) -> Option<(String, String)> {
    let encoded = header(request, "authorization")?.strip_prefix("Basic ")?;
    let text = String::from_utf8(Base64::decode_vec(encoded).ok()?).ok()?;
    text.split_once(':').map(|(name, secret)| (name.to_owned(), secret.to_owned()))
}

impl Standin {
    pub fn new(row: &Row, is_key: bool, secrets: Secrets, now: Rc<Cell<u64>>) -> Self {
        Self {
            row: row.clone(),
            has_key: is_key,
            secrets,
            now,
            codes: BTreeMap::new(),
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            redirect_uri: String::new(),
            used: BTreeMap::new(),
            has_ended: Vec::new(),
            consents: 0,
            issued_count: 0,
            served: Vec::new(),
            revoked: 0,
            faults: Vec::new(),
        }
    }

    /// Ends all grants as the user.
    pub fn end_all(&mut self) {
        self.has_ended.iter_mut().for_each(|has_ended| *has_ended = true);
    }

    fn oauth(&self) -> row::OAuth {
        self.row.oauth.clone().unwrap()
    }

    fn issue(&mut self, what: &str) -> String {
        self.issued_count += 1;
        format!("{what}-{}", self.issued_count)
    }

    fn fault(&mut self, reason: impl Into<String>) {
        self.faults.push(reason.into());
    }

    fn refuse(&mut self, status: u16, error: &str, reason: impl Into<String>) -> HttpResponse {
        self.fault(reason);
        json_response(status, &json!({"error": error}))
    }

    /// Consents as the user who has followed the link to the platform. Returns the parameters of
    /// the callback.
    pub fn authorize(&mut self, location: &str, callback: &str) -> Result<Pairs, String> {
        let oauth = self.oauth();
        let (address, query) = location.split_once('?').unwrap_or((location, ""));
        let requested = pairs(query);
        if !row::is_one_of(&oauth.authorize, address) {
            return Err(format!("the user is sent to {address}, not to {}", oauth.authorize));
        }
        if value(&requested, &oauth.client_id) != Some(CLIENT_ID) {
            return Err(format!("{} is not the client's", oauth.client_id));
        }
        if value(&requested, "response_type") != Some("code") {
            return Err("response_type is not code".to_owned());
        }
        let redirect_uri = value(&requested, "redirect_uri").unwrap_or_default().to_owned();
        let expected = oauth.redirect_uri.as_deref().unwrap_or(callback);
        if redirect_uri != expected {
            return Err(format!("redirect_uri is {redirect_uri}, not {expected}"));
        }
        let Some(state) = value(&requested, "state").filter(|state| !state.is_empty()) else {
            return Err("there is no state".to_owned());
        };
        if let Some(what) = missing_parameter(&oauth.needs, &requested, state) {
            return Err(format!("authorization request: {what}"));
        }
        let scope = value(&requested, "scope").unwrap_or_default();
        let is_split = |separator: &str| {
            let found: Vec<&str> = scope.split(separator).collect();
            oauth.scopes.iter().all(|wanted| found.contains(&wanted.as_str()))
        };
        if !oauth.scopes.is_empty() && !oauth.separator.split('|').any(is_split) {
            return Err(format!("the scopes {scope:?} are not {:?}", oauth.scopes));
        }
        let challenge = value(&requested, "code_challenge").map(str::to_owned);
        let is_s256 = value(&requested, "code_challenge_method") == Some("S256");
        if oauth.pkce == Pkce::Required && (challenge.is_none() || !is_s256) {
            return Err("there is no code_challenge".to_owned());
        }
        let has_all = |wanted: &row::Pairs| {
            wanted.iter().all(|(name, expected)| value(&requested, name) == Some(expected))
        };
        let is_again = self.consents > 0 && !oauth.reconsent.is_empty();
        let is_offline = oauth.refresh != Refresh::None
            && has_all(&oauth.offline)
            && (!is_again || has_all(&oauth.reconsent))
            && oauth.offline_scope.as_ref().is_none_or(|wanted| scope.contains(wanted.as_str()));
        self.consents += 1;
        self.has_ended.push(false);
        let code = self.issue("code");
        let made = Code {
            redirect_uri,
            challenge: challenge.filter(|_| oauth.pkce != Pkce::Ignored),
            state: state.to_owned(),
            is_offline,
            grant: self.has_ended.len() - 1,
        };
        self.codes.insert(code.clone(), made);
        let more = oauth.callback.into_iter();
        let own = [("code".to_owned(), code), ("state".to_owned(), state.to_owned())];
        Ok(own.into_iter().chain(more).collect())
    }

    pub fn response(&mut self, request: &HttpRequest) -> HttpResponse {
        let (address, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
        let (address, query) = (address.to_owned(), query.to_owned());
        let is_at = |urls: &str| {
            urls.split(' ').any(|url| match url.split_once('?') {
                Some((plain, expected)) => {
                    row::pattern_matches(plain, &address)
                        && query.split('&').any(|part| part == expected)
                }
                None => row::pattern_matches(url, &address),
            })
        };
        if let Some(oauth) = self.row.oauth.clone().filter(|_| !self.has_key) {
            let sent = sent_pairs(request, &query);
            if let Some(long) = &oauth.long {
                let grant = sent.as_ref().and_then(|sent| value(sent, "grant_type"));
                if is_at(&long.url) && grant == Some(long.grant.as_str()) {
                    return self.exchange_for_long_lived(long, &sent.unwrap_or_default());
                }
                let refreshes = long.refresh_url.as_deref().is_some_and(is_at);
                if refreshes && grant == long.refresh_grant.as_deref() {
                    return self.refresh_long_lived(long, &sent.unwrap_or_default());
                }
            }
            if is_at(&oauth.token) || oauth.refresh_url.as_deref().is_some_and(is_at) {
                let is_refresh_only = !is_at(&oauth.token);
                let has_own = oauth.refresh_url.as_deref().is_some_and(|url| !is_at(url));
                return self.token(request, &oauth, sent, is_refresh_only, has_own);
            }
            if let Some(revoke) = oauth.revoke.as_ref().filter(|revoke| is_at(&revoke.url)) {
                return self.revocation(request, &oauth, revoke, sent);
            }
        }
        self.call(request, &address, &query)
    }

    /// The error response if the client's authentication is invalid, or its method is not one of
    /// `allowed`.
    fn client(
        &mut self,
        request: &HttpRequest,
        oauth: &row::OAuth,
        allowed: &str,
        sent: &Pairs,
    ) -> Option<HttpResponse> {
        let (auth_method, id, secret) = if let Some((id, secret)) = basic(request) {
            ("basic", Some(id), Some(secret))
        } else {
            let parameter = |name: &str| value(sent, name).map(str::to_owned);
            let secret = parameter("client_secret");
            let auth_method = if secret.is_some() { "post" } else { "none" };
            (auth_method, parameter(&oauth.client_id), secret)
        };
        if !list_contains(allowed, auth_method) {
            let reason = format!("the client authenticates by {auth_method}, not by {allowed}");
            return Some(self.refuse(401, "invalid_client", reason));
        }
        let is_known = id.as_deref().is_none_or(|id| id == CLIENT_ID)
            && secret.as_deref().is_none_or(|secret| secret == CLIENT_SECRET);
        if !is_known || (auth_method == "post" && id.is_none()) {
            return Some(self.refuse(401, "invalid_client", "this client is not known"));
        }
        None
    }

    fn token(
        &mut self,
        request: &HttpRequest,
        oauth: &row::OAuth,
        sent: Option<Pairs>,
        is_refresh_only: bool,
        has_own: bool,
    ) -> HttpResponse {
        if request.method != Method::Post && oauth.long.is_none() {
            return self.refuse(405, "invalid_request", "a token request must be a POST");
        }
        let body = body_form(request);
        if !list_contains(&oauth.body, body) && !request.body.is_empty() {
            let reason = format!("the body of the token request is {body}, not {}", oauth.body);
            return self.refuse(400, "invalid_request", reason);
        }
        let sent = sent.unwrap_or_default();
        if let Some(refused) = self.client(request, oauth, &oauth.client, &sent) {
            return refused;
        }
        let grant = value(&sent, "grant_type").or_else(|| match value(&sent, "type") {
            Some("web_server") => Some("authorization_code"),
            Some("refresh") => Some("refresh_token"),
            _ => None,
        });
        match grant {
            Some("authorization_code") if !is_refresh_only => self.exchange(request, oauth, &sent),
            Some("refresh_token") if !has_own => self.refresh(request, oauth, &sent),
            Some("client_credentials") if oauth.grant == Grant::ClientCredentials => {
                if let Some(what) = missing_parameter(&oauth.token_needs, &sent, "") {
                    return self.refuse(400, "invalid_request", format!("token request: {what}"));
                }
                self.has_ended.push(false);
                let grant = self.has_ended.len() - 1;
                self.tokens(request, oauth, grant, None)
            }
            other => {
                let reason = format!("{} does not support the grant type {other:?}", request.url);
                self.refuse(400, "unsupported_grant_type", reason)
            }
        }
    }

    fn exchange(
        &mut self,
        request: &HttpRequest,
        oauth: &row::OAuth,
        sent: &Pairs,
    ) -> HttpResponse {
        let code = value(sent, "code").and_then(|code| self.codes.remove(code));
        let Some(code) = code else {
            return self.refuse(400, "invalid_grant", "the code is not known");
        };
        if value(sent, "redirect_uri") != Some(&code.redirect_uri) {
            return self.refuse(400, "invalid_grant", "redirect_uri is another one");
        }
        if let Some(what) = missing_parameter(&oauth.token_needs, sent, &code.state) {
            return self.refuse(400, "invalid_request", format!("token request: {what}"));
        }
        if let Some(challenge) = &code.challenge {
            let digest = value(sent, "code_verifier").map(Sha256::digest);
            let digest = digest.map(|digest| Base64UrlUnpadded::encode_string(&digest));
            if digest.as_ref() != Some(challenge) {
                return self.refuse(400, "invalid_grant", "code_verifier does not fit");
            }
        }
        self.redirect_uri.clone_from(&code.redirect_uri);
        let refresh = code.is_offline.then(|| self.issue("refresh"));
        if let Some(refresh) = &refresh {
            self.refresh.insert(refresh.clone(), code.grant);
        }
        self.tokens(request, oauth, code.grant, refresh.as_deref())
    }

    fn refresh(&mut self, request: &HttpRequest, oauth: &row::OAuth, sent: &Pairs) -> HttpResponse {
        let found = value(sent, "refresh_token").unwrap_or_default().to_owned();
        if let Some(grant) = self.used.get(&found).copied() {
            self.has_ended[grant] = true;
            return self.refuse(400, "invalid_grant", "a refresh token was used twice");
        }
        let Some(grant) = self.refresh.get(&found).copied() else {
            return self.refuse(400, "invalid_grant", "the refresh token is not known");
        };
        if self.has_ended[grant] {
            return json_response(oauth.dead.status, &oauth.dead.body);
        }
        let needed = oauth.refresh_needs.iter();
        let needed = needed.map(|(name, value)| {
            (name.clone(), value.replace("$redirect_uri", &self.redirect_uri))
        });
        if let Some(what) = missing_parameter(&needed.collect(), sent, "") {
            return self.refuse(400, "invalid_request", format!("refresh: {what}"));
        }
        let next = match oauth.refresh {
            Refresh::Rotate | Refresh::Replace => {
                let next = self.issue("refresh");
                self.refresh.insert(next.clone(), grant);
                if oauth.refresh == Refresh::Rotate {
                    self.refresh.remove(&found);
                    self.used.insert(found, grant);
                }
                Some(next)
            }
            Refresh::Same => Some(found),
            Refresh::Keep | Refresh::None => None,
        };
        self.tokens(request, oauth, grant, next.as_deref())
    }

    /// Issues tokens. Returns the token response.
    fn tokens(
        &mut self,
        request: &HttpRequest,
        oauth: &row::OAuth,
        grant: usize,
        refresh: Option<&str>,
    ) -> HttpResponse {
        let access = self.issue("access");
        let lasts = if oauth.expires == 0 { u64::MAX } else { oauth.expires * 1000 };
        let token =
            Token { expires_at: self.now.get().saturating_add(lasts), grant, is_long: false };
        self.access.insert(access.clone(), token);
        let fallback = json!({
            "access_token": "$access", "token_type": "Bearer", "expires_in": "$expires",
            "refresh_token": "$refresh", "scope": "$scope",
        });
        let template = oauth.response.clone().unwrap_or(fallback);
        let sent = sent_pairs(request, "").unwrap_or_default();
        let has_lifetime = !oauth.expiry_if_asked || value(&sent, "expires_in").is_some();
        let expires_at = self.now.get() / 1000 + oauth.expires;
        let scope = oauth.scopes.join(oauth.separator.split('|').next().unwrap_or(" "));
        let filled = fill(&template, &|name| match name {
            "$access" => Some(json!(access)),
            "$refresh" => refresh.map(Value::from),
            "$expires" => (oauth.expires > 0 && has_lifetime).then(|| json!(oauth.expires)),
            "$expires_at" => Some(json!(rfc_3339(expires_at))),
            "$epoch" => Some(json!(expires_at)),
            "$scope" => Some(json!(scope)),
            other => Some(json!(other)),
        });
        let takes_json = header(request, "accept").is_some_and(|accept| accept.contains("json"));
        if oauth.form_response && !takes_json {
            self.fault("the token request does not accept JSON");
            return HttpResponse {
                status: 200,
                headers: vec![("content-type".into(), "application/x-www-form-urlencoded".into())],
                body: format!("access_token={access}&token_type=bearer").into_bytes(),
            };
        }
        json_response(200, &filled.unwrap_or_default())
    }

    fn exchange_for_long_lived(
        &mut self,
        long: &row::LongLivedToken,
        sent: &Pairs,
    ) -> HttpResponse {
        if long.needs_secret && value(sent, "client_secret") != Some(CLIENT_SECRET) {
            return self.refuse(400, "invalid_request", "the second exchange has no client_secret");
        }
        self.refresh_long_lived(long, sent)
    }

    fn refresh_long_lived(&mut self, long: &row::LongLivedToken, sent: &Pairs) -> HttpResponse {
        let name = if value(sent, "grant_type") == Some(&long.grant) {
            &long.token
        } else {
            "access_token"
        };
        let now = self.now.get();
        let found = value(sent, name).and_then(|token| self.access.get(token));
        let Some(grant) = found.filter(|token| token.expires_at > now).map(|token| token.grant)
        else {
            return self.refuse(400, "invalid_request", "the second exchange has no valid token");
        };
        if self.has_ended[grant] {
            return json_response(400, &json!({"error": {"type": "OAuthException", "code": 190}}));
        }
        let access = self.issue("long");
        self.access.insert(
            access.clone(),
            Token { expires_at: now + long.expires * 1000, grant, is_long: true },
        );
        let body =
            json!({"access_token": access, "token_type": "bearer", "expires_in": long.expires});
        json_response(200, &body)
    }

    fn revocation(
        &mut self,
        request: &HttpRequest,
        oauth: &row::OAuth,
        revoke: &row::Revoke,
        sent: Option<Pairs>,
    ) -> HttpResponse {
        let body = body_form(request);
        if !list_contains(&revoke.body, body) {
            let reason = format!("the body of the revocation is {body}, not {}", revoke.body);
            return self.refuse(400, "invalid_request", reason);
        }
        let sent = sent.unwrap_or_default();
        let allowed = format!("{}|post", revoke.client);
        // If client authentication is not required, it is still allowed.
        let allowed = if revoke.client == "none" { &allowed } else { &revoke.client };
        if revoke.client != "none"
            && let Some(refused) = self.client(request, oauth, allowed, &sent)
        {
            return refused;
        }
        if let Some(what) = missing_header(request, &revoke.headers) {
            return self.refuse(400, "invalid_request", format!("revocation: {what}"));
        }
        let token = value(&sent, "token").unwrap_or_default();
        let access_grant = self.access.get(token).map(|token| token.grant);
        let refresh_grant = self.refresh.get(token).copied().filter(|_| revoke.token != "access");
        let Some(grant) = access_grant.or(refresh_grant) else {
            let reason = "this token can't be revoked";
            return self.refuse(400, "invalid_request", reason);
        };
        self.has_ended[grant] = true;
        self.revoked += 1;
        json_response(200, &json!({"ok": true, "revoked": true}))
    }

    /// Responds to a request to the platform's API.
    fn call(&mut self, request: &HttpRequest, address: &str, query: &str) -> HttpResponse {
        let api = self.row.api.clone();
        let oauth = self.row.oauth.clone().filter(|_| !self.has_key);
        let key = self.row.key.clone().filter(|_| self.has_key);
        let base = oauth.as_ref().and_then(|oauth| oauth.base.clone());
        let base = base.or_else(|| key.as_ref().and_then(|key| key.base.clone()));
        let base = self.fill_in(&base.unwrap_or(api.base));
        let verb = request.method.as_str();
        let documented: Vec<String> = api
            .check
            .iter()
            .filter(|check| check.starts_with("POST ") == (verb == "POST"))
            .map(|check| self.fill_in(check.trim_start_matches("POST ")))
            .collect();
        let path_of = |check: &str| check.split('?').next().unwrap_or_default().to_owned();
        let is_there = base.split(' ').any(|base| {
            documented
                .iter()
                .any(|check| row::pattern_matches(&format!("{base}{}", path_of(check)), address))
        });
        let more = oauth.iter().flat_map(|oauth| &oauth.more).chain(&api.more);
        let is_more = more.into_iter().any(|more| row::pattern_matches(more, address));
        if !is_there && !is_more {
            let reason = format!("{verb} {address} is not a documented request below {base}");
            return self.refuse(404, "not_found", reason);
        }
        if let Some(what) = missing_header(request, &api.headers).filter(|_| !is_more) {
            self.fault(what);
            let fallback =
                ScriptedResponse { status: 400, body: json!({"error": "a header is missing"}) };
            let response = api.unversioned.unwrap_or(fallback);
            return json_response(response.status, &response.body);
        }
        let parameters = pairs(query);
        for (path, names) in &api.needs_query {
            let lacks = |name: &&String| value(&parameters, name).is_none();
            if address.ends_with(path)
                && let Some(name) = names.iter().find(lacks)
            {
                return self.refuse(400, "invalid_request", format!("{address} needs {name}"));
            }
        }
        let sends = oauth.map(|oauth| oauth.send).or_else(|| key.map(|key| key.send)).unwrap();
        let is_accepted = if self.has_key {
            let filled = |part: &String| self.fill_in(part);
            let fits = |parts: &Vec<String>| {
                parts.iter().map(filled).all(|part| has_part(request, &parameters, &part))
            };
            sends.iter().any(fits)
        } else {
            let now = self.now.get();
            let carried = |token: &&String| {
                let filled = |part: &String| part.replace("$token", token);
                sends.iter().any(|parts| {
                    parts.iter().map(filled).all(|part| has_part(request, &parameters, &part))
                })
            };
            let token = self.access.keys().find(carried).cloned();
            if token.is_none() {
                let found: Vec<&str> = request.headers.iter().map(|(name, _)| &**name).collect();
                self.fault(format!("no token as {sends:?}, but the headers {found:?}"));
            }
            let accepted = token.filter(|token| {
                let known = &self.access[token];
                known.expires_at > now && !self.has_ended[known.grant]
            });
            self.served.extend(accepted.clone());
            accepted.is_some()
        };
        if !is_accepted {
            let fallback = ScriptedResponse { status: 401, body: json!({"error": "unauthorized"}) };
            let response = api.denied.unwrap_or(fallback);
            return json_response(response.status, &response.body);
        }
        let fallback = json!({"ok": true, "data": {}});
        json_response(200, api.responses.get(address).unwrap_or(&fallback))
    }

    /// Replaces the placeholders in a value of the row by the user's secrets.
    fn fill_in(&self, text: &str) -> String {
        let Secrets { key, app, user } = &self.secrets;
        text.replace("$key", key).replace("$app", app).replace("$user", user)
    }

    /// Whether the last successful call used a long-lived token.
    pub fn served_long_lived_token(&self) -> bool {
        self.served.last().is_some_and(|token| self.access[token].is_long)
    }
}

/// The parameters in the query and body of a request.
fn sent_pairs(request: &HttpRequest, query: &str) -> Option<Pairs> {
    let text = std::str::from_utf8(&request.body).ok()?;
    let mut sent = pairs(query);
    if body_form(request) == "json" {
        let object: Map<String, Value> = serde_json::from_str(text).ok()?;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        sent.extend(object.iter().map(|(name, value)| (name.clone(), text(value))));
    } else {
        sent.extend(pairs(text));
    }
    Some(sent)
}

fn body_form(request: &HttpRequest) -> &'static str {
    match header(request, "content-type").and_then(|found| found.split(';').next()) {
        Some("application/json") => "json",
        Some("application/x-www-form-urlencoded") => "form",
        _ => "of an unknown type",
    }
}

/// Whether a request has a header or a parameter, written as `Name: value`,
/// `Name: Basic(user:password)` or `?name=value`. `*` matches any value.
fn has_part(request: &HttpRequest, parameters: &Pairs, part: &str) -> bool {
    if let Some(parameter) = part.strip_prefix('?') {
        let (name, requested) = parameter.split_once('=').unwrap();
        return value(parameters, name) == Some(requested);
    }
    let (name, requested) = part.split_once(": ").unwrap();
    if let Some(pair) = requested.strip_prefix("Basic(").and_then(|pair| pair.strip_suffix(')')) {
        let (user, password) = pair.rsplit_once(':').unwrap();
        return basic(request).is_some_and(|(found, secret)| {
            (user == "*" || user == found) && (password == "*" || password == secret)
        });
    }
    let Some(found) = header(request, name) else { return false };
    // The scheme before the credentials is not case-sensitive (RFC 9110, 11.1).
    match (found.split_once(' '), requested.split_once(' ')) {
        (Some((scheme, rest)), Some((known, expected))) if name == "Authorization" => {
            scheme.eq_ignore_ascii_case(known) && rest == expected
        }
        _ => found == requested,
    }
}

/// Replaces the placeholders in a template. Omits members without a value.
fn fill(template: &Value, value: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    Some(match template {
        Value::String(text) if text.starts_with('$') => value(text)?,
        Value::Object(members) => {
            let filled =
                |(name, member): (&String, &Value)| Some((name.clone(), fill(member, value)?));
            Value::Object(members.iter().filter_map(filled).collect())
        }
        Value::Array(items) => {
            Value::Array(items.iter().filter_map(|item| fill(item, value)).collect())
        }
        other => other.clone(),
    })
}

/// Formats a time according to RFC 3339.
fn rfc_3339(seconds: u64) -> String {
    jiff::Timestamp::from_second(i64::try_from(seconds).unwrap()).unwrap().to_string()
}
