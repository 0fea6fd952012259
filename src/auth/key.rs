//! API keys: `sk_test_` or `sk_live_`, 32 random base62 characters, and a checksum: the CRC-32 of
//! everything before it in 6 base62 characters. The checksum rejects mistyped keys without a query.
//! Except in the first shard, two shard digits precede the random characters.

use std::fmt;

use sha2::{Digest, Sha256};

use super::shard::{DIGITS, Shard, digit};
use crate::terms::Environment;

/// The number of random characters in a key: 190 bits.
const RANDOM_LEN: usize = 32;
/// The number of characters in the checksum. 62^6 > 2^32.
const CHECKSUM_LEN: usize = 6;
/// The number of characters after the prefix.
const LEN_WITHOUT_SHARD: usize = RANDOM_LEN + CHECKSUM_LEN;
/// The number of characters after the prefix, including shard digits.
const LEN_WITH_SHARD: usize = DIGITS + LEN_WITHOUT_SHARD;

/// A well-formed API key. `Debug` prints only its environment.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    text: String,
    environment: Environment,
    shard: Shard,
    hash: KeyHash,
}

/// The SHA-256 of a key. Only this hash is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

/// The error if the format or the checksum of a key is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedKeyError;

impl ApiKey {
    /// Generates a key. `fill` must fill its argument with cryptographically secure random bytes.
    pub fn generate(
        environment: Environment,
        shard: Shard,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Self {
        let mut text = String::from(prefix(environment));
        text.push_str(&shard.digits());
        let end = text.len().saturating_add(RANDOM_LEN);
        while text.len() < end {
            let mut bytes = [0; RANDOM_LEN];
            fill(&mut bytes);
            // 248 is the largest multiple of 62 that fits into a byte. Using larger values would
            // make some characters more likely.
            let digits =
                bytes.iter().filter(|byte| **byte < 248).map(|byte| digit(u32::from(*byte)));
            for character in digits {
                if text.len() < end {
                    text.push(character);
                }
            }
        }
        let checksum = checksum(&text);
        text.push_str(&checksum);
        Self::new(text, environment, shard)
    }

    /// Checks the format and the checksum. Does not query storage.
    pub fn parse(text: &str) -> Result<Self, MalformedKeyError> {
        check(text).map(|(environment, shard)| Self::new(text.to_owned(), environment, shard))
    }

    pub const fn environment(&self) -> Environment {
        self.environment
    }

    pub const fn shard(&self) -> Shard {
        self.shard
    }

    fn new(text: String, environment: Environment, shard: Shard) -> Self {
        let hash = KeyHash(Sha256::digest(text.as_bytes()).into());
        Self { text, environment, shard, hash }
    }

    pub const fn hash(&self) -> KeyHash {
        self.hash
    }

    /// The key in plain text. The API returns it only once, when it is created.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

/// The SHA-256 of a secret in hexadecimal, as it is stored.
pub fn hash(secret: &str) -> String {
    KeyHash(Sha256::digest(secret.as_bytes()).into()).to_string()
}

/// Splits off the prefix of a key. Returns the environment and the remaining characters.
fn split(text: &str) -> Option<(Environment, &str)> {
    let mut all = Environment::ALL.into_iter();
    all.find_map(|environment| Some((environment, text.strip_prefix(prefix(environment))?)))
}

/// The shard digits of a key, if it has any. Does not verify the key.
pub(super) fn shard_digits(text: &str) -> Option<&str> {
    let (_, rest) = split(text)?;
    rest.get(..DIGITS).filter(|_| rest.len() == LEN_WITH_SHARD)
}

/// Checks the format and the checksum of a key. Returns its environment and shard.
pub fn check(text: &str) -> Result<(Environment, Shard), MalformedKeyError> {
    let (environment, rest) = split(text).ok_or(MalformedKeyError)?;
    let shard = match shard_digits(text) {
        Some(digits) => Shard::from_digits(digits).ok_or(MalformedKeyError)?,
        None if rest.len() == LEN_WITHOUT_SHARD => Shard::FIRST,
        None => return Err(MalformedKeyError),
    };
    let (body, stated_checksum) = text
        .len()
        .checked_sub(CHECKSUM_LEN)
        .and_then(|at| text.split_at_checked(at))
        .ok_or(MalformedKeyError)?;
    if !rest.bytes().all(|b| b.is_ascii_alphanumeric()) || checksum(body) != stated_checksum {
        return Err(MalformedKeyError);
    }
    Ok((environment, shard))
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}…)", prefix(self.environment))
    }
}

