//! Tokens: short-lived secrets that an app creates for one identity and passes to a browser. A
//! token consists of `st_test_` or `st_live_`, its claims, a dot, and the HMAC-SHA-256 of
//! everything before the dot, both in base64url. Verifying it needs no query. Except in the first
//! shard, the signed part ends with a dot and the shard's digits.

use std::borrow::Cow;
use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding as _};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::key::KeyHash;
use super::limits::{Access, Confirm, Limits};
use super::mac::{mac, verify};
use super::restriction::TokenRestriction;
use super::shard::Shard;
use crate::connect::presets::Presets;
use crate::terms::{Environment, IdentityType, Scope, Scopes};
use crate::util::json;
use crate::util::name_set::Names;

/// The prefix of session tokens.
pub const TOKEN_PREFIX: &str = "st_";
/// The prefix of the access tokens of agents.
pub const ACCESS_PREFIX: &str = "at_";
/// The prefix of the tokens of people who have signed in to the console.
pub const CONSOLE_PREFIX: &str = "cs_";
/// The prefix of the codes that the connect window exchanges for tokens.
pub const CODE_PREFIX: &str = "cc_";
/// The maximum length of a token, in characters.
pub const MAX_TOKEN: usize = 8192;
/// The minimum length of a signing secret, in characters.
pub const MIN_SECRET_LENGTH: usize = 32;
/// The maximum length of a code, in characters: the claims of a token, and a nonce.
const MAX_CODE: usize = MAX_TOKEN + 128;
/// The version of claims without limits. Unknown versions are rejected.
const VERSION_WITHOUT_LIMITS: u64 = 1;
/// The version of claims with limits. An older release must reject such a token rather than ignore
/// the limits.
const VERSION_WITH_LIMITS: u64 = 2;
/// The version of claims that require approval of calls.
const VERSION_WITH_CONFIRM: u64 = 3;
/// The version of claims that choose an OAuth client.
const VERSION_WITH_CLIENT: u64 = 4;
/// The version of claims with fixed fields.
const VERSION_WITH_FIXED_FIELDS: u64 = 5;

/// The claims of a token. `Debug` prints none of them.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// The environment of the key; it is in the prefix.
    pub environment: Environment,
    /// The shard of the key.
    pub shard: Shard,
    /// The id of the key that created the token. Not the key's hash, which must stay secret because
    /// it signs the key's cursors.
    pub key_id: String,
    pub restriction: TokenRestriction,
    /// The key must have a scope, too, for it to be effective.
    pub scopes: Scopes,
    pub limits: Limits,
    /// Values for the connect window. They require exactly one platform.
    pub presets: Box<Presets>,
    /// The web origins that may use the token; `None` allows all.
    pub origins: Option<Names>,
    /// Milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
    /// The grant of an agent's access token, or the session of a person in the console; `None` for a session token.
    pub grant: Option<Grant>,
}

/// The row to which an access token or a console token belongs.
#[derive(Clone, PartialEq, Eq)]
pub struct Grant {
    /// The id of the row. The token is valid only while the row exists.
    pub id: String,
    /// The id of the MCP endpoint that accepts the access token (RFC 8707). For the console, the id
    /// of the sign-in.
    pub endpoint: String,
    /// Whether the agent could get more access from its user. If not, the user or the app granted
    /// less than the agent requested.
    pub can_request_more: bool,
}

impl Token {
    /// Whether the token is valid at `now` for a request from `origin` (`None` if unknown). The
    /// service's own pages, such as the connect window, have `own_origin` and may use every token.
    pub fn is_valid(&self, now: u64, origin: Option<&str>, own_origin: &str) -> bool {
        let allows_origin = |origins: &Names| {
            origin.is_some_and(|origin| origin == own_origin || origins.has(origin))
        };
        now < self.expires_at && self.origins.as_ref().is_none_or(allows_origin)
    }

    /// The key of the rate limit, derived from the API key and the identity.
    pub fn rate_key(&self) -> KeyHash {
        let name = format!("{} {}", self.key_id, self.restriction.identity);
        KeyHash(Sha256::digest(name.as_bytes()).into())
    }

