//! Explains to an agent why it can't use a platform, an action or a connection, and how its user can
//! allow more.

use serde_json::Value;

use super::McpCaller;
use super::connection_argument::named_platform;
use super::tool_call::take_body;
use super::tools::{LIST_CONNECTIONS, SEARCH_ACTIONS};
use crate::agents::endpoints::endpoint_id_at_path;
use crate::auth::Caller;
use crate::auth::limits::Access;
use crate::catalog::reader::Catalog;
use crate::http::message::Response;
use crate::platform_calls::headers::SOURCE;
use crate::ports::Ports;
use crate::util::case_fold::fold;
use crate::util::json;
use crate::util::name_set::Names;

/// The hints of the API's errors that do not help agents, because no tool returns their limits.
const HINTS: [&str; 2] = [": see `connections` of `GET /v1/whoami`", ": see `GET /v1/whoami`"];
const ONLY_READS: &str = "The agent may only read, so actions that write are not shown. ";
const BY_APP: &str = "Only the app that set this limit can allow more.";
/// The maximum number of names in a message.
const MAX_NAMES: usize = 10;

impl<P: Ports> McpCaller<'_, P> {
    /// How the user of an agent can allow more. Returns `None` for a caller without a grant.
    pub(super) fn how_to_allow_more(&self, caller: &Caller) -> Option<String> {
        caller.grant()?;
        let base = self.service.config().base_url.as_deref()?;
        let id = endpoint_id_at_path(&self.request.path)?;
        Some(format!(
            "To allow more, its user ends its access at {base}/mcp/{id}/grants and signs in again."
        ))
    }

    /// Explains a refusal, or a list without all results, that is due to the caller's limits. Returns
    /// whether the response was such a refusal.
    pub(super) async fn explain_limits(
        &self,
        (tool, arguments): (&str, &Value),
        response: &mut Response,
    ) -> bool {
        let is_list = response.status == 200 && [SEARCH_ACTIONS, LIST_CONNECTIONS].contains(&tool);
        let is_refusal = matches!(response.status, 403 | 404);
        if !is_list && !is_refusal || response.header(SOURCE) == Some("platform") {
            return false;
        }
        let Ok(caller) = self.service.caller(self.request) else { return false };
        let Some(restriction) = caller.restriction() else { return false };
        let (platforms, actions) = (restriction.platforms.as_ref(), &caller.limits().actions);
        let reads = if caller.limits().access == Access::Read { ONLY_READS } else { "" };
        let is_unlimited = platforms.is_none() && actions.is_none() && reads.is_empty();
        if is_unlimited && restriction.connections.is_none() {
            return false;
        }
        let bytes = take_body(response);
        let mut body: Value = json::from_bytes(&bytes).unwrap_or_default();
        response.body = bytes;
        let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
        let (code, detail) = (text("code"), text("detail"));
        // A list of what the agent may use would look complete.
        let is_search = is_list && tool == SEARCH_ACTIONS;
        let reads = if is_search { reads } else { "" };
        // An app that limits the actions also limits the platforms to theirs.
        let by_user = self.how_to_allow_more(&caller).filter(|_| actions.is_none());
        let how = by_user.as_deref().unwrap_or(BY_APP);
        let (advice, replaces) = if let Some((name, platforms)) =
            self.hidden_platform(arguments, platforms).await.zip(platforms)
        {
            let names = quoted(platforms);
            let which = "The agent's access is limited to the platforms";
            (format!("{which} {names}, which do not include `{name}`. {how}"), true)
        } else if let Some(actions) = actions
            && (is_search || detail.contains("limited to `actions`"))
        {
            let names = quoted(actions);
            let limit = format!("The agent's access is limited to the actions {names}.");
            (format!("{limit} {reads}{BY_APP}"), false)
        } else if let Some(platforms) = platforms.filter(|_| is_search) {
            let names = quoted(platforms);
            let limit = format!("The agent's access is limited to the platforms {names}.");
            (format!("{limit} {reads}{how}"), false)
        } else if restriction.connections.is_some()
            && (code == "connection_not_found" || detail.contains("to some connections"))
        {
            (format!("The agent's access is limited to some connections. {BY_APP}"), false)
        } else if !reads.is_empty() {
            (format!("{reads}{how}"), false)
        } else {
            return false;
        };
        let text = HINTS.iter().fold(detail.to_owned(), |text, hint| text.replace(hint, ""));
        let Some(members) = body.as_object_mut() else { return false };
        if is_list {
            let notes = members.entry("notes").or_insert_with(|| Value::Array(Vec::new()));
            if let Some(notes) = notes.as_array_mut() {
                notes.push(advice.into());
            }
        } else {
            let text = if replaces { advice } else { format!("{text} {advice}") };
            members.insert("detail".to_owned(), text.into());
        }
        response.body = json::bytes(&body);
        is_refusal
    }

    /// The platform in a tool's arguments that exists, but is not among `allowed`.
    async fn hidden_platform(&self, arguments: &Value, allowed: Option<&Names>) -> Option<String> {
        let allowed = allowed?;
        let named = arguments.get("platform").and_then(Value::as_str).map(fold);
        let named = named.or_else(|| named_platform(arguments))?;
        let catalog = Catalog::open(self.service.catalog(), self.ports).await.ok()?;
        for name in named.split(',').map(str::trim).filter(|name| !allowed.has(name)) {
            if catalog.connector(name).await.ok()?.is_some() {
                return Some(name.to_owned());
            }
        }
        None
    }
}

fn quoted(names: &Names) -> String {
    let all = names.all();
    let shown: Vec<String> = all.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    let more = all.len().saturating_sub(MAX_NAMES);
    let suffix = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &suffix
}
