//! The request counts in an isolate's memory.

use std::cell::RefCell;
use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::statements::OTHER;
use super::{FLUSH_MS, day};
use crate::http::endpoint::Access;
use crate::ports::is_recent;
use crate::terms::{EndpointGroup, Scope};

/// The number of rows at which an isolate writes its counts without delay. It stores at most twice
/// as many.
pub const MAX_ROWS: usize = 500;

/// How long an unfinished flush is trusted, in milliseconds. After this time, the platform has
/// ended it.
const FLUSH_TRUST_MS: u64 = 60_000;

/// The dimensions of a counted request that are known before the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageDimensions {
    /// The value that identifies the caller in storage: the hash of a key, the key id in a token,
    /// or the id of a grant.
    pub caller: String,
    pub endpoint: EndpointGroup,
    /// The platform in the path. Counted only if the request succeeds, so that callers can't invent
    /// platforms.
    pub platform_in_path: Option<String>,
    pub platform: Option<String>,
    /// The identity of the token or of the connection.
    pub identity: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CountKey {
    pub caller: String,
    /// Days since 1970-01-01 UTC.
    pub day: u64,
    pub endpoint: EndpointGroup,
    /// The first digit of the status.
    pub status: u16,
    /// Empty if there is no platform.
    pub platform: String,
    /// Empty if there is no identity.
    pub identity: String,
}

/// A row with its number of requests, in the format that the SQL statement parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count(pub CountKey, pub u64);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(CountKey { caller, day, endpoint, status, platform, identity }, requests) = self;
        (caller, day, endpoint, format!("{status}xx"), platform, identity, requests)
            .serialize(serializer)
    }
}

/// The counts for one database.
#[derive(Debug, Default)]
struct PendingCounts {
    rows: HashMap<CountKey, u64>,
    /// When the pending flush was started, in milliseconds since 1970-01-01 UTC.
    flush_since: Option<u64>,
    /// Whether a flush without delay was started.
    is_urgent: bool,
}

/// The counts that this isolate has not written yet, by shard number.
#[derive(Debug, Default)]
pub struct UsageCounts(RefCell<HashMap<u16, PendingCounts>>);

impl UsageCounts {
    /// Counts a request. `status` is the status of the response.
    pub fn add(&self, database: u16, counted: UsageDimensions, status: u16, now: u64) {
        let Ok(mut all) = self.0.try_borrow_mut() else { return };
        let rows = &mut all.entry(database).or_default().rows;
        let in_path = counted.platform_in_path.filter(|_| status < 400);
        let mut row = CountKey {
            caller: counted.caller,
            day: day(now),
            endpoint: counted.endpoint,
            status: status / 100,
            platform: counted.platform.or(in_path).unwrap_or_default(),
            identity: counted.identity.unwrap_or_default(),
        };
        if rows.len() >= MAX_ROWS && !rows.contains_key(&row) {
            (row.platform, row.identity) = (OTHER.to_owned(), OTHER.to_owned());
        }
        if rows.len() < MAX_ROWS.saturating_mul(2) || rows.contains_key(&row) {
            let requests = rows.entry(row).or_default();
            *requests = requests.saturating_add(1);
        }
    }

    /// The delay of the flush that must start now, in milliseconds. Returns `None` if there are no
    /// counts or a flush has already been started.
    pub fn due_flush(&self, database: u16, now: u64) -> Option<u32> {
        let mut all = self.0.try_borrow_mut().ok()?;
        let pending = all.get_mut(&database).filter(|pending| !pending.rows.is_empty())?;
        let is_full = pending.rows.len() >= MAX_ROWS;
        let has_begun = pending.flush_since.is_some_and(|at| is_recent(now, at, FLUSH_TRUST_MS));
        if has_begun && (!is_full || pending.is_urgent) {
            return None;
        }
        pending.flush_since = Some(now);
        pending.is_urgent = is_full;
        Some(if is_full { 0 } else { FLUSH_MS })
    }

