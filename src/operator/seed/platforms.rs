//! The platforms that connections are made to, some much more often than others.

use anyhow::{Result, bail};

use crate::catalog::model::Status;
use crate::catalog::segment::ConnectorEntry;
use crate::importer::check;
use crate::importer::folder::Folder;

/// What a connection takes from a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// 1–64 of `a-z0-9-`.
    pub platform: String,
    /// `v<number>`
    pub version: String,
    /// Display name.
    pub name: String,
    /// What it is.
    pub description: String,
}

/// The most popular one has about a seventh of the connections to 900.
const MOST: u64 = 1_000_000;

/// Platforms, the most popular one first.
#[derive(Debug)]
pub struct Platforms {
    /// With the sum of its weight and of all before.
    platforms: Vec<(u64, Platform)>,
}

impl Platforms {
    /// The platforms of a catalog folder.
    ///
    /// # Errors
    /// When there is no catalog, or nothing in it can be connected to.
    pub fn read(folder: &Folder) -> Result<Self> {
        let platforms = Self::new(check::connectors(folder)?);
        if platforms.platforms.is_empty() {
            bail!("no platform of the catalog in {} is active", folder.0.display());
        }
        Ok(platforms)
    }

    /// Of connectors; those that the operator enabled for hosted authorization are the most popular, then those with
    /// the most actions.
    fn new(mut entries: Vec<ConnectorEntry>) -> Self {
        entries.retain(|ConnectorEntry { connector, .. }| {
            connector.active && connector.status != Status::NotAvailable
        });
        entries.sort_by(|a, b| {
            let rank = |entry: &ConnectorEntry| (entry.authkit, entry.connector.tools);
            rank(b).cmp(&rank(a)).then_with(|| a.connector.key.cmp(&b.connector.key))
        });
        Self::ranked(entries.into_iter().map(|ConnectorEntry { connector, .. }| Platform {
            platform: connector.platform,
            version: connector.platform_version,
            name: connector.name,
            description: connector.description,
        }))
    }

    /// The second has half of what the first has, the third a third, and so on.
    fn ranked(platforms: impl IntoIterator<Item = Platform>) -> Self {
        let mut sum = 0_u64;
        let weighted = (1..).zip(platforms).map(|(rank, platform)| {
            sum = sum.saturating_add(MOST.checked_div(rank).unwrap_or_default().max(1));
            (sum, platform)
        });
        Self { platforms: weighted.collect() }
    }

    /// One of them; none only when there is none.
    pub fn pick(&self, random: &mut fastrand::Rng) -> Option<&Platform> {
        let place = random.u64(..self.platforms.last()?.0);
        let found = self.platforms.partition_point(|(sum, _)| *sum <= place);
        self.platforms.get(found).map(|(_, platform)| platform)
    }

    /// `count` platforms, for tests.
    #[cfg(test)]
    #[must_use]
    pub fn numbered(count: u64) -> Self {
        Self::ranked((1..=count).map(|number| Platform {
            platform: format!("platform-{number}"),
            version: "v7".into(),
            name: format!("Platform {number}"),
            description: format!("What O'Hara said of {number}; -- \"quoted\""),
        }))
    }
}
