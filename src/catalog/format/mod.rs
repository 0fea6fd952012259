//! The stored format of the catalog.
//!
//! # Purpose
//!
//! The catalog has about 2,800 platforms and 123,000 actions: more than fits into an isolate's
//! memory, and far more than a request can read. It changes only when the operator publishes, but
//! many requests read it. So the importer does all work that can be done in advance, and a request
//! only copies bytes: a page of a list is a slice of stored JSON, which the importer has rendered
//! in list order.
//!
//! The storage is Workers KV: values of at most 25 MiB, which can only be read as a whole; eventual
//! consistency; no transactions over several keys. The format follows from these limits.
//!
//! # Segments
//!
//! A value is a *segment*, named by a hash of its content ([`stored::SegmentId`]). A segment never
//! changes, so cached copies never need invalidation. Publishing writes the new segments, then one
//! small record, `current` ([`current`]), which refers to all segments. This single write switches
//! readers from the old version to the new one; they never see a mixture. An entity tag consists of
//! the id of a list and the query, so it is known before any row is read.
//!
//! Only `current` can be stale: by up to 30 seconds in an isolate, and up to 60 seconds in KV's
//! cache. `catalog prune` therefore preserves old segments for longer than that.
//!
//! # What a request reads
//!
//! A cold request reads `current`, then at most two levels of segments, which `current` locates:
//!
//! - A hash of its name assigns a platform to a *pack* ([`pack`]). A pack contains the rows and
//!   details of about twenty platforms, and their action lists if these are small. The number of
//!   packs is constant, so that a changed platform changes only one pack.
//! - A small list ([`list`]) is one segment. A large list is split into *parts* by role: groups of
//!   rows in list order, the columns that filters scan, a copy of the rows by key, and a search
//!   index. A query reads only the parts that it needs: one or two for a page without a filter,
//!   exactly one for a lookup by key.
//! - The actions of all platforms form one more list, with the index of [`action_search`](crate::catalog::action_search).
//!
//! # Integrity
//!
//! Values in KV may be damaged: truncated by an interrupted upload, or replaced by an older value
//! of the same key. Every reference contains a length and a CRC-32, and segments are divided into
//! blocks with their own checksums ([`section`]), which are verified on first use. So a chain of
//! checksums leads from `current` to each byte that is served, and a request that detects damage
//! fails with a 503. The checksums detect accidents; they do not protect against an attacker who
//! can write to the storage.
//!
//! # Encoding
//!
//! Numbers are little-endian and have 32 bits; strings are in tables with offsets ([`layout`]).
//! Both can be read in place, at any index, without allocation. JSON would have to be parsed as a
//! whole, and a library such as Protocol Buffers would add more code to the Worker than this
//! module. Blocks of which a request reads only a few rows are packed with LZ4; details of actions
//! are deflated, since a request needs only one of them.
//!
//! `current` contains the number of the format ([`stored::FORMAT`]), which changes with every
//! incompatible change. A service rejects a catalog in another format, with the advice to import
//! and publish it again. No migration is needed, because a catalog is always derived from
//! documents.

pub mod current;
pub mod layout;
pub mod list;
mod list_ref;
pub mod pack;
pub mod section;
pub mod stored;
