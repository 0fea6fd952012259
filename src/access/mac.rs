//! Signatures that only the service can make: HMAC-SHA-256.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

fn signed(secret: &[u8], pieces: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // A secret of any length will do: there is no error to meet.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    for piece in pieces {
        mac.update(piece);
    }
    Some(mac)
}

/// The signature of all pieces, one after another.
#[must_use]
pub fn mac(secret: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    signed(secret, pieces).map_or([0; 32], |mac| mac.finalize().into_bytes().into())
}

/// Whether `signature` is that of all pieces, or its first 16 bytes or more. How long this takes depends on nothing
/// secret.
#[must_use]
pub fn verify(secret: &[u8], pieces: &[&[u8]], signature: &[u8]) -> bool {
    signature.len() >= 16
        && signed(secret, pieces).is_some_and(|mac| mac.verify_truncated_left(signature).is_ok())
}
