//! `/mcp/{endpointId}/approval`: the page on which a user approves or declines a call of an agent. `crate::agents::approval` says
//! what holds for it.

use std::fmt::Write as _;

use serde_json::Value;

use super::callback::seen;
use super::{Agents, browser, form};
use crate::agents::approval::{self, Account, Approval, MOST_BYTES, State, kept};
use crate::agents::form::Form;
use crate::agents::grant::Grant;
use crate::agents::hash;
use crate::agents::request::{AgentRequest, LIFETIME_MS};
use crate::agents::sign_in::Endpoint;
use crate::agents::statements::Step;
use crate::auth::Shard;
use crate::auth::endpoints::session::new::no_secret;
use crate::connect::endpoints::is_own_page;
use crate::connect::endpoints::pages::{Page, escape};
use crate::connect::endpoints::{opening, sealing};
use crate::connections::model::ConnectionId;
use crate::http::config::SECRET_HEADER;
use crate::http::handle::handle;
use crate::http::message::{Body, Request, Response};
use crate::http::problem::Problem;
use crate::platform_calls::headers::SOURCE;
use crate::ports::{Clock as _, Db as _, Ports, Random as _, first_row};
use crate::util::invisible::visible;
use crate::util::percent::encode;

/// How long the token is valid with which an approved call runs, in milliseconds.
const TOKEN_MS: u64 = 60_000;
/// The members of a sealed input that are no part of what is sent.
const OF_ANSWER: [&str; 2] = ["select", "maxBytes"];