    /// Derives a token with which the service itself makes or repeats one call: restricted to the
    /// call's connection, without approvals, and without origins, because no page sends it.
    pub fn for_call(self, connection: &str, access: Access, expires_at: u64) -> Self {
        let only = Names::new(&[connection.to_owned()]);
        Self {
            restriction: TokenRestriction { connections: Some(only), ..self.restriction },
            scopes: [Scope::ConnectionsCall].into_iter().collect(),
            limits: Limits { access, confirm: None, ..self.limits },
            presets: Box::default(),
            origins: None,
            expires_at: self.expires_at.min(expires_at),
            ..self
        }
    }

    fn version(&self) -> u64 {
        let is_limited = !self.limits.is_none() || self.restriction.connections.is_some();
        if !self.presets.fixed.is_empty() {
            VERSION_WITH_FIXED_FIELDS
        } else if self.restriction.client.is_some() {
            VERSION_WITH_CLIENT
        } else if self.limits.confirm.is_some() {
            VERSION_WITH_CONFIRM
        } else if is_limited {
            VERSION_WITH_LIMITS
        } else {
            VERSION_WITHOUT_LIMITS
        }
    }

    fn claims(&self) -> Claims<'_> {
        let TokenRestriction { identity, identity_type, platforms, connections, client } =
            &self.restriction;
        Claims {
            version: self.version(),
            key_id: self.key_id.as_str().into(),
            scopes: self.scopes.bits(),
            expires_at: self.expires_at,
            identity: identity.into(),
            identity_type: *identity_type,
            platforms: platforms.as_ref().map(|names| names.as_str().into()),
            origins: self.origins.as_ref().map(|names| names.as_str().into()),
            nonce: None,
            access: Some(self.limits.access).filter(|access| *access == Access::Read),
            actions: self.limits.actions.as_ref().map(|names| names.as_str().into()),
            connections: connections.as_ref().map(|names| names.as_str().into()),
            confirm: self.limits.confirm,
            client: client.as_ref().map(Into::into),
            presets: (!self.presets.is_empty()).then_some(Cow::Borrowed(&*self.presets)),
            grant: self.grant.as_ref().map(|grant| grant.id.as_str().into()),
            endpoint: self.grant.as_ref().map(|grant| grant.endpoint.as_str().into()),
            can_request_more: self.grant.as_ref().is_some_and(|grant| grant.can_request_more),
        }
    }

    /// Parses claims whose signature has been verified.
    fn read(kind: &str, environment: Environment, shard: Shard, claims: &[u8]) -> Option<Self> {
        let claims: Claims<'_> = json::from_bytes(claims).ok()?;
        let version = claims.version;
        let grant = claims.grant.zip(claims.endpoint);
        let grant = grant.map(|(id, endpoint)| Grant {
            id: id.into_owned(),
            endpoint: endpoint.into_owned(),
            can_request_more: claims.can_request_more,
        });
        let names =
            |text: Option<Cow<'_, str>>| text.map(|text| Names::from_string(text.into_owned()));
        let token = Self {
            environment,
            shard,
            restriction: TokenRestriction {
                identity: claims.identity.into_owned(),
                identity_type: claims.identity_type,
                platforms: names(claims.platforms),
                connections: names(claims.connections),
                client: claims.client.map(Cow::into_owned),
            },
            limits: Limits {
                access: claims.access.unwrap_or_default(),
                actions: names(claims.actions),
                confirm: claims.confirm,
            },
            presets: claims
                .presets
                .map(|presets| Box::new(presets.into_owned()))
                .unwrap_or_default(),
            // A person may have any scope. Tokens for end users may have only some.
            scopes: if kind == CONSOLE_PREFIX {
                Scopes::from_bits(claims.scopes)
            } else {
                Scopes::from_token(claims.scopes.into())
            },
            origins: names(claims.origins),
            expires_at: claims.expires_at,
            key_id: claims.key_id.into_owned(),
            grant,
        };
        (token.version() == version).then_some(token)
    }
}

