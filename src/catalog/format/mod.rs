//! The stored format of the catalog.
//!
//! # Purpose
//!
//! The catalog has about 2,800 platforms and 123,000 actions: more than an isolate may hold in memory, and far more than
//! a request may read. It changes only when the operator publishes, but is read by every request.
//! So the importer does all work that can be done in advance, and a request copies bytes. Nothing is parsed that is not
//! shown: a page of a list is a slice of stored JSON, rendered once by the importer, in list order.
//!
//! The storage is Workers KV: values of at most 25 MiB, read whole, eventually consistent, without transactions over
//! several keys. This decides most of what follows.
//!
//! # Segments
//!
//! A value is a *segment*, named by a hash of its content ([`stored::SegmentId`]). A segment never changes, so a copy
//! in any cache stays valid forever, and nothing is ever invalidated. Publishing writes the segments that are not there yet,
//! then one small record, `current` ([`current`]), which names everything else. Readers switch with that one write: they
//! see the old version or the new one, never a mixture. An entity tag is the id of a list together with the query, and
//! costs nothing to compute.
//!
//! Only `current` can be stale: it may be up to 30 seconds old in an isolate, and up to 60 in KV's own cache. Old
//! segments must stay that long, which `catalog prune` ensures.
//!
//! # What a request reads
//!
//! A cold request reads `current`, then at most two levels of segments, whose locations it knows from there:
//!
//! - A platform is in a *pack* ([`pack`]), found by a hash of its name. A pack has the rows and details of about twenty
//!   platforms, and their action lists if these are small. The number of packs is constant, so that a platform that
//!   changes in an import changes one pack only.
//! - A list ([`list`]) is one segment if it is small. A large one is split into *parts* by role: groups of rows in list
//!   order, the columns that filters scan, a copy of the rows by key, and a search index. A query reads the parts that it
//!   needs: a page without a filter one or two of them, a lookup by key exactly one.
//! - The actions of all platforms form one more list, with the index of [`action_search`](crate::catalog::action_search).
//!
//! # Integrity
//!
//! KV is trusted to be available, not to be correct: a value may be cut short by an interrupted upload, or be an older one
//! under the same key. Every reference contains a length and a CRC-32, and segments are divided into blocks with
//! checksums of their own ([`section`]), which are verified when they are first used. So a chain of checksums leads from
//! `current` to each byte that is served, and a request that finds damage fails with a 503 instead of showing it. The
//! checksums detect accidents; they do not protect against an attacker who can write to the storage.
//!
//! # Encoding
//!
//! Numbers are little-endian and have 32 bits; strings are tables with offsets ([`layout`]). Both can be read in place, at
//! any index, without allocation. JSON would have to be parsed as a whole, and a general format such as Protocol Buffers
//! would add more code to the Worker than this module has. Blocks that are read a few rows at a time are packed with LZ4,
//! and details of actions are deflated, since a request needs one of them.
//!
//! The number of the format ([`stored::FORMAT`]) is in `current`. It changes with every incompatible change, and a service
//! refuses a catalog of another format, with the advice to import and publish it again: a catalog is always derived from
//! documents, so there is nothing to migrate.

pub mod current;
pub mod layout;
pub mod list;
mod list_ref;
pub mod pack;
pub mod section;
pub mod stored;
