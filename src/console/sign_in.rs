//! The configuration of a tenant's sign-in to the console.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::connections::rules;
use crate::credentials::{Kind, OpenError, SealContext, Sealed, VaultKeys};
use crate::oidc::id_token;
use crate::terms::{Environment, Scopes, named};
use crate::util::collect::by_insertion;
use crate::util::rfc3339::rfc3339;

/// The scopes of each role, by the role's name.
pub type Roles = BTreeMap<String, Scopes>;

/// The domain suffix of all Cloudflare Access teams.
pub const ACCESS_HOST: &str = ".cloudflareaccess.com";
/// The scopes to request from an OpenID provider by default.
pub const DEFAULT_SCOPES: &str = "openid profile email";

/// A row of `console_sign_ins`. `Debug` prints only the id.
#[derive(Clone, PartialEq, Eq, Deserialize)]
pub struct SignIn {
    pub id: String,
    pub account: String,
    pub environment: Environment,
    pub r#type: SignInType,
    /// The id of the key that configured the sign-in.
    pub key_id: String,
    pub issuer: String,
    /// The client id at the OpenID provider; with Access, the audience of the application.
    pub client_id: String,
    /// The encrypted client secret.
    pub sealed: Option<String>,
    /// The claim that contains a person's roles: its name, or a JSON Pointer.
    pub claim: String,
    /// A JSON object from each role to its scopes, separated by spaces.
    pub roles: String,
    /// The scopes to request from the provider, separated by spaces.
    pub scopes: Option<String>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    pub updated_at: u64,
    /// Whether the key that configured the sign-in is valid. Only set in queries for browsers.
    pub has_valid_key: Option<u8>,
}

named! {
    /// The system that authenticates people.
    SignInType:
    Oidc = "oidc",
    Access = "access",
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignIn({})", self.id)
    }
}

/// The JSON representation of a sign-in.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SignInView<'a> {
    sign_in_url: String,
    r#type: SignInType,
    issuer: Option<&'a str>,
    client_id: Option<&'a str>,
    has_secret: bool,
    scopes: Option<Vec<&'a str>>,
    redirect_uri: Option<String>,
    team_domain: Option<&'a str>,
    audience: Option<&'a str>,
    claim: &'a str,
    roles: Roles,
    key_id: &'a str,
    created_at: Option<String>,
    updated_at: Option<String>,
}

/// The URL at which people sign in.
pub fn address(base: &str, id: &str) -> String {
    format!("{base}/sign-in/{id}")
}

/// The redirect URI to register at the OpenID provider.
pub fn redirect_uri(base: &str, id: &str) -> String {
    address(base, id) + "/callback"
}

/// The encryption context of a client secret.
pub fn seal_context(account: &str, environment: Environment) -> SealContext<'_> {
    SealContext { account, environment, kind: Kind::ConsoleSignIn, id: environment.as_str() }
}

impl SignIn {
    /// Decrypts the client secret.
    pub fn secret(&self, keys: &VaultKeys) -> Result<Option<String>, OpenError> {
        let Some(sealed) = &self.sealed else { return Ok(None) };
        let plain = keys
            .open(&seal_context(&self.account, self.environment), &Sealed::from(sealed.clone()))?;
        String::from_utf8(plain.to_vec()).map(Some).map_err(|_| OpenError::Damaged)
    }

    /// The host of the provider or of the Access team, which people recognize.
    pub fn host(&self) -> &str {
        let rest = self.issuer.split_once("://").map_or(self.issuer.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or(rest)
    }

    /// The URL of the keys with which Cloudflare Access signs its header.
    pub fn access_keys(&self) -> String {
        access_keys(&self.issuer)
    }

    fn roles(&self) -> Roles {
        let roles: BTreeMap<String, String> = serde_json::from_str(&self.roles).unwrap_or_default();
        // Skips scopes that only a later release knows.
        let parse_scopes =
            |text: String| text.split(' ').filter_map(|name| name.parse().ok()).collect();
        by_insertion(roles.into_iter().map(|(name, scopes)| (name, parse_scopes(scopes))))
    }

    /// The authenticated person: the verified email address or, without one, the subject at the
    /// provider.
    pub fn person<'a>(&self, claims: &'a Map<String, Value>) -> Result<&'a str, String> {
        let email = match self.r#type {
            SignInType::Oidc => id_token::identity(claims, "email").ok(),
            // Access sends the email address with which the person was authenticated. Service
            // tokens have none.
            SignInType::Access => Some(text(claims, "email").ok_or("the token names no person")?),
        };
        let is_valid = |text: &&str| rules::identity(text).is_none();
        let person = email.filter(is_valid).or_else(|| text(claims, "sub").filter(is_valid));
        person.ok_or_else(|| "the token names no person".to_owned())
    }

    /// The scopes of all roles in a person's claims.
    pub fn granted_scopes(&self, claims: &Map<String, Value>) -> Scopes {
        let value = if self.claim.starts_with('/') {
            Value::Object(claims.clone()).pointer(&self.claim).cloned()
        } else {
            claims.get(&self.claim).cloned()
        };
        let is_unverified = self.r#type == SignInType::Oidc
            && self.claim.trim_start_matches('/') == "email"
            && id_token::identity(claims, "email").is_err();
        let values = match value.filter(|_| !is_unverified) {
            Some(Value::Array(all)) => all,
            one => one.into_iter().collect(),
        };
        let roles = self.roles();
        let granted = values.iter().filter_map(|value| roles.get(value.as_str()?));
        granted.flat_map(|scopes| scopes.iter()).collect()
    }

    pub fn to_json(&self, base: &str) -> Vec<u8> {
        let is_oidc = self.r#type == SignInType::Oidc;
        let only_oidc = |text| Some(text).filter(|_| is_oidc);
        let team = self.issuer.strip_prefix("https://").filter(|_| !is_oidc);
        crate::util::json::bytes(&SignInView {
            sign_in_url: address(base, &self.id),
            r#type: self.r#type,
            issuer: only_oidc(self.issuer.as_str()),
            client_id: only_oidc(self.client_id.as_str()),
            has_secret: self.sealed.is_some(),
            scopes: is_oidc
                .then(|| self.scopes.as_deref().unwrap_or(DEFAULT_SCOPES).split(' ').collect()),
            redirect_uri: is_oidc.then(|| redirect_uri(base, &self.id)),
            team_domain: team,
            audience: Some(self.client_id.as_str()).filter(|_| !is_oidc),
            claim: &self.claim,
            roles: self.roles(),
            key_id: &self.key_id,
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
        })
    }
}

