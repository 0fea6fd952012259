//! A plain model of the state machine of connections.

use std::collections::BTreeSet;

use connector_vault::util::rfc3339::rfc3339;

use super::steps::{Failure, FailureClass, TokenResponse};
use super::*;

/// The reason for a connection's state.
#[derive(Debug, Clone)]
pub struct Reason(pub &'static str, pub Option<&'static str>, pub Option<u16>);

impl Reason {
    pub fn json(&self) -> Value {
        json!({"code": self.0, "detail": self.1, "httpStatus": self.2})
    }
}

#[derive(Debug, Clone)]
pub struct Connection {
    pub id: String,
    pub state: &'static str,
    pub since: u64,
    pub active: bool,
    pub reported: Option<&'static str>,
    pub tags: usize,
    pub credentials: Option<StoredCredentials>,
}

impl Connection {
    pub fn reason(&self) -> Option<Reason> {
        match self.credentials.as_ref().and_then(|credentials| credentials.reason.clone()) {
            Some(reason) => Some(reason),
            None => self.reported.map(|detail| Reason("reported", Some(detail), None)),
        }
    }

    pub fn due(&self) -> Option<u64> {
        let credentials = self.credentials.as_ref()?;
        credentials.enqueued_until.or(credentials.next).or(credentials.check)
    }

    pub fn credentials(&mut self) -> &mut StoredCredentials {
        self.credentials.as_mut().unwrap()
    }
}

#[derive(Debug, Clone, Default)]
pub struct StoredCredentials {
    pub access: String,
    pub refresh: Option<String>,
    pub issued: u64,
    pub expires: Option<u64>,
    pub refreshed: u64,
    pub scopes: BTreeSet<&'static str>,
    pub missing: BTreeSet<&'static str>,
    pub reason: Option<Reason>,
    pub attempts: usize,
    /// The times when the platform first refused with any error, and when it first reported the end
    /// of the grant.
    pub refused: Option<u64>,
    pub ended: Option<u64>,
    pub next: Option<u64>,
    /// The time from which a request may try a refresh again before it is due.
    pub retry: Option<u64>,
    pub check: Option<u64>,
    /// The time from which storage itself chose the next check or the next attempt.
    pub chosen: Option<ChosenTime>,
    pub enqueued_until: Option<u64>,
    pub leased_until: Option<u64>,
    /// Whether the account is known. All sign-ins use the same account.
    pub is_account_known: bool,
}

impl StoredCredentials {
    pub fn is_valid(&self, now: u64) -> bool {
        self.expires.is_none_or(|at| now < at)
    }

    pub fn is_due(&self, now: u64) -> bool {
        let Some(expires) = self.expires else { return false };
        let margin = (5 * MINUTE).min((expires - self.issued) / 10).max(1);
        expires < now + margin
    }

    pub fn record_success(&mut self, check: u64) {
        (self.reason, self.attempts, self.refused, self.ended) = (None, 0, None, None);
        self.reschedule(None, Some(check));
    }

    pub fn reschedule(&mut self, next: Option<u64>, check: Option<u64>) {
        (self.next, self.check, self.enqueued_until, self.leased_until) = (next, check, None, None);
    }
}

/// The times that storage may choose from.
#[derive(Debug, Clone, Copy)]
pub enum ChosenTime {
    Within(u64, u64),
    OneOf(u64, u64),
}

/// The OAuth client of `acme`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client {
    pub rejected: bool,
    pub probe: u64,
    /// The account or connection to which the last error may apply, instead of the client.
    pub suspect: Option<Party>,
}

/// The party to which an error applies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Party {
    Account,
    Connection(u128),
}

/// The pause after this many failed attempts, in milliseconds.
fn pause(attempts: usize) -> u64 {
    [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR][attempts.min(5) - 1]
}

/// The error of a step during which the process was killed.
pub struct ProcessKilled;

/// A process that may be killed.
pub struct Process {
    pub crash_point: Option<CrashPoint>,
    pub steps: u32,
}

