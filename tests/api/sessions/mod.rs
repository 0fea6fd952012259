//! `POST /v1/sessions`, and the access of tokens.

mod access;
mod catalog;
mod create;
mod validity;
mod vault;

use connector_vault::auth::key::ApiKey;
use connector_vault::catalog::cache::CURRENT_MS;
use connector_vault::http::{Request, Response};
use serde_json::Value;

use crate::support::{Api, as_key, as_secret, body, connector, small_catalog, with_body};
use crate::vault::code;

pub const SESSIONS: &str = "/v1/sessions";
const CONNECTORS: &str = "/v1/available-connectors";
const WHOAMI: &str = "/v1/whoami";
pub const SECRET: &str = "a secret of thirty-two characters";
const OTHER: &str = "another secret, and a longer one than that";
/// The cost of a request that reads no storage.
const FREE: &str = "d1;desc=\"calls=0 rows_read=0 rows_written=0\", kv;desc=\"reads=0\"";

fn api() -> Api {
    Api::with_sessions(SECRET, "")
}

/// A request that creates a token.
pub fn token_request(key: &ApiKey, document: &Value) -> Request {
    with_body(as_key(key, "POST", SESSIONS), &document.to_string())
}

impl Api {
    /// Publishes the small catalog with these additional platforms, and waits until the service
    /// reads it.
    fn publish_with<T: AsRef<str>>(&self, extra: &[T]) {
        let extra = extra.iter().map(|platform| {
            let platform = platform.as_ref();
            (connector(platform, platform, "Other", 0), false, Vec::new())
        });
        self.env.publish(small_catalog().into_iter().chain(extra).collect());
        self.env.wait(CURRENT_MS + 1);
    }

    /// Creates a token for platforms that are then removed from the catalog.
    fn token_with_removed_platforms(&self, gone: &[&str], input: &Value) -> String {
        self.publish_with(gone);
        let token = self.token(input);
        self.publish_with::<&str>(&[]);
        token
    }

    /// Requests a token. Returns the response.
    pub fn session(&self, document: &Value) -> Value {
        let response = self.send(&token_request(&self.key, document));
        assert_eq!(response.status, 201, "{document} {}", body(&response));
        body(&response)
    }

    pub fn token(&self, document: &Value) -> String {
        self.session(document)["token"].as_str().unwrap().to_owned()
    }

    fn get_as(&self, secret: &str, path: &str) -> Response {
        self.send(&as_secret(secret, "GET", path))
    }

    /// The status, the code and the number of database calls of a request.
    fn cost(&self, request: &Request) -> (u16, String, u32) {
        let calls = self.env.db_calls.get();
        let response = self.send(request);
        (response.status, code(&response), self.env.db_calls.get() - calls)
    }
}
