//! The consent page and the user's decision.

use std::fmt::Write as _;

use serde::Deserialize;

use super::{AgentContext, form, sign_in_cookie, with_query};
use crate::agents::client::Destination;
use crate::agents::grant::{Grant, State};
use crate::agents::statements::{self, BrowserStep, Consent};
use crate::agents::user_grants::{GrantOwner, MAX_GRANTS, select_grants_by_owner};
use crate::agents::{Access, Confirm};
use crate::audit::statements::grant_user_actor;
use crate::auth::Shard;
use crate::auth::key::hash;
use crate::catalog::key::platform as is_no_platform;
use crate::connect::endpoints::is_from_own_page;
use crate::connect::endpoints::pages::{Page, escape};
use crate::http::form::Form;
use crate::http::message::{Request, Response};
use crate::http::problem::Problem;
use crate::ports::{Db as _, Ports, Random as _, all_rows, first_row};
use crate::texts::agents as texts;
use crate::texts::{Text, Wording};
use crate::util::name_set::Names;
use crate::util::rfc3339::rfc3339;

/// The maximum length of the platform names in a grant, in characters. Each access token contains
/// them.
const MAX_PLATFORMS: usize = 1200;

/// The maximum number of platforms whose display names are read from the catalog.
const MAX_NAMED: usize = 20;

#[derive(Deserialize)]
struct ConnectedPlatform {
    platform: String,
}

