//! Deliveries of events: contents, times and outcomes.

use std::cell::Cell;
use std::collections::HashSet;

use connector_vault::http::Service;
use connector_vault::terms::{Environment, Scope};

use super::*;
use crate::plans::plan;
use crate::rng::TestRng;
use crate::support::{SLOW_ORIGIN, as_key, with_body};

#[test]
fn events_are_delivered_immediately_and_signed() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    connect(&api, "eve");
    let got = receiver.take();
    let [request] = got.as_slice() else { panic!("{got:?}") };
    assert_eq!((request.method.as_str(), request.url.as_str()), ("POST", URL));
    assert_eq!(header(request, "content-type"), "application/json");
    assert_eq!(header(request, "user-agent"), "connector-vault");
    let seconds = api.env.now.get() / 1000;
    assert_eq!(header(request, "webhook-timestamp"), seconds.to_string());
    assert!(is_signed(request, &webhook["secret"]));
    api.env.wait(5 * SECOND);
    assert_eq!(api.env.messages(), Vec::<String>::new(), "it is not sent again");
    let listed = read(&api, "/v1/events")["rows"][0].clone();
    assert_eq!(event(request), listed, "the same document as in the list");
    assert_eq!(listed["id"], header(request, "webhook-id"));
    assert_eq!(
        deliveries(&api, &webhook),
        [json!({
            "event": listed["id"], "type": "connection.created", "occurredAt": listed["occurredAt"],
            "state": "delivered", "attempts": 1, "lastAttemptAt": listed["occurredAt"], "nextAttemptAt": null,
            "httpStatus": 204, "error": null, "durationMs": 0,
        })]
    );
}

#[test]
fn the_queue_delivers_what_exceeds_one_batch() {
    let api = api();
    let receiver = Receiver::new(&api);
    for _ in 0..12 {
        create(&api, &json!({"url": URL}));
    }
    connect(&api, "eve");
    assert_eq!(receiver.take().len(), 12);
    // The response's own run sends the first unsent deliveries, and the queue sends the others
    // concurrently.
    for identity in ["ann", "bob"] {
        send(&api, "POST", CONNECTIONS, &minimal(identity));
    }
    api.env.messages();
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!((receiver.take().len(), api.env.messages().len()), (8, 3));
}