impl Process {
    /// Performs a step. The process may be killed before or after it.
    pub fn step<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, ProcessKilled> {
        let index = self.steps;
        self.steps += 1;
        match self.crash_point {
            Some(crash_point) if index > crash_point.step => Err(ProcessKilled),
            Some(crash_point) if index == crash_point.step => {
                if crash_point.completes_step {
                    work();
                }
                Err(ProcessKilled)
            }
            _ => Ok(work()),
        }
    }
}

/// The reason for a refresh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RefreshTrigger {
    Expiring,
    Requested,
    Check,
}

#[derive(Debug, Default)]
pub struct Model {
    pub now: u64,
    pub jitter_fifths: u64,
    pub client: Option<Client>,
    pub slots: [Option<Connection>; 3],
    /// The events since the last step.
    pub events: Vec<Value>,
    /// The refresh tokens that were sent since the last step. `calls` counts all other requests.
    pub sent_refresh_tokens: Vec<String>,
    pub calls: usize,
    /// The number of tokens that were issued.
    pub issued_count: u64,
}

impl Model {
    pub fn at(&mut self, slot: usize) -> &mut Connection {
        self.slots[slot].as_mut().unwrap()
    }

    pub fn record_event(&mut self, slot: usize, kind: &str) {
        let connection = self.slots[slot].as_ref().unwrap();
        let is_bad = matches!(kind, "degraded" | "failed");
        let reason = connection.reason().filter(|_| is_bad);
        let reason = reason.map_or(Value::Null, |reason| reason.json());
        self.events.push(json!([format!("connection.{kind}"), connection.id, reason]));
    }

    /// Changes the state of a connection.
    pub fn set_state(&mut self, slot: usize, new: &'static str) {
        let now = self.now;
        let connection = self.at(slot);
        let old = connection.state;
        if old != new {
            (connection.state, connection.since) = (new, now);
        }
        self.record_event(
            slot,
            match (old, new) {
                _ if old != new && matches!(new, "degraded" | "failed") => new,
                ("degraded" | "failed", "operational") => "recovered",
                _ => "updated",
            },
        );
    }

    pub fn record_success(&mut self, slot: usize) {
        if self.at(slot).state != "operational" {
            self.at(slot).reported = None;
            self.set_state(slot, "operational");
        }
    }

    /// The time of the next check of a working connection: a day from now, minus up to a tenth.
    pub fn next_check(&self) -> u64 {
        self.now + DAY - DAY / 50 * self.jitter_fifths
    }

    pub fn record_failure(&mut self, slot: usize, failure: Failure) {
        let (now, jitter_fifths) = (self.now, self.jitter_fifths);
        let credentials = self.at(slot).credentials();
        let is_ended = failure.class == FailureClass::GrantEnded
            && credentials.ended.is_some_and(|first| now - first >= MINUTE);
        let is_refused = matches!(
            failure.class,
            FailureClass::GrantEnded | FailureClass::Refused | FailureClass::Unauthorized
        );
        let is_hopeless =
            is_refused && credentials.refused.is_some_and(|first| now - first >= 3 * DAY);
        credentials.attempts += 1;
        if is_refused {
            credentials.refused = credentials.refused.or(Some(now));
        }
        if failure.class == FailureClass::GrantEnded {
            credentials.ended = credentials.ended.or(Some(now));
        }
        let code = if is_ended { failure.codes.1 } else { failure.codes.0 };
        credentials.reason = Some(Reason(code, failure.detail, failure.status));
        if is_ended || is_hopeless {
            credentials.reschedule(None, None);
            if self.at(slot).state != "failed" {
                self.at(slot).active = false;
                self.set_state(slot, "failed");
            }
            return;
        }
        let mut pause = pause(credentials.attempts);
        if matches!(failure.class, FailureClass::Client | FailureClass::Unauthorized) {
            pause = pause.min(HOUR);
        }
        // Only a second refusal ends the grant.
        let first = credentials.ended.filter(|_| failure.class == FailureClass::GrantEnded);
        let first = first.map_or(now, |first| first + MINUTE).max(now + failure.retry_after);
        // The pause varies from 80 % to 120 %, in 255 steps. The alternative time is 128 steps away.
        let at = |step: u64| (now + pause * (80 * 255 + 40 * step) / (100 * 255)).max(first);
        let (at, or) = (at(51 * jitter_fifths), at((51 * jitter_fifths + 128) % 256));
        let check = credentials.check;
        credentials.reschedule(Some(at), check);
        credentials.retry = Some(now + failure.retry_after.max(10 * SECOND));
        credentials.chosen = Some(ChosenTime::OneOf(at, or));
        if !matches!(self.at(slot).state, "degraded" | "failed") {
            self.set_state(slot, "degraded");
        }
    }