impl<P: Ports> AgentContext<'_, P> {
    /// Shows the consent page. Verified facts come first; the client's own claims are labelled as
    /// unverified.
    pub(super) async fn show_consent_page(&self, grant: &Grant) -> Result<Response, Problem> {
        let owner = GrantOwner {
            account: &grant.account,
            environment: grant.environment,
            identity: &grant.identity,
            identity_type: grant.identity_type,
        };
        let batch =
            vec![statements::select_platforms(grant), select_grants_by_owner(owner, self.now)];
        let sets = self.ports.batch(batch).await?;
        let granted = grant.platforms();
        let platforms: Vec<String> = if let Some(names) = &granted {
            names.all().into_iter().map(str::to_owned).collect()
        } else {
            all_rows::<ConnectedPlatform>(&sets, 0)?.into_iter().map(|row| row.platform).collect()
        };
        let (first, others) = platforms.split_at(platforms.len().min(MAX_NAMED));
        let names = [&self.platform_names(first).await, others].concat();
        let platforms: Vec<(&String, &String)> = platforms.iter().zip(&names).collect();
        let existing_grants = all_rows::<Grant>(&sets, 1)?;
        let wording = &self.wording;
        let client = client_host(grant, wording);
        let name = grant.client_name.clone().unwrap_or_else(|| client.clone());
        let values = [("name", name.as_str()), ("identity", &grant.identity)];
        let mut paragraphs = vec![&texts::CONSENT_WHAT];
        let destination = Destination::from_redirect_uri(&grant.redirect_uri);
        // The name is displayed in quotation marks. `display_name` has removed its own.
        let mut rows =
            vec![(&texts::PROGRAM, wording.format_text(&texts::NAME_NOT_VERIFIED, &values))];
        if grant.client_url.is_some() {
            rows.push((&texts::PUBLISHED_BY, client.clone()));
        }
        rows.extend([
            (
                &texts::SENT_TO,
                match &destination {
                    Destination::Site(host) => host.clone(),
                    Destination::Machine => wording.format_text(&texts::THIS_COMPUTER, &[]),
                    Destination::Scheme(scheme) => {
                        wording.format_text(&texts::SCHEME, &[("scheme", scheme.as_str())])
                    }
                },
            ),
            (&texts::SIGNED_IN_AS, grant.identity.clone()),
        ]);
        if let Some(actions) = grant.actions() {
            rows.push((&texts::ONLY_ACTIONS, actions.all().join(", ")));
        }
        if let Some(connections) = grant.connections() {
            let ids = connections.all();
            let is_one = ids.len() == 1;
            let text = if is_one { texts::ONE_CONNECTION } else { texts::SOME_CONNECTIONS };
            let message = wording.format_text(&text, &[("ids", &ids.join(", "))]);
            rows.push((&texts::ONLY_CONNECTIONS, message));
        }
        if let Some(confirm) = grant.confirm {
            let message = wording.format_text(asked_before(confirm), &[]);
            rows.push((&texts::ASKED_BEFORE, message));
        }
        if !matches!(destination, Destination::Site(_)) {
            paragraphs.push(&texts::CONSENT_WARNING);
        }
        paragraphs.push(&texts::CONSENT_DECLINE);
        let own_grants = format!("{}/grants", self.issuer());
        rows.push((&texts::ENDS_AT, own_grants));
        let page = Page {
            form: Some((
                format!("/mcp/{}/consent", self.id),
                controls(wording, grant, &platforms, &rows, &existing_grants),
            )),
            ..self.page(200, &texts::CONSENT_TITLE, &paragraphs, &values)
        };
        Ok(page.response())
    }

    /// Handles the user's decision. Accepts it once, and only from the browser with the cookie of
    /// the authorization endpoint.
    pub(super) async fn consent(&self, request: &Request) -> Result<Response, Problem> {
        // Rejects forms that another site submits on the user's behalf.
        if !is_from_own_page(request) {
            let paragraphs = [&texts::NOT_GRANTED_WHY];
            return Ok(self.page(403, &texts::DECIDE_ON_THE_PAGE, &paragraphs, &[]).response());
        }
        let form = match form(request, &["platform", "end"]) {
            Ok(form) => form,
            Err(refusal) => return Ok(*refusal),
        };
        let (id, cookie) = (form.get("grant"), sign_in_cookie(request));
        let (Some(id), Some(cookie)) = (id, cookie) else { return Ok(self.sign_in_expired_page()) };
        let browser_hash = hash(cookie);
        let step = BrowserStep {
            endpoint: self.id,
            browser_hash: &browser_hash,
            claimed_by: self.request_id,
            now: self.now,
        };
        let grant_ids = form.all("end").take(MAX_GRANTS);
        let grant_ids: Vec<String> = grant_ids.map(str::to_owned).collect();
        self.ports.set_actor(grant_user_actor(id, self.now, self.request_id));
        let end = statements::delete_earlier_grants(step, id, &grant_ids);
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
            Err(message) => {
                return Ok(self.page(400, &texts::CHOOSE_PLATFORM, &[message], &[]).response());
            }
        };
        let shard = Shard::new(self.ports.number()).unwrap_or_default();
        let code = shard.mark(self.ports.secret());
        let access = form.get("access").and_then(|name| name.parse().ok()).unwrap_or(Access::Read);
        let consent = Consent {
            access,
            platforms: platforms.as_ref().map(Names::as_str),
            confirm: form.get("confirm").and_then(|name| name.parse().ok()),
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

/// The host of the client's metadata document, or a description if the client has none.
fn client_host(grant: &Grant, wording: &Wording<'_>) -> String {
    let rest = grant.client_url.as_deref().and_then(|url| url.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split('/').next());
    host.map_or_else(
        || wording.format_text(&texts::AN_UNNAMED_PROGRAM, &[]),
        str::to_ascii_lowercase,
    )
}

/// The platforms to which the user limits the grant. Returns `None` for all platforms.
fn selected_platforms(form: &Form, grant: &Grant) -> Result<Option<Names>, &'static Text> {
    if form.get("accounts") == Some("all") {
        return Ok(None);
    }
    let granted = grant.platforms();
    let mut names: Vec<String> = Vec::new();
    for name in form.all("platform").take(100) {
        let is_own = granted.as_ref().is_none_or(|granted| granted.has(name));
        if is_own && is_no_platform(name).is_none() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    if names.is_empty() {
        return Err(&texts::CHOOSE_ONE);
    }
    let names = Names::new(&names);
    if names.as_str().len() > MAX_PLATFORMS {
        return Err(&texts::CHOOSE_FEWER);
    }
    Ok(Some(names))
}

/// Renders the form's content: facts, choices and two buttons.
fn controls(
    wording: &Wording<'_>,
    grant: &Grant,
    platforms: &[(&String, &String)],
    rows: &[(&Text, String)],
    existing_grants: &[Grant],
) -> String {
    let format_text = |text| escape(&wording.format_text(text, &[]));
    let radio = |(name, value, is_checked), text| {
        let checked = if is_checked { " checked" } else { "" };
        let text = format_text(text);
        format!(
            "<label><input type=\"radio\" name=\"{name}\" value=\"{value}\"{checked}> {text}</label>\n"
        )
    };
    let mut html = description_list(wording, rows);
    let _ =
        writeln!(html, "<input type=\"hidden\" name=\"grant\" value=\"{}\">", escape(&grant.id));
    let _ = writeln!(html, "<fieldset><legend>{}</legend>", format_text(&texts::WHAT_IT_MAY_DO));
    let may_write = grant.access == Access::Write;
    if may_write {
        html.push_str(&radio(("access", "write", true), &texts::MAY_WRITE));
    }
    html.push_str(&radio(("access", "read", !may_write), &texts::MAY_READ));
    if may_write && grant.confirm != Some(Confirm::Write) {
        let text = format_text(&texts::ASK_ME);
        let _ = writeln!(
            html,
            "<label><input type=\"checkbox\" name=\"confirm\" value=\"write\"> {text}</label>"
        );
    }
    let legend = format_text(&texts::WHICH_ACCOUNTS);
    let _ = writeln!(html, "</fieldset>\n<fieldset><legend>{legend}</legend>");
    let all = match (&grant.platforms, platforms) {
        (Some(_), _) => &texts::ALL_OF_THESE,
        (None, []) => &texts::ALL_LATER,
        (None, _) => &texts::ALL_AND_LATER,
    };
    html.push_str(&radio(("accounts", "all", true), all));
    if !platforms.is_empty() {
        html.push_str(&radio(("accounts", "some", false), &texts::ONLY_CHOSEN));
        html.push_str("<ul>\n");
        for (platform, name) in platforms {
            let (platform, name) = (escape(platform), escape(name));
            let _ = writeln!(
                html,
                "<li><label><input type=\"checkbox\" name=\"platform\" value=\"{platform}\"> {name}</label></li>"
            );
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</fieldset>\n");
    html.push_str(&earlier_grants(wording, existing_grants));
    let (allow, decline) = (format_text(&texts::ALLOW), format_text(&texts::DECLINE));
    let _ = writeln!(
        html,
        "<p><button type=\"submit\" name=\"decision\" value=\"allow\">{allow}</button> <button type=\"submit\" class=\"second\" name=\"decision\" value=\"decline\">{decline}</button></p>"
    );
    html
}

/// Renders names and values as an HTML description list.
pub(super) fn description_list(wording: &Wording<'_>, rows: &[(&Text, String)]) -> String {
    let mut html = String::from("<dl>\n");
    for (name, value) in rows {
        let name = escape(&wording.format_text(name, &[]));
        let _ = writeln!(html, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    }
    html.push_str("</dl>\n");
    html
}

/// Renders the user's earlier grants, with checkboxes to revoke them.
fn earlier_grants(wording: &Wording<'_>, existing_grants: &[Grant]) -> String {
    let mut html = String::new();
    if existing_grants.is_empty() {
        return html;
    }
    let [legend, next] =
        [texts::EARLIER, texts::EARLIER_NEXT].map(|text| escape(&wording.format_text(&text, &[])));
    let list = grant_list(wording, existing_grants);
    let _ = writeln!(html, "<fieldset><legend>{legend}</legend>\n<p>{next}</p>\n{list}</fieldset>");
    html
}

/// The calls before which the user is asked.
const fn asked_before(confirm: Confirm) -> &'static Text {
    match confirm {
        Confirm::Write => &texts::EACH_CHANGE,
        Confirm::Destructive => &texts::DELETIONS,
    }
}

/// Renders a list of grants, with checkboxes to revoke them.
pub(super) fn grant_list(wording: &Wording<'_>, grants: &[Grant]) -> String {
    let mut html = String::from("<ul>\n");
    for grant in grants {
        let name = grant.client_name.clone().unwrap_or_else(|| client_host(grant, wording));
        // `2026-11-29 12:20 UTC`: a user may connect the same program several times a day.
        let day = rfc3339(grant.created_at)
            .and_then(|text| Some(format!("{} UTC", text.get(..16)?.replace('T', " "))));
        let reads = grant.access == Access::Read;
        let text = if reads { texts::END_READING } else { texts::END_WRITING };
        let values = [("name", name.as_str()), ("day", day.as_deref().unwrap_or_default())];
        let mut text = wording.format_text(&text, &values);
        if let Some(platforms) = &grant.platforms {
            let _ = write!(text, " ({})", platforms.replace(',', ", "));
        }
        if let Some(confirm) = grant.confirm {
            let [asked, what] = [&texts::ASKED_BEFORE, asked_before(confirm)]
                .map(|text| wording.format_text(text, &[]));
            let _ = write!(text, " ({asked}: {what})");
        }
        let _ = writeln!(
            html,
            "<li><label><input type=\"checkbox\" name=\"end\" value=\"{}\"> <span>{}</span></label></li>",
            escape(&grant.id),
            escape(&text),
        );
    }
    html.push_str("</ul>\n");
    html
}