#[test]
fn each_webhook_gets_only_its_types() {
    let api = api();
    let receiver = Receiver::new(&api);
    let url = |name: &str| format!("https://app.example/{name}");
    create(&api, &json!({"url": url("all")}));
    create(
        &api,
        &json!({"url": url("failed"), "types": ["connection.failed", "connection.deleted"]}),
    );
    let paused = create(&api, &json!({"url": url("paused"), "active": false}));
    let id = connect(&api, "eve");
    fail(&api, &id);
    let got: Vec<_> = receiver
        .take()
        .iter()
        .map(|request| (request.url.clone(), event(request)["type"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [("all", "created"), ("all", "failed"), ("failed", "failed")];
    let expected = expected.map(|(name, kind)| (url(name), format!("connection.{kind}")));
    assert_eq!(got.iter().collect::<HashSet<_>>(), expected.iter().collect());
    assert_eq!(got.len(), 3);
    assert_eq!(deliveries(&api, &paused), Vec::<Value>::new());
}

#[test]
fn failed_deliveries_are_retried() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    receiver.respond(|_| status(500));
    connect(&api, "eve");
    assert_eq!(receiver.take().len(), 1);
    // The queue retries the delivery after five seconds.
    api.env.wait(5 * SECOND - 1);
    queue(&api);
    assert_eq!(receiver.take().len(), 0);
    api.env.wait(1);
    queue(&api);
    let second = receiver.take().remove(0);
    let row = &deliveries(&api, &webhook)[0];
    assert_eq!(
        (&row["attempts"], &row["state"], &row["httpStatus"]),
        (&json!(2), &json!("pending"), &json!(500))
    );
    assert!(read(&api, &path(&webhook, ""))["failingSince"].is_string());
    // Only the second attempt uses the queue.
    assert_eq!(api.env.take_messages(), []);
    // After five minutes, the schedule sends the delivery.
    for _ in 0..4 {
        minute(&api);
    }
    assert_eq!(receiver.take().len(), 0);
    minute(&api);
    let third = receiver.take().remove(0);
    assert_eq!(
        (&third.body, header(&third, "webhook-id")),
        (&second.body, header(&second, "webhook-id"))
    );
    assert!(header(&third, "webhook-timestamp") > header(&second, "webhook-timestamp"));
    assert!(is_signed(&third, &webhook["secret"]));
    receiver.respond(|_| status(200));
    for _ in 0..31 {
        minute(&api);
    }
    assert_eq!(receiver.take().len(), 1);
    let row = &deliveries(&api, &webhook)[0];
    assert_eq!(
        (&row["attempts"], &row["state"], &row["nextAttemptAt"]),
        (&json!(4), &json!("delivered"), &Value::Null)
    );
    assert_eq!(read(&api, &path(&webhook, ""))["failingSince"], Value::Null);
}

#[test]
fn a_delivery_fails_after_ten_attempts_and_a_webhook_after_five_days() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    let other =
        create(&api, &json!({"url": "https://other.example/", "types": ["webhook.disabled"]}));
    receiver.respond(|request| status(if request.url == URL { 503 } else { 204 }));
    connect(&api, "eve");
    for _ in 0..4 * 24 * 60 {
        minute(&api);
    }
    assert_eq!(receiver.take().len(), 10);
    let row = &deliveries(&api, &webhook)[0];
    assert_eq!((&row["attempts"], &row["state"]), (&json!(10), &json!("failed")));
    assert_eq!(read(&api, &path(&webhook, ""))["active"], true);
    for _ in 0..24 * 60 {
        minute(&api);
    }
    let late = connect(&api, "late");
    let disabled = read(&api, &path(&webhook, ""));
    assert_eq!(disabled["active"], false);
    assert_eq!(disabled["disabled"], json!({"code": "no_success", "httpStatus": 503}));
    let row = &deliveries(&api, &webhook)[0];
    assert_eq!(
        (&row["type"], &row["state"], &row["attempts"]),
        (&json!("connection.created"), &json!("failed"), &json!(1))
    );
    minute(&api);
    let requests = receiver.take();
    let disabled_event = event(requests.iter().find(|request| request.url != URL).unwrap());
    assert_eq!(disabled_event["type"], "webhook.disabled");
    assert_eq!(
        disabled_event["data"],
        json!({"webhook": {"id": webhook["id"]}, "reason": {"code": "no_success", "detail": null, "httpStatus": 503}})
    );
    // A disabled webhook gets no deliveries until it is enabled again.
    fail(&api, &late);
    assert_eq!(receiver.take().len(), 0);
    let replay = json!({"from": "evt_0000000000001"});
    let refusal = send(&api, "POST", &path(&webhook, "/replay"), &replay);
    assert_eq!(body(&refusal)["code"], "webhook_inactive");
    receiver.respond(|_| status(204));
    let enabled = body(&send(&api, "PATCH", &path(&webhook, ""), &json!({"active": true})));
    assert_eq!((&enabled["disabled"], &enabled["failingSince"]), (&Value::Null, &Value::Null));
    let response = send(&api, "POST", &path(&webhook, "/replay"), &replay);
    assert_eq!((response.status, body(&response)), (202, json!({"queued": 4, "next": null})));
    run_after_response(&api, &response);
    assert_eq!(
        receiver.types(),
        ["connection.created", "connection.created", "webhook.disabled", "connection.failed"]
    );
    assert_eq!(deliveries(&api, &other).len(), 1);
}

#[test]
fn a_410_disables_the_webhook() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    receiver.respond(|_| status(410));
    connect(&api, "eve");
    let gone = read(&api, &path(&webhook, ""));
    assert_eq!(
        (&gone["active"], &gone["disabled"]),
        (&json!(false), &json!({"code": "gone", "httpStatus": 410}))
    );
    let events = read(&api, "/v1/events?types=webhook.disabled");
    assert_eq!(events["rows"].as_array().unwrap().len(), 1);
    assert_eq!(deliveries(&api, &webhook)[0]["state"], "failed");
    for _ in 0..10 {
        minute(&api);
    }
    assert_eq!(receiver.take().len(), 1);
}

