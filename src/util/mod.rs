//! Utilities that do not depend on the service.

pub mod case_fold;
pub mod collect;
pub mod crc32;
pub mod invisible;
pub mod json;
pub mod media_type;
pub mod name_set;
pub mod nearest;
pub mod nfc;
pub mod patterns;
pub mod percent;
pub mod rfc3339;
pub mod sort;