    /// Refreshes the tokens. Returns the status of the request that reads them.
    pub fn refresh(
        &mut self,
        process: &mut Process,
        slot: usize,
        trigger: RefreshTrigger,
        client: Option<Client>,
        response: TokenResponse,
    ) -> Result<u16, ProcessKilled> {
        let now = self.now;
        let credentials = self.at(slot).credentials().clone();
        let is_valid = credentials.is_valid(now);
        let waits = |reason: &Reason| {
            reason.0 == "client_rejected" && (reason.2.is_none() || credentials.refused.is_none())
        };
        let is_client_corrected = credentials.reason.as_ref().is_some_and(waits)
            && client.is_some_and(|client| !client.rejected);
        let is_requested = trigger == RefreshTrigger::Requested;
        if credentials.next.is_some_and(|next| now < next)
            && !(is_requested && credentials.retry.is_none_or(|retry| retry <= now))
            && !is_client_corrected
        {
            return Ok(if is_valid && !is_requested { 200 } else { 503 });
        }
        let is_free = credentials.leased_until.is_none_or(|until| until <= now);
        process.step(|| {
            if is_free {
                self.at(slot).credentials().leased_until = Some(now + 30 * SECOND);
            }
        })?;
        let can_use = trigger == RefreshTrigger::Expiring && is_valid;
        if !is_free {
            return Ok(if can_use { 200 } else { 503 });
        }
        let mut blocked = None;
        if let Some(Client { rejected: true, probe, .. }) = client {
            if probe > now {
                blocked = Some(probe - now);
            } else {
                let live = &mut self.client;
                let is_ours = process.step(|| match live {
                    Some(client) if client.rejected && client.probe <= now => {
                        client.probe = now + HOUR;
                        true
                    }
                    _ => false,
                })?;
                blocked = (!is_ours).then_some(HOUR);
            }
        }
        let rejected = Failure::bare(FailureClass::Client, "client_rejected");
        let failure = match blocked {
            Some(left) => Some(Failure { retry_after: left, ..rejected }),
            None if client.is_none() => Some(rejected),
            None => {
                process.step(|| {
                    self.sent_refresh_tokens.extend(credentials.refresh.clone());
                    self.issued_count += u64::from(matches!(response, TokenResponse::Good { .. }));
                })?;
                response.failure()
            }
        };
        process.step(|| match failure {
            None => self.refreshed(slot, response, client),
            Some(failure) => {
                self.record_failure(slot, failure);
                let id = self.at(slot).id.replace('-', "");
                let party = if credentials.is_account_known {
                    Party::Account
                } else {
                    Party::Connection(u128::from_str_radix(&id, 16).unwrap())
                };
                let mut opens = failure.class == FailureClass::Client && failure.status.is_some();
                if let Some(live) = &mut self.client
                    && failure.class == FailureClass::Unauthorized
                {
                    opens = live.suspect.is_some_and(|other| other != party);
                    live.suspect = Some(party);
                }
                if let Some(live) = self.client.as_mut().filter(|_| opens) {
                    live.probe = now + HOUR;
                    if !std::mem::replace(&mut live.rejected, true) {
                        let reason = Reason("client_rejected", None, None).json();
                        self.events.push(json!(["oauth_client.rejected", null, reason]));
                    }
                }
            }
        })?;
        Ok(match self.at(slot).state {
            _ if failure.is_none() => 200,
            "failed" => 409,
            _ if can_use => 200,
            _ => 503,
        })
    }

