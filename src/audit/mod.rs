//! The audit log: changes and reads of credentials, with their actors. Triggers in
//! `schema/0001_init.sql` log changes, in the transaction of the change.
//! [`statements::record_credentials_read`] logs reads.

use serde::{Deserialize, Serialize};

use crate::terms::AuditAction;
use crate::util::rfc3339::rfc3339;

pub mod endpoints;
pub mod statements;

const PREFIX: &str = "aud_";

/// The number of hexadecimal digits in an id.
const ID_DIGITS: usize = 25;

/// The id of an entry. Ids sort by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditId(String);

impl AuditId {
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (digits.len() == ID_DIGITS && digits.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// A lower bound for the ids of entries written at `at` or later, in milliseconds since
    /// 1970-01-01 UTC.
    pub fn lower_bound(at: u64) -> String {
        // Eleven digits suffice until the year 2527.
        format!("{PREFIX}{:011x}", at.min(0xfff_ffff_ffff))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A row of `audit`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Entry {
    pub id: String,
    /// Milliseconds since 1970-01-01 UTC. All columns except the id are `None` if the entry was
    /// scanned but does not match the filter.
    pub at: Option<u64>,
    pub action: Option<String>,
    pub actor_type: Option<String>,
    pub actor: Option<String>,
    /// The id of the key on whose behalf the actor acts.
    pub key_id: Option<String>,
    pub target_type: Option<String>,
    /// The id of the changed resource or, for an OAuth client, its platform.
    pub target: Option<String>,
    pub request_id: Option<String>,
    /// The number of reads that this entry represents.
    pub count: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EntryView<'a> {
    id: &'a str,
    at: Option<String>,
    action: &'a str,
    actor: ActorView<'a>,
    target: TargetView<'a>,
    request_id: Option<&'a str>,
    count: Option<u64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ActorView<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    id: Option<&'a str>,
    key_id: Option<&'a str>,
}

#[derive(Serialize)]
struct TargetView<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    id: Option<&'a str>,
}

impl Entry {
    /// The entry as JSON. Returns `None` if it does not match the filter or is older than `since`.
    pub fn view(&self, since: u64) -> Option<impl Serialize> {
        let (at, action) = (self.at.filter(|at| *at >= since)?, self.action.as_deref()?);
        Some(EntryView {
            id: &self.id,
            at: rfc3339(at),
            action,
            actor: ActorView {
                kind: self.actor_type.as_deref(),
                id: self.actor.as_deref(),
                key_id: self.key_id.as_deref(),
            },
            target: TargetView { kind: self.target_type.as_deref(), id: self.target.as_deref() },
            request_id: self.request_id.as_deref(),
            count: self.count,
        })
    }
}

#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub actor: Option<String>,
    pub target: Option<String>,
    pub connection: Option<String>,
    /// Empty for all actions.
    pub actions: Vec<AuditAction>,
    /// Inclusive, in milliseconds since 1970-01-01 UTC.
    pub from: u64,
    /// Exclusive, in milliseconds since 1970-01-01 UTC.
    pub to: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::AuditId;

    #[test]
    fn ids_sort_by_time_and_have_one_format() {
        let text = &format!("{}{}", AuditId::lower_bound(1_800_000_000_000), "f".repeat(14));
        let id = AuditId::parse(text).unwrap();
        assert_eq!(id.as_str(), text);
        assert!(id.as_str() > AuditId::lower_bound(1_800_000_000_000).as_str());
        assert!(id.as_str() < AuditId::lower_bound(1_800_000_000_001).as_str());
        assert!(
            AuditId::lower_bound(u64::MAX).as_str()
                >= AuditId::lower_bound(1_800_000_000_001).as_str()
        );
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
