//! Storage, platforms and the queue fail at each call in turn, for each endpoint of the table. Each
//! request ends with the correct response or an accurate error, nothing is partially written, and
//! the next request succeeds.

mod cases;
mod ports;
mod schedule;

use std::collections::HashSet;
use std::mem;
use std::mem::{Discriminant, discriminant};
use std::sync::LazyLock;

use connector_vault::http::endpoint::{Endpoint, Keyed, Open};
use connector_vault::http::handle::handle;
use connector_vault::http::{Request, Response, Service};
use connector_vault::openapi::RecordedResponses;
use connector_vault::ports::{HttpError, HttpResponse};

use serde_json::Value as Json;

use self::cases::{Case, cases};
use self::ports::{Call, Fault, FaultyPorts, InjectedFault, Recording, RowFault, Value, database};
use crate::counters::wrong_counters;
use crate::rng::{TestRng, sample};
use crate::support::{Api, TestEnv, with_full_body};

/// The documented responses.
static RECORDED: LazyLock<RecordedResponses> =
    LazyLock::new(|| RecordedResponses::recorded().unwrap());

/// The error of local D1 while another program writes. No statement was executed.
const BUSY: &str = "D1_ERROR: database is locked: SQLITE_BUSY";

/// The documented and some undocumented error messages of D1.
const D1_ERRORS: [&str; 20] = [
    "D1_ERROR: Network connection lost.",
    "D1_ERROR: D1 DB reset because its code was updated.",
    "D1_ERROR: Internal error in D1 DB storage caused object to be reset.",
    "D1_ERROR: Internal error while starting up D1 DB storage caused object to be reset.",
    BUSY,
    "D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.",
    "D1_ERROR: Can't read from request stream because client disconnected.",
    "D1_ERROR: D1 DB is overloaded. Requests queued for too long.",
    "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
    "D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.",
    "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
    "D1_ERROR: D1 DB exceeded its CPU time limit and was reset.",
    "D1_ERROR: Exceeded maximum DB size.",
    "D1_ERROR: Your account has exceeded D1's maximum account storage limit.",
    "D1_ERROR: Memory limit would be exceeded before EOF.",
    "D1_EXEC_ERROR: Error in line 1: SELECT: sql error: near \"SELECT\": syntax error",
    "D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'",
    "D1_COLUMN_NOTFOUND: Column not found (id)",
    "something else at /secret/path",
    "",
];

/// The number of entries at the start of [`D1_ERRORS`] after which the batch may have run and may be
/// repeated.
const LOST_RESPONSE_COUNT: usize = 4;

/// Malformed rows that D1 should never return.
const ROWS: [RowFault; 8] = [
    RowFault::Replaced(""),
    RowFault::Replaced("null"),
    RowFault::Replaced("{}"),
    RowFault::Replaced("[7]"),
    RowFault::Replaced("[null]"),
    RowFault::Truncated,
    RowFault::OnlyValue("true"),
    RowFault::OnlyValue("{\"a\":[]}"),
];

const VALUES: [Value; 7] = [
    Value::Missing,
    Value::Empty,
    Value::Halved,
    Value::Flipped(1),
    Value::Flipped(50),
    Value::Flipped(99),
    Value::Swapped,
];

/// The maximum time that a request waits for storage that does not respond, in milliseconds.
/// Requests with new tokens wait longest, because they retry storing the tokens.
const MAX_MS: u32 = 41_000;

const JSON: (&str, &str) = ("content-type", "application/json");
const HTML: (&str, &str) = ("content-type", "text/html");