/// The URL of the public keys of an Access team.
pub fn access_keys(issuer: &str) -> String {
    format!("{issuer}/cdn-cgi/access/certs")
}

/// Serializes roles for storage.
pub fn serialize_roles(roles: &Roles) -> String {
    let roles: BTreeMap<&String, String> =
        by_insertion(roles.iter().map(|(name, scopes)| (name, scopes.to_string())));
    serde_json::to_string(&roles).unwrap_or_default()
}

fn text<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{Roles, SignIn, SignInType, serialize_roles};
    use crate::terms::{Environment, Scope};

    fn sign_in(r#type: SignInType, claim: &str) -> SignIn {
        let admin = [Scope::ConnectionsRead, Scope::KeysWrite].into_iter().collect();
        let reader = [Scope::CatalogRead].into_iter().collect();
        let roles = Roles::from([("admin".to_owned(), admin), ("a@b.example".to_owned(), reader)]);
        SignIn {
            id: String::new(),
            account: "acme".into(),
            environment: Environment::Test,
            r#type,
            key_id: String::new(),
            issuer: "https://id.example/tenant".into(),
            client_id: String::new(),
            sealed: None,
            claim: claim.into(),
            roles: serialize_roles(&roles),
            scopes: None,
            created_at: 0,
            updated_at: 0,
            has_valid_key: None,
        }
    }

    fn claims(value: Value) -> Map<String, Value> {
        let Value::Object(claims) = value else { return Map::new() };
        claims
    }

    #[test]
    fn reads_roles_by_claim_name_or_json_pointer() {
        let admin = "connections:read keys:write";
        let both = "catalog:read connections:read keys:write";
        for (claim, value, expected) in [
            ("role", json!({"role": "admin"}), admin),
            ("role", json!({"role": ["x", "admin", 1, null, ["admin"]]}), admin),
            ("role", json!({"role": ["a@b.example", "admin"]}), both),
            ("role", json!({"role": "Admin"}), ""),
            ("role", json!({"role": "admin admin"}), ""),
            ("role", json!({"role": {"admin": true}}), ""),
            ("role", json!({}), ""),
            ("/realm/roles", json!({"realm": {"roles": ["admin"]}}), admin),
            ("/realm/roles", json!({"realm": ["admin"]}), ""),
            ("/realm/roles/0", json!({"realm": {"roles": ["admin"]}}), admin),
            ("/a~1b~0", json!({"a/b~": "admin"}), admin),
            ("/role", json!({"role": "admin"}), admin),
            ("https://x.example/role", json!({"https://x.example/role": "admin"}), admin),
            ("email", json!({"email": "a@b.example"}), ""),
            ("/email", json!({"email": "a@b.example"}), ""),
            ("email", json!({"email": "a@b.example", "email_verified": true}), "catalog:read"),
        ] {
            let sign_in = sign_in(SignInType::Oidc, claim);
            let scopes = sign_in.granted_scopes(&claims(value.clone()));
            assert_eq!(scopes.to_string(), expected, "{claim} {value}");
        }
        let access = sign_in(SignInType::Access, "email");
        let scopes = access.granted_scopes(&claims(json!({"email": "a@b.example"})));
        assert_eq!(scopes.to_string(), "catalog:read");
    }

    #[test]
    fn person_is_verified_email_or_subject() {
        let person = |r#type, value: Value| {
            sign_in(r#type, "role").person(&claims(value)).map(str::to_owned).ok()
        };
        let (oidc, access) = (SignInType::Oidc, SignInType::Access);
        let some = |name: &str| Some(name.to_owned());
        let verified = json!({"sub": "1", "email": "a@b.example", "email_verified": true});
        assert_eq!(person(oidc, verified), some("a@b.example"));
        assert_eq!(person(oidc, json!({"sub": "1", "email": "a@b.example"})), some("1"));
        assert_eq!(person(oidc, json!({"sub": ""})), None);
        assert_eq!(person(oidc, json!({"sub": " a\u{202e}"})), None);
        assert_eq!(
            person(access, json!({"sub": "1", "email": "a@b.example"})),
            some("a@b.example")
        );
        assert_eq!(person(access, json!({"sub": "1", "common_name": "service"})), None);
        assert_eq!(sign_in(oidc, "role").host(), "id.example");
    }
}
