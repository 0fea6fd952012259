//! Due work is found by an index, enqueued once, done, and never lost.

use std::collections::HashMap;
use std::rc::Rc;

use connector_vault::credentials::lifecycle::statements::claim_due;
use connector_vault::jobs;
use connector_vault::ports::HttpRequest;

use super::*;
use crate::plans::plan;
use crate::rng::repetitions;
use crate::vault::{CONNECTIONS, at};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The minutes between two runs of the schedule in long simulations. `npm test` runs the schedule
/// every ten minutes, over a tenth of the connections; `npm run proof` runs it every minute, as in
/// production.
fn tick() -> u64 {
    repetitions(10, 1) as u64
}

/// The number of connections in long simulations. It makes a tick have as many due connections in
/// `npm test` as a minute has in `npm run proof`.
fn simulated_connection_count() -> usize {
    repetitions(100, 1000)
}

/// Runs the schedule after this many minutes, and then the queue until it is empty. Returns the
/// number of messages.
fn run_after(api: &Api, minutes: u64) -> usize {
    api.env.wait(minutes * MINUTE);
    let faults = pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!(faults, Vec::<String>::new());
    let messages = api.env.messages();
    for message in &messages {
        let done = jobs::consume(&api.service, &api.env, message);
        assert_eq!(pollster::block_on(done).unwrap(), Vec::<String>::new());
    }
    messages.len()
}

/// Runs the schedule and the queue after one minute. Returns the number of messages.
fn minute(api: &Api) -> usize {
    run_after(api, 1)
}

/// Runs the schedule for at least this many minutes, in ticks.
fn ticks(api: &Api, minutes: u64) {
    for _ in 0..minutes.div_ceil(tick()) {
        run_after(api, tick());
    }
}

fn minutes(api: &Api, count: u64) {
    for _ in 0..count {
        minute(api);
    }
}

/// Stores this many connections with refresh tokens, as an import does.
fn import(api: &Api, platform: &str, count: usize) -> Vec<String> {
    let one = |index: usize| {
        let payload = json!({"platform": platform, "identity": format!("user {index}"), "identityType": "user"});
        let id = body(&send(api, "POST", CONNECTIONS, &payload))["id"].as_str().unwrap().to_owned();
        let payload = json!({"type": "oauth2", "refreshToken": format!("rt-{id}")});
        assert_eq!(send(api, "PUT", &format!("{}/credentials", at(&id)), &payload).status, 204);
        id
    };
    (0..count).map(one).collect()
}

/// A platform that can be down. Counts the refreshes that it gets in each minute.
struct Platform {
    requested: RefCell<Vec<u64>>,
    /// The status and document of its error response; `None` while it is up.
    platform_fault: RefCell<Option<(u16, Value)>>,
}

impl Platform {
    fn serve(api: &Rc<Api>) -> Rc<Self> {
        let platform =
            Rc::new(Self { requested: RefCell::default(), platform_fault: RefCell::default() });
        let (shared, weak) = (Rc::clone(&platform), Rc::downgrade(api));
        *api.env.platform.borrow_mut() = Box::new(move |request: &HttpRequest| {
            shared.requested.borrow_mut().push(weak.upgrade().unwrap().env.now.get() / MINUTE);
            if let Some((status, document)) = shared.platform_fault.borrow().as_ref() {
                return if *status == 0 {
                    Err(HttpError::Unreachable)
                } else {
                    response(*status, document)
                };
            }
            assert_eq!(request.url, "https://id.acme.example/token");
            response(200, &json!({"access_token": "a", "expires_in": 3600, "refresh_token": "r"}))
        });
        platform
    }

    fn take(&self) -> Vec<u64> {
        self.requested.take()
    }
}

fn states(api: &Api) -> HashMap<String, usize> {
    let mut states = HashMap::new();
    for state in api.env.texts("SELECT state FROM connections") {
        *states.entry(state).or_default() += 1;
    }
    states
}

fn events(api: &Api, kind: &str) -> usize {
    api.env.texts(&format!("SELECT type FROM events WHERE type = '{kind}'")).len()
}

fn env() -> (Rc<Api>, Rc<Platform>) {
    let api = Rc::new(api());
    set_client(&api, "acme");
    let platform = Platform::serve(&api);
    (api, platform)
}