    pub fn refreshed(&mut self, slot: usize, response: TokenResponse, client: Option<Client>) {
        let (now, index, check) = (self.now, self.issued_count, self.next_check());
        let credentials = self.at(slot).credentials();
        let former = credentials.scopes.clone();
        credentials.adopt_tokens(response, index, now, None);
        credentials.record_success(check);
        if credentials.scopes != former {
            self.record_event(slot, "scopes_changed");
        }
        self.record_success(slot);
        if client.is_some_and(|client| client.rejected || client.suspect.is_some())
            && let Some(live) = &mut self.client
        {
            (live.rejected, live.suspect) = (false, None);
        }
    }

    /// Reads the credentials as a client.
    pub fn read_credentials(
        &mut self,
        process: &mut Process,
        slot: usize,
        is_requested: bool,
        response: TokenResponse,
    ) -> Result<u16, ProcessKilled> {
        process.step(|| ())?;
        let (now, client) = (self.now, self.client);
        let Some(connection) = &self.slots[slot] else { return Ok(404) };
        let Some(credentials) = &connection.credentials else { return Ok(404) };
        if connection.state == "failed" {
            return Ok(409);
        }
        let is_key = SLOTS[slot].0 == "keyed";
        if !is_key && credentials.refresh.is_some() && (is_requested || credentials.is_due(now)) {
            let trigger =
                if is_requested { RefreshTrigger::Requested } else { RefreshTrigger::Expiring };
            return self.refresh(process, slot, trigger, client, response);
        }
        if credentials.is_valid(now) {
            // A key is not refreshed; a token that can't be refreshed is an error.
            return Ok(if is_requested && !is_key { 409 } else { 200 });
        }
        // The token has expired and can't be refreshed, so reading it fails the connection.
        let waits = credentials.next.is_some_and(|next| now < next);
        let is_free = credentials.leased_until.is_none_or(|until| until <= now);
        if !waits {
            process.step(|| {
                if is_free {
                    self.record_failure(
                        slot,
                        Failure::bare(FailureClass::GrantEnded, "grant_rejected"),
                    );
                }
            })?;
        }
        Ok(409)
    }

    /// Runs the schedule for one minute.
    pub fn minute(
        &mut self,
        process: &mut Process,
        response: TokenResponse,
    ) -> Result<(), ProcessKilled> {
        let now = self.now;
        let is_due = |slot: &usize| {
            let due = self.slots[*slot].as_ref().and_then(Connection::due);
            due.is_some_and(|due| due <= now)
        };
        let mut due: Vec<usize> = (0..SLOTS.len()).filter(is_due).collect();
        due.sort_by_key(|slot| self.slots[*slot].as_ref().unwrap().id.clone());
        process.step(|| {
            for slot in &due {
                self.at(*slot).credentials().enqueued_until = Some(now + 10 * MINUTE);
            }
        })?;
        if due.is_empty() {
            return Ok(());
        }
        process.step(|| ())?;
        let client = self.client;
        for slot in due {
            if SLOTS[slot].0 == "acme" && self.at(slot).credentials().refresh.is_some() {
                self.refresh(process, slot, RefreshTrigger::Check, client, response)?;
            } else {
                self.verify(process, slot, response)?;
            }
        }
        Ok(())
    }

