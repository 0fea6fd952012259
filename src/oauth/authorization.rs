//! Authorization requests (RFC 6749, section 4.1.1).

use crate::catalog::detail::{OAuth2, Parameters};
use crate::util::percent::{decode_form, encode};

/// Parameters that only the vault may set. They decide which access is granted, to whom, and where
/// the response is sent. `request` and `request_uri` would replace all others (RFC 9101).
pub const RESERVED_PARAMETERS: [&str; 12] = [
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

/// The parameters of an authorization request. No `Debug`, because `state` is a secret.
#[derive(Clone, Copy)]
pub struct AuthorizationRequest<'a> {
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    /// Empty for the platform's default scopes.
    pub scopes: &'a [String],
    /// The platform must return this value.
    pub state: &'a str,
    /// The PKCE challenge, if the platform supports PKCE.
    pub challenge: Option<&'a str>,
    /// Additional parameters. They override those in the catalog.
    pub parameters: &'a Parameters,
}

/// Builds the URL to which the user is redirected. `endpoint` is the resolved authorization URL,
/// whose query is kept. Neither this query nor any parameter can override what the vault sets.
pub fn authorization_url(
    oauth: &OAuth2,
    endpoint: &str,
    request: &AuthorizationRequest<'_>,
) -> String {
    let endpoint = endpoint.split('#').next().unwrap_or_default();
    let (address, query) = endpoint.split_once('?').unwrap_or((endpoint, ""));
    let mut extra: Parameters = oauth.authorization_parameters.clone();
    extra.extend(request.parameters.clone());
    let client_id = oauth.client_id_parameter.as_str();
    let is_own = |name: &str| name == client_id || RESERVED_PARAMETERS.contains(&name);
    extra.retain(|name, _| !is_own(name));
    let is_kept = |pair: &&str| {
        let name = pair.split('=').next().unwrap_or_default();
        let name = decode_form(name).unwrap_or_default();
        !name.is_empty() && !is_own(&name) && !extra.contains_key(name.as_ref())
    };
    let scope = scope(oauth, request.scopes);
    let own = [
        ("response_type", Some("code")),
        (client_id, Some(request.client_id)),
        ("redirect_uri", Some(request.redirect_uri)),
        ("scope", scope.as_deref()),
        ("state", Some(request.state)),
        ("code_challenge", request.challenge),
        ("code_challenge_method", request.challenge.map(|_| "S256")),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let extra = extra.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let pair = |(name, value): (&str, &str)| format!("{}={}", encode(name), encode(value));
    let pairs: Vec<String> = query
        .split('&')
        .filter(is_kept)
        .map(str::to_owned)
        .chain(own.chain(extra.clone()).map(pair))
        .collect();
    format!("{address}?{}", pairs.join("&"))
}

/// The value of the `scope` parameter, or `None` if there are no scopes.
pub(super) fn scope(oauth: &OAuth2, scopes: &[String]) -> Option<String> {
    // If documentation shows `+`, it is usually an encoded space.
    let separator = if oauth.scope_separator == "+" { " " } else { &oauth.scope_separator };
    Some(scopes.join(separator)).filter(|scope| !scope.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{AuthorizationRequest, authorization_url};
    use crate::catalog::detail::{Grant, OAuth2, Parameters};

    fn platform() -> OAuth2 {
        OAuth2::standard(Grant::AuthorizationCode, None, String::new())
    }

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn query(oauth: &OAuth2, endpoint: &str, scopes: &[&str], extra: &[(&str, &str)]) -> String {
        let scopes: Vec<String> = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let parameters = parameters(extra);
        let request = AuthorizationRequest {
            client_id: "app",
            redirect_uri: "https://vault.example/connect/callback",
            scopes: &scopes,
            state: "s",
            challenge: None,
            parameters: &parameters,
        };
        let url = authorization_url(oauth, endpoint, &request);
        url.strip_prefix("https://idp.example/authorize?").unwrap().to_owned()
    }

    const ENDPOINT: &str = "https://idp.example/authorize";
    const START: &str = "response_type=code&client_id=app\
        &redirect_uri=https%3A%2F%2Fvault.example%2Fconnect%2Fcallback";

    #[test]
    fn scopes_are_joined_with_the_platforms_separator() {
        for (separator, scopes, expected) in [
            (" ", vec!["a:b", "https://x/y.z"], "&scope=a%3Ab%20https%3A%2F%2Fx%2Fy.z"),
            (",", vec!["a", "b"], "&scope=a%2Cb"),
            ("+", vec!["a", "b"], "&scope=a%20b"),
            (" ", vec![], ""),
        ] {
            let oauth = OAuth2 { scope_separator: separator.to_owned(), ..platform() };
            let expected = format!("{START}{expected}&state=s");
            assert_eq!(query(&oauth, ENDPOINT, &scopes, &[]), expected, "{separator}");
        }
    }

    #[test]
    fn sends_challenge_with_its_method() {
        let parameters = Parameters::new();
        let request = AuthorizationRequest {
            client_id: "app",
            redirect_uri: "r",
            scopes: &[],
            state: "s&t=1",
            challenge: Some("c"),
            parameters: &parameters,
        };
        assert_eq!(
            authorization_url(&platform(), ENDPOINT, &request),
            "https://idp.example/authorize?response_type=code&client_id=app&redirect_uri=r\
             &state=s%26t%3D1&code_challenge=c&code_challenge_method=S256"
        );
    }

    #[test]
    fn client_parameters_override_the_catalogs() {
        let oauth = OAuth2 {
            authorization_parameters: parameters(&[
                ("access_type", "offline"),
                ("prompt", "consent"),
            ]),
            ..platform()
        };
        let extra = [("prompt", "select account"), ("hd", "a&b")];
        let expected = "&state=s&access_type=offline&hd=a%26b&prompt=select%20account";
        assert_eq!(query(&oauth, ENDPOINT, &[], &extra), format!("{START}{expected}"));
    }

    #[test]
    fn own_parameters_cannot_be_overridden() {
        let own = [
            ("response_type", "token"),
            ("client_id", "other"),
            ("redirect_uri", "https://evil.example"),
            ("scope", "everything"),
            ("state", "x"),
            ("code_challenge", "x"),
            ("code_challenge_method", "plain"),
            ("response_mode", "fragment"),
            ("request", "x"),
            ("request_uri", "https://evil.example"),
            ("client_secret", "x"),
        ];
        let oauth = OAuth2 { authorization_parameters: parameters(&own), ..platform() };
        let expected = format!("{START}&state=s");
        assert_eq!(query(&oauth, ENDPOINT, &[], &own), expected);
        let in_query: Vec<String> =
            own.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let endpoint = format!("{ENDPOINT}?{}", in_query.join("&"));
        assert_eq!(query(&platform(), &endpoint, &[], &[]), expected);
        let endpoint = format!("{ENDPOINT}?redirect%5Furi=x&state&&=y");
        assert_eq!(query(&platform(), &endpoint, &[], &[]), expected);
    }

    #[test]
    fn uses_the_platforms_client_id_parameter() {
        let own = [("client_key", "other"), ("client_id", "other")];
        let oauth = OAuth2 {
            client_id_parameter: "client_key".to_owned(),
            authorization_parameters: parameters(&own),
            ..platform()
        };
        let expected = format!("{}&state=s", START.replace("client_id", "client_key"));
        let endpoint = format!("{ENDPOINT}?client%5Fkey=other");
        assert_eq!(query(&oauth, &endpoint, &[], &own), expected);
    }

    #[test]
    fn keeps_the_query_of_the_endpoint() {
        let endpoint = format!("{ENDPOINT}?tenant=a%20b&prompt=login&x#fragment");
        let expected = format!("tenant=a%20b&x&{START}&state=s&prompt=none");
        assert_eq!(query(&platform(), &endpoint, &[], &[("prompt", "none")]), expected);
    }
}
