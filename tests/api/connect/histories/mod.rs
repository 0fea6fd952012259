//! Compares random histories of connections with a plain model of the state machine. Each state, reason, actor, next attempt
//! and event matches the model, for every response of a platform and wherever the process is killed.

mod model;
mod steps;

use std::collections::BTreeSet;
use std::rc::Rc;

use connector_vault::http::handle::handle;
use connector_vault::jobs;
use connector_vault::ports::HttpRequest;

use self::model::{ChosenTime, Client, Model, Process};
use self::steps::{Step, StepAction, TokenResponse};
use super::crash::{CrashPoint, CrashingProcess, run_until_killed};
use super::*;
use crate::rng::{TestRng, repetitions};
use crate::support::as_key;
use crate::vault::{CONNECTIONS, at, state};

/// The number of histories in `npm test`, and in `npm run proof`.
const HISTORIES: [usize; 2] = [24, 50];
const STEPS: usize = 70;

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The platform and identity of each connection of a history.
const SLOTS: [(&str, &str); 3] = [("acme", "ann"), ("acme", "bob"), ("keyed", "cem")];

/// The requests to platforms in a step, and their scripted responses.
#[derive(Default)]
struct Platform {
    response: Option<TokenResponse>,
    sent_refresh_tokens: Vec<String>,
    calls: usize,
    issued_count: u64,
}

impl Platform {
    fn response(&mut self, request: &HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.response.unwrap();
        if !request.url.ends_with("/token") {
            self.calls += 1;
            let is_key = request.url.contains("keyed");
            return if is_key {
                response.to_check_response()
            } else {
                super::response(404, &json!({}))
            };
        }
        let form = pairs(std::str::from_utf8(&request.body).unwrap());
        match value_of(&form, "refresh_token") {
            Some(token) => self.sent_refresh_tokens.push(token),
            None => self.calls += 1,
        }
        self.issued_count += u64::from(matches!(response, TokenResponse::Good { .. }));
        response.to_token_request(self.issued_count)
    }
}

/// The body of a request that connects the account of a slot.
fn connect_body(slot: usize) -> Value {
    let (platform, identity) = SLOTS[slot];
    json!({"platform": platform, "identity": identity, "identityType": "user"})
}

/// The service and the model, which perform the same steps.
struct ServiceAndModel {
    api: Api,
    model: Model,
    platform: Rc<RefCell<Platform>>,
    /// The id of the last event that was read.
    after: String,
}

impl ServiceAndModel {
    fn new() -> Self {
        let api = api();
        let platform = Rc::new(RefCell::new(Platform::default()));
        let shared = Rc::clone(&platform);
        *api.env.platform.borrow_mut() =
            Box::new(move |request| shared.borrow_mut().response(request));
        Self { api, model: Model::default(), platform, after: "evt_0000000000000".into() }
    }

    /// Sends a request to a process that may be killed.
    fn send(&self, step: &Step, request: &Request) -> Option<Response> {
        let byte = u8::try_from(step.jitter_fifths * 51).unwrap();
        let process = CrashingProcess::new(&self.api.env, step.crash_point, Some(byte));
        run_until_killed(handle(&self.api.service, &process, request))
    }