#[test]
fn every_kind_of_failure_is_retried() {
    type PlatformFault = fn() -> Result<HttpResponse, HttpError>;
    let failures: [(PlatformFault, Value, Value, u64); 7] = [
        (|| status(302), json!(302), Value::Null, 5),
        (|| status(400), json!(400), Value::Null, 5),
        (|| Err(HttpError::Unreachable), Value::Null, json!("unreachable"), 5),
        (|| Err(HttpError::TimedOut), Value::Null, json!("timed_out"), 5),
        (
            || {
                let headers = vec![("retry-after".to_owned(), "90".to_owned())];
                Ok(HttpResponse { status: 429, headers, body: Vec::new() })
            },
            json!(429),
            Value::Null,
            90,
        ),
        (
            || {
                let headers = vec![("retry-after".to_owned(), "soon".to_owned())];
                Ok(HttpResponse { status: 503, headers, body: Vec::new() })
            },
            json!(503),
            Value::Null,
            5,
        ),
        (|| status(100), json!(100), Value::Null, 5),
    ];
    for (platform_fault, http_status, error, pause) in failures {
        let api = api();
        let receiver = Receiver::new(&api);
        let webhook = create(&api, &json!({"url": URL}));
        receiver.respond(move |_| platform_fault());
        connect(&api, "eve");
        let row = deliveries(&api, &webhook).remove(0);
        assert_eq!(
            (&row["state"], &row["httpStatus"], &row["error"]),
            (&json!("pending"), &http_status, &error)
        );
        receiver.respond(|_| status(200));
        api.env.wait(pause * SECOND - 1);
        deliver(&api);
        assert_eq!(receiver.take().len(), 1, "{row}");
        api.env.wait(1);
        deliver(&api);
        assert_eq!(receiver.take().len(), 1, "{row}");
        assert_eq!(deliveries(&api, &webhook)[0]["state"], "delivered");
    }
}

#[test]
fn a_url_that_is_no_longer_allowed_gets_nothing() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    api.env.database.execute("UPDATE webhooks SET url = 'https://127.0.0.1/'", []).unwrap();
    connect(&api, "eve");
    assert_eq!(receiver.take().len(), 0);
    assert_eq!(deliveries(&api, &webhook)[0]["error"], "address_refused");
}

#[test]
fn the_schedule_finishes_the_deliveries_of_an_interrupted_isolate() {
    let api = api();
    let receiver = Receiver::new(&api);
    create(&api, &json!({"url": URL}));
    // The isolate is killed after it has written the event, so no work runs after the response.
    let created = send(&api, "POST", CONNECTIONS, &minimal("eve"));
    assert_eq!((created.status, created.has_deliveries), (201, true));
    minute(&api);
    assert_eq!(receiver.types(), ["connection.created"]);
    // The isolate is killed after it has claimed a delivery. Another run sends that delivery a
    // minute later.
    receiver.respond(|_| panic!("the isolate dies"));
    let created = send(&api, "POST", CONNECTIONS, &minimal("ann"));
    assert!(created.has_deliveries);
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| deliver(&api)));
    assert!(died.is_err());
    receiver.responses.take();
    receiver.take();
    deliver(&api);
    assert_eq!(receiver.take().len(), 0, "another run may still be sending it");
    minute(&api);
    assert_eq!(receiver.types(), ["connection.created"]);
}

#[test]
fn many_events_go_through_the_queue_and_each_arrives_once() {
    let api = api();
    let receiver = Receiver::new(&api);
    create(&api, &json!({"url": URL}));
    let mut rng = TestRng(7);
    let mut ids = Vec::new();
    for index in 0..300 {
        if index % 3 == 2 {
            let id: &String = &ids[rng.below(ids.len())];
            let state = if rng.below(2) == 0 { "failed" } else { "operational" };
            let document = json!({"state": state});
            assert_eq!(send(&api, "PUT", &format!("{}/state", at(id)), &document).status, 200);
        } else {
            let created = send(&api, "POST", CONNECTIONS, &minimal(&format!("user {index}")));
            ids.push(body(&created)["id"].as_str().unwrap().to_owned());
        }
    }
    minute(&api);
    let got = receiver.take();
    let unique: HashSet<_> = got.iter().map(|request| header(request, "webhook-id")).collect();
    let listed = api.env.texts("SELECT id || '' FROM events").len();
    assert_eq!((got.len(), unique.len()), (listed, listed));
    // Without a queue, each minute processes as much as one run can.
    api.env.has_queue.set(false);
    for index in 0..20 {
        send(&api, "POST", CONNECTIONS, &minimal(&format!("more {index}")));
    }
    for expected in [8, 8, 4, 0] {
        minute(&api);
        assert_eq!(receiver.take().len(), expected);
    }
}