#[test]
fn every_connection_is_checked_once_a_day_and_evenly() {
    let (api, platform) = env();
    import(&api, "acme", 300);
    ticks(&api, 24 * 60);
    let first = platform.take();
    assert_eq!(states(&api), HashMap::from([("operational".into(), 300)]), "each was checked");
    // A few connections are checked twice, because a check can be due up to a tenth of a day early.
    assert!((300..=330).contains(&first.len()), "{}", first.len());
    ticks(&api, 24 * 60);
    let second = platform.take();
    assert!((300..=360).contains(&second.len()), "{}", second.len());
    let mut hours = [0; 24];
    for minute in &second {
        hours[usize::try_from(minute / 60 % 24).unwrap()] += 1;
    }
    assert!(hours.iter().all(|count| *count <= 3 * 300 / 24), "{hours:?}");
}

#[test]
fn few_due_checks_run_directly_and_many_are_enqueued() {
    let (api, platform) = env();
    let ids = import(&api, "acme", 40);
    let due = |count: usize| {
        api.env
            .database
            .execute("UPDATE credentials SET check_at = 9e15, handed_until = NULL", [])
            .unwrap();
        for id in &ids[..count] {
            let sql = "UPDATE credentials SET check_at = 1 WHERE connection_id = ?1";
            api.env.database.execute(sql, [id]).unwrap();
        }
    };
    for (count, messages) in [(0, 0), (1, 0), (7, 0), (8, 1), (9, 2), (40, 5)] {
        due(count);
        assert_eq!((minute(&api), platform.take().len()), (messages, count), "{count} due");
        assert_eq!(minute(&api), 0, "it is done");
    }
    // Without a queue, each minute processes as much as one run can.
    api.env.has_queue.set(false);
    due(20);
    for expected in [8, 8, 4, 0] {
        minute(&api);
        assert_eq!(platform.take().len(), expected);
    }
    // The last batch is the first one that is not full.
    api.env.has_queue.set(true);
    due(40);
    api.env.db_calls.set(0);
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!((api.env.messages().len(), api.env.db_calls.get()), (5, 4));
}

#[test]
fn a_run_enqueues_several_batches() {
    let (api, _) = env();
    let ids = import(&api, "acme", 1020);
    api.env.database.execute("UPDATE credentials SET check_at = 1", []).unwrap();
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    assert_eq!(api.env.messages().len(), ids.len().div_ceil(8));
}

#[test]
fn claims_of_a_crashed_run_expire() {
    let (api, platform) = env();
    import(&api, "acme", 20);
    api.env.database.execute("UPDATE credentials SET check_at = 1", []).unwrap();
    pollster::block_on(jobs::run_minute(&api.service, &api.env)).unwrap();
    // Drop the messages of the queue.
    api.env.messages();
    minutes(&api, 9);
    assert_eq!(platform.take().len(), 0, "no other run claims them for ten minutes");
    minutes(&api, 1);
    assert_eq!(platform.take().len(), 20);
    // A message that arrives twice causes one more refresh at most.
    assert_eq!(states(&api), HashMap::from([("operational".into(), 20)]));
    let unreadable = jobs::consume(&api.service, &api.env, "{\"dance\":[]}");
    assert!(pollster::block_on(unreadable).is_err());
}

#[test]
fn an_outage_of_four_days_fails_no_connection() {
    let (api, platform) = env();
    import(&api, "acme", simulated_connection_count());
    ticks(&api, 24 * 60);
    platform.take();
    *platform.platform_fault.borrow_mut() = Some((0, Value::Null));
    ticks(&api, 4 * 24 * 60);
    assert_eq!(states(&api), HashMap::from([("degraded".into(), simulated_connection_count())]));
    assert_eq!(
        (events(&api, "connection.degraded"), events(&api, "connection.failed")),
        (simulated_connection_count(), 0)
    );
    // The attempts are spread over each day.
    let in_day = usize::try_from(24 * 60 / tick()).unwrap();
    let mut days = vec![vec![0_usize; in_day]; 4];
    let end = api.env.now.get() / MINUTE;
    for minute in platform.take() {
        let ago = usize::try_from((end - minute) / tick()).unwrap();
        days[ago / in_day][ago % in_day] += 1;
    }
    for (ago, ticks) in days.iter().enumerate() {
        let (max, all) = (ticks.iter().max().unwrap(), ticks.iter().sum::<usize>());
        // A tick has about four attempts on average. In one of seven simulations, chance alone
        // causes three times as many.
        assert!(max * in_day <= 4 * all, "{ago} days ago: {max} of {all} tries in a tick");
    }
    *platform.platform_fault.borrow_mut() = None;
    // The longest pause is 6 hours plus 20 %.
    ticks(&api, 6 * 60 + 72 + 1);
    assert_eq!(states(&api), HashMap::from([("operational".into(), simulated_connection_count())]));
    assert_eq!(events(&api, "connection.recovered"), simulated_connection_count());
}