impl fmt::Display for KeyHash {
    /// 64 lower-case hexadecimal digits, as in the `hash` column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each request formats a hash for its rate limit, and a formatter call per byte is
        // measurably slower.
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        let digits = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        f.write_str(&digits.collect::<String>())
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

const fn prefix(environment: Environment) -> &'static str {
    match environment {
        Environment::Test => "sk_test_",
        Environment::Live => "sk_live_",
    }
}

fn checksum(body: &str) -> String {
    let mut remaining = crate::util::crc32::crc32_without_tables(body.as_bytes());
    let mut digits = ['0'; CHECKSUM_LEN];
    for slot in digits.iter_mut().rev() {
        *slot = digit(remaining);
        remaining = remaining.checked_div(62).unwrap_or(0);
    }
    digits.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting() -> impl FnMut(&mut [u8]) {
        let mut next = 200_u8;
        move |bytes| {
            for byte in bytes {
                *byte = next;
                next = next.wrapping_add(7);
            }
        }
    }

    /// The first, the second and the last shard.
    fn shards() -> [Shard; 3] {
        [0, 1, 62 * 62 - 1].map(|number| Shard::new(number).unwrap())
    }

    #[test]
    fn a_generated_key_parses() {
        for (environment, prefix) in
            [(Environment::Test, "sk_test_"), (Environment::Live, "sk_live_")]
        {
            for (shard, digits) in shards().into_iter().zip(["", "01", "zz"]) {
                let key = ApiKey::generate(environment, shard, counting());
                assert!(key.reveal().starts_with(&format!("{prefix}{digits}")));
                assert_eq!(key.reveal().len(), 8 + digits.len() + 32 + 6);
                assert_eq!(ApiKey::parse(key.reveal()).as_ref(), Ok(&key));
                assert_eq!((key.environment(), key.shard()), (environment, shard));
                assert_eq!(shard_digits(key.reveal()).unwrap_or_default(), digits);
            }
        }
    }

    #[test]
    fn keys_of_the_first_shard_have_no_digits() {
        let parse = |digits: &str| {
            let body = format!("sk_live_{digits}{}", "x".repeat(RANDOM_LEN));
            ApiKey::parse(&format!("{body}{}", checksum(&body)))
        };
        assert_eq!(parse("").unwrap().shard(), Shard::FIRST);
        assert_eq!(parse("01").unwrap().shard().number(), 1);
        for digits in ["00", "0", "001", "0-"] {
            assert_eq!(parse(digits), Err(MalformedKeyError), "{digits}");
        }
    }

    #[test]
    fn every_digit_is_equally_likely() {
        let mut bytes = [248, 0, 255, 247].into_iter().cycle();
        let fill = |filled: &mut [u8]| filled.fill_with(|| bytes.next().unwrap_or_default());
        let key = ApiKey::generate(Environment::Test, Shard::FIRST, fill);
        assert!(key.reveal().starts_with(&format!("sk_test_{}", "0z".repeat(16))));
    }

    #[test]
    fn rejects_invalid_characters_despite_a_valid_checksum() {
        for letter in ["_", "-", " ", "\n", "\u{0}"] {
            let body = format!("sk_live_{letter}{}", "x".repeat(RANDOM_LEN - 1));
            let key = format!("{body}{}", checksum(&body));
            assert_eq!(ApiKey::parse(&key), Err(MalformedKeyError), "{key:?}");
        }
    }

    #[test]
    fn the_checksum_is_base62_of_crc_32() {
        // CRC-32 of "123456789" is 0xCBF43926 = 3421780262 = 3·62^5 + 45·62^4 + 35·62^3 + 27·62^2 + 22·62^1 + 14.
        assert_eq!(checksum("123456789"), "3jZRME");
    }

    #[test]
    fn rejects_a_key_with_an_altered_character() {
        for key in shards().map(|shard| ApiKey::generate(Environment::Test, shard, counting())) {
            for at in 0..key.reveal().len() {
                for replacement in ["", "0", "Z", "_", "é", " ", "00", "000"] {
                    let mut altered = key.reveal().to_owned();
                    altered.replace_range(at..=at, replacement);
                    if altered != key.reveal() {
                        assert_eq!(ApiKey::parse(&altered), Err(MalformedKeyError), "{altered}");
                    }
                }
            }
        }
    }

    #[test]
    fn debug_output_hides_the_key() {
        let key = ApiKey::generate(Environment::Live, Shard::FIRST, counting());
        assert_eq!(format!("{key:?} {:?}", key.hash()), "ApiKey(sk_live_…) KeyHash(…)");
    }
}
