//! Links to the connect window, where the user chooses a method and enters its fields.

use std::collections::BTreeMap;

use super::link::WINDOW_SCOPES;
use super::start::{ConnectRequest, return_url};
use crate::auth::endpoints::session::new::no_session_secret;
use crate::catalog::detail::{AuthMethod, FieldSource, Grant, variables as variables_of};
use crate::connect::client::OauthClient;
use crate::connect::method::Connector;
use crate::http::body::BodyReader;
use crate::http::message::Response;
use crate::http::problem::Problem;
use crate::ports::Ports;
use crate::storage::metering::Metered;

/// Members that a link to the connect window can't carry.
const NOT_IN_WINDOW_LINK: [&str; 5] = ["label", "name", "tags", "scopes", "allowOtherAccount"];

/// The method of a link, or the user's choice of a method.
pub(super) enum MethodChoice<'a> {
    Method(&'a AuthMethod),
    /// The user chooses in the connect window. The value is the first usable method.
    ByUser(&'a AuthMethod),
}

/// The method of a request. The error is the end of a sentence that begins with `authMethod`.
pub(super) fn choose_method<'c>(
    connector: &'c Connector,
    id: Option<&str>,
    wants_link: bool,
    client: Option<&OauthClient>,
) -> Result<MethodChoice<'c>, String> {
    match id {
        None if wants_link => default_method(connector, client),
        _ => connector.method(id).map(MethodChoice::Method),
    }
}

/// The default method of a link: the only OAuth method with a client, or else the user's choice
/// among the usable methods. The error is the end of a sentence that begins with `authMethod`.
fn default_method<'a>(
    connector: &'a Connector,
    client: Option<&OauthClient>,
) -> Result<MethodChoice<'a>, String> {
    let signs_in = |method: &AuthMethod| {
        let oauth = method.oauth2();
        oauth.is_some_and(|oauth| oauth.grant == Grant::AuthorizationCode)
            && client.is_some_and(|client| client.is_for(&method.id))
    };
    let mut usable = connector.auth_methods.iter().filter(|method| signs_in(method));
    if let (Some(method), None) = (usable.next(), usable.next()) {
        return Ok(MethodChoice::Method(method));
    }
    let is_usable = |method: &&AuthMethod| !method.is_oauth2() || signs_in(method);
    match (connector.auth_methods.as_slice(), connector.auth_methods.iter().find(is_usable)) {
        ([_] | [], _) => connector.method(None).map(MethodChoice::Method),
        (_, Some(first)) => Ok(MethodChoice::ByUser(first)),
        // A later error reports the missing OAuth client.
        ([first, ..], None) => Ok(MethodChoice::Method(first)),
    }
}

/// Whether the user has to enter values for a method, or may choose among several accounts.
pub(super) fn needs_user_input(
    method: &AuthMethod,
    field_values: &BTreeMap<String, String>,
    variables: &BTreeMap<String, String>,
) -> bool {
    let Some(oauth) = method.oauth2() else { return true };
    let has = |name: &str| [field_values, variables].iter().any(|all| all.contains_key(name));
    let chooses = |source: &FieldSource| {
        !has(&source.field) && variables_of(&source.at).any(|name| !has(name))
    };
    oauth.field_sources.iter().any(chooses)
        || method.fields.iter().any(|field| {
            field.required
                && field.default.is_none()
                && !has(&field.name)
                && !oauth.provides_field(&field.name)
        })
}

impl ConnectRequest<'_> {
    /// Starts an attempt that the user completes in the connect window. The link carries no secrets and no properties of
    /// the connection.
    pub(super) async fn start_in_window<P: Ports>(
        self,
        mut body: BodyReader,
        ports: &Metered<'_, P>,
    ) -> Result<Response, Problem> {
        for field in NOT_IN_WINDOW_LINK {
            if body.was_sent(field) {
                body.invalid(&[field], "must be omitted: the user enters what the method needs on the page of the link");
            }
        }
        let return_url = return_url(self.context, &mut body);
        body.finish()?;
        self.context.ensure_holds(self.principal.scopes, WINDOW_SCOPES)?;
        if !self.context.config().sessions.can_sign() {
            return Err(no_session_secret());
        }
        self.start_attempt(ports, None, &[], return_url).await
    }
}
