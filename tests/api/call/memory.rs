//! The memory that an isolate reserves for platforms' responses.

use connector_vault::http::body::budget::{Holder, INITIAL_RESERVATION, MAX_BYTES_PER_ACCOUNT};
use serde_json::{Value, json};

use super::run::{api, run};
use super::*;
use crate::vault::code;

#[test]
fn calls_over_the_memory_budget_fail_but_results_of_changes_are_returned() {
    struct Case {
        /// The memory that other calls leave free, in bytes.
        free: usize,
        key: &'static str,
        /// The length of the platform's response, in bytes.
        length: usize,
        status: u16,
        is_sent: bool,
        is_too_large: bool,
    }
    const LARGE: usize = 2 << 20;
    let ok = |free, key, length| Case {
        free,
        key,
        length,
        status: 200,
        is_sent: true,
        is_too_large: false,
    };
    let api = api();
    let path = acme(&api);
    for case in [
        ok(MAX_BYTES_PER_ACCOUNT, "ping", LARGE),
        ok(MAX_BYTES_PER_ACCOUNT, "getThing", LARGE),
        ok(INITIAL_RESERVATION, "ping", INITIAL_RESERVATION),
        ok(INITIAL_RESERVATION, "getThing", INITIAL_RESERVATION),
        ok(0, "getThing", 0),
        Case { is_too_large: true, ..ok(INITIAL_RESERVATION, "ping", INITIAL_RESERVATION + 1) },
        Case { status: 503, is_sent: false, ..ok(0, "ping", 0) },
        Case { status: 503, ..ok(INITIAL_RESERVATION, "getThing", INITIAL_RESERVATION + 1) },
    ] {
        let Case { free, key, length, status, is_sent, is_too_large } = case;
        let budget = api.service.responses();
        let holder = Holder { account: "acme", identity: None };
        let others = budget.reserve("GET", holder, api.env.now.get()).unwrap();
        assert!(others.grow_to(MAX_BYTES_PER_ACCOUNT - free));
        let text_of = move |_: &HttpRequest| {
            Ok(platform_response(200, &[("content-type", "text/plain")], &"x".repeat(length)))
        };
        platform(&api, text_of);
        sent(&api);
        let input = if key == "getThing" { json!({"path": {"id": 1}}) } else { json!({}) };
        let response = run(&api, &path, key, &input.to_string());
        let about = format!("{key} {length} of {free}");
        assert_eq!(response.status, status, "{about}");
        assert_eq!(sent(&api).len(), usize::from(is_sent), "{about}");
        if status == 200 {
            let document = body(&response);
            assert_eq!(document["bodyTooLarge"] == true, is_too_large, "{about}");
            assert_eq!(document["body"] == Value::Null, is_too_large || length == 0, "{about}");
        } else {
            assert_eq!(code(&response), "unavailable", "{about}");
            assert!(response.header("retry-after").is_some(), "{about}");
        }
        assert_eq!(
            budget.held(),
            MAX_BYTES_PER_ACCOUNT - free,
            "A call gives back what it held: {about}"
        );
    }
}
