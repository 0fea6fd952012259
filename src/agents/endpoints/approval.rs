//! `/mcp/{endpointId}/approval`: the page on which a user approves or declines an agent's call.
//! [`crate::agents::approval`] explains its security.

use std::fmt::Write as _;
use std::slice;

use serde_json::Value;

use super::callback::head_response;
use super::consent::description_list;
use super::{AgentContext, form, sign_in_cookie};
use crate::agents::approval::{
    self, Account, Approval, MAX_RESPONSE_BYTES, State, encode_response,
};
use crate::agents::grant::Grant;
use crate::agents::request::Purpose;
use crate::agents::sign_in::Endpoint;
use crate::agents::statements::BrowserStep;
use crate::auth::Shard;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::connect::endpoints::is_from_own_page;
use crate::connect::endpoints::pages::{Page, escape};
use crate::connect::endpoints::{decrypt_error, encrypt_error};
use crate::connections::model::ConnectionId;
use crate::http::config::SECRET_HEADER;
use crate::http::form::Form;
use crate::http::handle::handle;
use crate::http::message::{Body, Request, Response};
use crate::http::problem::Problem;
use crate::platform_calls::endpoints::download;
use crate::platform_calls::headers::SOURCE;
use crate::ports::{Clock as _, Db as _, Ports, Random as _, first_row};
use crate::texts::{agents as texts, approvals};
use crate::util::invisible::visible;
use crate::util::json;
use crate::util::percent::encode;

/// The lifetime of the token for an approved call, in milliseconds.
const CALL_TOKEN_LIFETIME_MS: u64 = 60_000;
/// Members of an input that only select parts of the response. They are not sent to the platform.
const RESPONSE_OPTIONS: [&str; 2] = ["select", "maxBytes"];

