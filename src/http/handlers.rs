//! The handler of each endpoint: the second half of the table in [`super::endpoint`].

use super::context::Context;
use super::endpoint::Keyed;
use super::handler::Handler;
use super::problem::Problem;
use crate::agents::endpoints as agents;
use crate::audit::endpoints as audit;
use crate::auth::endpoints::{api_keys, session, whoami};
use crate::catalog::endpoints as catalog;
use crate::connect::endpoints as connect;
use crate::connect::endpoints::oauth_clients;
use crate::connections::endpoints as connections;
use crate::console::endpoints as console;
use crate::credentials::endpoints as credentials;
use crate::events::endpoints as events;
use crate::platform_calls::endpoints as platform_calls;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::usage::endpoints as usage;
use crate::webhooks::endpoints as webhooks;

/// Prepares a request's handler. Fails with all faults that show before storage is queried.
pub(super) async fn prepare<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    match context.endpoint {
        Keyed::ListConnectors => catalog::connectors::plan(context, ports),
        Keyed::GetConnector => catalog::connector::plan(context, ports),
        Keyed::SearchActions => catalog::search::plan(context, ports),
        Keyed::ListActions => catalog::actions::plan(context, ports),
        Keyed::GetAction => catalog::action::plan(context, ports),
        Keyed::ListConnections => connections::list::plan(context),
        Keyed::CreateConnection => connections::create::plan(context, ports).await,
        Keyed::ReadConnection => connections::read::plan(context),
        Keyed::UpdateConnection => connections::update::plan(context),
        Keyed::DeleteConnection => connections::delete::plan(context, ports),
        Keyed::SetConnectionState => connections::state::plan(context),
        Keyed::SetConnectionName => connections::name::plan(context),
        Keyed::Summary => connections::summary::plan(context),
        Keyed::Whoami => whoami::plan(context),
        Keyed::CreateSession => session::plan(context, ports),
        Keyed::GetStatus => connections::status::plan(context),
        Keyed::GetCredentials => credentials::read::plan(context, ports),
        Keyed::SetCredentials => credentials::set::plan(context, ports),
        Keyed::ImportConnections => credentials::import::plan(context, ports),
        Keyed::CheckConnection => credentials::check_now::plan(context, ports),
        Keyed::RunAction => platform_calls::run::plan(context, ports),
        Keyed::ProxyGet
        | Keyed::ProxyPost
        | Keyed::ProxyPut
        | Keyed::ProxyPatch
        | Keyed::ProxyDelete => platform_calls::proxy::plan(context, ports),
        // Boxed: the future of every request would otherwise have its size.
        Keyed::Connect => Box::pin(connect::start::plan(context, ports)).await,
        Keyed::ListAttempts => connect::attempts::plan(context),
        Keyed::GetAttempt => connect::attempt::plan(context, ports),
        Keyed::ListOauthClients => oauth_clients::list(context),
        Keyed::GetOauthClient => oauth_clients::read(context),
        Keyed::SetOauthClient => oauth_clients::put(context, ports),
        Keyed::DeleteOauthClient => oauth_clients::delete(context),
        Keyed::ListKeys => api_keys::list(context),
        Keyed::CreateKey => api_keys::create(context, ports),
        Keyed::RotateKey => api_keys::rotate(context, ports),
        Keyed::RevokeKey => api_keys::delete(context),
        Keyed::GetAgentSignIn => agents::sign_in::read(context),
        Keyed::SetAgentSignIn => agents::sign_in::put(context, ports),
        Keyed::DeleteAgentSignIn => agents::sign_in::delete(context),
        Keyed::ListAgentGrants => agents::grants::list(context),
        Keyed::CreateAgentGrant => agents::grants::create(context, ports),
        Keyed::DeleteAgentGrant => agents::grants::delete(context),
        Keyed::GetConsoleSignIn => console::sign_in::read(context),
        Keyed::SetConsoleSignIn => console::sign_in::put(context, ports),
        Keyed::DeleteConsoleSignIn => console::sign_in::delete(context),
        Keyed::ListConsoleSessions => console::sessions::list(context),
        Keyed::SignOut => console::sessions::delete_own(context),
        Keyed::DeleteConsoleSession => console::sessions::delete(context),
        Keyed::ListAudit => audit::plan(context),
        Keyed::GetUsage => usage::plan(context),
        Keyed::ListEvents => events::feed::plan(context),
        Keyed::ListWebhooks => webhooks::read::list(context),
        Keyed::GetWebhook => webhooks::read::one(context),
        Keyed::ListDeliveries => webhooks::read::deliveries(context),
        Keyed::UpdateWebhook => webhooks::write::update(context),
        Keyed::DeleteWebhook => webhooks::write::delete(context),
        Keyed::ReplayEvents => webhooks::write::replay(context),
        Keyed::CreateWebhook => webhooks::signed::create(context, ports),
        Keyed::RotateWebhook | Keyed::TestWebhook => webhooks::signed::of_one(context, ports),
    }
}
