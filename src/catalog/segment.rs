//! A stored segment: the rendered rows of one list plus the columns that filters and search need.

use super::model::{Action, Connector};
use super::stored::SegmentId;

/// A connector with what its row does not show.
#[derive(Debug, Clone)]
pub struct ConnectorEntry {
    /// The row.
    pub connector: Connector,
    /// Whether the operator enabled it for hosted authorization.
    pub authkit: bool,
    /// The segment that holds its platform's actions.
    pub actions: SegmentId,
}

/// Lays out the connector list; sorts it into list order first.
#[must_use]
pub fn write_connectors(_entries: Vec<ConnectorEntry>) -> Vec<u8> {
    Vec::new()
}

/// Lays out one platform's action list; sorts it into list order first.
#[must_use]
pub fn write_actions(_actions: Vec<Action>) -> Vec<u8> {
    Vec::new()
}
