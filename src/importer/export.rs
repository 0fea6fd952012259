//! `catalog export`: prints the catalog as JSON Lines, for other programs.

use std::collections::HashSet;
use std::io::Write;

use anyhow::{Result, anyhow};
use serde::Serialize;
use serde_json::value::RawValue;

use super::check::{OpenCatalog, StoredPlatform};
use super::hash;
use crate::catalog::action::render::render;
use crate::catalog::action::unit::{Unit, inflate};
use crate::catalog::detail::ConnectorDetail;
use crate::catalog::model::Connector;

#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The maximum number of actions per platform.
    pub max: usize,
    pub seed: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Line<'a> {
    Connector {
        #[serde(flatten)]
        row: &'a Connector,
        #[serde(flatten)]
        detail: &'a ConnectorDetail,
    },
    Action(&'a RawValue),
}

/// Writes a line for each connector, in list order, followed by a line for each of its actions.
pub fn export(
    opened: &OpenCatalog<'_>,
    is_requested: &dyn Fn(&str) -> bool,
    sample: Option<Sample<'_>>,
    out: &mut dyn Write,
) -> Result<()> {
    let mut details = opened.details()?;
    for entry in opened.connectors()? {
        let row = &entry.connector;
        let StoredPlatform { detail, units, .. } = details.take(&row.platform);
        if !is_requested(&row.platform) {
            continue;
        }
        put(out, &Line::Connector { row, detail: &detail })?;
        let rows = opened.actions(&row.platform)?;
        let keys = rows.iter().map(|action| action.key.as_str());
        let keys = sample
            .map_or_else(|| keys.clone().collect(), |sample| sample.choose(row, keys.clone()));
        let connector = serde_json::from_value(serde_json::to_value(&detail)?)?;
        let units = opened.units(units)?;
        for stored in &units.units {
            let damaged =
                || anyhow!("{}: the details from {} on are damaged", row.platform, stored.first);
            let inflated = inflate(&stored.bytes).ok_or_else(damaged)?;
            let unit = Unit::open(&inflated).ok_or_else(damaged)?;
            for index in 0..unit.keys.len() {
                let key = String::from_utf8_lossy(unit.keys.get(index));
                if keys.contains(&*key) {
                    let action = unit.action(&key).ok_or_else(damaged)?;
                    let json =
                        render(&unit, &action, &row.platform, &connector, &units.schemes, false);
                    put(
                        out,
                        &Line::Action(serde_json::from_slice(&json.map_err(|_| damaged())?)?),
                    )?;
                }
            }
        }
    }
    Ok(())
}

impl Sample<'_> {
    fn choose<'k>(&self, row: &Connector, keys: impl Iterator<Item = &'k str>) -> HashSet<&'k str> {
        let mut keys: Vec<&str> = keys.collect();
        let place =
            |key: &&str| hash::number(format!("{}/{}/{key}", self.seed, row.platform).as_bytes());
        keys.sort_by_cached_key(place);
        keys.into_iter().take(self.max).collect()
    }
}

fn put(out: &mut dyn Write, line: &Line<'_>) -> Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")?;
    Ok(())
}
