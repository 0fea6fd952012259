//! Prepares lists: sorts rows, and splits them into groups and parts.

use std::collections::{BTreeMap, BTreeSet};

use super::{ListForm, PreparedList, Row, Sizes};
use crate::catalog::action_search::extract::PlatformIndex;
use crate::catalog::format::layout::{number, write_string_table};
use crate::catalog::format::list::{ListRef, PartRef, Role, bucket_index};
use crate::catalog::format::section::{SectionRef, SectionWriter, WrittenSection};
use crate::catalog::format::stored::SegmentId;
use crate::catalog::list_search::index::write_index;
use crate::catalog::row::RowKind;
use crate::util::crc32::crc32;

/// Consecutive rows of a list.
pub(super) struct Group<'a> {
    pub(super) first: usize,
    rows: &'a [Row],
}

impl Group<'_> {
    fn blocks(&self) -> [Vec<u8>; 2] {
        let rows = write_string_table(self.rows.iter().map(|row| &row.json));
        [rows, write_string_table(self.rows.iter().map(|row| &row.fields.text))]
    }

    pub(super) fn bytes(&self) -> usize {
        self.rows.iter().map(row_bytes).sum()
    }

    fn title(&self) -> &str {
        self.rows.first().map_or("", |row| &row.fields.title)
    }
}

fn row_bytes(row: &Row) -> usize {
    row.json.len().saturating_add(row.fields.text.len())
}

/// Splits `items` into chunks with a total weight of at most `limit`. A single item may exceed it.
pub(super) fn split_by_weight<T>(
    items: &[T],
    limit: usize,
    weigh: impl Fn(&T) -> usize,
) -> Vec<&[T]> {
    let (mut chunks, mut start, mut weight) = (Vec::new(), 0, 0_usize);
    for (at, item) in items.iter().enumerate() {
        let more = weigh(item);
        if at > start && weight.saturating_add(more) > limit {
            chunks.extend(items.get(start..at));
            (start, weight) = (at, 0);
        }
        weight = weight.saturating_add(more);
    }
    chunks.extend(items.get(start..).filter(|chunk| !chunk.is_empty()));
    chunks
}

/// Sorts the rows into list order and prepares the list.
pub(super) fn list(kind: RowKind, mut rows: Vec<Row>, sizes: Sizes) -> PreparedList {
    rows.sort_by(|a, b| (&a.fields.title, &a.fields.key).cmp(&(&b.fields.title, &b.fields.key)));
    let groups = groups(&rows, sizes.group);
    let bytes = groups.iter().map(Group::bytes).fold(0, usize::saturating_add);
    let form = if bytes <= sizes.whole {
        let mut section = rows_section(&groups);
        section.blocks.push(columns(&rows));
        // Only actions are looked up by key in a list; connectors are looked up in packs.
        section.blocks.push(if kind == RowKind::Action { lookup(&rows) } else { Vec::new() });
        ListForm::Whole(section.finish())
    } else {
        parts(kind, &rows, &groups, sizes)
    };
    PreparedList { rows: rows.len(), form, index: PlatformIndex::default() }
}

/// Splits the rows into groups of about `limit` bytes.
pub(super) fn groups(rows: &[Row], limit: usize) -> Vec<Group<'_>> {
    let mut first = 0_usize;
    let mut groups = Vec::new();
    for rows in split_by_weight(rows, limit, |row| row.json.len()) {
        groups.push(Group { first, rows });
        first = first.saturating_add(rows.len());
    }
    groups
}