impl<P: Ports> AgentContext<'_, P> {
    /// Starts the sign-in of a user who opened an agent's link. Reveals nothing about the link, not
    /// even whether it exists.
    pub(super) async fn approval(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let query = Form::parse(&request.query, &[]).unwrap_or_default();
        let Some(id) = query.get("id").and_then(ConnectionId::parse) else {
            return Ok(self.link_ended_page());
        };
        self.check_rate(id.as_str()).await?;
        let endpoint = self.require_endpoint().await?;
        let cookie = sign_in_cookie(request).map_or_else(|| self.ports.secret(), str::to_owned);
        let purpose = Purpose::Approval { id: id.as_str().to_owned() };
        let signed = self.sign(&endpoint, purpose, &cookie)?;
        self.sign_in(&endpoint, &signed, &cookie).await
    }

    /// Shows the approval page to a user whom the OpenID provider has authenticated.
    pub(super) async fn show_approval_page(
        &self,
        id: &str,
        identity: &str,
        endpoint: &Endpoint,
        browser_hash: &str,
    ) -> Result<Response, Problem> {
        let sets = self.batch(vec![
            approval::open_by_provider(self.step(browser_hash), id, identity, endpoint),
            approval::select_claimed(self.id, browser_hash, self.request_id),
            approval::select(self.id, id),
        ]);
        let sets = sets.await?;
        match first_row::<Approval>(&sets, 1)? {
            Some(approval) => self.approval_page(&approval).await,
            None => Ok(self.decided_page(first_row(&sets, 2)?, browser_hash)),
        }
    }

    /// The page for a call on which this browser's user has decided before. For another browser or
    /// a link that is unknown, the page says that the link does not work.
    pub(super) fn decided_page(&self, approval: Option<Approval>, browser_hash: &str) -> Response {
        let own = approval.filter(|own| own.browser_hash.as_deref() == Some(browser_hash));
        let (heading, next) = match own.map(|own| own.state) {
            Some(State::Approved | State::Done) => {
                (&approvals::APPROVED, &approvals::APPROVED_NEXT)
            }
            Some(State::Declined) => (&approvals::DECLINED, &approvals::DECLINED_NEXT),
            _ => return self.link_ended_page(),
        };
        self.page(410, heading, &[next], &[]).response()
    }

    fn step<'s>(&'s self, browser_hash: &'s str) -> BrowserStep<'s> {
        BrowserStep { endpoint: self.id, browser_hash, claimed_by: self.request_id, now: self.now }
    }

    /// The account that the call would use, and the agent's grant. Either is `None` if it no longer
    /// exists.
    async fn account_and_grant(
        &self,
        approval: &Approval,
    ) -> Result<(Option<Account>, Option<Grant>), Problem> {
        let sets = self
            .batch(vec![
                approval::select_account(approval),
                approval::select_grant(self.id, approval),
            ])
            .await?;
        Ok((first_row(&sets, 0)?, first_row(&sets, 1)?))
    }

    /// Shows a pending call, sends the file of a download, or redirects to a connect attempt.
    pub(super) async fn approval_page(&self, approval: &Approval) -> Result<Response, Problem> {
        if approval.state == State::Download {
            let call = (&approval.seal_context(), &approval.sealed);
            return download::repeat_call(self.service, self.ports, self.base, call, &self.wording)
                .await;
        }
        let (account, grant) = self.account_and_grant(approval).await?;
        let keys = &self.service.config().vault_keys;
        let plain = keys.open(&approval.seal_context(), &approval.sealed).map_err(decrypt_error)?;
        if approval.state == State::Connect && grant.is_some() {
            let link = String::from_utf8_lossy(&plain);
            return Ok(Response::see_other(format!("{}/connect/go/{link}", self.base)));
        }
        let (_, input) = approval.parts(&plain);
        let Some(account) = account.filter(|_| grant.is_some() || approval.is_from_session())
        else {
            return Ok(self.link_ended_page());
        };
        if account.connected_by != approval.connected_by {
            return self.decline_for_other_account(approval).await;
        }
        let unnamed_program = self.wording.format_text(&texts::AN_UNNAMED_PROGRAM, &[]);
        let client_name = grant.as_ref().and_then(|grant| grant.client_name.as_deref());
        let agent = client_name.unwrap_or(&unnamed_program);
        let account_name = account.platform_account_name.as_ref().or(account.name.as_ref());
        let account_text = account_name.map_or_else(
            || account.identity.clone(),
            |name| {
                let values = [("name", name.as_str()), ("identity", &account.identity)];
                self.wording.format_text(&approvals::CONNECTED_BY, &values)
            },
        );
        let rows = [
            (
                &approvals::AGENT,
                self.wording.format_text(&texts::NAME_NOT_VERIFIED, &[("name", agent)]),
            ),
            (
                &approvals::PLATFORM,
                self.platform_names(slice::from_ref(&account.platform)).await.concat(),
            ),
            (&approvals::ACCOUNT, account_text),
            (&approvals::ACTION, format!("{} ({})", approval.title, approval.action)),
            (&approvals::REQUEST, approval.method.as_str().to_owned()),
            (&texts::SIGNED_IN_AS, approval.identity.clone()),
        ];
        let format_text = |text| escape(&self.wording.format_text(text, &[]));
        let mut html = description_list(&self.wording, &rows);
        let (heading, shown) = (format_text(&approvals::INPUT), escape(&format_input(input)));
        let _ = writeln!(html, "<h2>{heading}</h2>\n<pre>{shown}</pre>");
        for (name, value) in [("approval", &approval.id), ("shown", &fingerprint(input, &account))]
        {
            let value = escape(value);
            let _ = writeln!(html, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        }
        let (approve, decline) = (format_text(&approvals::APPROVE), format_text(&texts::DECLINE));
        let _ = writeln!(
            html,
            "<p><button type=\"submit\" name=\"decision\" value=\"approve\">{approve}</button> <button type=\"submit\" class=\"second\" name=\"decision\" value=\"decline\">{decline}</button></p>"
        );
        let paragraphs = [&approvals::APPROVAL_WHAT, &approvals::APPROVAL_DECLINE];
        let page = Page {
            form: Some((format!("/mcp/{}/approval", self.id), html)),
            ..self.page(200, &approvals::APPROVAL_TITLE, &paragraphs, &[("agent", agent)])
        };
        Ok(page.response())
    }

    /// Handles the user's decision. Accepts it once, and only from the browser in which the user
    /// signed in. An approved call runs immediately.
    pub(super) async fn decide(&self, request: &Request) -> Result<Response, Problem> {
        // Rejects forms that another site submits on the user's behalf.
        if !is_from_own_page(request) {
            let paragraphs = [&approvals::NOT_APPROVED_WHY];
            return Ok(self.page(403, &texts::DECIDE_ON_THE_PAGE, &paragraphs, &[]).response());
        }
        let form = match form(request, &[]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let (id, cookie) = (form.get("approval"), sign_in_cookie(request));
        let (Some(id), Some(cookie)) = (id, cookie) else {
            return Ok(self.link_ended_page());
        };
        let browser_hash = hash(cookie);
        self.check_rate(&browser_hash).await?;
        let sets = self.batch(vec![approval::select(self.id, id)]).await?;
        let approval = match first_row::<Approval>(&sets, 0)? {
            Some(approval)
                if approval.state == State::Pending && self.now < approval.expires_at =>
            {
                approval
            }
            decided => return Ok(self.decided_page(decided, &browser_hash)),
        };
        let is_own = approval.browser_hash.as_deref() == Some(browser_hash.as_str());
        let approves = form.get("decision") == Some("approve");
        if approves || !is_own {
            let (account, _) = self.account_and_grant(&approval).await?;
            let keys = &self.service.config().vault_keys;
            let plain =
                keys.open(&approval.seal_context(), &approval.sealed).map_err(decrypt_error)?;
            let (_, input) = approval.parts(&plain);
            let now = account.as_ref().map(|account| fingerprint(input, account));
            let is_as_shown = now.as_deref() == form.get("shown");
            if !is_own {
                // Only a browser that has shown the page learns that the call is still pending.
                if now.is_none() || !is_as_shown {
                    return Ok(self.link_ended_page());
                }
                let paragraphs = [&approvals::OTHER_BROWSER_NEXT];
                return Ok(self.page(410, &approvals::OTHER_BROWSER, &paragraphs, &[]).response());
            }
            if !is_as_shown {
                // The connection was reconnected after the page was shown.
                return self.approval_page(&approval).await;
            }
        }
        let sets = self
            .batch(vec![
                approval::decide(self.step(&browser_hash), id, approves),
                approval::select(self.id, id),
                approval::select_grant(self.id, &approval),
            ])
            .await?;
        let decided_approval = first_row::<Approval>(&sets, 1)?;
        let has_decided = |decided_approval: &Approval| {
            decided_approval.claimed_by.as_deref() == Some(self.request_id)
                && decided_approval.state != State::Pending
        };
        let decided_approval = match decided_approval {
            Some(decided) if has_decided(&decided) => decided,
            other => return Ok(self.decided_page(other, &browser_hash)),
        };
        if !approves {
            let paragraphs = [&approvals::DECLINED_NEXT];
            return Ok(self.page(200, &approvals::DECLINED, &paragraphs, &[]).response());
        }
        let Some(outcome) = self.run(&decided_approval, first_row(&sets, 2)?).await? else {
            return Ok(self.link_ended_page());
        };
        let mut page = self.page(200, &approvals::APPROVED, &[&approvals::APPROVED_NEXT], &[]);
        page.paragraphs.insert(0, outcome);
        Ok(page.response())
    }

    /// Runs an approved call and stores the response for the agent. Returns the outcome as a
    /// sentence, or `None` if the grant no longer exists. The call uses a new token of the grant,
    /// or the session token that was stored with it, so that all permissions are checked again. If
    /// the service crashes meanwhile, the call is not repeated.
    async fn run(
        &self,
        approval: &Approval,
        grant: Option<Grant>,
    ) -> Result<Option<String>, Problem> {
        let config = self.service.config();
        let plain = config
            .vault_keys
            .open(&approval.seal_context(), &approval.sealed)
            .map_err(decrypt_error)?;
        let (session_token, input) = approval.parts(&plain);
        let (token, endpoint) = match (session_token, grant) {
            (Some(token), _) => (token.to_owned(), None),
            (None, Some(grant)) => {
                let shard = Shard::new(self.ports.number()).unwrap_or_default();
                let expires_at = self.now.saturating_add(CALL_TOKEN_LIFETIME_MS);
                let token = approval::without_confirmation(&grant).token(shard, expires_at);
                let token = config.sessions.sign(&token).ok_or_else(no_session_secret)?;
                (token, Some(self.id.to_owned()))
            }
            (None, None) => return Ok(None),
        };
        let (connection, action) = (&approval.connection_id, encode(&approval.action));
        let request = Request {
            method: "POST".to_owned(),
            origin: self.base.to_owned(),
            path: format!("/v1/vault/connections/{connection}/actions/{action}"),
            query: String::new(),
            headers: vec![
                (SECRET_HEADER.to_owned(), token),
                ("content-type".to_owned(), "application/json".to_owned()),
            ],
            body: Body::Whole(input.to_vec()),
            endpoint,
        };
        let response = Box::pin(handle(self.service, self.ports.inner(), &request)).await;
        let status = response.status;
        let outcome = if response.header(SOURCE) == Some("platform") {
            let body: Value = json::from_bytes(&response.body).unwrap_or_default();
            match body.get("status").and_then(Value::as_u64) {
                Some(status) => {
                    let is_done = (200..=399).contains(&status);
                    let text =
                        if is_done { approvals::CALL_SUCCEEDED } else { approvals::CALL_REFUSED };
                    self.wording.format_text(&text, &[("status", &status.to_string())])
                }
                None => self.wording.format_text(&approvals::DID_SENT, &[]),
            }
        } else if matches!(status, 502 | 504) {
            self.wording.format_text(&approvals::DID_NO_RESPONSE, &[])
        } else {
            self.wording.format_text(&approvals::DID_NOT, &[])
        };
        let sealed = config.vault_keys.seal(
            &approval.seal_context(),
            &encode_response(
                status,
                response.body.get(..MAX_RESPONSE_BYTES).unwrap_or(&response.body),
            ),
            self.ports,
        );
        let finish = approval::finish(
            &approval.id,
            self.request_id,
            &sealed.map_err(encrypt_error)?,
            self.ports.now(),
        );
        // The call has been made, even if its response can't be stored.
        if self.ports.batch(vec![finish]).await.is_err() {
            return Ok(Some(format!(
                "{outcome} {}",
                self.wording.format_text(&approvals::RESULT_LOST, &[])
            )));
        }
        Ok(Some(outcome))
    }

    /// Declines a call whose connection was reconnected after the agent made it.
    async fn decline_for_other_account(&self, approval: &Approval) -> Result<Response, Problem> {
        let browser_hash = approval.browser_hash.as_deref().unwrap_or_default();
        self.batch(vec![approval::decide(self.step(browser_hash), &approval.id, false)]).await?;
        let paragraphs = [&approvals::ACCOUNT_REPLACED_WHY, &approvals::LINK_ENDED_NEXT];
        Ok(self.page(409, &approvals::ACCOUNT_REPLACED, &paragraphs, &[]).response())
    }

    /// The page for a link that has expired, was used, or belongs to another user.
    pub(super) fn link_ended_page(&self) -> Response {
        let paragraphs = [&approvals::LINK_ENDED_WHY, &approvals::LINK_ENDED_NEXT];
        self.page(410, &approvals::LINK_ENDED, &paragraphs, &[]).response()
    }
}

/// A hash of the displayed input and account. A reconnect changes it even if the platform returns
/// the same account.
fn fingerprint(plain: &[u8], account: &Account) -> String {
    let id = account.platform_account_id.as_deref().unwrap_or_default();
    let name = account.platform_account_name.as_deref().unwrap_or_default();
    let connected_by = account.connected_by.as_deref().unwrap_or_default();
    let input = String::from_utf8_lossy(plain);
    hash(&format!("{} {connected_by} {id} {name} {input}", account.platform))
}

/// Formats an input for the approval page, with invisible characters escaped so that the user sees
/// them.
fn format_input(plain: &[u8]) -> String {
    let mut input: Value = json::from_bytes(plain).unwrap_or_default();
    if let Some(members) = input.as_object_mut() {
        for name in RESPONSE_OPTIONS {
            members.remove(name);
        }
    }
    let mut text = String::new();
    for letter in serde_json::to_string_pretty(&input).unwrap_or_default().chars() {
        if letter == '\n' || visible(letter.encode_utf8(&mut [0; 4])).next().is_some() {
            text.push(letter);
        } else {
            let _ = write!(text, "\\u{{{:x}}}", u32::from(letter));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::format_input;

    #[test]
    fn invisible_characters_of_an_input_are_escaped() {
        let plain = "{\"body\":{\"to\":\"a\u{202e}b\u{200b}\",\"é\":[1,\"<b>\"]},\"maxBytes\":5,\"select\":[\"/a\"]}";
        let shown = format_input(plain.as_bytes());
        let expected = "{\n  \"body\": {\n    \"to\": \"a\\u{202e}b\\u{200b}\",\n    \"é\": [\n      1,\n      \"<b>\"\n    ]\n  }\n}";
        assert_eq!(shown, expected);
    }
}
