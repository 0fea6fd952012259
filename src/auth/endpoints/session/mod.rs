//! `POST /v1/sessions`: creates a token for one identity, which a browser may hold.

pub mod new;

use new::NewSession;

use crate::http::context::Context;
use crate::http::problem::Problem;

/// Plans the request. The platforms are looked up in the catalog, and the token is made, once the key is known to be valid.
///
/// # Errors
/// With all faults of the query; when the body is no JSON object; `unavailable` when the service has no secret to sign with.
pub fn plan<'a>(context: &Context<'a>) -> Result<NewSession<'a>, Problem> {
    let secrets = &context.config.sessions;
    if !secrets.can_sign() {
        return Err(new::no_secret());
    }
    context.no_query()?;
    let (body, origin) = (context.body()?, context.request.origin.as_str());
    Ok(NewSession { body, origin, secrets, now: context.now })
}
