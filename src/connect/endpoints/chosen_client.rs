//! Chooses the OAuth client of a platform for a request: the one that the request or its session names, or else the
//! connection's own, or else the default one.

use crate::auth::restriction::TokenRestriction;
use crate::connect::client::DEFAULT_CLIENT;
use crate::connections::endpoints::create::outside_token_scope;
use crate::http::body::BodyReader;
use crate::http::endpoint::Keyed;
use crate::http::problem::Problem;

/// Reads `client`. A token uses the client of its session: its user may not choose another one.
pub(super) fn chosen(
    body: &mut BodyReader,
    restriction: Option<&TokenRestriction>,
) -> Result<Option<String>, Problem> {
    let sent = body.text("client");
    let Some(restriction) = restriction else { return Ok(sent) };
    if sent.is_some() && sent != restriction.client {
        return Err(outside_token_scope("client"));
    }
    Ok(restriction.client.clone())
}

/// The client's name. `current` is the name of the connection's own client.
pub(crate) fn name<'a>(chosen: Option<&'a str>, current: Option<&'a str>) -> &'a str {
    chosen.or(current).unwrap_or(DEFAULT_CLIENT)
}

/// The client in a message, such as "OAuth client `bot` for `slack`".
pub(crate) fn noun(platform: &str, name: &str) -> String {
    if name == DEFAULT_CLIENT {
        return format!("OAuth client for `{platform}`");
    }
    format!("OAuth client `{name}` for `{platform}`")
}

/// The path and query of the client in the API.
pub(crate) fn address(platform: &str, name: &str) -> String {
    let path = Keyed::GetOauthClient.address(&[platform]);
    if name == DEFAULT_CLIENT { path } else { format!("{path}?name={name}") }
}

#[cfg(test)]
mod tests {
    use super::{address, name, noun};

    #[test]
    fn the_default_name_is_not_mentioned() {
        assert_eq!(noun("slack", "default"), "OAuth client for `slack`");
        assert_eq!(noun("slack", "bot"), "OAuth client `bot` for `slack`");
        assert_eq!(address("slack", "default"), "/v1/oauth-clients/slack");
        assert_eq!(address("slack", "bot"), "/v1/oauth-clients/slack?name=bot");
    }

    #[test]
    fn a_chosen_client_overrides_that_of_the_connection() {
        assert_eq!(name(Some("bot"), Some("user")), "bot");
        assert_eq!(name(None, Some("user")), "user");
        assert_eq!(name(None, None), "default");
    }
}
