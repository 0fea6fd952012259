//! ID tokens of OpenID providers (OpenID Connect Core 1.0, section 3.1.3.7). The platform verifies the signature; everything
//! else is checked here, and a token that is not for this very sign-in is refused.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ports::{Algorithm, Signatures};

/// How far the provider's clock may be behind or ahead, in milliseconds.
const LEEWAY_MS: u64 = 60 * 1000;
/// The longest token, in characters.
const MAX: usize = 32 << 10;

/// What a token must say.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// The issuer.
    pub issuer: &'a str,
    /// The client at the issuer.
    pub client_id: &'a str,
    /// The value that was sent with this sign-in.
    pub nonce: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub now: u64,
}

/// Why a token is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdTokenError {
    /// It is not a signed JWT.
    Malformed,
    /// It is not signed by RS256 or ES256, or demands extensions.
    Algorithm,
    /// None of the provider's keys is the one that signed it.
    UnknownKey,
    /// The signature is wrong.
    Signature,
    /// A claim is not as it must be.
    Claim(String),
}

impl fmt::Display for IdTokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the ID token is not a signed JWT"),
            Self::Algorithm => f.write_str("the ID token must be signed by RS256 or ES256"),
            Self::UnknownKey => f.write_str("none of the provider's keys signed the ID token"),
            Self::Signature => f.write_str("the signature of the ID token is wrong"),
            Self::Claim(name) => write!(f, "the claim `{name}` of the ID token is wrong"),
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
    /// The only key of these that may have signed a token. A key that names its use or its algorithm must be for it.
    fn find(&self, algorithm: Algorithm, kid: Option<&str>) -> Option<&Map<String, Value>> {
        let name = algorithm.as_str();
        let family = match algorithm {
            Algorithm::Rs256 => "RSA",
            Algorithm::Es256 => "EC",
        };
        let says = |key: &Map<String, Value>, member: &str, value: &str| {
            key.get(member).is_none_or(|said| said == value)
        };
        let mut all = self.keys.iter().filter(|key| {
            key.get("kty").is_some_and(|said| said == family)
                && says(key, "use", "sig")
                && says(key, "alg", name)
                && kid.is_none_or(|kid| key.get("kid").is_some_and(|said| said == kid))
        });
        // Without a `kid`, the provider must have one such key only.
        all.next().filter(|_| all.next().is_none())
    }
}

/// The claims of a token that is for this very sign-in.
///
/// # Errors
/// When it is not.
pub async fn validate(
    token: &str,
    keys: &KeySet,
    expected: Expected<'_>,
    signatures: &impl Signatures,
) -> Result<Map<String, Value>, IdTokenError> {
    let (signed, signature) = token.rsplit_once('.').ok_or(IdTokenError::Malformed)?;
    let (header, claims) = signed.split_once('.').ok_or(IdTokenError::Malformed)?;
    if token.len() > MAX {
        return Err(IdTokenError::Malformed);
    }
    let decode =
        |text: &str| Base64UrlUnpadded::decode_vec(text).map_err(|_| IdTokenError::Malformed);
    let header: Header =
        serde_json::from_slice(&decode(header)?).map_err(|_| IdTokenError::Malformed)?;
    let claims: Map<String, Value> =
        serde_json::from_slice(&decode(claims)?).map_err(|_| IdTokenError::Malformed)?;
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

/// The first claim that is wrong.
fn check(claims: &Map<String, Value>, expected: Expected<'_>) -> Option<&'static str> {
    let Expected { issuer, client_id, nonce, now } = expected;
    let is = |name: &str, value: &str| claims.get(name).is_some_and(|said| said == value);
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
    let latest = now.saturating_add(LEEWAY_MS);
    // Of several audiences, the token must have been issued to this client.
    let audiences = match claims.get("aud") {
        Some(Value::Array(all)) => all.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let is_audience = audiences.iter().any(|audience| audience == client_id)
        && (audiences.len() == 1 || is("azp", client_id));
    let authorized = claims.get("azp").is_none_or(|said| said == client_id);
    [
        ("iss", is("iss", issuer)),
        ("aud", is_audience),
        ("azp", authorized),
        ("nonce", is("nonce", nonce)),
        ("exp", moment("exp").is_some_and(|at| now < at.saturating_add(LEEWAY_MS))),
        ("iat", moment("iat").is_some_and(|at| at <= latest)),
        ("nbf", !claims.contains_key("nbf") || moment("nbf").is_some_and(|at| at <= latest)),
    ]
    .into_iter()
    .find_map(|(name, is_good)| (!is_good).then_some(name))
}

/// The identity that a claim states. An e-mail address counts only once the provider has verified it.
///
/// # Errors
/// When the claim is missing or is not a text, or the address is not verified.
pub fn identity<'a>(claims: &'a Map<String, Value>, name: &str) -> Result<&'a str, IdTokenError> {
    let text = claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| IdTokenError::Claim(name.to_owned()))?;
    let verified = claims.get("email_verified");
    // Some providers send the text.
    let is_verified = verified.is_some_and(|said| *said == true || said == "true");
    if name == "email" && !is_verified {
        return Err(IdTokenError::Claim("email_verified".to_owned()));
    }
    Ok(text)
}