/// The faults of platforms.
const PLATFORMS: [Fault; 26] = [
    Fault::RequestFails(HttpError::Unreachable),
    Fault::RequestFails(HttpError::TimedOut),
    Fault::RequestFails(HttpError::TooLarge),
    Fault::RequestFails(HttpError::CallerDisconnected),
    Fault::Responds(200, &[], ""),
    Fault::Responds(200, &[JSON], "{"),
    Fault::Responds(200, &[JSON], "null"),
    Fault::Responds(200, &[JSON], "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
    Fault::Responds(200, &[JSON], "{\"access_token\":7,\"expires_in\":{},\"id\":[]}"),
    Fault::Responds(200, &[JSON], "{\"access_token\":\"\",\"id\":\"\"}"),
    Fault::Responds(200, &[JSON], "{\"error\":\"invalid_grant\"}"),
    Fault::Responds(200, &[HTML], "<h1>Maintenance</h1>"),
    Fault::Responds(204, &[], ""),
    Fault::Responds(302, &[("location", "https://evil.example/")], ""),
    Fault::Responds(302, &[("location", "/user")], ""),
    Fault::Responds(400, &[JSON], "{\"error\":\"invalid_grant\"}"),
    Fault::Responds(401, &[JSON], "{\"error\":\"invalid_client\"}"),
    Fault::Responds(401, &[], ""),
    Fault::Responds(403, &[HTML], "<h1>No</h1>"),
    Fault::Responds(404, &[], ""),
    Fault::Responds(408, &[], ""),
    Fault::Responds(410, &[], ""),
    Fault::Responds(429, &[("retry-after", "99999999999999999999")], ""),
    Fault::Responds(500, &[("content-length", "7"), ("set-cookie", "a=b")], "\u{0}\u{7f}"),
    Fault::Responds(503, &[("retry-after", "soon")], ""),
    Fault::Responds(599, &[("x-vault-source", "vault")], ""),
];

fn faults_of_call(at: usize, call: Call) -> Vec<InjectedFault> {
    let injected_fault = |fault, is_permanent| InjectedFault { fault, at, call, is_permanent };
    let once = |fault| injected_fault(fault, false);
    let both = |fault| [injected_fault(fault, false), injected_fault(fault, true)];
    match call {
        Call::Batch(statements) => {
            let lost = D1_ERRORS[..LOST_RESPONSE_COUNT]
                .iter()
                .flat_map(|report| both(Fault::ErrorAfter(report)));
            let refused = D1_ERRORS.iter().flat_map(|report| both(Fault::ErrorBefore(report)));
            let misreports =
                (0..statements).flat_map(|index| ROWS.map(|rows| Fault::DamagesRows(index, rows)));
            lost.chain(refused)
                .chain([Fault::Hangs, Fault::HangsAfter].into_iter().flat_map(both))
                .chain([Fault::NoResultSets].into_iter().chain(misreports).map(once))
                .collect()
        }
        Call::Value => {
            let damages = VALUES.map(Fault::Damages);
            [Fault::Unreadable, Fault::Hangs].into_iter().chain(damages).flat_map(both).collect()
        }
        Call::Platform => PLATFORMS.into_iter().flat_map(both).collect(),
        Call::Queue => {
            [Fault::Rejects, Fault::NoQueue, Fault::Hangs].into_iter().flat_map(both).collect()
        }
        Call::Limit => vec![once(Fault::Limits), once(Fault::Hangs)],
    }
}

/// Returns a sample of `count` faults of each kind at several calls, or all faults in
/// `npm run proof`.
fn sample_faults(
    rng: &mut TestRng,
    count: usize,
    faults_of_call: Vec<InjectedFault>,
) -> Vec<InjectedFault> {
    let mut kinds: Vec<(Discriminant<Fault>, Vec<InjectedFault>)> = Vec::new();
    for injected_fault in faults_of_call {
        let kind = discriminant(&injected_fault.fault);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of_kind)) => of_kind.push(injected_fault),
            None => kinds.push((kind, vec![injected_fault])),
        }
    }
    kinds.into_iter().flat_map(|(_, of_kind)| sample(rng, count, of_kind)).collect()
}

/// Returns inconsistencies in the database, which no fault may cause.
fn inconsistencies(api: &Api) -> Vec<String> {
    let queries = [
        "SELECT connection_id FROM credentials h WHERE NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = h.connection_id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status = 'succeeded' AND NOT EXISTS (SELECT 1 FROM connections c WHERE c.id = a.connection_id)",
        "SELECT a.id FROM connect_attempts a WHERE a.status IN ('succeeded', 'failed') AND a.sealed IS NOT NULL",
    ];
    queries.into_iter().flat_map(|sql| api.env.texts(sql)).chain(wrong_counters(&api.env)).collect()
}

/// The initial state of a case, from which it can be repeated.
struct InitialState {
    now: u64,
    random_state: u64,
}

impl InitialState {
    fn new(env: &TestEnv) -> Self {
        // The time of a connection's check is random, including in triggers.
        env.database.fix_random();
        env.database.execute_batch("SAVEPOINT start").unwrap();
        Self { now: env.now.get(), random_state: env.random_state() }
    }

    fn restore(&self, env: &TestEnv) {
        env.database.execute_batch("ROLLBACK TO start").unwrap();
        env.now.set(self.now);
        env.restore_random_state(self.random_state);
        drop(env.take_messages());
    }
}

/// A case, and the recording of its run without a fault.
struct RecordedCase {
    case: Case,
    start: InitialState,
    expected: Response,
    /// The response to the same request when it is repeated.
    repeated_response: Response,
    recording: Recording,
}

