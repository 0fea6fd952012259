//! What each endpoint needs from storage, and how its answer is rendered from the results.

use super::context::Context;
use super::endpoint::Keyed;
use super::problem::Problem;
use crate::agents::endpoints as agents;
use crate::agents::endpoints::sign_in::PutSignIn;
use crate::audit::endpoints as audit;
use crate::auth::endpoints::session::new::NewSession;
use crate::auth::endpoints::{api_keys, session, whoami};
use crate::catalog::cache::CatalogCache;
use crate::catalog::endpoints as catalog;
use crate::catalog::endpoints::answer::CatalogAnswer;
use crate::catalog::endpoints::connectors::ByClients;
use crate::connect::endpoints as connect;
use crate::connect::endpoints::attempt::AskedAttempt;
use crate::connect::endpoints::oauth_clients;
use crate::connect::endpoints::oauth_clients::PutClient;
use crate::connect::endpoints::start::NewConnect;
use crate::connections::endpoints as vault;
use crate::connections::endpoints::delete::Deletion;
use crate::connections::endpoints::no_platform::{NoPlatform, OfPlatform};
use crate::credentials::endpoints as credentials;
use crate::credentials::endpoints::check_now::AskedCheck;
use crate::credentials::endpoints::read::AskedCredentials;
use crate::credentials::endpoints::set::NewCredentials;
use crate::events::endpoints as events;
use crate::platform_calls::endpoints as call;
use crate::platform_calls::endpoints::proxy::ProxyCall;
use crate::platform_calls::endpoints::run::RunAction;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::{Statements, Transaction};
use crate::webhooks::endpoints as webhooks;
use crate::webhooks::endpoints::signed::SignedWebhook;

