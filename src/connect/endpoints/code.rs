//! `POST /connect/token`: the connect window exchanges the code of its link for a session token,
//! once.
//!
//! A link can be forwarded, stored in the browser's history or opened by a scanner, so it carries a
//! single-use code instead of the token. Before the exchange, the window asks the user to confirm
//! the identity, unless it was opened by a page of one of the token's origins.

use serde::{Deserialize, Serialize};

use super::is_from_own_page;
use super::link::{BrowserContext, ensure_not_moved};
use crate::auth::caller::Caller;
use crate::auth::error::AuthenticationError;
use crate::auth::key::hash;
use crate::connect::statements;
use crate::http::message::{CONNECT_CODE, NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, RateLimit as _, first_row};
use crate::util::json;
use crate::util::rfc3339::rfc3339;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenResponse<'a> {
    token: &'a str,
    expires_at: Option<String>,
}

/// The row that only the first exchange of a code returns.
#[derive(Deserialize)]
struct UsedCode {
    #[serde(rename = "expires_at")]
    _expires_at: u64,
}

impl<P: Ports> BrowserContext<'_, P> {
    pub async fn exchange(&self, request: &Request) -> Result<Response, Problem> {
        let code =
            request.header(CONNECT_CODE).filter(|_| is_from_own_page(request)).unwrap_or_default();
        let sessions = &self.config.sessions;
        let token = sessions.verify_code(code).filter(|token| self.now < token.expires_at);
        let token = token.ok_or(AuthenticationError::BadToken)?;
        let text = sessions
            .sign(&token)
            .ok_or_else(crate::auth::endpoints::session::new::no_session_secret)?;
        let (expires_at, key_id) = (token.expires_at, token.key_id.clone());
        let caller = Caller::Token(token);
        let allowed = self.ports.allow(&caller.rate_key().to_string()).await;
        allowed.map_err(|wait| Problem::rate_limited(caller.noun(), wait))?;
        let batch = vec![
            statements::mark_code_used(
                &hash(code),
                self.request_id,
                (&key_id, expires_at),
                self.now,
            ),
            statements::delete_expired_codes(self.now),
            statements::select_forward_of_code(&hash(code), &key_id),
        ];
        let sets = self.ports.batch(batch).await?;
        ensure_not_moved(sets.get(2))?;
        first_row::<UsedCode>(&sets, 0)?.ok_or(AuthenticationError::BadToken)?;
        let response = TokenResponse { token: &text, expires_at: rfc3339(expires_at) };
        Ok(Response::json(json::bytes(&response), NO_STORE))
    }
}