#[test]
fn outcomes_are_stored_while_a_slow_receiver_has_not_responded() {
    let api = api();
    let receiver = Receiver::new(&api);
    for url in [URL, &format!("{SLOW_ORIGIN}/hook")] {
        create(&api, &json!({"url": url, "types": ["connection.created"]}));
    }
    for index in 0..12 {
        send(&api, "POST", CONNECTIONS, &minimal(&format!("user {index}")));
    }
    // The first four outcomes of the fast receiver are stored, then those of the slow one. Another
    // run is enqueued after the first.
    let (done, calls) = (jobs::deliver_due(&api.service, &api.env), api.env.db_calls.get());
    assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
    assert_eq!(api.env.db_calls.get() - calls, 3);
    assert_eq!(receiver.take().len(), 8);
    queue(&api);
    assert_eq!(receiver.take().len(), 16);
}

#[test]
fn a_replay_delivers_a_range_of_events_again() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL, "types": ["connection.created"]}));
    let id = connect(&api, "first");
    fail(&api, &id);
    for index in 0..4 {
        connect(&api, &format!("user {index}"));
    }
    receiver.take();
    let id = |index: u64| format!("evt_{index:013}");
    for (document, queued, types) in [
        (json!({"from": id(1)}), 5, 5),
        (json!({"from": id(2), "to": id(4)}), 2, 2),
        (json!({"from": id(2), "to": id(2)}), 0, 0),
        (json!({"from": id(6), "to": null}), 1, 1),
        (json!({"from": id(99)}), 0, 0),
    ] {
        let response = send(&api, "POST", &path(&webhook, "/replay"), &document);
        assert_eq!(body(&response), json!({"queued": queued, "next": null}), "{document}");
        run_after_response(&api, &response);
        assert_eq!(receiver.types().len(), types, "{document}");
    }
    // One request may not enqueue this many deliveries.
    api.env
        .database
        .execute_batch("INSERT INTO events (account, environment, type, occurred_at, subject) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT 'acme', 'test', 'connection.created', 1, '{}' FROM n; DELETE FROM deliveries")
        .unwrap();
    let first = body(&send(&api, "POST", &path(&webhook, "/replay"), &json!({"from": id(1)})));
    assert_eq!(first, json!({"queued": 1000, "next": id(1002)}));
    let rest = json!({"from": first["next"]});
    // Further replays fail until some of these deliveries are done.
    let refusal = send(&api, "POST", &path(&webhook, "/replay"), &rest);
    assert_eq!((refusal.status, refusal.header("retry-after")), (429, Some("60")));
    assert_eq!(body(&refusal)["code"], "too_many_requests");
    let pending =
        "UPDATE deliveries SET state = 'delivered', next_attempt_at = NULL WHERE event_id > ?1";
    api.env.database.execute(pending, [101]).unwrap();
    let some = body(&send(&api, "POST", &path(&webhook, "/replay"), &rest));
    assert_eq!(some["next"], json!(null), "{some}");
    api.env.database.execute(pending, [0]).unwrap();
    let rest = body(&send(&api, "POST", &path(&webhook, "/replay"), &rest));
    assert_eq!(rest, json!({"queued": 505, "next": null}));
}

#[test]
fn a_failing_receiver_gets_one_delivery_at_a_time_and_delays_no_other() {
    let api = api();
    // Without a queue, each minute has one run.
    api.env.has_queue.set(false);
    let receiver = Receiver::new(&api);
    let url = |name: &str| format!("https://app.example/{name}");
    let failing = create(&api, &json!({"url": url("failing")}));
    create(&api, &json!({"url": url("good")}));
    let is_failing = move |request: &HttpRequest| request.url.ends_with("failing");
    receiver.respond(move |request| status(if is_failing(request) { 500 } else { 204 }));
    for index in 0..30 {
        send(&api, "POST", CONNECTIONS, &minimal(&format!("user {index}")));
    }
    let got = |receiver: &Receiver| {
        let got = receiver.take();
        let failing = got.iter().filter(|request| is_failing(request)).count();
        (failing, got.len() - failing)
    };
    // The receiver has not failed yet, so each webhook gets its share.
    deliver(&api);
    assert_eq!(got(&receiver), (4, 4));
    deliver(&api);
    assert_eq!(got(&receiver), (1, 7));
    while deliveries(&api, &failing).iter().any(|row| row["attempts"] == 0) {
        deliver(&api);
        assert!(got(&receiver).0 <= 1);
    }
    // Once the receiver works again, all due deliveries are sent to it.
    receiver.respond(|_| status(204));
    api.env.wait(300 * SECOND);
    deliver(&api);
    assert_eq!(got(&receiver), (1, 0));
    deliver(&api);
    assert_eq!(got(&receiver), (8, 0));
}

