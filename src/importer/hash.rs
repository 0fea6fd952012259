//! Hashes that are stable across versions of this program.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// The first 53 bits of a SHA-256, a number that every JSON parser represents exactly.
pub fn number(bytes: &[u8]) -> u64 {
    let first = Sha256::digest(bytes)
        .into_iter()
        .take(8)
        .fold(0_u64, |number, byte| number.wrapping_shl(8) | u64::from(byte));
    first.wrapping_shr(11)
}

/// The first six hexadecimal digits of a SHA-256, enough to distinguish the few colliding names.
pub fn short(bytes: &[u8]) -> String {
    format!("{:06x}", number(bytes) & 0xff_ffff)
}

/// A SHA-256, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
