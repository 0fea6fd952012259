//! The consent page and the user's decision.

use std::fmt::Write as _;

use serde::Deserialize;

use super::{AgentContext, browser, form, with_query};
use crate::agents::client::Destination;
use crate::agents::grant::{Grant, State};
use crate::agents::statements::{self, Consent, Step};
use crate::agents::{Access, Confirm, hash};
use crate::audit::statements::by_user_of;
use crate::auth::Shard;
use crate::catalog::key::platform as is_no_platform;
use crate::connect::endpoints::is_own_page;
use crate::connect::endpoints::pages::{Page, escape};
use crate::http::form::Form;
use crate::http::message::{Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, Random as _, all_rows, first_row};
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// The maximum length of the platforms to which a user restricts a grant, in characters: each access token contains them.
const MAX_PLATFORMS: usize = 1200;

#[derive(Deserialize)]
struct Connected {
    platform: String,
}

impl<P: Ports> AgentContext<'_, P> {
    /// Shows the consent page. Verified facts come first; the client's own claims are marked as unverified.
    pub(super) async fn ask_for_consent(&self, grant: &Grant) -> Result<Response, Problem> {
        let batch =
            vec![statements::select_platforms(grant), statements::select_earlier(grant, self.now)];
        let sets = self.ports.batch(batch).await?;
        let own = grant.platforms();
        let platforms: Vec<String> = if let Some(names) = &own {
            names.all().into_iter().map(str::to_owned).collect()
        } else {
            all_rows::<Connected>(&sets, 0)?.into_iter().map(|row| row.platform).collect()
        };
        let earlier = all_rows::<Grant>(&sets, 1)?;
        let app = self.service.config().app_name.as_deref().unwrap_or("this app");
        let client = client_host(grant);
        let name = grant.client_name.clone().unwrap_or_else(|| client.clone());
        let identity_type = grant.identity_type.map_or("", |kind| kind.as_str());
        let who = format!("{identity_type} “{}”", grant.identity);
        let mut paragraphs = vec![format!(
            "A program that calls itself “{name}” asks to use the accounts that {} has connected to {app}.",
            who.trim_start()
        )];
        let destination = Destination::from_redirect_uri(&grant.redirect_uri);
        // The program's name is quoted. It can't contain quotation marks.
        let mut rows = vec![("Program", format!("“{name}” (this name is not verified)"))];
        if grant.client_url.is_some() {
            rows.push(("Published by", client));
        }
        rows.extend([
            (
                "Access is sent to",
                match &destination {
                    Destination::Site(host) => host.clone(),
                    Destination::Machine => "a program on this computer (localhost)".to_owned(),
                    Destination::Scheme(scheme) => {
                        format!("the program on this computer that opens {scheme}: links")
                    }
                },
            ),
            ("You are signed in as", grant.identity.clone()),
        ]);
        if let Some(actions) = grant.actions() {
            rows.push(("It can run only", actions.all().join(", ")));
        }
        if let Some(connections) = grant.connections() {
            let ids = connections.all();
            let what = if ids.len() == 1 { "one connection" } else { "some connections" };
            rows.push(("It can use only", format!("{what}: {}", ids.join(", "))));
        }
        if let Some(confirm) = grant.confirm {
            let what = match confirm {
                Confirm::Write => "each change",
                Confirm::Destructive => "anything is deleted",
            };
            rows.push(("You are asked before", what.to_owned()));
        }
        if !matches!(destination, Destination::Site(_)) {
            paragraphs.push(
                "Warning: any program on this computer can receive this access. Continue only if you have just started to connect an agent yourself.".to_owned(),
            );
        }
        paragraphs.push(
            "If someone sent you this link, or you did not start this yourself, or don't know the program, decline."
                .to_owned(),
        );
        let page = Page {
            heading: format!("Let “{name}” use your accounts?"),
            paragraphs,
            form: Some((
                format!("/mcp/{}/consent", self.id),
                controls(grant, &platforms, &rows, &earlier),
            )),
            app: self.service.config().app_name.clone(),
            status: 200,
            ..Page::default()
        };
        Ok(page.response())
    }

    /// Handles the decision, once, and only in the browser that has the cookie of the authorization endpoint.
    pub(super) async fn consent(&self, request: &Request) -> Result<Response, Problem> {
        // A form on another site must not decide for the user.
        if !is_own_page(request) {
            return Ok(self.page(
                403,
                "Decide on the page itself",
                &["Another site sent this request, so nothing was granted. Go back to your agent and connect it again."],
            ));
        }
        let form = match form(request, &["platform", "end"]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let (id, cookie) = (form.get("grant"), browser(request));
        let (Some(id), Some(cookie)) = (id, cookie) else { return Ok(self.sign_in_expired_page()) };
        let browser_hash = hash(cookie);
        let step = Step {
            endpoint: self.id,
            browser_hash: &browser_hash,
            claimed_by: self.request_id,
            now: self.now,
        };
        let ended = form.all("end").take(statements::MAX_EARLIER);
        let ended: Vec<String> = ended.map(str::to_owned).collect();
        self.ports.set_actor(by_user_of(id, self.now, self.request_id));
        let end = statements::end_earlier(step, id, &ended);
        if form.get("decision") != Some("allow") {
            let sets = self.batch(vec![end, statements::decline(step, id)]).await?;
            let Some(grant) = first_row::<Grant>(&sets, 1)? else {
                return Ok(self.sign_in_expired_page());
            };
            let (uri, state) = (grant.redirect_uri.as_str(), grant.client_state.as_deref());
            return Ok(self.redirect_with_error(
                uri,
                state,
                "access_denied",
                Some("The user declined."),
            ));
        }
        let sets = self.batch(vec![statements::select_grant(self.id, id)]).await?;
        let Some(grant) = first_row::<Grant>(&sets, 0)? else {
            return Ok(self.sign_in_expired_page());
        };
        let platforms = match selected_platforms(&form, &grant) {
            Ok(platforms) => platforms,
            Err(what) => {
                return Ok(self.page(400, "Choose at least one platform", &[what]));
            }
        };
        let shard = Shard::new(self.ports.number()).unwrap_or_default();
        let code = shard.mark(self.ports.secret());
        let access = form.get("access").and_then(Access::parse).unwrap_or(Access::Read);
        let consent = Consent {
            access,
            platforms: platforms.as_ref().map(Names::as_str),
            confirm: form.get("confirm").and_then(Confirm::parse),
            code_hash: &hash(&code),
        };
        let sets = self.batch(vec![
            end,
            statements::consent(step, id, consent),
            statements::select_grant(self.id, id),
        ]);
        let grant = first_row::<Grant>(&sets.await?, 2)?;
        let is_own = |grant: &Grant| grant.state == State::Consented && self.has_claimed(grant);
        let Some(grant) = grant.filter(is_own) else { return Ok(self.sign_in_expired_page()) };
        let issuer = self.issuer();
        Ok(Response::see_other(with_query(
            &grant.redirect_uri,
            &[
                ("code", Some(&code)),
                ("state", grant.client_state.as_deref()),
                ("iss", Some(&issuer)),
            ],
        )))
    }
}

