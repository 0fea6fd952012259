//! HMAC-SHA-256 signatures.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

fn new_hmac(secret: &[u8], pieces: &[&[u8]]) -> Option<Hmac<Sha256>> {
    // HMAC accepts keys of any length, so this never fails.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    for piece in pieces {
        mac.update(piece);
    }
    Some(mac)
}

/// Computes the HMAC of the concatenated pieces.
pub fn mac(secret: &[u8], pieces: &[&[u8]]) -> [u8; 32] {
    new_hmac(secret, pieces).map_or([0; 32], |mac| mac.finalize().into_bytes().into())
}

/// Verifies an HMAC, or a prefix of one with at least 16 bytes, in constant time.
pub fn verify(secret: &[u8], pieces: &[&[u8]], signature: &[u8]) -> bool {
    signature.len() >= 16
        && new_hmac(secret, pieces).is_some_and(|mac| mac.verify_truncated_left(signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{mac, verify};

    #[test]
    fn truncated_signatures_need_16_bytes() {
        let pieces: [&[u8]; 2] = [b"a", b"bc"];
        let signature = mac(b"secret", &pieces);
        assert_eq!(signature, mac(b"secret", &[b"ab", b"c"]));
        for length in [16, 17, 31, 32] {
            assert!(verify(b"secret", &pieces, &signature[..length]), "{length}");
            assert!(!verify(b"other", &pieces, &signature[..length]), "{length}");
        }
        for length in [0, 1, 15] {
            assert!(!verify(b"secret", &pieces, &signature[..length]), "{length}");
        }
        assert!(!verify(b"secret", &pieces, &[&signature[..], b"x"].concat()));
    }
}