#[test]
fn many_webhooks_of_an_account_do_not_delay_those_of_another() {
    let api = api();
    // Without a queue, each minute has one run.
    api.env.has_queue.set(false);
    let receiver = Receiver::new(&api);
    for index in 0..20 {
        create(&api, &json!({"url": format!("https://app.example/{index}")}));
    }
    send(&api, "POST", CONNECTIONS, &minimal("eve"));
    let other = api.env.key("other", Environment::Test, &Scope::ALL, None);
    let send_as_other = |path: &str, document: &Value| {
        let request = with_body(as_key(&other, "POST", path), &document.to_string());
        assert_eq!(api.send(&request).status, 201);
    };
    let others_url = "https://other.example/hooks";
    send_as_other(WEBHOOKS, &json!({"url": others_url}));
    for run in 0..2 {
        // This event is newer than the replayed ones.
        api.env.wait(SECOND);
        send_as_other(CONNECTIONS, &minimal(&format!("user {run}")));
        deliver(&api);
        let got = receiver.take();
        assert_eq!(got.len(), 8);
        assert_eq!(got.iter().filter(|request| request.url == others_url).count(), 1, "{run}");
    }
}

#[test]
fn a_silent_receiver_gets_at_most_one_batch() {
    let api = Rc::new(api());
    let receiver = Receiver::new(&api);
    create(&api, &json!({"url": URL}));
    for index in 0..20 {
        send(&api, "POST", CONNECTIONS, &minimal(&format!("user {index}")));
    }
    // While the first run waits for responses, other runs find no due deliveries.
    let (again, waiting) = (Rc::clone(&api), Cell::new(false));
    receiver.respond(move |_| {
        if !waiting.replace(true) {
            deliver(&again);
        }
        Err(HttpError::TimedOut)
    });
    deliver(&api);
    assert_eq!(receiver.take().len(), 8);
}

#[test]
fn new_events_are_delivered_before_replayed_ones() {
    let api = api();
    // Without a queue, each minute has one run.
    api.env.has_queue.set(false);
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    for index in 0..10 {
        connect(&api, &format!("user {index}"));
    }
    receiver.take();
    let replay = json!({"from": "evt_0000000000001"});
    let queued = send(&api, "POST", &path(&webhook, "/replay"), &replay);
    assert_eq!(body(&queued)["queued"], 10);
    send(&api, "POST", CONNECTIONS, &minimal("eve"));
    deliver(&api);
    assert_eq!(receiver.take().len(), 8);
    let states = deliveries(&api, &webhook);
    assert_eq!(
        (&states[0]["state"], &states[1]["state"]),
        (&json!("delivered"), &json!("pending"))
    );
}

