//! The audit: who changed what, and who read credentials. Triggers write the entries of changes, in the transaction of the change
//! (`schema/0001_init.sql`); a read of credentials writes its own. Here the rows become documents.

use serde::{Deserialize, Serialize};

use crate::terms::AuditAction;
use crate::util::rfc3339::rfc3339;

pub mod endpoints;
pub mod statements;

const PREFIX: &str = "aud_";

/// The hexadecimal digits of an id.
const DIGITS: usize = 25;

/// The id of an entry. Ids are in the order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditId(String);

impl AuditId {
    /// Reads an id. Returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.len() == DIGITS && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// What all ids of entries from this moment on, in milliseconds since 1970-01-01 UTC, are greater than, and no earlier one.
    #[must_use]
    pub fn bound(at: u64) -> String {
        // Eleven digits last until the year 2527.
        format!("{PREFIX}{:011x}", at.min(0xfff_ffff_ffff))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A row of `audit`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Milliseconds since 1970-01-01 UTC; `None` when the entry was looked at but does not match.
    pub at: Option<u64>,
    /// What was done.
    pub action: Option<String>,
    /// What the actor is.
    pub actor_type: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// The key by which the actor acts.
    pub key_id: Option<String>,
    /// What was changed, or whose credentials were read.
    pub target_type: Option<String>,
    /// Its id, or the platform of an OAuth client.
    pub target: Option<String>,
    /// The request.
    pub request_id: Option<String>,
    /// How often.
    pub count: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    id: &'a str,
    at: Option<String>,
    action: &'a str,
    actor: ShownActor<'a>,
    target: ShownTarget<'a>,
    request_id: Option<&'a str>,
    count: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownActor<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    id: Option<&'a str>,
    key_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ShownTarget<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    id: Option<&'a str>,
}

impl Entry {
    /// The document. Returns `None` for an entry that was looked at but does not match, or that is older than `since`.
    #[must_use]
    pub fn shown(&self, since: u64) -> Option<impl Serialize> {
        let (at, action) = (self.at.filter(|at| *at >= since)?, self.action.as_deref()?);
        Some(Shown {
            id: &self.id,
            at: rfc3339(at),
            action,
            actor: ShownActor {
                kind: self.actor_type.as_deref(),
                id: self.actor.as_deref(),
                key_id: self.key_id.as_deref(),
            },
            target: ShownTarget { kind: self.target_type.as_deref(), id: self.target.as_deref() },
            request_id: self.request_id.as_deref(),
            count: self.count,
        })
    }
}

/// Which entries are listed.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Those of this actor.
    pub actor: Option<String>,
    /// Those about this target.
    pub target: Option<String>,
    /// Those about this connection.
    pub connection: Option<String>,
    /// Those of these actions; all when empty.
    pub actions: Vec<AuditAction>,
    /// Those from this moment on, in milliseconds since 1970-01-01 UTC.
    pub from: u64,
    /// Those before this moment.
    pub to: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::AuditId;

    #[test]
    fn ids_have_one_form_and_are_in_the_order_of_time() {
        let text = &format!("{}{}", AuditId::bound(1_800_000_000_000), "f".repeat(14));
        let id = AuditId::parse(text).unwrap();
        assert_eq!(id.as_str(), text);
        assert!(id.as_str() > AuditId::bound(1_800_000_000_000).as_str());
        assert!(id.as_str() < AuditId::bound(1_800_000_000_001).as_str());
        assert!(AuditId::bound(u64::MAX).as_str() >= AuditId::bound(1_800_000_000_001).as_str());
        for wrong in [
            "",
            "aud_",
            text.strip_suffix('f').unwrap(),
            &text.to_uppercase(),
            &format!("{text}0"),
            "evt_0000000000001",
        ] {
            assert_eq!(AuditId::parse(wrong), None, "{wrong}");
        }
    }
}