impl RecordedCase {
    fn new(mut case: Case) -> Self {
        let start = InitialState::new(&case.api.env);
        case.api.service = Service::new((case.config)());
        let faulty = FaultyPorts::new(&case.api.env, None);
        let expected = send(&case.api, &faulty, &case.request);
        let recording = faulty.recording.take();
        assert!(
            expected.status < 400,
            "{}: {}",
            case.name,
            String::from_utf8_lossy(&expected.body)
        );
        let responses = recording.responses.clone();
        *case.api.env.platform.borrow_mut() = Box::new(move |request| {
            let unknown = HttpResponse { status: 404, ..HttpResponse::default() };
            Ok(responses.get(&request.url).cloned().unwrap_or(unknown))
        });
        let repeated_response = case.api.send(&case.request);
        Self { case, start, expected, repeated_response, recording }
    }

    /// Repeats the case with a fault. Returns the errors in its outcome.
    fn run_with_fault(&mut self, injected_fault: InjectedFault) -> Vec<String> {
        let Self { case, start, expected, repeated_response, recording } = self;
        let api = &mut case.api;
        start.restore(&api.env);
        api.service = Service::new((case.config)());
        api.env.pauses.take();
        let faulty = FaultyPorts::new(&api.env, Some(injected_fault));
        let response = send(api, &faulty, &case.request);
        let api = &case.api;
        let mut failures = Vec::new();
        let waited: u32 = api.env.pauses.take().iter().sum();
        if waited > MAX_MS {
            failures.push(format!("responded after {waited} ms"));
        }
        let is_right = response.status == expected.status && response.body == expected.body;
        if !is_right && !is_documented_error(case, &injected_fault, expected, &response) {
            failures.push(format!(
                "{} {}",
                response.status,
                String::from_utf8_lossy(&response.body)
            ));
        }
        failures.extend(leaks(api, &response));
        let state = database(&api.env);
        let is_refused = response.status >= 400 && writes_after_platform_call(case.endpoint);
        // An approved call may end with any outcome, which is stored encrypted for the agent.
        let is_kept =
            case.endpoint == Endpoint::Open(Open::AgentDecision) && response.status == 200;
        let is_comparable = !is_kept && (injected_fault.call != Call::Platform || is_refused);
        if is_comparable && !recording.states.contains(&state) {
            let last = recording.states.last().unwrap();
            let extra = state.iter().filter(|row| !last.contains(row));
            let less = last.iter().filter(|row| !state.contains(row));
            let rows = extra.map(|row| format!("+{row}")).chain(less.map(|row| format!("-{row}")));
            failures.push(format!("half written: {:?}", rows.collect::<Vec<_>>()));
        }
        failures.extend(inconsistencies(api));
        // Repeats the request. If the response requests a pause, repeats it again afterwards.
        let is_untouched = state == recording.states[0];
        let may_be = |status| {
            let is_end =
                status == repeated_response.status || case.repeat_statuses.contains(&status);
            status == expected.status || (!is_untouched && is_end)
        };
        let mut next = api.send(&case.request);
        if next.status == 503 || case.pause_statuses.contains(&next.status) {
            let requested = next.header("retry-after").unwrap_or_default().parse().unwrap_or(0);
            // A lease may last longer than the requested pause.
            api.env.wait(180_000.max(requested * 1000 + 1));
            next = api.send(&case.request);
        }
        if !may_be(next.status) {
            failures.push(format!("next: {} {}", next.status, String::from_utf8_lossy(&next.body)));
        }
        failures.extend(inconsistencies(api));
        failures
    }
}

/// Whether an endpoint calls a platform before it writes, and writes nothing if the platform
/// refuses.
fn writes_after_platform_call(endpoint: Endpoint) -> bool {
    matches!(endpoint, Endpoint::Keyed(Keyed::Connect | Keyed::SetCredentials))
}

fn send(api: &Api, ports: &FaultyPorts<'_>, request: &Request) -> Response {
    let shard = api.service.shard(request);
    with_full_body(
        api.env.within(shard, || pollster::block_on(handle(&api.service, ports, request))),
    )
}