/// The JSON format of the claims.
#[derive(Serialize, Deserialize)]
struct Claims<'a> {
    #[serde(rename = "v")]
    version: u64,
    #[serde(rename = "k")]
    key_id: Cow<'a, str>,
    #[serde(rename = "s")]
    scopes: u32,
    #[serde(rename = "e")]
    expires_at: u64,
    #[serde(rename = "i")]
    identity: Cow<'a, str>,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    identity_type: Option<IdentityType>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    platforms: Option<Cow<'a, str>>,
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    origins: Option<Cow<'a, str>>,
    /// Makes each code unique. Only in codes.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    nonce: Option<Cow<'a, str>>,
    /// Only if the access is `read`.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    access: Option<Access>,
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    actions: Option<Cow<'a, str>>,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    connections: Option<Cow<'a, str>>,
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    confirm: Option<Confirm>,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    client: Option<Cow<'a, str>>,
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    presets: Option<Cow<'a, Presets>>,
    /// Only in tokens of agents and of the console.
    #[serde(rename = "g", default, skip_serializing_if = "Option::is_none")]
    grant: Option<Cow<'a, str>>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<Cow<'a, str>>,
    #[serde(rename = "m", default, skip_serializing_if = "std::ops::Not::not")]
    can_request_more: bool,
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The secrets that sign tokens. `Debug` does not print them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SessionSecrets {
    current: Option<String>,
    /// Only verifies tokens that were signed before the secret was rotated.
    previous: Option<String>,
}

impl SessionSecrets {
    /// Ignores secrets shorter than [`MIN_SECRET_LENGTH`].
    pub fn new(current: &str, previous: &str) -> Self {
        let [current, previous] = [current, previous].map(|secret| {
            Some(secret.trim())
                .filter(|secret| secret.len() >= MIN_SECRET_LENGTH)
                .map(str::to_owned)
        });
        Self { current, previous }
    }

    pub const fn can_sign(&self) -> bool {
        self.current.is_some()
    }

    fn all(&self) -> impl Iterator<Item = &[u8]> {
        [&self.current, &self.previous].into_iter().flatten().map(String::as_bytes)
    }

    /// Signs a token. Returns `None` without a signing secret.
    pub fn sign(&self, token: &Token) -> Option<String> {
        let kind = if token.grant.is_some() { ACCESS_PREFIX } else { TOKEN_PREFIX };
        self.sign_claims(kind, token, &token.claims())
    }

    /// Signs claims other than those of a token. `kind` becomes the prefix of the result, and must
    /// be unique to this type of claims. Returns `None` without a signing secret.
    pub fn sign_text(&self, kind: &str, claims: &impl Serialize) -> Option<String> {
        let secret = self.current.as_ref()?;
        let claims = serde_json::to_vec(claims).ok()?;
        let mut text = kind.to_owned() + &Base64UrlUnpadded::encode_string(&claims);
        let signature = mac(secret.as_bytes(), &[text.as_bytes()]);
        text.push('.');
        text.push_str(&Base64UrlUnpadded::encode_string(&signature));
        Some(text)
    }

    /// Verifies the result of [`Self::sign_text`] and parses its claims.
    pub fn verify_text<T: DeserializeOwned>(&self, kind: &str, text: &str) -> Option<T> {
        let (signed, encoded_signature) =
            text.rsplit_once('.').filter(|_| text.len() <= MAX_TOKEN)?;
        let claims = signed.strip_prefix(kind)?;
        let signature = Base64UrlUnpadded::decode_vec(encoded_signature)
            .ok()
            .filter(|bytes| bytes.len() == 32)?;
        self.all().find(|secret| verify(secret, &[signed.as_bytes()], &signature))?;
        json::from_bytes(&Base64UrlUnpadded::decode_vec(claims).ok()?).ok()
    }

    /// Signs a code that the connect window can exchange for the token, once. The API does not
    /// accept codes.
    pub fn sign_code(&self, token: &Token, nonce: &str) -> Option<String> {
        let claims = Claims { nonce: Some(nonce.into()), ..token.claims() };
        self.sign_claims(CODE_PREFIX, token, &claims)
    }

