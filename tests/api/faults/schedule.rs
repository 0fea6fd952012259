//! Work without a request: a fault during a run loses nothing, and the queue may repeat and reorder
//! messages.

use connector_vault::http::{Config, Service};
use connector_vault::jobs;
use connector_vault::ports::{HttpRequest, HttpResponse};
use serde_json::json;

use super::ports::{Call, Fault, FaultyPorts, InjectedFault, RowFault};
use super::{BUSY, InitialState, PLATFORMS, inconsistencies, sample_faults};
use crate::connect::{self, ann_connect_body, connected, script, send, set_client};
use crate::rng::TestRng;
use crate::support::{Api, config};
use crate::vault::{CONNECTIONS, at};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// More due checks than one run processes without the queue.
const DUE_CHECKS: usize = 10;
/// The number of faults of each kind that `npm test` injects, at first, middle and last calls.
const FAULTS_PER_KIND: usize = 3;

fn settings() -> Config {
    config(&connect::SETTINGS)
}

/// Returns a service with due checks, a due retry of a revocation, and due deliveries.
fn fixture() -> Api {
    let api = connect::maintenance::api_at_current_time();
    set_client(&api, "acme");
    set_client(&api, "revoked");
    let hook = json!({"url": "https://hooks.example/in", "types": ["connection.deleted"]});
    assert_eq!(send(&api, "POST", "/v1/webhooks", &hook).status, 201);
    let id = connected(
        &api,
        &ann_connect_body("revoked"),
        &json!({"access_token": "a", "refresh_token": "r"}),
    );
    api.env.database.execute("DELETE FROM connect_attempts", []).unwrap();
    script(&api, &[(503, json!({}))]);
    assert_eq!(api.send(&api.request("DELETE", &at(&id))).status, 204);
    for index in 0..DUE_CHECKS {
        let payload = json!({"platform": "acme", "identity": format!("user {index}"), "identityType": "user"});
        let created = crate::support::body(&send(&api, "POST", CONNECTIONS, &payload));
        let path = format!("{}/credentials", at(created["id"].as_str().unwrap()));
        let credentials = json!({"type": "oauth2", "refreshToken": format!("rt-{index}")});
        assert_eq!(send(&api, "PUT", &path, &credentials).status, 204);
    }
    api.env.database.execute("UPDATE credentials SET check_at = 1", []).unwrap();
    *api.env.platform.borrow_mut() = Box::new(|request: &HttpRequest| {
        if request.url.contains("hooks.example") {
            return Ok(HttpResponse { status: 204, ..HttpResponse::default() });
        }
        connect::response(
            200,
            &json!({"access_token": "a", "refresh_token": "r", "expires_in": 360_000}),
        )
    });
    api.env.wait(2 * 3_600_000);
    api
}

/// Runs the schedule `count` times with pauses. The queue delivers messages twice and in reverse
/// order.
fn runs(api: &Api, count: u64, pause: u64) {
    for _ in 0..count {
        api.env.wait(pause);
        pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
        for message in api.env.messages().iter().rev() {
            for _ in 0..2 {
                pollster::block_on(jobs::consume(&api.service, &api.env, message)).unwrap();
            }
        }
    }
}

/// Descriptions of work that is not done yet.
fn unfinished_work(api: &Api) -> Vec<String> {
    let queries = [
        "SELECT 'not checked: ' || connection_id FROM credentials WHERE refreshed_at IS NULL OR reason_code IS NOT NULL",
        "SELECT 'not operational: ' || id FROM connections WHERE state <> 'operational'",
        "SELECT 'not revoked: ' || connection_id FROM revocations",
        "SELECT 'not delivered: ' || event_id FROM deliveries WHERE state <> 'delivered' AND EXISTS (SELECT 1 FROM webhooks WHERE active = 1)",
    ];
    queries.into_iter().flat_map(|sql| api.env.texts(sql)).chain(inconsistencies(api)).collect()
}