/// The host of a client's metadata document, or a description of a client without one.
fn client_host(grant: &Grant) -> String {
    let rest = grant.client_url.as_deref().and_then(|url| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split('/').next());
    host.map_or_else(|| "an unnamed program".to_owned(), str::to_ascii_lowercase)
}

/// The platforms to which the user restricts a grant. Returns `None` if the grant stays as it is.
fn selected_platforms(form: &Form, grant: &Grant) -> Result<Option<Names>, &'static str> {
    if form.get("accounts") == Some("all") {
        return Ok(None);
    }
    let own = grant.platforms();
    let mut names: Vec<String> = Vec::new();
    for name in form.all("platform").take(100) {
        let is_own = own.as_ref().is_none_or(|own| own.has(name));
        if is_own && is_no_platform(name).is_none() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.is_empty() {
        return Err("Go back and choose which accounts the agent may use, or decline.");
    }
    let names = Names::new(&names);
    if names.as_str().len() > MAX_PLATFORMS {
        return Err("Go back and choose fewer platforms, or all of them.");
    }
    Ok(Some(names))
}

/// The content of the form: facts, choices and two buttons.
fn controls(
    grant: &Grant,
    platforms: &[String],
    rows: &[(&str, String)],
    earlier: &[Grant],
) -> String {
    let mut html = String::new();
    html.push_str("<dl>\n");
    for (name, value) in rows {
        let _ = writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    }
    html.push_str("</dl>\n");
    let _ =
        writeln!(html, "<input type=\"hidden\" name=\"grant\" value=\"{}\">", escape(&grant.id));
    html.push_str("<fieldset><legend>What it may do</legend>\n");
    if grant.access == Access::Write {
        html.push_str("<label><input type=\"radio\" name=\"access\" value=\"write\" checked> Read and change data at the platforms, and connect accounts</label>\n");
        html.push_str("<label><input type=\"radio\" name=\"access\" value=\"read\"> Only read data at the platforms</label>\n");
    } else {
        html.push_str("<label><input type=\"radio\" name=\"access\" value=\"read\" checked> Only read data at the platforms</label>\n");
    }
    if grant.access == Access::Write && grant.confirm != Some(Confirm::Write) {
        html.push_str("<label><input type=\"checkbox\" name=\"confirm\" value=\"write\"> Ask me before each change</label>\n");
    }
    html.push_str("</fieldset>\n<fieldset><legend>Which accounts it may use</legend>\n");
    let all = match (&grant.platforms, platforms) {
        (Some(_), _) => "All of these platforms",
        (None, []) => "All that you connect later (there are none yet)",
        (None, _) => "All that you have connected, and those that you connect later",
    };
    let _ = writeln!(
        html,
        "<label><input type=\"radio\" name=\"accounts\" value=\"all\" checked> {all}</label>"
    );
    if !platforms.is_empty() {
        html.push_str("<label><input type=\"radio\" name=\"accounts\" value=\"some\"> Only those chosen here:</label>\n<ul>\n");
        for platform in platforms {
            let name = escape(platform);
            let _ = writeln!(
                html,
                "<li><label><input type=\"checkbox\" name=\"platform\" value=\"{name}\"> {name}</label></li>"
            );
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</fieldset>\n");
    html.push_str(&earlier_grants(earlier));
    html.push_str("<p><button type=\"submit\" name=\"decision\" value=\"allow\">Allow</button> <button type=\"submit\" class=\"second\" name=\"decision\" value=\"decline\">Decline</button></p>\n");
    html
}

/// The user's earlier grants, each with a checkbox that revokes it.
fn earlier_grants(earlier: &[Grant]) -> String {
    let mut html = String::new();
    if earlier.is_empty() {
        return html;
    }
    html.push_str("<fieldset><legend>Agents with access to your accounts</legend>\n<p>Select those whose access should end now, whatever you decide about this one.</p>\n<ul>\n");
    for grant in earlier {
        let name = grant.client_name.clone().unwrap_or_else(|| client_host(grant));
        let day =
            rfc3339(grant.created_at).and_then(|text| Some(text.split_once('T')?.0.to_owned()));
        let access = if grant.access == Access::Read { "only reads" } else { "reads and changes" };
        let _ = writeln!(
            html,
            "<li><label><input type=\"checkbox\" name=\"end\" value=\"{}\"> <span>End “{}”: {access}, since {}</span></label></li>",
            escape(&grant.id),
            escape(&name),
            day.unwrap_or_default()
        );
    }
    html.push_str("</ul>\n</fieldset>\n");
    html
}
