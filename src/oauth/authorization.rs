//! The URL to which a user is sent, to let the app act for them (RFC 6749, 4.1.1).

use crate::catalog::detail::{OAuth2, Parameters};
use crate::percent::{decode_form, encode};

/// The parameters that only the vault sets: those that decide what is granted, to whom, and where the answer goes. Among
/// them are those that would replace all others (RFC 9101) or have the answer sent in another way.
const OWN: [&str; 12] = [
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
    "client_secret",
    "request",
    "request_uri",
    "response_mode",
    "code_verifier",
];

/// What the user is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The app at the platform.
    pub client_id: &'a str,
    /// Where the answer goes.
    pub redirect_uri: &'a str,
    /// What the app wants to do; empty for what the platform gives by itself.
    pub scopes: &'a [String],
    /// What the answer must bring back.
    pub state: &'a str,
    /// The challenge of PKCE, where the platform takes one.
    pub challenge: Option<&'a str>,
    /// More parameters. They win over those of the catalog, with variables filled in both.
    pub parameters: &'a Parameters,
}

/// The URL to which the user is sent. `endpoint` is the method's authorization URL with its variables filled; what its query
/// already says is kept. Neither it nor any parameter can change what the vault itself sets.
#[must_use]
pub fn authorization_url(oauth: &OAuth2, endpoint: &str, ask: &Ask<'_>) -> String {
    let endpoint = endpoint.split('#').next().unwrap_or_default();
    let (address, query) = endpoint.split_once('?').unwrap_or((endpoint, ""));
    let mut more: Parameters = oauth.authorization_parameters.clone();
    more.extend(ask.parameters.clone());
    more.retain(|name, _| !OWN.contains(&name.as_str()));
    let is_kept = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        let name = decode_form(name).unwrap_or_default();
        !name.is_empty() && !OWN.contains(&name.as_ref()) && !more.contains_key(name.as_ref())
    };
    let scope = scope(oauth, ask.scopes);
    let own = [
        ("response_type", Some("code")),
        ("client_id", Some(ask.client_id)),
        ("redirect_uri", Some(ask.redirect_uri)),
        ("scope", scope.as_deref()),
        ("state", Some(ask.state)),
        ("code_challenge", ask.challenge),
        ("code_challenge_method", ask.challenge.map(|_| "S256")),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let more = more.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let pair = |(name, value): (&str, &str)| format!("{}={}", encode(name), encode(value));
    let pairs: Vec<String> = query
        .split('&')
        .filter(is_kept)
        .map(str::to_owned)
        .chain(own.chain(more.clone()).map(pair))
        .collect();
    format!("{address}?{}", pairs.join("&"))
}

/// The parameter `scope`. Returns `None` when there is nothing to ask for.
pub(super) fn scope(oauth: &OAuth2, scopes: &[String]) -> Option<String> {
    // Documentation that separates by `+` shows the encoded form of a space.
    let separator = if oauth.scope_separator == "+" { " " } else { &oauth.scope_separator };
    Some(scopes.join(separator)).filter(|scope| !scope.is_empty())
}
