//! Packs units into segments.

use std::collections::BTreeMap;

use super::unit::{DeflatedUnit, UnitRef, UnitTable, Units, compare};
use crate::catalog::format::current::pack_index;
use crate::catalog::format::stored::SegmentId;
use crate::util::crc32::crc32;

pub type Tables<'a> = BTreeMap<&'a str, UnitTable>;

/// Stores the units of all platforms. Small units of platforms in the same group share segments of
/// at most `max` bytes. The grouping limits how many segments change with a platform.
pub fn store_units<'a, E>(
    platforms: impl Iterator<Item = (&'a str, &'a Units)>,
    max: usize,
    groups: usize,
    store: &mut impl FnMut(&[u8]) -> Result<SegmentId, E>,
) -> Result<Tables<'a>, E> {
    let mut tables = Tables::new();
    let mut groups: Vec<Vec<(&'a str, &'a DeflatedUnit)>> = vec![Vec::new(); groups.max(1)];
    for (name, Units { schemes, units }) in platforms {
        tables.insert(name, UnitTable { schemes: schemes.clone(), units: Vec::new() });
        if let Some(group) = pack_index(name, groups.len()).and_then(|index| groups.get_mut(index))
        {
            group.extend(units.iter().map(|unit| (name, unit)));
        }
    }
    for group in groups {
        for segment in pack_units(group, max) {
            let bytes: Vec<&[u8]> = segment.iter().map(|(_, unit)| unit.bytes.as_slice()).collect();
            let id = store(&bytes.concat())?;
            let mut base = 0_u32;
            for (name, DeflatedUnit { first, bytes }) in segment {
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                let unit_ref =
                    UnitRef { first: first.clone(), segment: id, base, length, crc: crc32(bytes) };
                tables.entry(name).or_default().units.push(unit_ref);
                base = base.saturating_add(length);
            }
        }
    }
    for table in tables.values_mut() {
        table.units.sort_by(|a, b| compare(&a.first, &b.first));
    }
    Ok(tables)
}

/// Packs units into segments of at most `max` bytes: first fit, largest first.
fn pack_units<'a>(
    mut units: Vec<(&'a str, &'a DeflatedUnit)>,
    max: usize,
) -> Vec<Vec<(&'a str, &'a DeflatedUnit)>> {
    units.sort_by(|(a, one), (b, other)| {
        let key =
            |name, unit: &'a DeflatedUnit| (std::cmp::Reverse(unit.bytes.len()), name, &unit.first);
        key(*a, one).cmp(&key(*b, other))
    });
    let mut segments: Vec<(usize, Vec<(&str, &DeflatedUnit)>)> = Vec::new();
    for (name, unit) in units {
        let fits = |used: &usize| used.saturating_add(unit.bytes.len()) <= max;
        match segments.iter_mut().find(|(used, _)| fits(used)) {
            Some((used, packed)) => {
                *used = used.saturating_add(unit.bytes.len());
                packed.push((name, unit));
            }
            None => segments.push((unit.bytes.len(), vec![(name, unit)])),
        }
    }
    segments.into_iter().map(|(_, packed)| packed).collect()
}

#[cfg(test)]
mod tests {
    use super::{DeflatedUnit, pack_units};

    #[test]
    fn units_are_packed_first_fit() {
        let units: Vec<DeflatedUnit> = [1, 2, 4, 3]
            .map(|size| DeflatedUnit { first: String::new(), bytes: vec![0; size] })
            .into();
        for (max, expected) in [
            (0, &[&[4][..], &[3], &[2], &[1]][..]),
            (3, &[&[4], &[3], &[2, 1]]),
            (4, &[&[4], &[3, 1], &[2]]),
            (10, &[&[4, 3, 2, 1]]),
        ] {
            let segments = pack_units(units.iter().map(|unit| ("acme", unit)).collect(), max);
            let sizes =
                segments.iter().map(|packed| packed.iter().map(|(_, unit)| unit.bytes.len()));
            let sizes: Vec<Vec<usize>> = sizes.map(Iterator::collect).collect();
            assert_eq!(sizes, expected, "{max}");
        }
    }
}
