//! Tokens: short-lived secrets that a key's owner has made for one identity, and that a browser may hold. A token says
//! by itself what it opens, and is signed: `st_test_` or `st_live_`, its claims, a dot, and the HMAC-SHA-256 of all that
//! stands before it, both in base64url. No storage is asked to know a good one.

use std::fmt;

use sha2::{Digest, Sha256};

use super::key::KeyHash;
use super::mac::{is_same, mac};
use super::{Environment, Scopes, base64url};
use crate::json::{self, Object};
use crate::names::Names;
use crate::vault::confinement::Confinement;
use crate::vault::model::IdentityType;

/// What every token begins with.
pub const TOKEN_PREFIX: &str = "st_";
/// Longest token, in characters.
pub const MAX_TOKEN: usize = 4096;
/// Fewest characters of a secret that signs.
pub const MIN_SECRET: usize = 32;
/// The version of the claims' form; others are refused.
const VERSION: u64 = 1;

/// What a token says. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    /// As its prefix states, and as the key has it that made it.
    pub environment: Environment,
    /// The id of the key that made it. Its hash would not do: it signs that key's cursors.
    pub key_id: String,
    /// Whose connections it opens.
    pub confinement: Confinement,
    /// What it may do, while its key may as well.
    pub scopes: Scopes,
    /// From which web origins only, when given.
    pub origins: Option<Names>,
    /// When it stops being valid, in milliseconds since 1970-01-01 UTC.
    pub expires_at: u64,
}

impl Token {
    /// Whether it is valid now and on a page of this origin; none where the origin is not known.
    #[must_use]
    pub fn is_valid(&self, now: u64, origin: Option<&str>) -> bool {
        let from = |origins: &Names| origin.is_some_and(|origin| origins.has(origin));
        now < self.expires_at && self.origins.as_ref().is_none_or(from)
    }

    /// What its requests are counted by: its key and its identity.
    #[must_use]
    pub fn rate_key(&self) -> KeyHash {
        let name = format!("{} {}", self.key_id, self.confinement.identity);
        KeyHash(Sha256::digest(name.as_bytes()).into())
    }

    fn claims(&self) -> String {
        let Confinement { identity, identity_type, platforms } = &self.confinement;
        let mut claims = Object::default()
            .integer("v", VERSION)
            .text("k", &self.key_id)
            .integer("s", u64::from(self.scopes.bits()))
            .integer("e", self.expires_at)
            .text("i", identity);
        let optional = [
            ("t", identity_type.map(IdentityType::as_str)),
            ("p", platforms.as_ref().map(Names::as_str)),
            ("o", self.origins.as_ref().map(Names::as_str)),
        ];
        for (name, text) in optional {
            if let Some(text) = text {
                claims = claims.text(name, text);
            }
        }
        claims.finish()
    }

    /// Reads claims that were signed.
    fn read(environment: Environment, claims: &str) -> Option<Self> {
        let mut claims = json::parse(claims).ok()?;
        if claims.take_integer("v") != Some(VERSION) {
            return None;
        }
        let identity_type = match claims.take_text("t") {
            Some(text) => Some(text.parse().ok()?),
            None => None,
        };
        Some(Self {
            environment,
            confinement: Confinement {
                platforms: claims.take_text("p").map(Names::of_text),
                identity: claims.take_text("i")?,
                identity_type,
            },
            scopes: Scopes::of_token(claims.take_integer("s")?),
            origins: claims.take_text("o").map(Names::of_text),
            expires_at: claims.take_integer("e")?,
            key_id: claims.take_text("k")?,
        })
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The secrets that sign tokens. `Debug` shows none of them.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SessionSecrets {
    /// Signs.
    current: Option<String>,
    /// What signed before: good until the last token of it has expired.
    previous: Option<String>,
}

impl SessionSecrets {
    /// Those that are long enough to be one.
    #[must_use]
    pub fn new(current: Option<&str>, previous: Option<&str>) -> Self {
        let [current, previous] = [current, previous].map(|secret| {
            secret.map(str::trim).filter(|secret| secret.len() >= MIN_SECRET).map(str::to_owned)
        });
        Self { current, previous }
    }

    /// Whether there is one that signs.
    #[must_use]
    pub const fn can_sign(&self) -> bool {
        self.current.is_some()
    }

    fn all(&self) -> impl Iterator<Item = &[u8]> {
        [&self.current, &self.previous].into_iter().flatten().map(String::as_bytes)
    }

    /// The token as a text; none when there is no secret to sign it.
    #[must_use]
    pub fn sign(&self, token: &Token) -> Option<String> {
        let secret = self.current.as_ref()?;
        let mut text = String::from(prefix(token.environment));
        text.push_str(&base64url::encode(token.claims().as_bytes()));
        let signature = base64url::encode(&mac(secret.as_bytes(), &[text.as_bytes()]));
        text.push('.');
        text.push_str(&signature);
        Some(text)
    }

    /// The token that a text is; none when no secret has signed exactly this text.
    #[must_use]
    pub fn verify(&self, text: &str) -> Option<Token> {
        let (signed, given) = text.split_once('.').filter(|_| text.len() <= MAX_TOKEN)?;
        let (environment, claims) = Environment::ALL.into_iter().find_map(|environment| {
            Some((environment, signed.strip_prefix(prefix(environment))?))
        })?;
        // As texts: that of a signature has other forms that stand for the same bytes.
        let signature = |secret| base64url::encode(&mac(secret, &[signed.as_bytes()]));
        self.all().find(|secret| is_same(&signature(secret), given))?;
        Token::read(environment, &String::from_utf8(base64url::decode(claims)?).ok()?)
    }

    /// The secrets of the cursors that are given to a key's tokens: a walk goes on with the next token. The first one
    /// signs. No token's text begins like what is signed here.
    #[must_use]
    pub fn cursor_secrets(&self, key_id: &str) -> Vec<KeyHash> {
        let of = |secret| KeyHash(mac(secret, &[b"cursors of ", key_id.as_bytes()]));
        self.all().map(of).collect()
    }
}

impl fmt::Debug for SessionSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSecrets(…)")
    }
}

const fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Test => "st_test_",
        Environment::Live => "st_live_",
    }
}