    fn do_step(&mut self, step: &Step) {
        self.api.env.wait(step.wait);
        self.model.now = self.api.env.now.get();
        self.model.jitter_fifths = step.jitter_fifths;
        self.platform.borrow_mut().response = Some(step.response);
        let mut process = Process { crash_point: step.crash_point, steps: 0 };
        match step.action {
            StepAction::ReadCredentials(slot, is_requested) => {
                let expected =
                    self.model.read_credentials(&mut process, slot, is_requested, step.response);
                let id = self.id(slot);
                let query = if is_requested { "?refresh=true" } else { "" };
                let request = self.api.request("GET", &format!("{}/credentials{query}", at(&id)));
                let response = self.send(step, &request);
                let status = response.as_ref().map(|response| response.status);
                assert_eq!(status, expected.ok(), "{:?}", response.as_ref().map(text));
                if status == Some(200) && SLOTS[slot].0 == "acme" {
                    let document = body(&response.unwrap());
                    assert_eq!(document["accessToken"], self.model.at(slot).credentials().access);
                }
            }
            StepAction::Minute => {
                let is_done = self.model.minute(&mut process, step.response).is_ok();
                let byte = u8::try_from(step.jitter_fifths * 51).unwrap();
                let process = CrashingProcess::new(&self.api.env, step.crash_point, Some(byte));
                let done = run_until_killed(jobs::run_minute(&self.api.service, &process));
                // The service can also be killed after the checks, in steps that don't touch the
                // connection.
                assert!(is_done || done.is_none());
            }
            StepAction::Connect(slot) if SLOTS[slot].0 == "acme" => {
                self.sign_in(slot, step, process);
            }
            StepAction::Connect(slot) => {
                if self.model.slots[slot].is_none() {
                    let (platform, identity) = SLOTS[slot];
                    let sent =
                        json!({"platform": platform, "identity": identity, "identityType": "user"});
                    let created = body(&send(&self.api, "POST", CONNECTIONS, &sent));
                    self.model.create(slot, created["id"].as_str().unwrap(), "unknown");
                    return;
                }
                let is_stored = self.model.put_key(&mut process, slot, step.response);
                let sent = json!({"type": "api_key", "apiKey": "k"});
                let response = self.put_credentials(slot, step, &sent);
                let is_done = response.map(|response| response.status == 204);
                assert_eq!(is_done, is_stored.ok());
            }
            StepAction::Import(slot) => {
                if SLOTS[slot].0 != "acme" || self.model.slots[slot].is_none() {
                    return;
                }
                let is_stored = self.model.import(&mut process, slot).is_ok();
                let sent = json!({"type": "oauth2", "refreshToken": "rt-imported"});
                let response = self.put_credentials(slot, step, &sent);
                assert_eq!(response.map(|response| response.status), is_stored.then_some(204));
            }
            StepAction::Report(slot, new, active, reason) => self.report(slot, new, active, reason),
            StepAction::Tag(slot) => {
                let id = self.id(slot);
                if self.model.slots[slot].is_some() {
                    self.model.at(slot).tags += 1;
                    self.model.record_event(slot, "updated");
                    let sent = json!({"tags": [format!("t{}", self.model.at(slot).tags)]});
                    assert_eq!(send(&self.api, "PATCH", &at(&id), &sent).status, 200);
                }
            }
            StepAction::Delete(slot) => {
                let id = self.id(slot);
                let is_there = self.model.slots[slot].is_some();
                if is_there {
                    self.model.record_event(slot, "deleted");
                    self.model.slots[slot] = None;
                }
                let response = self.api.send(&self.api.request("DELETE", &at(&id)));
                assert_eq!(response.status, if is_there { 204 } else { 404 });
            }
            StepAction::SetClient => {
                let sent =
                    json!({"clientId": "an id", "clientSecret": "secret", "scopes": ["read"]});
                send(&self.api, "PUT", "/v1/oauth-clients/acme", &sent);
                self.model.client = Some(Client::default());
                let now = self.model.now;
                for connection in self.model.slots[..2].iter_mut().flatten() {
                    let credentials = connection.credentials();
                    let waits = credentials
                        .reason
                        .as_ref()
                        .is_some_and(|value| value.0 == "client_rejected");
                    if let Some(next) = credentials.next.filter(|next| waits && *next > now) {
                        credentials.refused = None;
                        credentials.chosen =
                            Some(ChosenTime::Within(now, next.min(now + 10 * MINUTE)));
                    }
                }
            }
            StepAction::DeleteClient => {
                let response = self.api.send(&self.api.request("DELETE", "/v1/oauth-clients/acme"));
                let is_there = self.model.client.take().is_some();
                assert_eq!(response.status, if is_there { 204 } else { 404 });
            }
        }
    }

    /// Reports a state, as apps do that store the credentials themselves.
    fn report(
        &mut self,
        slot: usize,
        new: &'static str,
        active: Option<bool>,
        reason: Option<&'static str>,
    ) {
        let id = self.id(slot);
        let expected = self.model.report(slot, new, active, reason);
        let mut sent = json!({"state": new});
        for (name, value) in [("active", json!(active)), ("reason", json!(reason))] {
            if !value.is_null() {
                sent[name] = value;
            }
        }
        assert_eq!(send(&self.api, "PUT", &state(&id), &sent).status, expected);
    }

    fn id(&self, slot: usize) -> String {
        let connection = self.model.slots[slot].as_ref();
        connection.map_or_else(|| crate::vault::UNKNOWN_ID.to_owned(), |value| value.id.clone())
    }

    fn put_credentials(&self, slot: usize, step: &Step, sent: &Value) -> Option<Response> {
        let path = format!("{}/credentials", at(&self.id(slot)));
        let request = as_key(&self.api.key, "PUT", &path);
        self.send(step, &with_body(request, &sent.to_string()))
    }

    /// Connects or reconnects as a user.
    fn sign_in(&mut self, slot: usize, step: &Step, mut process: Process) {
        let sent = match &self.model.slots[slot] {
            Some(connection) => json!({"connection": connection.id}),
            None => connect_body(slot),
        };
        if self.model.client.is_none() {
            assert_eq!(crate::vault::code(&connect(&self.api, &sent)), "oauth_client_missing");
            return;
        }
        let (id, link) = start_attempt(&self.api, &sent);
        let browser = Browser::default();
        let state = value_of(&browser.follow(&self.api, &link).1, "state").unwrap();
        let back = browser.request("GET", &format!("/connect/callback?code=c&state={state}"));
        let response = self.send(step, &back);
        let now = attempt(&self.api, &id);
        let created = now["connection"]["id"].as_str().unwrap_or_default();
        let is_over =
            self.model.return_from_platform(&mut process, slot, step.response, created).is_ok();
        assert_eq!(response.is_some(), is_over);
    }

