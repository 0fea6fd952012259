//! Cursors: signed positions in a list, where the next page continues. They are opaque to clients,
//! and valid for one list of one API key.

use crate::auth::key::KeyHash;
use crate::auth::mac::{mac, verify};

/// The length of a cursor in hexadecimal digits: 8 for the page, 12 for the time, 32 for the id, 32 for the signature.
const DIGITS: usize = 84;
const PAGE_DIGITS: usize = 8;
const TIME_DIGITS: usize = 12;
const SIGNED_DIGITS: usize = 52;

/// The position after a connection in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The number of the page.
    pub page: u64,
    /// The creation time of the connection before the position, in milliseconds since 1970-01-01 UTC.
    pub created_at: u64,
    /// The id of the connection before the position.
    pub id: String,
}

/// The error for a string that is not a cursor of this list and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidCursorError;

impl Cursor {
    /// Serializes and signs the cursor for `list`.
    ///
    /// The secret of the signature is the hash of the API key, so no setup is needed. For a token,
    /// it is derived from the secret that signs tokens.
    pub fn sign(&self, key: &KeyHash, list: &str) -> String {
        let id = self.id.replace('-', "");
        let mut text = format!("{:08x}{:012x}{id}", self.page, self.created_at);
        let signature = signature(key, list, &text);
        text.push_str(&signature);
        text
    }

    /// Whether a string has the form of a cursor. [`Self::verify`] checks the signature.
    pub fn is_well_formed(text: &str) -> bool {
        let lower_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        text.len() == DIGITS && text.bytes().all(lower_hex)
    }

    /// Parses a cursor, and verifies that it was signed for this list with this key.
    pub fn verify(text: &str, key: &KeyHash, list: &str) -> Result<Self, InvalidCursorError> {
        if !Self::is_well_formed(text) {
            return Err(InvalidCursorError);
        }
        let (signed, signature) = text.split_at_checked(SIGNED_DIGITS).ok_or(InvalidCursorError)?;
        let signature = u128::from_str_radix(signature, 16).map_err(|_| InvalidCursorError)?;
        if !verify(&key.0, &[signed.as_bytes(), list.as_bytes()], &signature.to_be_bytes()) {
            return Err(InvalidCursorError);
        }
        let (page, rest) = signed.split_at_checked(PAGE_DIGITS).ok_or(InvalidCursorError)?;
        let (time, id) = rest.split_at_checked(TIME_DIGITS).ok_or(InvalidCursorError)?;
        let number = |digits| u64::from_str_radix(digits, 16).map_err(|_| InvalidCursorError);
        let id = uuid::Uuid::try_parse(id).map_err(|_| InvalidCursorError)?;
        Ok(Self { page: number(page)?, created_at: number(time)?, id: id.to_string() })
    }
}

/// The signature: the first half of an HMAC-SHA-256, in hexadecimal.
fn signature(key: &KeyHash, list: &str, signed: &str) -> String {
    let mac_bytes = mac(&key.0, &[signed.as_bytes(), list.as_bytes()]);
    let half = mac_bytes.first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: KeyHash = KeyHash([7; 32]);

    fn cursor() -> Cursor {
        Cursor {
            page: 50_000,
            created_at: 1_800_000_000_123,
            id: "0b9af7c6-7a0b-4f60-a3ad-60a2a9b5b3a1".into(),
        }
    }

    #[test]
    fn a_cursor_round_trips() {
        let text = cursor().sign(&KEY, "platform=github");
        assert_eq!(text.len(), DIGITS);
        assert_eq!(Cursor::verify(&text, &KEY, "platform=github"), Ok(cursor()));
    }

    #[test]
    fn an_altered_cursor_is_rejected() {
        let text = cursor().sign(&KEY, "");
        for at in 0..text.len() {
            for replacement in ["", "0", "f", "F", "g", "é", "00"] {
                let mut altered = text.clone();
                altered.replace_range(at..=at, replacement);
                if altered != text {
                    assert_eq!(Cursor::verify(&altered, &KEY, ""), Err(InvalidCursorError));
                }
            }
        }
    }

    #[test]
    fn a_cursor_is_valid_for_one_list_and_key() {
        let text = cursor().sign(&KEY, "a");
        assert_eq!(Cursor::verify(&text, &KEY, "b"), Err(InvalidCursorError));
        assert_eq!(Cursor::verify(&text, &KeyHash([8; 32]), "a"), Err(InvalidCursorError));
    }
}