/// What an endpoint needs from storage.
pub enum Plan<'a> {
    /// An answer of the catalog, read once the caller has been let in.
    Catalog(CatalogAnswer<'a>),
    /// An answer of the catalog that depends on OAuth clients, and what is asked of storage first.
    ByClients((ByClients<'a>, Statements)),
    /// A token, made once its key has turned out to be valid.
    Session(NewSession<'a>),
    /// A refusal: the catalog does not have the platform of a new connection. What may have been meant is looked up once
    /// the caller has been let in.
    NoPlatform(NoPlatform<'a>),
    /// An account to connect, and what is asked of storage first.
    Connect((Box<NewConnect<'a>>, Statements)),
    /// An OAuth client to be stored.
    PutClient(PutClient<'a>),
    /// A sign-in for agents to be configured.
    PutSignIn(PutSignIn<'a>),
    /// What became of an attempt, and what is asked of storage first.
    Attempt((AskedAttempt<'a>, Statements)),
    /// A connection to be deleted, and what is asked of storage first.
    Delete((Deletion<'a>, Statements)),
    /// Credentials to be handed out, and what is asked of storage first.
    Credentials((AskedCredentials<'a>, Statements)),
    /// A connection to be checked, and what is asked of storage first.
    Check((AskedCheck<'a>, Statements)),
    /// Credentials to be stored, and what is asked of storage first.
    SetCredentials((NewCredentials<'a>, Statements)),
    /// An action to be run, and what is asked of storage first.
    Run((RunAction<'a>, Statements)),
    /// A call to be passed on, and what is asked of storage first.
    Proxy((ProxyCall<'a>, Statements)),
    /// A webhook whose secret is made or used, and what is asked of storage first.
    Webhook((SignedWebhook<'a>, Statements)),
    /// Statements for the vault's database, and how their results are rendered.
    Vault(Transaction<'a>),
}

impl<'a> Plan<'a> {
    /// The plan for a new connection.
    fn of<T>(found: OfPlatform<'a, T>, known: impl FnOnce(T) -> Self) -> Self {
        match found {
            OfPlatform::Known(plan) => known(plan),
            OfPlatform::Unknown(refused) => Self::NoPlatform(refused),
        }
    }
}

/// Plans a request: the one place that knows which module answers which endpoint.
///
/// # Errors
/// With all faults of the request that show before storage is asked.
pub async fn plan<'a, P: Ports>(
    context: &'a Context<'a>,
    cache: &CatalogCache,
    ports: &Metered<'_, P>,
) -> Result<Plan<'a>, Problem> {
    match context.endpoint {
        Keyed::ListConnectors => catalog::connectors::plan(context),
        Keyed::GetConnector => catalog::connector::plan(context).map(Plan::Catalog),
        Keyed::SearchActions => catalog::search::plan(context).map(Plan::Catalog),
        Keyed::ListActions => catalog::actions::plan(context).map(Plan::Catalog),
        Keyed::GetAction => catalog::action::plan(context).map(Plan::Catalog),
        Keyed::ListConnections => vault::list::plan(context).map(Plan::Vault),
        Keyed::CreateConnection => {
            Ok(Plan::of(vault::create::plan(context, cache, ports).await?, Plan::Vault))
        }
        Keyed::ReadConnection => vault::read::plan(context).map(Plan::Vault),
        Keyed::UpdateConnection => vault::update::plan(context).map(Plan::Vault),
        Keyed::DeleteConnection => vault::delete::plan(context).map(Plan::Delete),
        Keyed::SetConnectionState => vault::state::plan(context).map(Plan::Vault),
        Keyed::SetConnectionName => vault::name::plan(context).map(Plan::Vault),
        Keyed::Summary => vault::summary::plan(context).map(Plan::Vault),
        Keyed::Whoami => whoami::plan(context).map(Plan::Vault),
        Keyed::CreateSession => session::plan(context).map(Plan::Session),
        Keyed::GetStatus => vault::status::plan(context).map(Plan::Vault),
        Keyed::GetCredentials => credentials::read::plan(context).map(Plan::Credentials),
        Keyed::SetCredentials => credentials::set::plan(context).map(Plan::SetCredentials),
        Keyed::CheckConnection => credentials::check_now::plan(context).map(Plan::Check),
        Keyed::RunAction => call::run::plan(context).map(Plan::Run),
        Keyed::ProxyGet
        | Keyed::ProxyPost
        | Keyed::ProxyPut
        | Keyed::ProxyPatch
        | Keyed::ProxyDelete => call::proxy::plan(context).map(Plan::Proxy),
        Keyed::Connect => {
            let found = Box::pin(connect::start::plan(context, cache, ports)).await?;
            Ok(Plan::of(found, Plan::Connect))
        }
        Keyed::ListAttempts => connect::attempts::plan(context).map(Plan::Vault),
        Keyed::GetAttempt => connect::attempt::plan(context).map(Plan::Attempt),
        Keyed::ListOauthClients => oauth_clients::list(context).map(Plan::Vault),
        Keyed::GetOauthClient => oauth_clients::read(context).map(Plan::Vault),
        Keyed::SetOauthClient => oauth_clients::put(context).map(Plan::PutClient),
        Keyed::DeleteOauthClient => oauth_clients::delete(context).map(Plan::Vault),
        Keyed::ListKeys => api_keys::list(context).map(Plan::Vault),
        Keyed::CreateKey => api_keys::create(context, ports).map(Plan::Vault),
        Keyed::RotateKey => api_keys::rotate(context, ports).map(Plan::Vault),
        Keyed::RevokeKey => api_keys::delete(context).map(Plan::Vault),
        Keyed::GetAgentSignIn => agents::sign_in::read(context).map(Plan::Vault),
        Keyed::SetAgentSignIn => agents::sign_in::put(context).map(Plan::PutSignIn),
        Keyed::DeleteAgentSignIn => agents::sign_in::delete(context).map(Plan::Vault),
        Keyed::ListAgentGrants => agents::grants::list(context).map(Plan::Vault),
        Keyed::CreateAgentGrant => agents::grants::create(context, ports).map(Plan::Vault),
        Keyed::DeleteAgentGrant => agents::grants::delete(context).map(Plan::Vault),
        Keyed::ListAudit => audit::plan(context).map(Plan::Vault),
        Keyed::ListEvents => events::feed::plan(context).map(Plan::Vault),
        Keyed::ListWebhooks => webhooks::read::list(context).map(Plan::Vault),
        Keyed::GetWebhook => webhooks::read::one(context).map(Plan::Vault),
        Keyed::ListDeliveries => webhooks::read::deliveries(context).map(Plan::Vault),
        Keyed::UpdateWebhook => webhooks::write::update(context).map(Plan::Vault),
        Keyed::DeleteWebhook => webhooks::write::delete(context).map(Plan::Vault),
        Keyed::ReplayEvents => webhooks::write::replay(context).map(Plan::Vault),
        Keyed::CreateWebhook => webhooks::signed::create(context).map(Plan::Webhook),
        Keyed::RotateWebhook | Keyed::TestWebhook => {
            webhooks::signed::of_one(context).map(Plan::Webhook)
        }
    }
}