pub(super) fn rows_section(groups: &[Group<'_>]) -> SectionWriter {
    let first = groups.first().map_or(0, |group| group.first);
    let rows = groups.iter().map(|group| group.rows.len()).sum();
    let mut rest = [number(first), number(rows), number(groups.len())].concat();
    rest.extend(groups.iter().flat_map(|group| number(group.first)));
    rest.extend(write_string_table(groups.iter().map(Group::title)));
    SectionWriter { blocks: groups.iter().flat_map(Group::blocks).collect(), rest }
}

/// Serializes the columns: the attributes of each row, the number of each row's category, and the
/// names of the categories. These groups are unrelated to [`Group`], a range of rows.
fn columns(rows: &[Row]) -> Vec<u8> {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.fields.group.as_str()).collect();
    let numbers: BTreeMap<&str, u16> = names.iter().copied().zip(0..).collect();
    let mut bytes: Vec<u8> = rows.iter().map(|row| row.fields.attributes).collect();
    for row in rows {
        let number = numbers.get(row.fields.group.as_str()).copied().unwrap_or(u16::MAX);
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(write_string_table(names.iter()));
    bytes
}

/// Serializes the lookup table: the CRC-32 and the row number of each key, sorted.
fn lookup(rows: &[Row]) -> Vec<u8> {
    let sums = rows.iter().map(|row| crc32(row.fields.key.as_bytes()));
    let mut entries: Vec<(u32, usize)> = sums.zip(0..).collect();
    entries.sort_unstable();
    entries.into_iter().flat_map(|(sum, row)| [sum.to_le_bytes(), number(row)].concat()).collect()
}

/// Prepares a list that is too large for one part.
fn parts(kind: RowKind, rows: &[Row], groups: &[Group<'_>], sizes: Sizes) -> ListForm {
    let mut parts = Parts::default();
    let mut titles: Vec<Box<[u8]>> = Vec::new();
    for chunk in split_by_weight(groups, sizes.rows, Group::bytes) {
        let first = chunk.first().map_or(0, |group| group.first);
        titles.push(chunk.first().map_or("", Group::title).as_bytes().into());
        parts.add(Role::Rows, first, rows_section(chunk));
    }
    let blocks = vec![columns(rows)];
    parts.add(Role::Columns, 0, SectionWriter { blocks, rest: Vec::new() });
    let buckets = if kind == RowKind::Action { buckets(rows, sizes.bucket) } else { Vec::new() };
    parts.add_blocks(Role::Keys, &buckets, sizes.part, 1, &[]);
    let texts: Vec<&str> = rows.iter().map(|row| row.fields.text.as_str()).collect();
    let (entries, offset_bits) = write_index(&texts).unwrap_or_default();
    let blocks = entries.chunks(sizes.block.max(1));
    let blocks = blocks.map(|block| block.iter().flat_map(|entry| entry.to_le_bytes()).collect());
    let blocks: Vec<Vec<u8>> = blocks.collect();
    parts.add_blocks(Role::Index, &blocks, sizes.part, sizes.block, &number(sizes.block));
    let ids: Vec<u8> = parts.parts.iter().flat_map(|part| part.location.segment.0).collect();
    let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
    let mut list =
        ListRef::whole(SegmentId::from_content(&ids), rows.len(), location).with_titles(titles);
    list.buckets = buckets.len();
    list.entries = entries.len();
    list.offset_bits = offset_bits;
    list.parts = parts.parts;
    ListForm::Parts { list, segments: parts.segments }
}

/// Serializes each bucket: the offset of the rows, then the sorted keys and their rows, both as a
/// [`StringTable`](crate::catalog::format::layout::StringTable).
fn buckets(rows: &[Row], size: usize) -> Vec<Vec<u8>> {
    let bytes: usize = rows.iter().map(|row| row.json.len()).sum();
    let count = bytes.div_ceil(size.max(1)).max(1);
    let mut buckets: Vec<BTreeMap<&str, &[u8]>> = vec![BTreeMap::new(); count];
    for row in rows {
        let key = row.fields.key.as_str();
        if let Some(bucket) = bucket_index(key, count).and_then(|index| buckets.get_mut(index)) {
            bucket.insert(key, row.json.strip_suffix(b",").unwrap_or_default());
        }
    }
    let write = |bucket: BTreeMap<&str, &[u8]>| {
        let keys = write_string_table(bucket.keys());
        let rows = write_string_table(bucket.values());
        [&number(keys.len().saturating_add(4))[..], &keys, &rows].concat()
    };
    buckets.into_iter().map(write).collect()
}

#[derive(Default)]
pub(super) struct Parts {
    pub(super) parts: Vec<PartRef>,
    pub(super) segments: Vec<Vec<u8>>,
}

impl Parts {
    pub(super) fn add(&mut self, role: Role, first: usize, section: SectionWriter) {
        self.put(role, first, section.finish());
    }

    pub(super) fn put(&mut self, role: Role, first: usize, written: WrittenSection) {
        let segment = SegmentId::from_content(&written.bytes);
        let location = SectionRef { segment, base: 0, head: written.head, crc: written.crc };
        self.parts.push(PartRef { role, location, first });
        self.segments.push(written.bytes);
    }

    /// Adds parts that consist of blocks with `entries` entries each.
    fn add_blocks(
        &mut self,
        role: Role,
        blocks: &[Vec<u8>],
        limit: usize,
        entries: usize,
        rest: &[u8],
    ) {
        let mut first = 0_usize;
        for chunk in split_by_weight(blocks, limit, Vec::len) {
            self.add(role, first, SectionWriter { blocks: chunk.to_vec(), rest: rest.to_vec() });
            first = first.saturating_add(chunk.len().saturating_mul(entries));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::{
        ListForm, ListRef, PartRef, Role, RowKind, SectionRef, SectionWriter, SegmentId, Sizes,
        list, number, row_bytes, split_by_weight, write_string_table,
    };
    use crate::catalog::format::list::List;
    use crate::catalog::format::section::Section;
    use crate::catalog::list_search::index::Index;
    use crate::catalog::list_search::{Query, Search, sort_by_rank};
    use crate::catalog::model::Action;
    use crate::catalog::row::RowFields;
    use crate::catalog::write::row;
    use crate::ports::Blob;
    use crate::terms::Method;

    #[test]
    fn chunks_respect_their_limit() {
        for (items, limit, expected) in [
            (&[][..], 3, &[][..]),
            (&[5, 1, 1], 3, &[&[5][..], &[1, 1]]),
            (&[1, 2, 1], 3, &[&[1, 2], &[1]]),
            (&[1, 3], 3, &[&[1], &[3]]),
            (&[1, 5, 1], 3, &[&[1], &[5], &[1]]),
        ] {
            assert_eq!(split_by_weight(items, limit, |item: &usize| *item), expected, "{items:?}");
        }
    }

    /// A list in many parts, in which several groups begin with the same title, and its segments.
    fn large(block: usize) -> (ListRef, Vec<Vec<u8>>) {
        let titles = (0..5).map(|index| format!("Add {index}"));
        let titles = titles.chain(std::iter::repeat_n("Same".to_owned(), 20));
        let titles = titles.chain((0..75).map(|index| format!("Zip item {index}")));
        let actions = titles.enumerate().map(|(index, title)| Action {
            title,
            key: format!("key{}", 99_usize.saturating_sub(index)),
            method: Method::Get,
            platform: "acme".to_owned(),
            model_name: String::new(),
        });
        let rows = actions.map(|action| row(&action, RowFields::from_action(&action))).collect();
        let sizes = Sizes {
            whole: 0,
            group: 300,
            rows: 1000,
            bucket: 300,
            part: 900,
            block,
            ..Sizes::PUBLISHED
        };
        match list(RowKind::Action, rows, sizes).form {
            ListForm::Parts { list, segments } => (list, segments),
            ListForm::Whole(_) => panic!("it is too large"),
        }
    }

    fn loaded(list_ref: &ListRef, segments: &[Vec<u8>], parts: Vec<PartRef>) -> List {
        let open = |part: PartRef| {
            let index =
                list_ref.parts.iter().position(|one| one.location == part.location).unwrap();
            let blob: Rc<dyn Blob> = Rc::new(segments[index].clone());
            (part, Rc::new(Section::open(&blob, part.location).unwrap()))
        };
        List::new(list_ref.clone(), RowKind::Action, parts.into_iter().map(open).collect())
    }

    #[test]
    fn a_row_of_a_large_list_is_found_by_its_key() {
        let (list_ref, segments) = large(16);
        for index in 0..100 {
            let key = format!("key{index}");
            let list = loaded(&list_ref, &segments, list_ref.parts_for_key(&key));
            let row = list.with_key(&key).unwrap().unwrap();
            let row: Action = serde_json::from_slice(row).unwrap();
            assert_eq!(row.key, key);
        }
        let list = loaded(&list_ref, &segments, list_ref.parts_for_key("key"));
        assert_eq!(list.with_key("key").unwrap(), None);
    }

    #[test]
    fn rows_with_a_title_are_found_in_all_groups() {
        let (list_ref, segments) = large(16);
        for (title, expected) in [("add 0", 0..1), ("same", 5..25), ("zip item 9", 99..100)] {
            let list = loaded(&list_ref, &segments, list_ref.parts_for_title(title));
            assert_eq!(list.with_title(title).unwrap(), expected, "{title}");
        }
        let list = loaded(&list_ref, &segments, list_ref.parts_for_title("other"));
        assert!(list.with_title("other").unwrap().is_empty());
    }

    #[test]
    fn small_list_is_a_single_part() {
        let one = || row(&"x", RowFields { text: "x\n".to_owned(), ..RowFields::empty() });
        let bytes = row_bytes(&one());
        for (whole, is_whole) in [(bytes, true), (bytes - 1, false)] {
            let sizes = Sizes { whole, ..Sizes::PUBLISHED };
            let form = list(RowKind::Action, vec![one()], sizes).form;
            assert_eq!(matches!(form, ListForm::Whole(_)), is_whole, "{whole}");
        }
    }

    #[test]
    fn group_with_missing_rows_is_an_error() {
        let none = write_string_table([""; 0].iter());
        let head = [number(0), number(1), number(1), number(0)].concat();
        let rest = [head, write_string_table([""].iter())].concat();
        let section = SectionWriter { blocks: vec![none.clone(), none], rest }.opened();
        let location = SectionRef { segment: SegmentId([0; 16]), base: 0, head: 0, crc: 0 };
        let list_ref = ListRef::whole(location.segment, 1, location);
        let part = PartRef { role: Role::Whole, location, first: 0 };
        let list = List::new(list_ref, RowKind::Action, vec![(part, Rc::new(section))]);
        assert!(list.json(0..1).is_err());
    }

    #[test]
    fn index_and_scan_find_equal_rows() {
        let (list_ref, segments) = large(16);
        let list = loaded(&list_ref, &segments, list_ref.parts_for_scan(true));
        assert!(Index::open(&list).is_some());
        let row = Search::new(&Query::parse("key9").unwrap(), "").run(&list).unwrap()[0];
        assert!(list.row(row as usize).unwrap().windows(6).any(|part| part == b"\"key9\""));
        let (without_index, segments) = large(0);
        let parts = without_index.parts_for_scan(true);
        assert!(Index::open(&loaded(&without_index, &segments, parts)).is_none());
        for (text, count) in [
            ("same", 20),
            ("zip item 7", 17),
            ("item", 75),
            ("add 3", 1),
            ("key42", 1),
            ("key9", 11),
            ("x", 0),
        ] {
            let search = Search::new(&Query::parse(text).unwrap(), "");
            let index = search.run(&list).unwrap();
            assert_eq!(index, sort_by_rank(search.scan(&list).unwrap()), "{text}");
            assert_eq!(index.len(), count, "{text}");
        }
        // "acme" is the shared text of all rows.
        for (text, count) in [("acme", 100), ("acme item", 75), ("acme x", 0), ("add acme 3", 1)] {
            let search = Search::new(&Query::parse(text).unwrap(), "acme\n");
            let index = search.run(&list).unwrap();
            assert_eq!(index, sort_by_rank(search.scan(&list).unwrap()), "{text}");
            assert_eq!(index.len(), count, "{text}");
        }
    }
}