#[test]
fn a_wrong_client_secret_costs_one_event_and_one_probe_an_hour() {
    let (api, platform) = env();
    import(&api, "acme", simulated_connection_count());
    ticks(&api, 24 * 60);
    platform.take();
    *platform.platform_fault.borrow_mut() = Some((401, json!({"error": "invalid_client"})));
    ticks(&api, 2 * 24 * 60);
    let requested = platform.take();
    // Refreshes that were in progress at the first refusal have ended. From then on, there is one
    // probe an hour.
    let probes: Vec<u64> =
        requested.iter().copied().filter(|minute| *minute > requested[0]).collect();
    assert!(probes.len() <= 48, "{} probes", probes.len());
    assert!(requested[0] + 60 <= probes[0], "{requested:?}");
    assert!(probes.is_sorted_by(|one, next| one + 60 <= *next), "{probes:?}");
    assert!(requested.len() - probes.len() <= 8, "{requested:?}");
    assert_eq!(events(&api, "oauth_client.rejected"), 1);
    let since = body(&api.get("/v1/oauth-clients/acme"))["rejectedSince"].clone();
    assert!(since.as_str().is_some_and(|since| since.starts_with("2027-01-1")), "{since}");
    assert_eq!(states(&api), HashMap::from([("degraded".into(), simulated_connection_count())]));
    let before =
        "SELECT printf('evt_%013d', id - 1) FROM events WHERE type = 'oauth_client.rejected'";
    let before = api.env.texts(before).remove(0);
    let page = body(&api.get(&format!("/v1/events?types=oauth_client.rejected&after={before}")));
    assert_eq!(
        page["rows"][0]["data"],
        json!({
            "oauthClient": {"platform": "acme", "name": "default", "clientId": "an id"},
            "reason": {"code": "client_rejected", "detail": null, "httpStatus": null},
        })
    );
    *platform.platform_fault.borrow_mut() = None;
    let corrected = json!({"clientId": "an id", "clientSecret": "right", "scopes": ["read"]});
    let saved = send(&api, "PUT", "/v1/oauth-clients/acme", &corrected);
    assert_eq!((saved.status, &body(&saved)["rejectedSince"]), (200, &Value::Null));
    // Reading credentials refreshes them immediately; all other refreshes are spread over the next
    // ten minutes.
    let id = api.env.texts("SELECT connection_id FROM credentials LIMIT 1").remove(0);
    assert_eq!(api.get(&format!("{}/credentials", at(&id))).status, 200);
    platform.take();
    minutes(&api, 11);
    assert_eq!(states(&api), HashMap::from([("operational".into(), simulated_connection_count())]));
    assert_eq!(events(&api, "connection.failed"), 0);
    let mut tries = HashMap::<u64, usize>::new();
    for minute in platform.take() {
        *tries.entry(minute).or_default() += 1;
    }
    // Each of the ten minutes gets about a tenth of the refreshes, in addition to those that were
    // due without the fix.
    assert!(
        tries.values().all(|tries| *tries < 3 * simulated_connection_count() / 10),
        "{tries:?}"
    );
}