fn faults_of_call(at: usize, call: Call) -> Vec<InjectedFault> {
    let faults: Vec<Fault> = match call {
        Call::Batch(statements) => {
            let misread =
                (0..statements).map(|index| Fault::DamagesRows(index, RowFault::OnlyValue("true")));
            let reported = [
                "D1_ERROR: Network connection lost.",
                "D1_ERROR: D1 DB is overloaded. Too many requests queued.",
            ]
            .into_iter()
            .flat_map(|report| [Fault::ErrorBefore(report), Fault::ErrorAfter(report)]);
            let others =
                [Fault::ErrorBefore(BUSY), Fault::NoResultSets, Fault::Hangs, Fault::HangsAfter];
            misread.chain(reported).chain(others).collect()
        }
        Call::Value => vec![Fault::Unreadable, Fault::Hangs],
        Call::Platform => PLATFORMS.to_vec(),
        Call::Queue => vec![Fault::Rejects, Fault::NoQueue, Fault::Hangs],
        Call::Limit => Vec::new(),
    };
    let both =
        |fault| [false, true].map(|is_permanent| InjectedFault { fault, at, call, is_permanent });
    faults.into_iter().flat_map(both).collect()
}

/// Runs `work` with faults of each kind (all of them in `npm run proof`), and then the schedule
/// without faults. Returns the number of faults.
fn run_with_faults(before: impl Fn(&Api), work: impl Fn(&Api, &FaultyPorts<'_>)) -> usize {
    let mut api = fixture();
    before(&api);
    drop(api.env.take_messages());
    let start = InitialState::new(&api.env);
    let faulty = FaultyPorts::new(&api.env, None);
    work(&api, &faulty);
    let calls = faulty.recording.take().calls;
    let mut all = Vec::new();
    let mut platform_calls = 0;
    for (at, call) in calls.into_iter().enumerate() {
        // Faults at the calls to other platforms would repeat those of the first platform.
        platform_calls += usize::from(call == Call::Platform);
        if call == Call::Platform && platform_calls > 3 {
            continue;
        }
        all.extend(faults_of_call(at, call));
    }
    let count = all.len();
    let (mut tried_count, mut failures) = (0, Vec::new());
    for injected_fault in sample_faults(&mut TestRng(9), FAULTS_PER_KIND, all) {
        tried_count += 1;
        start.restore(&api.env);
        api.service = Service::new(settings());
        let faulty = FaultyPorts::new(&api.env, Some(injected_fault));
        work(&api, &faulty);
        // The work of a run that failed is due again after ten minutes.
        runs(&api, 15, MINUTE);
        if injected_fault.call == Call::Platform {
            // A platform may request a pause of a week.
            runs(&api, 30, 6 * HOUR);
        }
        let unfinished_work = unfinished_work(&api);
        if !unfinished_work.is_empty() {
            failures.push(format!("{injected_fault:?}: {}", unfinished_work.join("; ")));
        }
    }
    println!("runs in trouble: {tried_count} of {count}");
    assert!(failures.is_empty(), "{} of {tried_count}:\n{}", failures.len(), failures.join("\n"));
    count
}

#[test]
fn a_run_of_the_schedule_loses_nothing() {
    let count = run_with_faults(
        |_| (),
        |api, ports| drop(pollster::block_on(jobs::run_minute(&api.service, ports))),
    );
    assert!(count > 100, "{count}");
}

#[test]
fn a_few_checks_lose_nothing() {
    let few = |api: &Api| {
        let sql = "DELETE FROM connections WHERE identity > 'user 2' AND platform = 'acme'";
        api.env.database.execute(sql, []).unwrap();
    };
    let count = run_with_faults(few, |api, ports| {
        drop(pollster::block_on(jobs::run_minute(&api.service, ports)));
    });
    assert!(count > 100, "{count}");
}

#[test]
fn a_message_of_the_queue_loses_nothing() {
    let count = run_with_faults(
        |_| (),
        |api, ports| {
            pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
            for message in api.env.messages() {
                drop(pollster::block_on(jobs::consume(&api.service, ports, &message)));
            }
        },
    );
    assert!(count > 100, "{count}");
}