    /// Checks credentials that can't be refreshed.
    pub fn verify(
        &mut self,
        process: &mut Process,
        slot: usize,
        response: TokenResponse,
    ) -> Result<(), ProcessKilled> {
        let (now, check) = (self.now, self.next_check());
        let credentials = self.at(slot).credentials();
        let is_free = credentials.leased_until.is_none_or(|until| until <= now);
        process.step(|| {
            if is_free {
                credentials.leased_until = Some(now + 30 * SECOND);
            }
        })?;
        if !is_free {
            return Ok(());
        }
        let finding = if SLOTS[slot].0 == "keyed" {
            process.step(|| self.calls += 1)?;
            response.check_result()
        } else if self.at(slot).credentials().is_valid(now) {
            Err(())
        } else {
            Ok(Some(Failure::bare(FailureClass::GrantEnded, "grant_rejected")))
        };
        process.step(|| match finding {
            Err(()) => {
                let jitter_fifths = self.jitter_fifths;
                let credentials = self.at(slot).credentials();
                let mut next = None;
                if credentials.attempts > 0 {
                    credentials.attempts += 1;
                    next = Some(now + pause(credentials.attempts) / 100 * (80 + 8 * jitter_fifths));
                }
                credentials.reschedule(next, Some(check));
            }
            Ok(Some(failure)) => self.record_failure(slot, failure),
            Ok(None) => {
                self.at(slot).credentials().record_success(check);
                self.record_success(slot);
            }
        })
    }

    /// Stores new credentials in a connection.
    pub fn store(&mut self, slot: usize, state: &'static str, new: StoredCredentials) {
        let now = self.now;
        let connection = self.at(slot);
        let former = connection.credentials.clone();
        connection.reported = None;
        connection.active = true;
        if connection.state != state {
            (connection.state, connection.since) = (state, now);
        }
        self.record_event(slot, if former.is_some() { "reconnected" } else { "connected" });
        let is_other = former.as_ref().is_some_and(|former| former.scopes != new.scopes);
        let (check, enqueued_until) =
            former.map_or((None, None), |former| (former.check, former.enqueued_until));
        let chosen = check.is_none().then_some(ChosenTime::Within(now, now + DAY));
        self.at(slot).credentials =
            Some(StoredCredentials { check, enqueued_until, chosen, refreshed: now, ..new });
        if is_other {
            self.record_event(slot, "scopes_changed");
        }
    }

    /// Completes a connect attempt at the callback. `id` is that of a new connection.
    pub fn return_from_platform(
        &mut self,
        process: &mut Process,
        slot: usize,
        response: TokenResponse,
        id: &str,
    ) -> Result<(), ProcessKilled> {
        process.step(|| ())?;
        process.step(|| {
            self.calls += 1;
            self.issued_count += u64::from(matches!(response, TokenResponse::Good { .. }));
        })?;
        if response.failure().is_some() {
            return process.step(|| ());
        }
        // The service requests the account.
        process.step(|| self.calls += 1)?;
        process.step(|| {
            let mut credentials = StoredCredentials::default();
            credentials.adopt_tokens(response, self.issued_count, self.now, Some("read"));
            credentials.is_account_known = true;
            let former = self.slots[slot].as_ref().and_then(|former| former.credentials.clone());
            let has_ended = |former: &StoredCredentials| {
                former.reason.as_ref().is_some_and(|value| value.0 == "grant_ended")
            };
            let former = former.filter(|former| former.is_account_known && !has_ended(former));
            credentials.refresh =
                credentials.refresh.take().or(former.and_then(|former| former.refresh));
            if self.slots[slot].is_none() {
                self.create(slot, id, "operational");
            }
            self.store(slot, "operational", credentials);
        })
    }

    pub fn create(&mut self, slot: usize, id: &str, state: &'static str) {
        let (id, since) = (id.to_owned(), self.now);
        let (active, reported, tags, credentials) = (true, None, 0, None);
        let new = Connection { id, state, since, active, reported, tags, credentials };
        self.slots[slot] = Some(new);
        self.record_event(slot, "created");
    }

    /// Stores an API key.
    pub fn put_key(
        &mut self,
        process: &mut Process,
        slot: usize,
        response: TokenResponse,
    ) -> Result<bool, ProcessKilled> {
        process.step(|| ())?;
        process.step(|| self.calls += 1)?;
        // Only a rejected key is not stored.
        let (state, reason) = match response.check_result() {
            Ok(None) => ("operational", None),
            Ok(Some(failure)) if failure.class == FailureClass::GrantEnded => return Ok(false),
            Ok(Some(failure)) => ("unknown", Some(failure.status)),
            Err(()) => {
                let is_denied =
                    matches!(response, TokenResponse::InvalidClient | TokenResponse::Denied);
                ("unknown", Some(Some(if is_denied { 403 } else { 404 })))
            }
        };
        let detail =
            "The platform did not say whether it accepts the credentials. They were stored.";
        let reason = reason.map(|status| Reason("not_checked", Some(detail), status));
        let credentials = StoredCredentials { reason, ..StoredCredentials::default() };
        process.step(|| self.calls += 1)?;
        process.step(|| self.store(slot, state, credentials))?;
        Ok(true)
    }

