//! Signatures that only the service can make.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The HMAC-SHA-256 of all pieces, one after another.
#[must_use]
#[inline(never)]
pub fn mac(secret: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    // A secret of any length will do: there is no error to meet.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return [0; 32] };
    for piece in pieces {
        mac.update(piece);
    }
    mac.finalize().into_bytes().into()
}

/// Whether two texts are the same. How long that takes tells nothing of where they differ.
#[must_use]
pub fn is_same(a: &str, b: &str) -> bool {
    let pairs = a.bytes().zip(b.bytes());
    let differences = pairs.fold(0, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
    a.len() == b.len() && differences == 0
}
