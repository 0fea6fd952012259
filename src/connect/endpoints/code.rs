//! `POST /connect/token`: the connect window exchanges the code of its link for the token, once.
//!
//! A link may be forwarded, stored in a browser's history or opened by a scanner. It carries a code instead of the token, so
//! a link that has been used is worthless. Before it exchanges one, the window asks its user whether they are the
//! identity, unless a page of the token's origins vouches for them.

use serde::{Deserialize, Serialize};

use super::link::Desk;
use super::{hash, is_own_page};
use crate::auth::caller::Caller;
use crate::auth::error::AuthenticationError;
use crate::connect::statements;
use crate::http::message::{NO_STORE, Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, RateLimit as _, first_row};
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The header that carries the code.
pub const CODE: &str = "x-connect-code";

/// What the window gets.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exchanged<'a> {
    token: &'a str,
    expires_at: Option<String>,
}

/// The row that the first exchange of a code returns.
#[derive(Deserialize)]
struct Used {
    #[serde(rename = "expires_at")]
    _expires_at: u64,
}

impl<P: Ports> Desk<'_, P> {
    /// Exchanges a code for its token.
    ///
    /// # Errors
    /// `invalid_key` for a code that was not signed here, has expired or has been exchanged, and for every page but the
    /// window; `rate_limited`; when storage can't answer.
    pub async fn exchange(&self, request: &Request) -> Result<Response, Problem> {
        let code = request.header(CODE).filter(|_| is_own_page(request)).unwrap_or_default();
        let sessions = &self.config.sessions;
        let token = sessions.verify_code(code).filter(|token| self.now < token.expires_at);
        let token = token.ok_or(AuthenticationError::BadToken)?;
        let text =
            sessions.sign(&token).ok_or_else(crate::auth::endpoints::session::new::no_secret)?;
        let expires_at = token.expires_at;
        let caller = Caller::Token(token);
        let allowed = self.ports.allow(&caller.rate_key().to_string()).await;
        allowed.map_err(|wait| Problem::too_often(caller.noun(), wait))?;
        let batch = vec![
            statements::use_code(&hash(code), self.request_id, expires_at),
            statements::prune_codes(self.now),
        ];
        let sets = self.ports.batch(batch).await?;
        first_row::<Used>(&sets, 0)?.ok_or(AuthenticationError::BadToken)?;
        let exchanged = Exchanged { token: &text, expires_at: rfc3339(expires_at) };
        Ok(Response::json(json::bytes(&exchanged), NO_STORE))
    }
}