#[test]
fn deliveries_are_paged_and_deleted_with_their_events() {
    let api = api();
    let _receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    for index in 0..5 {
        connect(&api, &format!("user {index}"));
    }
    let (mut seen, mut before) = (Vec::new(), String::new());
    loop {
        let page = read(&api, &path(&webhook, &format!("/deliveries?limit=2{before}")));
        let rows = page["rows"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["event"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        before = format!("&before={next}");
    }
    let expected: Vec<_> = (1..=5).rev().map(|index| format!("evt_{index:013}")).collect();
    assert_eq!(seen, expected);
    assert_eq!(read(&api, &path(&webhook, "/deliveries?limit=5"))["next"], Value::Null);
    api.env.wait(31 * DAY);
    minute(&api);
    // The newest event is never deleted, so its delivery remains.
    assert_eq!(deliveries(&api, &webhook).len(), 1);
    assert_eq!(api.send(&api.request("DELETE", &path(&webhook, ""))).status, 204);
    assert_eq!(api.env.texts("SELECT state FROM deliveries").len(), 0);
}

#[test]
fn deliveries_are_filtered_by_state_and_only_those_are_read() {
    let api = api();
    let receiver = Receiver::new(&api);
    let webhook = create(&api, &json!({"url": URL}));
    let states = || {
        let rows = deliveries(&api, &webhook);
        rows.iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for identity in ["ann", "bob", "cem"] {
        connect(&api, identity);
    }
    receiver.respond(|_| status(500));
    connect(&api, "dan");
    api.env
        .database
        .execute_batch("UPDATE deliveries SET state = 'failed' WHERE event_id IN (1, 2)")
        .unwrap();
    assert_eq!(states(), ["pending", "delivered", "failed", "failed"]);
    let list = |query: &str| read(&api, &path(&webhook, &format!("/deliveries?{query}")));
    for (state, expected) in [("pending", vec![4]), ("delivered", vec![3]), ("failed", vec![2, 1])]
    {
        let page = list(&format!("state={state}"));
        let rows = page["rows"].as_array().unwrap();
        let events: Vec<_> = rows.iter().map(|row| row["event"].clone()).collect();
        let expected: Vec<_> =
            expected.iter().map(|index| json!(format!("evt_{index:013}"))).collect();
        assert_eq!((events, &page["next"]), (expected, &Value::Null), "{state}");
        assert!(rows.iter().all(|row| row["state"] == state), "{state}");
    }
    let first = list("state=failed&limit=1");
    assert_eq!(first["rows"][0]["event"], "evt_0000000000002");
    let rest = list(&format!("state=failed&before={}", first["next"].as_str().unwrap()));
    assert_eq!(
        (&rest["rows"][0]["event"], rest["rows"].as_array().unwrap().len()),
        (&json!("evt_0000000000001"), 1)
    );
    let refusal = api.get(&path(&webhook, "/deliveries?state=lost"));
    let detail = "`state` must be one of pending, delivered, failed";
    assert_eq!((refusal.status, &body(&refusal)["errors"][0]["detail"]), (400, &json!(detail)));
    // The index alone finds the deliveries in list order.
    list("state=failed");
    let requested = api.env.statements.borrow();
    let steps = plan(&api.env, requested.last().unwrap()).join("; ");
    assert!(steps.contains("deliveries_by_state (webhook_id=? AND state=?"), "{steps}");
    assert!(!steps.contains("TEMP B-TREE"), "{steps}");
}

#[test]
fn events_wait_for_a_missing_vault_key() {
    let mut api = api();
    let receiver = Receiver::new(&api);
    create(&api, &json!({"url": URL}));
    let other = "two:MTEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
    api.service = Service::new(config(&[("VAULT_KEYS", other)]));
    let created = send(&api, "POST", CONNECTIONS, &minimal("eve"));
    assert!(created.has_deliveries);
    let done = pollster::block_on(jobs::deliver_due(&api.service, &api.env)).unwrap();
    assert_eq!((done.len(), receiver.take().len()), (1, 0));
    assert!(done[0].contains("`one` is needed"), "{done:?}");
    api.service = Service::new(config(&[("VAULT_KEYS", &format!("{other},{KEYS}"))]));
    for _ in 0..61 {
        minute(&api);
    }
    assert_eq!(receiver.types(), ["connection.created"]);
    // By now, the new key encrypts the secret.
    let sealed = api.env.texts("SELECT sealed_key FROM webhooks");
    assert_eq!(sealed, ["two"]);
}

#[test]
fn a_call_event_is_delivered_as_in_the_feed() {
    let api = api();
    let receiver = Receiver::new(&api);
    create(&api, &json!({"url": URL, "types": ["connection.called"]}));
    let id = connect(&api, "eve");
    let call = json!({"method": "POST", "path": "issues", "status": 201});
    api.env
        .database
        .execute(
            "INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, call) SELECT account, environment, 'connection.called', 1, connection_id, connection, ?2 FROM connection_events WHERE connection_id = ?1",
            (&id, &call.to_string()),
        )
        .unwrap();
    minute(&api);
    let got = receiver.take();
    let [request] = got.as_slice() else { panic!("{got:?}") };
    let deliveries = event(request);
    assert_eq!(
        (&deliveries["data"]["call"], &deliveries["data"]["connection"]["id"]),
        (&call, &json!(id))
    );
}

#[test]
fn due_rows_are_found_by_an_index() {
    use connector_vault::webhooks::statements::deliveries::{
        claim, count_due, select_claimed, select_if_due, select_if_more_due,
    };
    let api = api();
    for (statement, index) in [
        (select_if_due(1), "deliveries_by_due"),
        (count_due(1, 400), "deliveries_by_due"),
        (select_claimed(1, "a"), "deliveries_by_due"),
        (claim(1, "a", 8), "deliveries_by_webhook"),
        (select_if_more_due(1, 8), "deliveries_by_webhook"),
    ] {
        let plan = plan(&api.env, &statement);
        assert!(plan.iter().any(|step| step.contains(index)), "{plan:?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN deliveries")), "{plan:?}");
    }
}
