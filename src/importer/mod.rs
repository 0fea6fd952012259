//! `OpenAPI` documents → a catalog folder.
