//! Base64 for addresses and headers, without padding (RFC 4648, part 5).

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The bytes as a text.
#[must_use]
#[inline(never)]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    let (mut bits, mut left) = (0_u32, 0_u32);
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        left = left.saturating_add(8);
        while left >= 6 {
            left = left.saturating_sub(6);
            push(&mut text, bits.wrapping_shr(left));
        }
    }
    if left > 0 {
        push(&mut text, bits << (6_u32.saturating_sub(left) & 7));
    }
    text
}

fn push(text: &mut String, digit: u32) {
    let letter = LETTERS.get((digit & 63) as usize).copied();
    text.push(char::from(letter.unwrap_or_default()));
}

/// The bytes that a text stands for; none when it holds anything else. What its last letter has too much is not looked
/// at: who needs one text for the same bytes has it signed.
#[must_use]
#[inline(never)]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut left) = (0_u32, 0_u32);
    for letter in text.bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter.wrapping_sub(65),
            b'a'..=b'z' => letter.wrapping_sub(71),
            b'0'..=b'9' => letter.wrapping_add(4),
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(digit);
        left = left.saturating_add(6);
        if left >= 8 {
            left = left.saturating_sub(8);
            let [.., byte] = bits.wrapping_shr(left).to_be_bytes();
            bytes.push(byte);
        }
    }
    // One letter alone is no byte.
    (left < 6).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn texts_are_those_of_the_rfc_and_come_back() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg"),
            ("fo", "Zm8"),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg"),
            ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(encode(&[0xfb, 0xef, 0xff]), "--__");
        for text in ["A", "Zm9vY", "Zg==", "Zm+v", "Zm/v", "Zm v", "Zmé"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