#[test]
fn an_api_key_fails_after_two_rejections() {
    let api = Rc::new(api());
    let id = {
        script(&api, &[(200, json!({})), (200, json!({"id": 1}))]);
        let payload = json!({"platform": "keyed", "identity": "ann", "identityType": "user", "fields": {"apiKey": "k"}});
        body(&connect(&api, &payload))["id"].as_str().unwrap().to_owned()
    };
    let status = || body(&api.get(&format!("{}/status", at(&id))));
    let check = |responses: &[(u16, Value)]| {
        script(&api, responses);
        api.env
            .database
            .execute("UPDATE credentials SET check_at = 1, next_attempt_at = NULL", [])
            .unwrap();
        api.env.wait(HOUR);
        minute(&api);
        (status()["state"].clone(), status()["reason"]["code"].clone())
    };
    let (good, degraded) = (json!("operational"), json!("degraded"));
    assert_eq!(check(&[(200, json!({}))]), (good.clone(), Value::Null));
    assert_eq!(check(&[(503, json!({}))]), (degraded.clone(), json!("platform_unavailable")));
    assert_eq!(check(&[(200, json!({}))]), (good.clone(), Value::Null));
    assert_eq!(check(&[(401, json!({}))]), (degraded.clone(), json!("credentials_rejected")));
    // A refusal that does not mean that the credentials are invalid changes nothing.
    assert_eq!(check(&[(404, json!({}))]), (degraded, json!("credentials_rejected")));
    assert_eq!(check(&[(403, json!({}))]), (json!("degraded"), json!("credentials_rejected")));
    assert_eq!(check(&[(401, json!({}))]), (json!("failed"), json!("credentials_rejected")));
    assert_eq!(
        (status()["actor"].clone(), body(&api.get(&at(&id)))["active"].clone()),
        (json!("user"), json!(false))
    );
    // From here on, the platform is not called.
    script(&api, &[]);
    api.env.wait(30 * DAY);
    minutes(&api, 2);
    let due = api.env.texts("SELECT 'due' FROM credentials WHERE due_at IS NOT NULL");
    assert!(due.is_empty());
}

#[test]
fn a_connection_that_is_reconnected_is_checked_again() {
    let (api, platform) = env();
    let id = import(&api, "acme", 1).remove(0);
    let due = || api.env.texts("SELECT 'due' FROM credentials WHERE due_at IS NOT NULL").len();
    *platform.platform_fault.borrow_mut() = Some((400, json!({"error": "invalid_grant"})));
    minutes(&api, 24 * 60 + 10);
    assert_eq!((states(&api), due()), (HashMap::from([("failed".into(), 1)]), 0));
    assert_eq!(platform.take().len(), 2);
    let payload = json!({"type": "oauth2", "refreshToken": "another"});
    assert_eq!(send(&api, "PUT", &format!("{}/credentials", at(&id)), &payload).status, 204);
    assert_eq!(due(), 1);
    *platform.platform_fault.borrow_mut() = None;
    minutes(&api, 24 * 60);
    assert_eq!(states(&api), HashMap::from([("operational".into(), 1)]));
}

#[test]
fn old_events_are_deleted_in_batches() {
    let (api, _) = env();
    import(&api, "acme", 300);
    // Prevents checks, which would write events.
    api.env.database.execute("UPDATE credentials SET check_at = NULL", []).unwrap();
    let count = || rows(&api, "events");
    let before = count();
    assert!(before > 500);
    minute(&api);
    assert_eq!(count(), before);
    api.env.wait(30 * DAY);
    minute(&api);
    assert_eq!(count(), before - 500);
    minute(&api);
    assert_eq!(count(), 1, "the last one stays");
}

#[test]
fn due_rows_are_found_by_an_index() {
    let (api, _) = env();
    let steps = plan(&api.env, &claim_due(1, 2, 8)).join("; ");
    assert!(steps.contains("credentials_by_due"), "{steps}");
    assert!(!steps.contains("SCAN credentials"), "{steps}");
}

#[test]
fn an_idle_minute_writes_nothing() {
    let api = api();
    let reports = || {
        api.env.texts(
            "SELECT concat_ws(char(32), keys, first_at, last_at) FROM vault_key_reports ORDER BY 1",
        )
    };
    let report_times = |others: &str| -> Vec<String> {
        api.env.texts(&format!(
            "SELECT concat(last_at, '') FROM vault_key_reports WHERE keys {others} '[]'"
        ))
    };
    // The second report confirms that all isolates have the key.
    minutes(&api, 3);
    let before = (reports(), api.env.dump());
    minutes(&api, 50);
    assert_eq!((reports(), api.env.dump()), before);
    minutes(&api, 20);
    let hourly = reports();
    assert_ne!(hourly, before.0);
    assert_eq!(hourly.len(), 1);
    // While an isolate with other keys runs, each minute reports the keys of both.
    let now = api.env.now.get();
    let other = format!("INSERT INTO vault_key_reports VALUES ('[]', {now}, {now})");
    api.env.database.execute_batch(&other).unwrap();
    for _ in 0..3 {
        let before = report_times("<>");
        minutes(&api, 1);
        assert_ne!(report_times("<>"), before);
    }
    // Both are reported until the isolate with the other keys has been silent for more than an
    // hour.
    minutes(&api, 70);
    let before = reports();
    minutes(&api, 5);
    assert_eq!(reports(), before);
}