    fn sign_claims(&self, kind: &str, token: &Token, claims: &Claims<'_>) -> Option<String> {
        let secret = self.current.as_ref()?;
        let mut text = format!("{kind}{}_", token.environment.as_str());
        let claims = serde_json::to_vec(claims).ok()?;
        text.push_str(&Base64UrlUnpadded::encode_string(&claims));
        if token.shard != Shard::FIRST {
            text.push('.');
            text.push_str(&token.shard.digits());
        }
        let signature = mac(secret.as_bytes(), &[text.as_bytes()]);
        text.push('.');
        text.push_str(&Base64UrlUnpadded::encode_string(&signature));
        Some(text)
    }

    pub fn verify(&self, text: &str) -> Option<Token> {
        self.verify_kind(TOKEN_PREFIX, text).filter(|token| token.grant.is_none())
    }

    /// Verifies the access token of an agent.
    pub fn verify_access(&self, text: &str) -> Option<Token> {
        self.verify_kind(ACCESS_PREFIX, text).filter(|token| token.grant.is_some())
    }

    /// Signs the token of a person in the console. Returns `None` without a signing secret.
    pub fn sign_console(&self, token: &Token) -> Option<String> {
        self.sign_claims(CONSOLE_PREFIX, token, &token.claims())
    }

    /// Verifies the token of a person in the console.
    pub fn verify_console(&self, text: &str) -> Option<Token> {
        self.verify_kind(CONSOLE_PREFIX, text).filter(|token| token.grant.is_some())
    }

    /// Derives the id of a tenant's MCP endpoint before it is stored. The id reveals nothing about
    /// the tenant. Returns `None` without a signing secret.
    pub fn endpoint_id(&self, account: &str, environment: Environment) -> Option<String> {
        let secret = self.current.as_ref()?;
        let parts = ["agent endpoint ", environment.as_str(), " ", account].map(str::as_bytes);
        Some(Base64UrlUnpadded::encode_string(&mac(secret.as_bytes(), &parts)))
    }

    /// Verifies a code and returns its token.
    pub fn verify_code(&self, text: &str) -> Option<Token> {
        self.verify_kind(CODE_PREFIX, text)
    }

    fn verify_kind(&self, kind: &str, text: &str) -> Option<Token> {
        let max = if kind == CODE_PREFIX { MAX_CODE } else { MAX_TOKEN };
        let (signed, encoded_signature) = text.rsplit_once('.').filter(|_| text.len() <= max)?;
        let (environment, claims) = Environment::ALL.into_iter().find_map(|environment| {
            let rest = signed.strip_prefix(kind)?.strip_prefix(environment.as_str())?;
            Some((environment, rest.strip_prefix('_')?))
        })?;
        let signature = Base64UrlUnpadded::decode_vec(encoded_signature)
            .ok()
            .filter(|bytes| bytes.len() == 32)?;
        self.all().find(|secret| verify(secret, &[signed.as_bytes()], &signature))?;
        let (claims, shard) = match claims.split_once('.') {
            Some((claims, digits)) => (claims, Shard::from_digits(digits)?),
            None => (claims, Shard::FIRST),
        };
        Token::read(kind, environment, shard, &Base64UrlUnpadded::decode_vec(claims).ok()?)
    }

    /// The secrets for the cursors of a key's tokens. They are derived from the key's id, so that
    /// an identity's next token can continue a list. New cursors are signed with the first one. No
    /// token begins with the string that is signed here.
    pub fn cursor_secrets(&self, key_id: &str) -> Vec<KeyHash> {
        let derive = |secret| KeyHash(mac(secret, &[b"cursors of ", key_id.as_bytes()]));
        self.all().map(derive).collect()
    }
}

impl fmt::Debug for SessionSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSecrets(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;
    use crate::auth::limits::Limits;
    use crate::auth::restriction::TokenRestriction;
    use crate::auth::shard::Shard;
    use crate::terms::Environment;

    #[test]
    fn debug_hides_a_token() {
        let restriction =
            TokenRestriction { identity: "ann".to_owned(), ..TokenRestriction::default() };
        let token = Token {
            environment: Environment::Test,
            shard: Shard::FIRST,
            key_id: "key".to_owned(),
            restriction,
            scopes: [].into_iter().collect(),
            limits: Limits::default(),
            presets: Box::default(),
            origins: None,
            expires_at: 1,
            grant: None,
        };
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
