//! Serializes packs: the connectors and small action lists of several platforms.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ListForm, Platform, PreparedList};
use crate::catalog::action::store::Tables;
use crate::catalog::format::layout::{number, write_string_table};
use crate::catalog::format::pack::{ALIAS, AUTHKIT, ENTRY_BYTES, NEEDS_CLIENT, SEPARATE_LIST};
use crate::catalog::format::section::{SectionWriter, WrittenSection};
use crate::catalog::format::stored::SegmentId;

/// The entry of a name in a pack.
pub(super) enum Entry<'a> {
    /// A platform, with its action list if the pack contains it.
    Platform(&'a Platform, Option<&'a PreparedList>),
    /// A former name of a platform, with the current one.
    Alias(&'a str),
}

impl Entry<'_> {
    fn blocks(&self, tables: &Tables<'_>) -> [Vec<u8>; 3] {
        match self {
            Self::Platform(platform, _) => {
                let units = tables.get(platform.connector.platform.as_str());
                [json(&platform.connector), json(&platform.detail), json(&units)]
            }
            Self::Alias(name) => [name.as_bytes().to_vec(), Vec::new(), Vec::new()],
        }
    }

    fn flags(&self) -> usize {
        match self {
            Self::Platform(platform, _) => {
                let flag = |is_set: bool, flag: usize| if is_set { flag } else { 0 };
                flag(platform.authkit, AUTHKIT) | flag(platform.needs_client(), NEEDS_CLIENT)
            }
            Self::Alias(_) => ALIAS,
        }
    }

    /// The action list, if the pack contains it, and its number of rows.
    fn list(&self) -> Option<(&WrittenSection, usize)> {
        match self {
            Self::Platform(_, Some(PreparedList { form: ListForm::Whole(whole), rows, .. })) => {
                Some((whole, *rows))
            }
            Self::Platform(..) | Self::Alias(_) => None,
        }
    }
}

#[derive(Default)]
pub(super) struct Pack<'a> {
    pub(super) names: BTreeMap<&'a str, Entry<'a>>,
}

impl Pack<'_> {
    /// Serializes the section of the pack, followed by the action lists. Returns `None` if the pack
    /// is empty.
    pub(super) fn write(&self, tables: &Tables<'_>) -> Option<WrittenSection> {
        let names = write_string_table(self.names.keys());
        let blocks = self.names.values().flat_map(|entry| entry.blocks(tables));
        let blocks: Vec<Vec<u8>> = blocks.collect();
        let block_bytes: usize = blocks.iter().map(Vec::len).sum();
        let entries = self.names.len().saturating_mul(ENTRY_BYTES);
        let table = blocks.len().saturating_mul(12).saturating_add(4);
        let head = table.saturating_add(4).saturating_add(entries).saturating_add(names.len());
        let mut base = head.saturating_add(block_bytes);
        let mut rest = number(self.names.len()).to_vec();
        let mut lists: Vec<&[u8]> = Vec::new();
        for entry in self.names.values() {
            let flags = entry.flags();
            let Some((list, rows)) = entry.list() else {
                rest.extend(number(flags | SEPARATE_LIST));
                rest.extend([0; ENTRY_BYTES - 4]);
                continue;
            };
            rest.extend(number(flags));
            rest.extend(SegmentId::from_content(&list.bytes).0);
            rest.extend(
                [number(base), number(list.head), list.crc.to_le_bytes(), number(rows)].concat(),
            );
            base = base.saturating_add(list.bytes.len());
            lists.push(&list.bytes);
        }
        rest.extend(names);
        let mut pack = SectionWriter { blocks, rest }.finish();
        pack.bytes.extend(lists.concat());
        (!self.names.is_empty()).then_some(pack)
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
