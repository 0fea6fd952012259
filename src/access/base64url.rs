//! Base64 for addresses and headers, without padding (RFC 4648, part 5).

/// The bytes as a text.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3).saturating_mul(4));
    for chunk in bytes.chunks(3) {
        let word = [0, 1, 2].map(|at| chunk.get(at).copied().map_or(0, u32::from));
        let [high, middle, low] = word;
        let word = (high << 16) | (middle << 8) | low;
        let digits = [word >> 18, word >> 12, word >> 6, word].map(|digit| letter(digit & 63));
        text.extend(digits.into_iter().take(chunk.len().saturating_add(1)));
    }
    text
}

/// The bytes that a text stands for; none when it holds anything else. What its last letter has too much is not looked
/// at: who needs one text for the same bytes has it signed.
#[must_use]
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    for chunk in text.as_bytes().chunks(4) {
        let mut word = 0_u32;
        for at in 0..4 {
            word = (word << 6) | chunk.get(at).map_or(Some(0), |letter| value(*letter))?;
        }
        let [_, high, middle, low] = word.to_be_bytes();
        // One letter alone is no byte.
        let more = chunk.len().checked_sub(2)?.saturating_add(1);
        bytes.extend([high, middle, low].into_iter().take(more));
    }
    Some(bytes)
}

fn letter(digit: u32) -> char {
    let ascii = match digit {
        0..26 => digit.saturating_add(65),
        26..52 => digit.saturating_add(71),
        52..62 => digit.saturating_sub(4),
        62 => 45,
        _ => 95,
    };
    char::from_u32(ascii).unwrap_or('_')
}

fn value(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter.saturating_sub(65),
        b'a'..=b'z' => letter.saturating_sub(71),
        b'0'..=b'9' => letter.saturating_add(4),
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
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
