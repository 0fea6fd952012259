//! Selects the index for filters that compare columns with one value.

use crate::connections::filter::ConnectionFilter;
use crate::terms::{IdentityType, State};

/// The columns that a filter compares with one value each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each stands for a column")]
pub(super) struct Columns {
    pub platform: bool,
    pub version: bool,
    pub identity_type: bool,
    pub state: bool,
}

/// An index column that the filter does not restrict. Its values are read as separate ranges, which
/// are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnfilteredColumn {
    /// The column's name.
    pub column: &'static str,
    pub values: [&'static str; 4],
}

const TYPES: UnfilteredColumn =
    UnfilteredColumn { column: "c.identity_type", values: IdentityType::NAMES };
const STATES: UnfilteredColumn = UnfilteredColumn { column: "c.state", values: State::NAMES };

impl ConnectionFilter {
    pub(super) fn columns(&self) -> Columns {
        Columns {
            platform: self.platform.is_some(),
            version: self.platform_version.is_some(),
            identity_type: self.identity_type.is_some(),
            state: self.state.is_some(),
        }
    }
}

impl Columns {
    pub(super) const NONE: Self =
        Self { platform: false, version: false, identity_type: false, state: false };

    /// The index that begins with these columns, followed by the columns of the list order or by an
    /// [`UnfilteredColumn`].
    pub(super) const fn index(self) -> &'static str {
        let version_and_type = self.version && self.identity_type;
        match (self.platform, self.version) {
            (false, false) if self.state => "connections_by_type_and_state",
            (true, false) if self.state => "connections_by_platform_type_and_state",
            (false, true) if self.state || version_and_type => {
                "connections_by_version_type_and_state"
            }
            (true, true) if self.state || version_and_type => {
                "connections_by_platform_version_type_and_state"
            }
            (true, true) => "connections_by_platform_and_version",
            (true, false) if self.identity_type => "connections_by_platform_and_identity_type",
            (true, false) => "connections_by_platform",
            (false, true) => "connections_by_platform_version",
            (false, false) if self.identity_type => "connections_by_identity_type",
            (false, false) => "connections_by_age",
        }
    }

    /// The index column between these columns and the columns of the list order. Returns `None` if
    /// there is no such column.
    pub(super) const fn open(self) -> Option<UnfilteredColumn> {
        match (self.state, self.identity_type) {
            (true, false) => Some(TYPES),
            (false, true) if self.version => Some(STATES),
            _ => None,
        }
    }
}