impl<P: Ports> Agents<'_, P> {
    /// Answers the link that an agent gave to its user: whoever opens it signs in first. It says nothing about the call, not even
    /// whether there is one.
    ///
    /// # Errors
    /// `too_many_requests`; `route_not_found`; when storage can't answer.
    pub(super) async fn approval(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(seen());
        }
        let query = Form::parse(&request.query, &[]).unwrap_or_default();
        let Some(id) = query.get("id").and_then(ConnectionId::parse) else {
            return Ok(self.undecided());
        };
        self.count(id.as_str()).await?;
        let endpoint = self.existing().await?;
        let cookie = browser(request).map_or_else(|| self.ports.secret(), str::to_owned);
        let asked = AgentRequest {
            endpoint: self.id.to_owned(),
            id: self.ports.uuid(),
            client_hash: String::new(),
            client_url: None,
            client_name: None,
            redirect_uri: String::new(),
            state: None,
            challenge: String::new(),
            access: crate::agents::Access::Read,
            browser_hash: hash(&cookie),
            approval: Some(id.as_str().to_owned()),
            expires_at: self.now.saturating_add(LIFETIME_MS),
        };
        self.sign_in(&endpoint, &asked, &cookie).await
    }

    /// The page for a user whom the OpenID provider has authenticated.
    pub(super) async fn ask_for_approval(
        &self,
        id: &str,
        identity: &str,
        endpoint: &Endpoint,
        browser_hash: &str,
    ) -> Result<Response, Problem> {
        let sets = self.batch(vec![
            approval::open_by_provider(
                self.step(browser_hash),
                id,
                identity,
                endpoint.identity_type,
            ),
            approval::select_claimed(self.id, browser_hash, self.request_id),
        ]);
        match first_row::<Approval>(&sets.await?, 1)? {
            Some(waiting) => self.approval_page(&waiting).await,
            None => Ok(self.undecided()),
        }
    }

    fn step<'s>(&'s self, browser_hash: &'s str) -> Step<'s> {
        Step { endpoint: self.id, browser_hash, claimed_by: self.request_id, now: self.now }
    }

    /// The account that a call would use, and the agent's grant, if it still exists.
    async fn around(
        &self,
        waiting: &Approval,
    ) -> Result<(Option<Account>, Option<Grant>), Problem> {
        let sets = self
            .batch(vec![
                approval::select_account(waiting),
                approval::select_grant(self.id, waiting),
            ])
            .await?;
        Ok((first_row(&sets, 0)?, first_row(&sets, 1)?))
    }

    /// The page that shows a call.
    pub(super) async fn approval_page(&self, waiting: &Approval) -> Result<Response, Problem> {
        let (account, grant) = self.around(waiting).await?;
        let (Some(account), Some(grant)) = (account, grant) else { return Ok(self.undecided()) };
        let keys = &self.service.config().vault_keys;
        let plain = opening(keys.open(&waiting.place(), &waiting.sealed))?;
        let agent = grant.client_name.as_deref().unwrap_or("an unnamed program");
        let shown = account.platform_account_name.as_ref().or(account.name.as_ref());
        let own = shown.map_or_else(
            || account.identity.clone(),
            |name| format!("{name} (connected by {})", account.identity),
        );
        let rows = [
            ("Agent", format!("“{agent}” (nobody has checked this name)")),
            ("Platform", account.platform.clone()),
            ("Account", own),
            ("Action", format!("{} ({})", waiting.title, waiting.action)),
            ("Request", waiting.method.as_str().to_owned()),
            ("You are signed in as", waiting.identity.clone()),
        ];
        let mut html = String::from("<dl>\n");
        for (name, value) in &rows {
            let _ = writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escape(value));
        }
        let _ = writeln!(html, "</dl>\n<h2>Input</h2>\n<pre>{}</pre>", escape(&readable(&plain)));
        for (name, value) in [("approval", &waiting.id), ("shown", &fingerprint(waiting, &account))]
        {
            let value = escape(value);
            let _ = writeln!(html, "<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
        }
        html.push_str("<p><button type=\"submit\" name=\"decision\" value=\"approve\">Approve</button> <button type=\"submit\" class=\"second\" name=\"decision\" value=\"decline\">Decline</button></p>\n");
        let page = Page {
            heading: format!("Let “{agent}” do this?"),
            paragraphs: vec![
                "An agent that you have let in wants to change something, and needs your approval. It happens once, exactly as you see it here.".to_owned(),
                "Did you ask for this? If not, decline.".to_owned(),
            ],
            form: Some((format!("/mcp/{}/approval", self.id), html)),
            app: self.service.config().app_name.clone(),
            status: 200,
            ..Page::default()
        };
        Ok(page.response())
    }

    /// Answers what the user decided, once, and only in the browser in which they have signed in. An approved call runs at once.
    ///
    /// # Errors
    /// When storage can't answer.
    pub(super) async fn decide(&self, request: &Request) -> Result<Response, Problem> {
        // Another site must not decide for the user.
        if !is_own_page(request) {
            return Ok(self.page(
                403,
                "Decide on the page itself",
                &["Another site sent you here, so nothing was approved. Open the agent's link again."],
            ));
        }
        let form = match form(request, &[]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let (id, cookie) = (form.get("approval"), browser(request));
        let (Some(id), Some(cookie)) = (id, cookie) else { return Ok(self.undecided()) };
        let browser_hash = hash(cookie);
        self.count(&browser_hash).await?;
        let sets = self.batch(vec![approval::select(self.id, id)]).await?;
        let waiting = first_row::<Approval>(&sets, 0)?;
        let is_own = |waiting: &Approval| {
            waiting.browser_hash.as_deref() == Some(browser_hash.as_str())
                && waiting.state == State::Pending
                && self.now < waiting.expires_at
        };
        let Some(waiting) = waiting.filter(is_own) else { return Ok(self.undecided()) };
        let approves = form.get("decision") == Some("approve");
        if approves {
            let (account, _) = self.around(&waiting).await?;
            let now = account.as_ref().map(|account| fingerprint(&waiting, account));
            if now.as_deref() != form.get("shown") {
                // The connection leads to another account than the one that the user saw.
                return self.approval_page(&waiting).await;
            }
        }
        let sets = self
            .batch(vec![
                approval::decide(self.step(&browser_hash), id, approves),
                approval::select(self.id, id),
                approval::select_grant(self.id, &waiting),
            ])
            .await?;
        let decided = first_row::<Approval>(&sets, 1)?;
        let has_decided = |decided: &Approval| {
            decided.claimed_by.as_deref() == Some(self.request_id)
                && decided.state != State::Pending
        };
        let Some(decided) = decided.filter(has_decided) else { return Ok(self.undecided()) };
        if !approves {
            return Ok(self.page(200, "Declined", &["Nothing was done. You can close this page."]));
        }
        let grant = first_row::<Grant>(&sets, 2)?;
        let Some(grant) = grant else { return Ok(self.undecided()) };
        let did = self.run(&decided, &grant).await?;
        Ok(self.page(200, "Approved", &[&did, "Go back to your agent. You can close this page."]))
    }

    /// Runs an approved call with a token of the grant, so that everything is checked again, and keeps the response for the agent.
    /// Returns what came of it, as a sentence. When the service ends before that, nobody runs the call again.
    async fn run(&self, decided: &Approval, grant: &Grant) -> Result<String, Problem> {
        let config = self.service.config();
        let plain = opening(config.vault_keys.open(&decided.place(), &decided.sealed))?;
        let shard = Shard::new(self.ports.number()).unwrap_or_default();
        let token = approval::run_as(grant).token(shard, self.now.saturating_add(TOKEN_MS));
        let token = config.sessions.sign(&token).ok_or_else(no_secret)?;
        let (connection, action) = (&decided.connection_id, encode(&decided.action));
        let request = Request {
            method: "POST".to_owned(),
            origin: self.base.to_owned(),
            path: format!("/v1/vault/connections/{connection}/actions/{action}"),
            query: String::new(),
            headers: vec![
                (SECRET_HEADER.to_owned(), token),
                ("content-type".to_owned(), "application/json".to_owned()),
            ],
            body: Body::Whole(plain.to_vec()),
            endpoint: Some(self.id.to_owned()),
        };
        let response = Box::pin(handle(self.service, self.ports.inner(), &request)).await;
        let status = response.status;
        let did = if response.header(SOURCE) == Some("platform") {
            let answered: Value = serde_json::from_slice(&response.body).unwrap_or_default();
            match answered.get("status").and_then(Value::as_u64) {
                Some(status @ 200..=399) => format!("It is done: the platform answered {status}."),
                Some(status) => format!("The platform refused it: it answered {status}."),
                None => "It was sent.".to_owned(),
            }
        } else if matches!(status, 502 | 504) {
            "The platform did not answer. The call may have been made: check before you ask for it again.".to_owned()
        } else {
            "It was not done. Your agent knows why.".to_owned()
        };
        let sealed = config.vault_keys.seal(
            &decided.place(),
            &kept(status, response.body.get(..MOST_BYTES).unwrap_or(&response.body)),
            self.ports,
        );
        let finish =
            approval::finish(&decided.id, self.request_id, &sealing(sealed)?, self.ports.now());
        // The call has been made, whether its outcome can be stored or not.
        if self.ports.batch(vec![finish]).await.is_err() {
            return Ok(format!("{did} Your agent does not learn what came of it."));
        }
        Ok(did)
    }

    /// The page of a call about which the user can't decide.
    pub(super) fn undecided(&self) -> Response {
        self.page(
            410,
            "There is nothing to approve here",
            &[
                "Somebody has decided already, it took too long, the agent has no access any more, or you signed in as somebody else than the agent's user.",
                "If you have just asked your agent for something, ask it again.",
            ],
        )
    }
}

/// What the user has seen: the input and the account. It changes with either.
fn fingerprint(waiting: &Approval, account: &Account) -> String {
    let id = account.platform_account_id.as_deref().unwrap_or_default();
    let name = account.platform_account_name.as_deref().unwrap_or_default();
    hash(&format!("{} {id} {name} {}", account.platform, waiting.sealed.as_str()))
}

/// An input as people read it. What can't be seen is written as an escape, so that nothing is hidden.
fn readable(plain: &[u8]) -> String {
    let mut input: Value = serde_json::from_slice(plain).unwrap_or_default();
    if let Some(members) = input.as_object_mut() {
        for name in OF_ANSWER {
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
    use super::readable;

    #[test]
    fn an_input_is_shown_as_it_is_with_nothing_hidden() {
        let plain = "{\"body\":{\"to\":\"a\u{202e}b\u{200b}\",\"é\":[1,\"<b>\"]},\"maxBytes\":5,\"select\":[\"/a\"]}";
        let shown = readable(plain.as_bytes());
        let expected = "{\n  \"body\": {\n    \"to\": \"a\\u{202e}b\\u{200b}\",\n    \"é\": [\n      1,\n      \"<b>\"\n    ]\n  }\n}";
        assert_eq!(shown, expected);
    }
}