    /// Compares the service's responses and events with the model.
    fn compare(&mut self) {
        for (slot, name) in SLOTS.iter().enumerate() {
            self.adopt(slot);
            let path = at(&self.id(slot));
            let mut document = body(&self.api.get(&format!("{path}/status")));
            if self.model.slots[slot].is_some() {
                let connection = body(&self.api.get(&path));
                assert_eq!(connection["state"], document["state"]);
                document["active"] = connection["active"].clone();
                let members = document.as_object_mut().unwrap();
                // The model does not include the account.
                members.remove("account");
                for scopes in ["scopes", "missingScopes"] {
                    members[scopes].as_array_mut().unwrap().sort_by_key(Value::to_string);
                }
            } else {
                assert_eq!(document["code"], "connection_not_found");
                document = Value::Null;
            }
            assert_eq!(document, self.model.status(slot), "{name:?}");
        }
        let page = body(&self.api.get(&format!("/v1/events?limit=500&after={}", self.after)));
        page["next"].as_str().unwrap().clone_into(&mut self.after);
        let event = |event: &Value| {
            let data = &event["data"];
            json!([event["type"], data["connection"]["id"], data["reason"]])
        };
        let events: Vec<Value> = page["rows"].as_array().unwrap().iter().map(event).collect();
        assert_eq!(events, std::mem::take(&mut self.model.events));
        let mut platform = self.platform.borrow_mut();
        let requested = (
            std::mem::take(&mut platform.sent_refresh_tokens),
            platform.calls,
            platform.issued_count,
        );
        let model = &mut self.model;
        assert_eq!(
            requested,
            (std::mem::take(&mut model.sent_refresh_tokens), model.calls, model.issued_count)
        );
    }

    /// Copies a time that storage chose into the model, after checking that it is one of the
    /// allowed times.
    fn adopt(&mut self, slot: usize) {
        let Some(connection) = &mut self.model.slots[slot] else { return };
        let Some(credentials) = &mut connection.credentials else { return };
        let Some(chosen) = credentials.chosen.take() else { return };
        let column = if credentials.next.is_some() { "next_attempt_at" } else { "check_at" };
        let sql = format!("SELECT {column} FROM credentials WHERE connection_id = ?1");
        let found: i64 =
            self.api.env.database.query_row(&sql, [&connection.id], |row| row.get(0)).unwrap();
        let found = u64::try_from(found).unwrap();
        let may_be = match chosen {
            ChosenTime::Within(first, last) => (first..=last).contains(&found),
            ChosenTime::OneOf(one, other) => [one, other].contains(&found),
        };
        assert!(may_be, "{column}: {found} is not {chosen:?}");
        *(if credentials.next.is_some() {
            &mut credentials.next
        } else {
            &mut credentials.check
        }) = Some(found);
    }
}

/// Prints the history when a test fails.
struct PrintOnFailure<'a> {
    seed: u64,
    steps: &'a RefCell<Vec<Step>>,
}

impl Drop for PrintOnFailure<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let steps = self.steps.borrow();
            let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
            eprintln!("The history with the seed {}:\n{}", self.seed, steps.join("\n"));
        }
    }
}

#[test]
fn states_and_events_match_the_model() {
    let mut seen = BTreeSet::new();
    for seed in 1..=repetitions(HISTORIES[0], HISTORIES[1]) as u64 {
        let steps = RefCell::default();
        let _printer = PrintOnFailure { seed, steps: &steps };
        let mut rng = TestRng(seed);
        let mut pair = ServiceAndModel::new();
        for _ in 0..STEPS {
            let last = steps.borrow().last().map(|step: &Step| step.response);
            let step = Step::random(&mut rng, last);
            steps.borrow_mut().push(step.clone());
            pair.do_step(&step);
            pair.compare();
            for connection in pair.model.slots.iter().flatten() {
                let credentials = connection.credentials.as_ref();
                let code = credentials
                    .and_then(|credentials| credentials.reason.as_ref())
                    .map(|reason| reason.0);
                seen.insert((connection.state, code));
            }
        }
    }
    // Every row of the documented state table has occurred.
    for code in ["grant_ended", "credentials_rejected", "grant_rejected"] {
        assert!(seen.contains(&("failed", Some(code))), "{code}");
    }
    for code in [
        "platform_unavailable",
        "invalid_answer",
        "grant_rejected",
        "credentials_rejected",
        "client_rejected",
        "request_rejected",
    ] {
        assert!(seen.contains(&("degraded", Some(code))), "{code}");
    }
}
