//! The filter of the list of connections, independent of SQL.

use serde::Serialize;

use super::cursor::Cursor;
use crate::auth::restriction::TokenRestriction;
use crate::terms::{IdentityType, State};
use crate::util::json;
use crate::util::name_set::Names;

/// The maximum number of keys in a request.
pub const MAX_KEYS: usize = 100;
/// The maximum number of tags in a request.
pub const MAX_TAGS: usize = 20;
/// The maximum length of `q`, in characters.
pub const MAX_Q_LENGTH: usize = 100;

/// The filters of the list, which a connection must all match. Strings are case-folded where case
/// is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionFilter {
    pub active: bool,
    /// Any of these distinct keys, as platform, label and identity.
    pub keys: Option<Vec<[String; 3]>>,
    /// The identity, compared exactly.
    pub identity: Option<String>,
    /// The id of the account at the platform, compared exactly.
    pub account: Option<String>,
    /// The display name, case-folded.
    pub name: Option<String>,
    /// The prefix of a name or an identity, case-folded.
    pub q: Option<String>,
    /// The required tags, without duplicates.
    pub tags: Option<Tags>,
    /// The platform's identifier, case-folded.
    pub platform: Option<String>,
    /// The platforms that a token is restricted to. The empty set matches no connection.
    pub platforms: Option<Names>,
    /// The connections that a token is restricted to.
    pub connections: Option<Names>,
    /// The platform's version, compared exactly.
    pub platform_version: Option<String>,
    pub identity_type: Option<IdentityType>,
    pub state: Option<State>,
    /// Whether the rows include the account at the platform.
    pub shows_account: bool,
}

impl ConnectionFilter {
    /// Identifies the list of this filter in pages of `limit` rows, so that a cursor is valid for
    /// no other list.
    pub fn list_name(&self, limit: u64) -> String {
        let (all, any) = match &self.tags {
            None => (None, None),
            Some(Tags::All(tags)) => (Some(tags.as_slice()), None),
            Some(Tags::Any(tags)) => (None, Some(tags.as_slice())),
        };
        json::text(&ListName {
            limit,
            active: u8::from(self.active),
            key: self.keys.as_deref(),
            identity: self.identity.as_deref(),
            account: self.account.as_deref(),
            name: self.name.as_deref(),
            q: self.q.as_deref(),
            no_tags: self.tags.is_none().then_some([]),
            all,
            any,
            platform: self.platform.as_deref(),
            platform_version: self.platform_version.as_deref(),
            identity_type: self.identity_type,
            state: self.state,
            platforms: self.platforms.as_ref().map(Names::as_str),
            connections: self.connections.as_ref().map(Names::as_str),
        })
    }

    /// Restricts the filter to what a token may see. If the filter requires anything else, it then
    /// matches no connection.
    pub fn restrict_to(&mut self, restriction: &TokenRestriction) {
        let mut is_contradictory =
            *self.identity.get_or_insert_with(|| restriction.identity.clone())
                != restriction.identity;
        if let Some(required) = restriction.identity_type {
            is_contradictory |= *self.identity_type.get_or_insert(required) != required;
        }
        let platform = self.platform.as_deref();
        is_contradictory |= platform.is_some_and(|platform| !restriction.has_platform(platform));
        if let Some(keys) = &mut self.keys {
            // Looking up another identity's key would cost more if the key exists, which would
            // reveal it. So only the token's own keys are looked up.
            keys.retain(|[platform, _, identity]| {
                *identity == restriction.identity && restriction.has_platform(platform)
            });
            is_contradictory |= keys.is_empty();
        }
        let allowed_platforms =
            restriction.platforms.as_ref().filter(|_| self.platform.is_none()).cloned();
        self.connections.clone_from(&restriction.connections);
        self.platforms = if is_contradictory { Some(Names::default()) } else { allowed_platforms };
    }

    /// Whether the filter can't match any connection, so that no query is needed.
    pub fn matches_nothing(&self) -> bool {
        self.platforms == Some(Names::default())
    }
}