/// Whether a response reports an error that is documented for the endpoint.
fn is_documented_error(
    case: &Case,
    injected_fault: &InjectedFault,
    expected: &Response,
    response: &Response,
) -> bool {
    let text = String::from_utf8_lossy(&response.body);
    let problem = serde_json::from_slice(&response.body).unwrap_or(Json::Null);
    let code = problem["code"].as_str().unwrap_or_default();
    // A failed tool call is reported in the tool's result.
    let is_tool = matches!(case.endpoint, Endpoint::Open(Open::Mcp | Open::AgentMcp));
    if is_tool && problem["result"]["isError"] == true {
        return true;
    }
    // The user who approves a call sees whether it succeeded; the agent gets the reason if it did not.
    if matches!(case.endpoint, Endpoint::Open(Open::AgentDecision)) && response.status == 200 {
        let of_platform = ["The platform refused the call", "the platform responded"];
        let of_service = [
            "The call was not made.",
            "The platform did not respond.",
            "will not receive the result.",
        ];
        return of_service.iter().any(|phrase| text.contains(phrase))
            || (injected_fault.call == Call::Platform
                && of_platform.iter().any(|phrase| text.contains(phrase)));
    }
    match (injected_fault.call, response.status) {
        // A response that the platform itself sent has this header.
        (Call::Platform, _) if response.header("x-vault-source") == Some("platform") => true,
        (Call::Platform, 503) if text.contains("You can&#39;t sign in at the moment") => true,
        (Call::Platform, 502) if text.contains("The file can&#39;t be downloaded") => true,
        (_, 503) => {
            ["unavailable", "refresh_failed"].contains(&code)
                && response.header("retry-after").is_some()
        }
        // The first request ended the session, so the token is invalid.
        (Call::Batch(_), 401) => matches!(case.endpoint, Endpoint::Keyed(Keyed::SignOut)),
        (Call::Limit, 429) => code == "too_many_requests",
        (Call::Platform, status) => match case.endpoint {
            Endpoint::Keyed(_) if status < 400 => status == expected.status,
            Endpoint::Keyed(_) => RECORDED.for_endpoint(case.endpoint).problems.contains_key(code),
            Endpoint::Open(_) => {
                text.contains("could not be connected") || text.contains("was not connected")
            }
        },
        _ => false,
    }
}

/// Describes each secret in the log, and each internal detail in a 5xx response.
fn leaks(api: &Api, response: &Response) -> Vec<String> {
    let mut found = Vec::new();
    let log = response.log.as_deref().unwrap_or_default();
    for secret in [
        api.key.reveal(),
        "example-access-token",
        "example-refresh-token",
        "example-secret",
        "example-token",
    ] {
        if log.contains(secret) {
            found.push(format!("the log has {secret}"));
        }
    }
    if response.status >= 500 {
        let text = String::from_utf8_lossy(&response.body);
        for inside in ["D1", "SQL", "/secret", "api_keys", "KV"] {
            if text.contains(inside) {
                found.push(format!("the response contains {inside}"));
            }
        }
    }
    found
}

/// Runs each case with faults of the matching calls: `sample_size` of each kind, or all in
/// `npm run proof`. Returns their number.
fn run_with_faults(sample_size: usize, matches_call: impl Fn(Call) -> bool) -> usize {
    let (mut count, mut tried_count, mut failures) = (0, 0, Vec::new());
    let mut rng = TestRng(5);
    // If a case has several calls, faults must hit the first, a middle and the last one.
    let (mut places, mut all_places) = (HashSet::new(), HashSet::new());
    for case in cases() {
        let mut proof = RecordedCase::new(case);
        let calls = mem::take(&mut proof.recording.calls);
        let calls: Vec<(usize, Call)> =
            calls.into_iter().enumerate().filter(|(_, call)| matches_call(*call)).collect();
        let place = |at: usize| {
            let index = calls.iter().position(|(other, _)| *other == at).unwrap();
            (index == 0, index + 1 == calls.len())
        };
        all_places.extend(calls.iter().map(|(at, _)| place(*at)));
        let all: Vec<InjectedFault> =
            calls.iter().flat_map(|(at, call)| faults_of_call(*at, *call)).collect();
        count += all.len();
        for injected_fault in sample_faults(&mut rng, sample_size, all) {
            tried_count += 1;
            places.insert(place(injected_fault.at));
            let found = proof.run_with_fault(injected_fault);
            if !found.is_empty() {
                failures.push(format!(
                    "{} {injected_fault:?}: {}",
                    proof.case.name,
                    found.join("; ")
                ));
            }
        }
    }
    println!("injected faults: {tried_count} of {count}");
    assert!(failures.is_empty(), "{} of {tried_count}:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(places, all_places, "the places of the calls that failed");
    count
}

#[test]
fn storage_failures_corrupt_nothing() {
    assert!(run_with_faults(1, |call| matches!(call, Call::Batch(_))) > 1000);
}

#[test]
fn a_damaged_catalog_corrupts_nothing() {
    assert!(run_with_faults(1, |call| call == Call::Value) > 100);
}

#[test]
fn platform_failures_corrupt_nothing() {
    assert!(run_with_faults(2, |call| call == Call::Platform) > 100);
}

#[test]
fn rate_limited_requests_change_nothing() {
    assert!(run_with_faults(1, |call| call == Call::Limit) > 10);
}
