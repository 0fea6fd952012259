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
use crate::connections::endpoints::no_platform::OfPlatform;
use crate::credentials::endpoints as credentials;
use crate::events::endpoints as events;
use crate::platform_calls::endpoints as platform_calls;
use crate::ports::Ports;
use crate::storage::metering::Metered;
use crate::storage::transaction::Statements;
use crate::webhooks::endpoints as webhooks;

/// Prepares a request's handler. Fails with all faults that show before storage is queried.
pub(super) async fn prepare<'a, P: Ports>(
    context: &'a Context<'a>,
    ports: &'a Metered<'a, P>,
) -> Result<Handler<'a>, Problem> {
    let service = context.service;
    let cache = service.catalog();
    match context.endpoint {
        Keyed::ListConnectors => catalog::connectors::plan(context, ports),
        Keyed::GetConnector => catalog::connector::plan(context)
            .map(|answer| Handler::catalog(answer.answer(cache, ports))),
        Keyed::SearchActions => catalog::search::plan(context)
            .map(|answer| Handler::catalog(answer.answer(cache, ports))),
        Keyed::ListActions => catalog::actions::plan(context)
            .map(|answer| Handler::catalog(answer.answer(cache, ports))),
        Keyed::GetAction => catalog::action::plan(context)
            .map(|answer| Handler::catalog(answer.answer(cache, ports))),
        Keyed::ListConnections => connections::list::plan(context),
        Keyed::CreateConnection => {
            Ok(match connections::create::plan(context, cache, ports).await? {
                OfPlatform::Known(handler) => handler,
                OfPlatform::Unknown(refused) => Handler::catalog(refused.answer(cache, ports)),
            })
        }
        Keyed::ReadConnection => connections::read::plan(context),
        Keyed::UpdateConnection => connections::update::plan(context),
        Keyed::DeleteConnection => {
            let (deletion, statements) = connections::delete::plan(context)?;
            Ok(Handler::new(statements, move |results, _| async move {
                deletion.answer(&results, cache, ports).await
            }))
        }
        Keyed::SetConnectionState => connections::state::plan(context),
        Keyed::SetConnectionName => connections::name::plan(context),
        Keyed::Summary => connections::summary::plan(context),
        Keyed::Whoami => whoami::plan(context),
        Keyed::CreateSession => {
            let new = session::plan(context)?;
            Ok(Handler::new(Statements::default(), move |_, principal| async move {
                new.answer(&principal, cache, ports).await
            }))
        }
        Keyed::GetStatus => connections::status::plan(context),
        Keyed::GetCredentials => {
            let (asked, statements) = credentials::read::plan(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                asked.answer(&principal, &results, cache, ports).await
            }))
        }
        Keyed::SetCredentials => {
            let (new, statements) = credentials::set::plan(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                new.answer(&principal, &results, cache, ports).await
            }))
        }
        Keyed::CheckConnection => {
            let (asked, statements) = credentials::check_now::plan(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                asked.answer(&principal, &results, cache, ports).await
            }))
        }
        Keyed::RunAction => {
            let (run, statements) = platform_calls::run::plan(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                run.answer(&principal, &results, cache, ports).await
            }))
        }
        Keyed::ProxyGet
        | Keyed::ProxyPost
        | Keyed::ProxyPut
        | Keyed::ProxyPatch
        | Keyed::ProxyDelete => {
            let (call, statements) = platform_calls::proxy::plan(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                call.answer(&principal, &results, cache, ports).await
            }))
        }
        Keyed::Connect => Ok(match Box::pin(connect::start::plan(context, cache, ports)).await? {
            OfPlatform::Known((new, statements)) => {
                Handler::new(statements, move |results, principal| async move {
                    new.answer(&principal, &results, cache, ports).await
                })
            }
            OfPlatform::Unknown(refused) => Handler::catalog(refused.answer(cache, ports)),
        }),
        Keyed::ListAttempts => connect::attempts::plan(context),
        Keyed::GetAttempt => {
            let (asked, statements) = connect::attempt::plan(context)?;
            Ok(Handler::new(statements, move |results, _| async move {
                asked.answer(&results, ports).await
            }))
        }
        Keyed::ListOauthClients => oauth_clients::list(context),
        Keyed::GetOauthClient => oauth_clients::read(context),
        Keyed::SetOauthClient => {
            let new = oauth_clients::put(context)?;
            Ok(Handler::new(Statements::default(), move |_, principal| async move {
                new.answer(&principal, cache, ports).await
            }))
        }
        Keyed::DeleteOauthClient => oauth_clients::delete(context),
        Keyed::ListKeys => api_keys::list(context),
        Keyed::CreateKey => api_keys::create(context, ports),
        Keyed::RotateKey => api_keys::rotate(context, ports),
        Keyed::RevokeKey => api_keys::delete(context),
        Keyed::GetAgentSignIn => agents::sign_in::read(context),
        Keyed::SetAgentSignIn => {
            let new = agents::sign_in::put(context)?;
            Ok(Handler::new(Statements::default(), move |_, principal| async move {
                new.answer(&principal, service, ports).await
            }))
        }
        Keyed::DeleteAgentSignIn => agents::sign_in::delete(context),
        Keyed::ListAgentGrants => agents::grants::list(context),
        Keyed::CreateAgentGrant => agents::grants::create(context, ports),
        Keyed::DeleteAgentGrant => agents::grants::delete(context),
        Keyed::ListAudit => audit::plan(context),
        Keyed::ListEvents => events::feed::plan(context),
        Keyed::ListWebhooks => webhooks::read::list(context),
        Keyed::GetWebhook => webhooks::read::one(context),
        Keyed::ListDeliveries => webhooks::read::deliveries(context),
        Keyed::UpdateWebhook => webhooks::write::update(context),
        Keyed::DeleteWebhook => webhooks::write::delete(context),
        Keyed::ReplayEvents => webhooks::write::replay(context),
        Keyed::CreateWebhook => {
            let (asked, statements) = webhooks::signed::create(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                asked.answer(&principal, &results, ports).await
            }))
        }
        Keyed::RotateWebhook | Keyed::TestWebhook => {
            let (asked, statements) = webhooks::signed::of_one(context)?;
            Ok(Handler::new(statements, move |results, principal| async move {
                asked.answer(&principal, &results, ports).await
            }))
        }
    }
}
