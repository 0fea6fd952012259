//! What a request asks of the list of connections.

use super::cursor::Cursor;
use super::model::IdentityType;
use crate::json;
use crate::names::Names;

/// Most keys that a request may name.
pub const MAX_KEYS: usize = 100;
/// Most tags that a request may name.
pub const MAX_TAGS: usize = 20;
/// Most characters of `q`.
pub const MAX_Q: usize = 100;

/// The filters of the list (specification, part 4.3), folded where case is ignored. All that are given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionFilter {
    /// Whether the connection is active.
    pub active: bool,
    /// Any of these keys, without their environment: platform, label, identity. No key is there twice.
    pub keys: Option<Vec<[String; 3]>>,
    /// Exact.
    pub identity: Option<String>,
    /// Folded.
    pub name: Option<String>,
    /// Folded: what the name or the identity begins with.
    pub q: Option<String>,
    /// Different tags.
    pub tags: Option<Tags>,
    /// Folded.
    pub platform: Option<String>,
    /// Any of these, where a token is confined to them; none of them leaves nothing.
    pub platforms: Option<Names>,
    /// Exact.
    pub platform_version: Option<String>,
    /// Exact.
    pub identity_type: Option<IdentityType>,
}

impl ConnectionFilter {
    /// What tells the list of this filter, in pages of `limit` rows, from every other list.
    #[must_use]
    pub fn list_name(&self, limit: u64) -> String {
        let (how, tags) = match &self.tags {
            None => ("", [].as_slice()),
            Some(Tags::All(tags)) => ("all", tags.as_slice()),
            Some(Tags::Any(tags)) => ("any", tags.as_slice()),
        };
        let keys =
            self.keys.as_ref().map(|keys| json::list(keys.iter().map(|key| json::array(key))));
        let name = json::Object::default()
            .integer("limit", limit)
            .integer("active", u64::from(self.active))
            .json("key", keys.as_deref().unwrap_or("null"))
            .text_or_null("identity", self.identity.as_deref())
            .text_or_null("name", self.name.as_deref())
            .text_or_null("q", self.q.as_deref())
            .json(how, &json::array(tags))
            .text_or_null("platform", self.platform.as_deref())
            .text_or_null("platformVersion", self.platform_version.as_deref())
            .text_or_null("identityType", self.identity_type.map(IdentityType::as_str));
        match &self.platforms {
            Some(platforms) => name.text("platforms", platforms.as_str()).finish(),
            None => name.finish(),
        }
    }

    /// Whether nothing can meet it, which needs no look at any connection.
    #[must_use]
    pub fn finds_nothing(&self) -> bool {
        self.platforms == Some(Names::default())
    }
}

/// Which tags a connection must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tags {
    /// All of these.
    All(Vec<String>),
    /// At least one of these.
    Any(Vec<String>),
}

/// Where in a list a page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// After this many rows.
    Offset(u64),
    /// Right after a connection.
    After(Cursor),
}
