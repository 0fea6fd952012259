//! `/mcp/{endpointId}/grants`: the page on which end users see and revoke the access that they gave
//! to agents.
//!
//! Users sign in first. The page then contains a signed string with the user and the browser, so
//! that no session is stored. It is invalid in another browser, and after the sign-in has changed.

use super::callback::head_response;
use super::consent::{description_list, grant_list};
use super::{AgentContext, form, sign_in_cookie};
use crate::agents::grant::Grant;
use crate::agents::request::{LIFETIME_MS, Purpose};
use crate::agents::sign_in::Endpoint;
use crate::agents::statements;
use crate::agents::user_grants::{
    GrantOwner, MAX_GRANTS, SignedInUser, delete_own_grants, select_grants_by_owner,
};
use crate::audit::statements::person_actor;
use crate::auth::endpoints::session::new::no_session_secret;
use crate::auth::key::hash;
use crate::connect::endpoints::is_from_own_page;
use crate::connect::endpoints::pages::{Page, escape};
use crate::http::message::{Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Ports, Random as _, all_rows, first_row};
use crate::texts::{Text, agents as texts};

impl<P: Ports> AgentContext<'_, P> {
    /// Redirects the user to the sign-in.
    pub(super) async fn user_grants(&self, request: &Request) -> Result<Response, Problem> {
        if request.method == "HEAD" {
            return Ok(head_response());
        }
        let cookie = sign_in_cookie(request).map_or_else(|| self.ports.secret(), str::to_owned);
        self.check_rate(&hash(&cookie)).await?;
        let endpoint = self.require_endpoint().await?;
        let signed = self.sign(&endpoint, Purpose::Grants { lists: true }, &cookie)?;
        self.sign_in(&endpoint, &signed, &cookie).await
    }

    /// Shows the grants to a user whom the OpenID provider has authenticated.
    pub(super) async fn show_grants_page(
        &self,
        identity: String,
        endpoint: &Endpoint,
        browser_hash: &str,
    ) -> Result<Response, Problem> {
        let user = SignedInUser {
            endpoint: endpoint.id.clone(),
            identity,
            identity_type: endpoint.identity_type,
            browser_hash: browser_hash.to_owned(),
            configured_at: endpoint.updated_at,
            expires_at: self.now.saturating_add(LIFETIME_MS),
        };
        self.grants_page(&user, &[]).await
    }

    /// Shows the grants to a user whom the app has authenticated. `secret` is from `continueUrl`.
    /// Returns `None` if the secret is not for this page.
    pub(super) async fn resume_grants(
        &self,
        secret: &str,
        cookie: &str,
    ) -> Result<Option<Response>, Problem> {
        if !SignedInUser::is_signed(secret) {
            return Ok(None);
        }
        let Some(mut user) = self.signed_in_user(secret, cookie) else {
            return Ok(Some(self.sign_in_expired_page()));
        };
        user.expires_at = self.now.saturating_add(LIFETIME_MS);
        self.grants_page(&user, &[]).await.map(Some)
    }

    /// Revokes the selected grants and shows the remaining ones.
    pub(super) async fn revoke_grants(&self, request: &Request) -> Result<Response, Problem> {
        // Rejects forms that another site submits on the user's behalf.
        if !is_from_own_page(request) {
            let paragraphs = [&texts::NOT_GRANTED_WHY];
            return Ok(self.page(403, &texts::DECIDE_ON_THE_PAGE, &paragraphs, &[]).response());
        }
        let form = match form(request, &["end"]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let (user, cookie) = (form.get("user"), sign_in_cookie(request));
        let user = user.zip(cookie).and_then(|(user, cookie)| self.signed_in_user(user, cookie));
        let Some(user) = user else { return Ok(self.sign_in_expired_page()) };
        self.check_rate(&user.browser_hash).await?;
        let grant_ids: Vec<String> = form.all("end").take(MAX_GRANTS).map(str::to_owned).collect();
        self.grants_page(&user, &grant_ids).await
    }

    /// Verifies the signed user of the page. Returns `None` in another browser.
    fn signed_in_user(&self, text: &str, cookie: &str) -> Option<SignedInUser> {
        let user = SignedInUser::verify(self.secrets(), text, self.now);
        user.filter(|user| user.endpoint == self.id && user.browser_hash == hash(cookie))
    }

    /// Revokes those of the given grants that belong to the user, and shows the remaining ones. If
    /// the sign-in has changed since, revokes nothing.
    async fn grants_page(
        &self,
        user: &SignedInUser,
        grant_ids: &[String],
    ) -> Result<Response, Problem> {
        let Some(endpoint) = self.endpoint().await? else { return Err(Problem::route_not_found()) };
        let owner = GrantOwner {
            account: &endpoint.account,
            environment: endpoint.environment,
            identity: &user.identity,
            identity_type: user.identity_type,
        };
        let condition = (endpoint.id.as_str(), user.configured_at);
        if !grant_ids.is_empty() {
            let actor = person_actor(&user.identity, &endpoint.key_id, self.now, self.request_id);
            self.ports.set_actor(actor);
        }
        let sets = self
            .batch(vec![
                delete_own_grants(owner, condition, grant_ids),
                select_grants_by_owner(owner, self.now),
                statements::select_endpoint(self.id),
            ])
            .await?;
        let current: Option<Endpoint> = first_row(&sets, 2)?;
        if current.is_none_or(|current| current.updated_at != user.configured_at) {
            return Ok(self.sign_in_expired_page());
        }
        let grants = all_rows::<Grant>(&sets, 1)?;
        let rows = [(&texts::SIGNED_IN_AS, user.identity.clone())];
        let list = description_list(&self.wording, &rows);
        let signed = user.sign(self.secrets()).ok_or_else(no_session_secret)?;
        let format_text = |text| escape(&self.wording.format_text(text, &[]));
        let content = if grants.is_empty() {
            format!("{list}<p>{}</p>\n", format_text(&texts::NO_AGENT))
        } else {
            format!(
                "{list}{}<input type=\"hidden\" name=\"user\" value=\"{}\">\n<p><button type=\"submit\">{}</button></p>\n",
                grant_list(&self.wording, &grants),
                escape(&signed),
                format_text(&texts::END_ACCESS),
            )
        };
        let paragraphs: &[&Text] = if grant_ids.is_empty() { &[] } else { &[&texts::ENDED] };
        let page = Page {
            form: Some((format!("/mcp/{}/grants", self.id), content)),
            ..self.page(200, &texts::EARLIER, paragraphs, &[])
        };
        Ok(page.response())
    }
}