/// Identifies a list. Part of the cursor signature: changing its serialization invalidates all cursors.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListName<'a> {
    limit: u64,
    active: u8,
    key: Option<&'a [[String; 3]]>,
    identity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    name: Option<&'a str>,
    q: Option<&'a str>,
    #[serde(rename = "", skip_serializing_if = "Option::is_none")]
    no_tags: Option<[(); 0]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    all: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any: Option<&'a [String]>,
    platform: Option<&'a str>,
    platform_version: Option<&'a str>,
    identity_type: Option<IdentityType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<State>,
    #[serde(skip_serializing_if = "Option::is_none")]
    platforms: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connections: Option<&'a str>,
}

/// The tags that a connection must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tags {
    /// All of these tags.
    All(Vec<String>),
    /// At least one of these tags.
    Any(Vec<String>),
}

/// The position of a page in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageStart {
    /// Skips this number of rows.
    Offset(u64),
    /// Begins after the connection of the cursor.
    After(Cursor),
}

#[cfg(test)]
mod tests {
    use super::ConnectionFilter;
    use crate::auth::restriction::TokenRestriction;
    use crate::terms::IdentityType;
    use crate::util::name_set::Names;

    fn token() -> TokenRestriction {
        TokenRestriction {
            identity: "ann".into(),
            identity_type: Some(IdentityType::User),
            platforms: Some(Names::from_string("alpha,beta".into())),
            connections: None,
            client: None,
        }
    }

    fn restricted(filter: &ConnectionFilter) -> ConnectionFilter {
        let mut filter = filter.clone();
        filter.restrict_to(&token());
        filter
    }

    #[test]
    fn a_token_looks_up_only_its_own_keys() {
        let keys = |keys: &[[&str; 3]]| -> Vec<[String; 3]> {
            keys.iter().map(|key| key.map(str::to_owned)).collect()
        };
        let requested = ConnectionFilter {
            keys: Some(keys(&[
                ["alpha", "l", "ann"],
                ["alpha", "l", "bob"],
                ["gamma", "l", "ann"],
                ["gamma", "l", "bob"],
            ])),
            ..ConnectionFilter::default()
        };
        let restricted_filter = restricted(&requested);
        assert_eq!(restricted_filter.keys, Some(keys(&[["alpha", "l", "ann"]])));
        assert!(!restricted_filter.matches_nothing());
        let other_keys = keys(&[["alpha", "l", "bob"], ["gamma", "l", "ann"]]);
        let requested = ConnectionFilter { keys: Some(other_keys), ..ConnectionFilter::default() };
        assert!(restricted(&requested).matches_nothing());
    }

    #[test]
    fn a_filter_beyond_the_restriction_matches_nothing() {
        let all = ConnectionFilter::default();
        let restricted_filter = restricted(&all);
        assert_eq!(restricted_filter.identity.as_deref(), Some("ann"));
        assert_eq!(restricted_filter.identity_type, Some(IdentityType::User));
        assert_eq!(restricted_filter.platforms, token().platforms);
        for (filter, matches_nothing) in [
            (ConnectionFilter { identity: Some("ann".into()), ..all.clone() }, false),
            (ConnectionFilter { identity: Some("Ann".into()), ..all.clone() }, true),
            (ConnectionFilter { identity_type: Some(IdentityType::User), ..all.clone() }, false),
            (ConnectionFilter { identity_type: Some(IdentityType::Team), ..all.clone() }, true),
            (ConnectionFilter { platform: Some("beta".into()), ..all.clone() }, false),
            (ConnectionFilter { platform: Some("gamma".into()), ..all.clone() }, true),
            (
                ConnectionFilter {
                    identity: Some("bob".into()),
                    keys: Some(vec![["alpha", "l", "ann"].map(str::to_owned)]),
                    ..all.clone()
                },
                true,
            ),
        ] {
            assert_eq!(restricted(&filter).matches_nothing(), matches_nothing, "{filter:?}");
        }
    }
}