    /// Removes and returns the counts for a database.
    pub fn take(&self, database: u16) -> Vec<Count> {
        let pending = self.0.try_borrow_mut().ok().and_then(|mut all| all.remove(&database));
        let rows = pending.unwrap_or_default().rows;
        rows.into_iter().map(|(row, requests)| Count(row, requests)).collect()
    }
}

/// The group of the endpoints with this access.
pub const fn endpoint_group(access: Access) -> EndpointGroup {
    match access {
        Access::Catalog => EndpointGroup::Catalog,
        Access::Valid => EndpointGroup::Keys,
        Access::Scope(scope) => match scope {
            Scope::CatalogRead => EndpointGroup::Catalog,
            Scope::ConnectionsRead | Scope::ConnectionsWrite => EndpointGroup::Connections,
            Scope::ConnectionsConnect => EndpointGroup::Connect,
            Scope::ConnectionsCall => EndpointGroup::Calls,
            Scope::CredentialsRead | Scope::CredentialsWrite => EndpointGroup::Credentials,
            Scope::SessionsCreate => EndpointGroup::Sessions,
            Scope::ClientsRead | Scope::ClientsWrite => EndpointGroup::Clients,
            Scope::EventsRead => EndpointGroup::Events,
            Scope::WebhooksRead | Scope::WebhooksWrite => EndpointGroup::Webhooks,
            Scope::KeysRead | Scope::KeysWrite => EndpointGroup::Keys,
            Scope::AgentsRead | Scope::AgentsWrite => EndpointGroup::Agents,
            Scope::AuditRead => EndpointGroup::Audit,
            Scope::UsageRead => EndpointGroup::Usage,
            Scope::ConsoleRead | Scope::ConsoleWrite => EndpointGroup::Console,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_ROWS, UsageCounts, UsageDimensions};
    use crate::terms::EndpointGroup;
    use crate::usage::FLUSH_MS;

    fn counted(identity: usize) -> UsageDimensions {
        UsageDimensions {
            caller: "k".into(),
            endpoint: EndpointGroup::Calls,
            platform_in_path: None,
            platform: Some("github".into()),
            identity: Some(identity.to_string()),
        }
    }

    #[test]
    fn flush_starts_with_first_count_and_immediately_when_full() {
        let counts = UsageCounts::default();
        assert_eq!(counts.due_flush(0, 0), None);
        counts.add(0, counted(0), 200, 0);
        assert_eq!((counts.due_flush(0, 5), counts.due_flush(0, 6)), (Some(FLUSH_MS), None));
        assert_eq!(counts.due_flush(1, 6), None, "another database");
        for identity in 0..MAX_ROWS {
            counts.add(0, counted(identity), 200, 0);
        }
        assert_eq!((counts.due_flush(0, 7), counts.due_flush(0, 8)), (Some(0), None));
        assert_eq!(counts.take(0).len(), MAX_ROWS);
        counts.add(0, counted(0), 200, 9);
        assert_eq!(counts.due_flush(0, 9), Some(FLUSH_MS));
        // The platform has ended the first flush.
        assert_eq!(
            (counts.due_flush(0, 60_008), counts.due_flush(0, 60_009)),
            (None, Some(FLUSH_MS))
        );
    }

    #[test]
    fn the_rows_in_memory_are_bounded() {
        let counts = UsageCounts::default();
        for identity in 0..MAX_ROWS * 3 {
            counts.add(0, counted(identity), 200, 0);
        }
        counts.add(0, counted(0), 200, 0);
        let rows = counts.take(0);
        assert_eq!(rows.len(), MAX_ROWS + 1);
        let sum: u64 = rows.iter().map(|count| count.1).sum();
        assert_eq!(sum, u64::try_from(MAX_ROWS * 3 + 1).unwrap());
        let other = rows.iter().find(|count| count.0.identity == ",").unwrap();
        assert_eq!(other.1, u64::try_from(MAX_ROWS * 2).unwrap());
    }
}
