//! The platforms of generated connections. Some are much more common than others.

use anyhow::{Result, bail};

use crate::catalog::logos::LOGO_FOLDER;
use crate::catalog::model::Status;
use crate::importer::check::{self, ConnectorEntry};
use crate::importer::folder::Folder;

/// The properties of a connector that a connection needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    pub platform: String,
    pub version: String,
    pub name: String,
    pub description: String,
}

/// The weight of the most popular platform. With 900 platforms, it has about a seventh of the
/// connections.
const TOP_WEIGHT: u64 = 1_000_000;

/// Platforms in descending order of popularity.
#[derive(Debug)]
pub struct Platforms {
    /// Each platform, with the sum of its weight and all weights before it.
    platforms: Vec<(u64, Platform)>,
}

impl Platforms {
    /// Reads the platforms of a catalog folder.
    pub fn read(folder: &Folder) -> Result<Self> {
        let platforms = Self::new(check::connectors(folder)?);
        if platforms.platforms.is_empty() {
            bail!("no platform of the catalog in {} is active", folder.0.display());
        }
        Ok(platforms)
    }

    /// Sorts platforms by popularity: those enabled for hosted authorization first, then well-known
    /// brands, for which the catalog has a logo, then by the number of actions.
    fn new(mut entries: Vec<ConnectorEntry>) -> Self {
        entries.retain(|ConnectorEntry { connector, .. }| {
            connector.active && connector.status != Status::NotAvailable
        });
        entries.sort_by(|a, b| {
            let rank = |ConnectorEntry { authkit, connector }: &ConnectorEntry| {
                (*authkit, connector.image.starts_with(LOGO_FOLDER), connector.tools)
            };
            rank(b).cmp(&rank(a)).then_with(|| a.connector.key.cmp(&b.connector.key))
        });
        Self::weighted_by_rank(entries.into_iter().map(|ConnectorEntry { connector, .. }| {
            Platform {
                platform: connector.platform,
                version: connector.platform_version,
                name: connector.name,
                description: connector.description,
            }
        }))
    }

    /// Assigns weights by rank: the second platform gets half the weight of the first, the third a
    /// third, and so on.
    fn weighted_by_rank(platforms: impl IntoIterator<Item = Platform>) -> Self {
        let mut sum = 0_u64;
        let weighted = (1..).zip(platforms).map(|(rank, platform)| {
            sum = sum.saturating_add(TOP_WEIGHT.checked_div(rank).unwrap_or_default().max(1));
            (sum, platform)
        });
        Self { platforms: weighted.collect() }
    }

    /// Picks a random platform by weight. Returns `None` if there are no platforms.
    pub fn pick(&self, random: &mut fastrand::Rng) -> Option<&Platform> {
        let weight = random.u64(..self.platforms.last()?.0);
        let found = self.platforms.partition_point(|(sum, _)| *sum <= weight);
        self.platforms.get(found).map(|(_, platform)| platform)
    }

    /// Creates `count` platforms for tests.
    #[cfg(test)]
    pub fn numbered(count: u64) -> Self {
        Self::weighted_by_rank((1..=count).map(|number| Platform {
            platform: format!("platform-{number}"),
            version: "v7".into(),
            name: format!("Platform {number}"),
            description: format!("What O'Hara said of {number}; -- \"quoted\""),
        }))
    }
}