    /// Imports a refresh token.
    pub fn import(&mut self, process: &mut Process, slot: usize) -> Result<(), ProcessKilled> {
        process.step(|| ())?;
        process.step(|| {
            let now = self.now;
            let credentials = StoredCredentials {
                refresh: Some("rt-imported".to_owned()),
                issued: now,
                expires: Some(now),
                ..StoredCredentials::default()
            };
            self.store(slot, "unknown", credentials);
        })
    }

    pub fn report(
        &mut self,
        slot: usize,
        state: &'static str,
        active: Option<bool>,
        reason: Option<&'static str>,
    ) -> u16 {
        let Some(connection) = &mut self.slots[slot] else { return 404 };
        if connection.credentials.is_some() {
            return 409;
        }
        let before = (connection.state, connection.active, connection.reported);
        let reported = if reason.is_some() || state != before.0 { reason } else { before.2 };
        let after = (state, active.unwrap_or(before.1), reported);
        if after != before {
            (connection.active, connection.reported) = (after.1, after.2);
            self.set_state(slot, state);
        }
        200
    }

    pub fn status(&self, slot: usize) -> Value {
        let Some(connection) = &self.slots[slot] else { return Value::Null };
        let reason = connection.reason();
        let actor = match (connection.state, reason.as_ref().map(|reason| reason.0)) {
            ("failed", _) => "user",
            ("degraded", Some("client_rejected" | "request_rejected")) => "account",
            _ => "nobody",
        };
        let credentials = connection.credentials.as_ref();
        let time = |at: Option<u64>| at.and_then(rfc3339);
        json!({
            "state": connection.state, "since": rfc3339(connection.since), "actor": actor,
            "reason": reason.map_or(Value::Null, |reason| reason.json()),
            "attempts": credentials.map_or(0, |credentials| credentials.attempts),
            "nextAttemptAt": time(credentials.and_then(|credentials| credentials.next)),
            "expiresAt": time(credentials.and_then(|credentials| credentials.expires)),
            "lastRefreshedAt": time(credentials.map(|credentials| credentials.refreshed)),
            "scopes": credentials.map_or_else(BTreeSet::new, |credentials| credentials.scopes.clone()),
            "missingScopes": credentials.map_or_else(BTreeSet::new, |credentials| credentials.missing.clone()),
            "holdsCredentials": credentials.is_some(), "awaitsCutOver": false, "authMethod": credentials.map(|_| if SLOTS[slot].0 == "acme" { "oauth" } else { "key" }), "client": credentials.filter(|_| SLOTS[slot].0 == "acme").map(|_| "default"), "active": connection.active,
        })
    }
}

impl StoredCredentials {
    /// Stores the tokens of a response. `scopes` are the requested ones, in case the platform does
    /// not list the granted ones.
    pub fn adopt_tokens(
        &mut self,
        response: TokenResponse,
        index: u64,
        now: u64,
        requested: Option<&'static str>,
    ) {
        let TokenResponse::Good { life, rotates, scopes } = response else { return };
        self.access = format!("at-{index}");
        (self.issued, self.refreshed) = (now, now);
        self.expires = life.map(|life| now + life * SECOND);
        if rotates {
            self.refresh = Some(format!("rt-{index}"));
        }
        if let Some(scopes) = scopes.or(requested) {
            let known = self.scopes.union(&self.missing).copied().chain(requested);
            let granted: BTreeSet<_> = scopes.split(' ').collect();
            self.missing = known.filter(|scope| !granted.contains(scope)).collect();
            self.scopes = granted;
        }
    }
}
