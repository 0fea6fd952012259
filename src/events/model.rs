//! Events and their ids.

use std::fmt;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::connections::model::Connection;
use crate::util::json;
use crate::util::rfc3339::rfc3339;

/// The id of an event: `evt_` and a number of thirteen digits that increases with every event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
pub struct EventId(pub u64);

const PREFIX: &str = "evt_";

impl EventId {
    /// Greater than the id of any event.
    pub const LAST: Self = Self(9_999_999_999_999);

    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(PREFIX)?;
        let is_well_formed = digits.len() == 13 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|_| is_well_formed).map(Self)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{:013}", self.0)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A row of `events`, with the columns that [`super::statements`] selects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Event {
    pub id: EventId,
    #[serde(rename = "type")]
    pub kind: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub occurred_at: u64,
    /// The row of the connection, as JSON.
    pub connection: Option<String>,
    /// What the event is about, if not a connection: a JSON object with one member.
    pub subject: Option<String>,
    /// A JSON object.
    pub reason: Option<String>,
    /// A JSON object.
    pub call: Option<String>,
}

/// The JSON representation of an event, for the API and for webhooks.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventView<'a> {
    id: EventId,
    #[serde(rename = "type")]
    kind: &'a str,
    occurred_at: Option<String>,
    data: &'a RawValue,
}

impl Event {
    /// Renders the event for the API and for webhooks. `names` is whether to include the names of
    /// connected accounts.
    pub fn to_json(&self, names: bool) -> serde_json::Result<Vec<u8>> {
        let mut data = match (&self.connection, &self.subject) {
            (Some(row), _) => {
                let connection: Connection = json::from_text(row)?;
                let account = serde_json::to_vec(&connection.account(names))?;
                let parts: [&[u8]; 4] =
                    [b"{\"connection\":", &connection.to_json()?, b",\"account\":", &account];
                parts.concat()
            }
            (None, subject) => {
                let subject = subject.as_deref().and_then(|object| object.strip_suffix('}'));
                subject.unwrap_or("{").as_bytes().to_vec()
            }
        };
        let more = [(&b",\"reason\":"[..], &self.reason), (b",\"call\":", &self.call)];
        for (name, object) in more {
            if let Some(object) = object {
                data.extend_from_slice(name);
                data.extend_from_slice(object.as_bytes());
            }
        }
        data.push(b'}');
        let data: &RawValue = json::from_bytes(&data)?;
        let occurred_at = rfc3339(self.occurred_at);
        serde_json::to_vec(&EventView { id: self.id, kind: &self.kind, occurred_at, data })
    }
}

#[cfg(test)]
mod tests {
    use super::EventId;

    #[test]
    fn ids_have_one_format() {
        for (text, expected) in [
            ("evt_0000000000001", Some(1)),
            ("evt_9999999999999", Some(9_999_999_999_999)),
            ("evt_+000000000001", None),
            ("evt_-000000000001", None),
            ("evt_000000000001", None),
            ("evt_00000000000001", None),
            ("evt_000000000000a", None),
            ("EVT_0000000000001", None),
            ("0000000000001", None),
            ("", None),
        ] {
            assert_eq!(EventId::parse(text), expected.map(EventId), "{text}");
        }
        assert_eq!(EventId(1).to_string(), "evt_0000000000001");
    }
}
