//! Shards: each account is stored in exactly one of several databases. Every secret contains the
//! number of its database, so requests are routed without a directory.
//!
//! Secrets of the first shard contain no shard digits; all others contain two. The digits need no
//! verification: in any other database, the secret is unknown.

/// Base62 digits in ascending order of value.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The number of shard digits in a secret: 62² = 3,844 databases.
pub const DIGITS: usize = 2;
/// The maximum number of shards.
const COUNT: u16 = 62 * 62;
/// The binding of the first database. The names of the others end with their number, such as
/// `VAULT_7`.
const BINDING: &str = "VAULT";
/// The number of characters in a random secret (see [`Random::secret`](crate::ports::Random::secret)).
const SECRET_LEN: usize = 43;

/// The number of a database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard(u16);

/// The base62 digit of a value below 62.
pub(super) fn digit(value: u32) -> char {
    let at = value.checked_rem(62).unwrap_or(0) as usize;
    ALPHABET.get(at).map_or('0', |byte| char::from(*byte))
}

impl Shard {
    pub const FIRST: Self = Self(0);

    /// Returns `None` if the number does not fit into two base62 digits.
    pub const fn new(number: u16) -> Option<Self> {
        if number < COUNT { Some(Self(number)) } else { None }
    }

    pub const fn number(self) -> u16 {
        self.0
    }

    /// The name of the database's binding.
    pub fn binding(self) -> String {
        if self == Self::FIRST { BINDING.to_owned() } else { format!("{BINDING}_{}", self.0) }
    }

    pub fn from_binding(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(BINDING)?;
        if rest.is_empty() {
            return Some(Self::FIRST);
        }
        let shard = Self::new(rest.strip_prefix('_')?.parse().ok()?)?;
        // Rejects `VAULT_0` and `VAULT_07`, so that each shard has exactly one name.
        (shard.binding() == name).then_some(shard)
    }

    /// The shard's digits. Empty for the first shard.
    pub fn digits(self) -> String {
        if self == Self::FIRST {
            return String::new();
        }
        let value = u32::from(self.0);
        [value.checked_div(62).unwrap_or(0), value].into_iter().map(digit).collect()
    }

    /// Parses two digits. Returns `None` for `00`, because the first shard has no digits.
    pub fn from_digits(text: &str) -> Option<Self> {
        let value = |byte: &u8| ALPHABET.iter().position(|known| known == byte);
        let [high, low] = text.as_bytes() else { return None };
        let number = value(high)?.checked_mul(62)?.checked_add(value(low)?)?;
        Self::new(u16::try_from(number).ok()?).filter(|shard| *shard != Self::FIRST)
    }

    /// Prefixes a secret or a queue message with the shard's digits.
    pub fn mark(self, text: String) -> String {
        if self == Self::FIRST { text } else { self.digits() + &text }
    }

    /// The shard of a random secret with the prefix from [`Self::mark`]. Does not verify the
    /// secret.
    pub fn from_secret(secret: &str) -> Self {
        let digits = secret.len().checked_sub(SECRET_LEN).and_then(|end| secret.get(..end));
        digits.and_then(Self::from_digits).unwrap_or_default()
    }

    /// Splits a queue message into its shard and its JSON object.
    pub fn from_message(message: &str) -> (Self, &str) {
        let marked = message.split_at_checked(DIGITS);
        let read = marked.and_then(|(digits, rest)| Some((Self::from_digits(digits)?, rest)));
        read.unwrap_or((Self::FIRST, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shard_has_its_own_digits_and_binding() {
        let all: Vec<Shard> = (0..COUNT).map(|number| Shard::new(number).unwrap()).collect();
        assert_eq!(Shard::new(COUNT), None);
        for (number, shard) in all.iter().enumerate() {
            assert_eq!(usize::from(shard.number()), number);
            assert_eq!(Shard::from_binding(&shard.binding()), Some(*shard));
            if *shard != Shard::FIRST {
                assert_eq!(Shard::from_digits(&shard.digits()), Some(*shard));
            }
        }
        let digits = |number| Shard::new(number).unwrap().digits();
        assert_eq!(
            [digits(0), digits(1), digits(61), digits(62), digits(3843)],
            ["", "01", "0z", "10", "zz"]
        );
        assert_eq!((all[0].binding().as_str(), all[12].binding().as_str()), ("VAULT", "VAULT_12"));
    }

    #[test]
    fn rejects_malformed_digits_and_bindings() {
        for text in ["", "0", "00", "000", "0-", "é", " 1", "001"] {
            assert_eq!(Shard::from_digits(text), None, "{text}");
        }
        for name in ["vault", "VAULT_", "VAULT_0", "VAULT_07", "VAULT_3844", "VAULT_+1", "VAULT1"] {
            assert_eq!(Shard::from_binding(name), None, "{name}");
        }
    }

    #[test]
    fn parses_shard_of_secrets_and_messages() {
        let secret = "x".repeat(SECRET_LEN);
        for shard in [Shard(0), Shard(1), Shard(3843)] {
            let marked = shard.mark(secret.clone());
            assert_eq!(Shard::from_secret(&marked), shard);
            assert_eq!(marked.len() == SECRET_LEN, shard == Shard::FIRST);
            let message = shard.mark("{\"deliver\":[]}".into());
            assert_eq!(Shard::from_message(&message), (shard, "{\"deliver\":[]}"));
        }
        for other in ["", "0", "01", "0é", &"é".repeat(30), &"1".repeat(44), &"1".repeat(46)] {
            assert_eq!(Shard::from_secret(other), Shard::FIRST, "{other}");
        }
        for other in ["", "{", "{}", "é", "00{}"] {
            assert_eq!(Shard::from_message(other), (Shard::FIRST, other));
        }
    }
}
