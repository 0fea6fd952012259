//! Validates ID tokens of OpenID providers (OpenID Connect Core 1.0, section 3.1.3.7). The runtime
//! verifies the signature; this module checks everything else.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ports::{Algorithm, Signatures};
use crate::util::json;

/// The tolerated clock skew, in milliseconds.
const MAX_CLOCK_SKEW_MS: u64 = 60 * 1000;
/// The maximum length of a token, in characters.
const MAX_TOKEN: usize = 32 << 10;

#[derive(Debug, Clone, Copy)]
pub struct ExpectedClaims<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    /// The nonce of this sign-in. `None` for a token that no sign-in requested.
    pub nonce: Option<&'a str>,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdTokenError {
    /// The token is not a signed JWT.
    Malformed,
    /// The signature algorithm is neither RS256 nor ES256, or the token requires extensions.
    Algorithm,
    UnknownKey,
    Signature,
    /// A missing or wrong claim.
    Claim(String),
    /// Neither the ID token nor the userinfo endpoint has the user's claim.
    Missing(String),
}

impl fmt::Display for IdTokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the ID token is not a signed JWT"),
            Self::Algorithm => f.write_str("the ID token must be signed by RS256 or ES256"),
            Self::UnknownKey => f.write_str("none of the provider's keys signed the ID token"),
            Self::Signature => f.write_str("the signature of the ID token is wrong"),
            Self::Claim(name) => write!(f, "the claim `{name}` of the ID token is wrong"),
            Self::Missing(name) => write!(
                f,
                "the claim `{name}` is missing in the ID token and in the response of the userinfo endpoint"
            ),
        }
    }
}

impl std::error::Error for IdTokenError {}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    crit: Option<Value>,
}

/// The keys of a provider (RFC 7517, section 5).
#[derive(Debug, Deserialize)]
pub struct KeySet {
    keys: Vec<Map<String, Value>>,
}

impl KeySet {
    /// The key that signed a token. Returns `None` if several keys could have. If a key declares
    /// its use or algorithm, these must match.
    fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<&Map<String, Value>> {
        let name = algorithm.as_str();
        let family = match algorithm {
            Algorithm::Rs256 => "RSA",
            Algorithm::Es256 => "EC",
        };
        let matches_member = |key: &Map<String, Value>, member: &str, value: &str| {
            key.get(member).is_none_or(|claimed| claimed == value)
        };
        let mut matching = self.keys.iter().filter(|key| {
            key.get("kty").is_some_and(|claimed| claimed == family)
                && matches_member(key, "use", "sig")
                && matches_member(key, "alg", name)
                && kid.is_none_or(|kid| key.get("kid").is_some_and(|claimed| claimed == kid))
        });
        // Without a `kid`, the matching key must be unambiguous.
        matching.next().filter(|_| matching.next().is_none())
    }
}

/// Validates a token and returns its claims.
pub async fn validate(
    token: &str,
    keys: &KeySet,
    expected: ExpectedClaims<'_>,
    signatures: &impl Signatures,
) -> Result<Map<String, Value>, IdTokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(IdTokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(IdTokenError::Malformed)?;
    if token.len() > MAX_TOKEN {
        return Err(IdTokenError::Malformed);
    }
    let decode =
        |text: &str| Base64UrlUnpadded::decode_vec(text).map_err(|_| IdTokenError::Malformed);
    let header: Header = json::from_bytes(&decode(header)?).map_err(|_| IdTokenError::Malformed)?;
    let claims: Map<String, Value> =
        json::from_bytes(&decode(claims)?).map_err(|_| IdTokenError::Malformed)?;
    let signature = decode(signature)?;
    let algorithm = Algorithm::parse(&header.alg).ok_or(IdTokenError::Algorithm)?;
    if header.crit.is_some() {
        return Err(IdTokenError::Algorithm);
    }
    let key = keys.find(algorithm, header.kid.as_deref()).ok_or(IdTokenError::UnknownKey)?;
    let key = serde_json::to_string(key).map_err(|_| IdTokenError::UnknownKey)?;
    if !signatures.verify(algorithm, &key, signed.as_bytes(), &signature).await {
        return Err(IdTokenError::Signature);
    }
    match check(&claims, expected) {
        None => Ok(claims),
        Some(name) => Err(IdTokenError::Claim(name.to_owned())),
    }
}

/// The name of the first missing or wrong claim.
fn check(claims: &Map<String, Value>, expected: ExpectedClaims<'_>) -> Option<&'static str> {
    let ExpectedClaims { issuer, client_id, nonce, now } = expected;
    let has_value =
        |name: &str, value: &str| claims.get(name).is_some_and(|claimed| claimed == value);
    let moment = |name: &str| {
        let seconds = claims.get(name).and_then(Value::as_f64)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a number out of range ends at the nearest one"
        )]
        let milliseconds = (seconds * 1000.0) as u64;
        Some(milliseconds)
    };
    let latest = now.saturating_add(MAX_CLOCK_SKEW_MS);
    // A token with several audiences must have been issued to this client.
    let audiences = match claims.get("aud") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let is_audience = audiences.iter().any(|audience| audience == client_id)
        && (audiences.len() == 1 || has_value("azp", client_id));
    let authorized = claims.get("azp").is_none_or(|claimed| claimed == client_id);
    [
        ("iss", has_value("iss", issuer)),
        ("aud", is_audience),
        ("azp", authorized),
        ("nonce", nonce.is_none_or(|nonce| has_value("nonce", nonce))),
        ("exp", moment("exp").is_some_and(|at| now < at.saturating_add(MAX_CLOCK_SKEW_MS))),
        ("iat", moment("iat").is_some_and(|at| at <= latest)),
        ("nbf", !claims.contains_key("nbf") || moment("nbf").is_some_and(|at| at <= latest)),
    ]
    .into_iter()
    .find_map(|(name, is_valid)| (!is_valid).then_some(name))
}

/// The identity in a claim. The provider must have verified an email address.
pub fn identity<'a>(claims: &'a Map<String, Value>, name: &str) -> Result<&'a str, IdTokenError> {
    let get = |name: &str| {
        let value = claims.get(name).filter(|value| !value.is_null());
        value.ok_or_else(|| IdTokenError::Missing(name.to_owned()))
    };
    let text = get(name)?.as_str().filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| IdTokenError::Claim(name.to_owned()))?;
    if name != "email" {
        return Ok(text);
    }
    let verified = get("email_verified")?;
    // Some providers send the string `"true"`.
    let is_verified = *verified == true || verified == "true";
    is_verified.then_some(text).ok_or_else(|| IdTokenError::Claim("email_verified".to_owned()))
}
