//! Shards: an account lives whole in one of several databases, and each secret says in which one. So a request finds its
//! database without asking a directory first.
//!
//! The first database's secrets are as if there were no others; those of the rest have two digits more. What the digits
//! say is not verified where it is read: in the wrong database, the secret is not known.

/// Base62 digits in ascending order of value.
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The digits that say a shard: 62² = 3,844 databases.
pub const DIGITS: usize = 2;
/// How many shards there can be.
const COUNT: u16 = 62 * 62;
/// The binding of the first database; those of the others have their number after it, as `VAULT_7`.
const BINDING: &str = "VAULT";
/// Characters of a random secret (see [`Random::secret`](crate::ports::Random::secret)).
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
    /// The first database.
    pub const FIRST: Self = Self(0);

    /// The shard of this number. Returns `None` when no secret can say it.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number < COUNT { Some(Self(number)) } else { None }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The name of its database's binding.
    #[must_use]
    pub fn binding(self) -> String {
        if self == Self::FIRST { BINDING.to_owned() } else { format!("{BINDING}_{}", self.0) }
    }

    /// The shard whose database has this binding. Returns `None` for the name of another binding.
    #[must_use]
    pub fn of_binding(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(BINDING)?;
        if rest.is_empty() {
            return Some(Self::FIRST);
        }
        let shard = Self::new(rest.strip_prefix('_')?.parse().ok()?)?;
        // Neither `VAULT_0` nor `VAULT_07`: each has one name.
        (shard.binding() == name).then_some(shard)
    }

    /// The digits that say it; none for the first.
    #[must_use]
    pub fn digits(self) -> String {
        if self == Self::FIRST {
            return String::new();
        }
        let value = u32::from(self.0);
        [value.checked_div(62).unwrap_or(0), value].into_iter().map(digit).collect()
    }

    /// The shard that two digits say. Returns `None` for the first, which is said by no digits.
    #[must_use]
    pub fn of_digits(text: &str) -> Option<Self> {
        let value = |byte: &u8| ALPHABET.iter().position(|known| known == byte);
        let [high, low] = text.as_bytes() else { return None };
        let number = value(high)?.checked_mul(62)?.checked_add(value(low)?)?;
        Self::new(u16::try_from(number).ok()?).filter(|shard| *shard != Self::FIRST)
    }

    /// A text with the shard's digits before it. The text of the first is as it was.
    #[must_use]
    pub fn mark(self, text: String) -> String {
        if self == Self::FIRST { text } else { self.digits() + &text }
    }

    /// The shard of a random secret that [`Self::mark`] marked, whether or not it is a good one.
    #[must_use]
    pub fn of_secret(secret: &str) -> Self {
        let digits = secret.len().checked_sub(SECRET_LEN).and_then(|more| secret.get(..more));
        digits.and_then(Self::of_digits).unwrap_or_default()
    }

    /// The shard of a message that [`Self::mark`] marked, and the message without its mark. A message is a JSON object.
    #[must_use]
    pub fn of_message(message: &str) -> (Self, &str) {
        let marked = message.split_at_checked(DIGITS);
        let read = marked.and_then(|(digits, rest)| Some((Self::of_digits(digits)?, rest)));
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
            assert_eq!(Shard::of_binding(&shard.binding()), Some(*shard));
            if *shard != Shard::FIRST {
                assert_eq!(Shard::of_digits(&shard.digits()), Some(*shard));
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
    fn what_says_no_shard_is_not_read_as_one() {
        for text in ["", "0", "00", "000", "0-", "é", " 1", "001"] {
            assert_eq!(Shard::of_digits(text), None, "{text}");
        }
        for name in ["vault", "VAULT_", "VAULT_0", "VAULT_07", "VAULT_3844", "VAULT_+1", "VAULT1"] {
            assert_eq!(Shard::of_binding(name), None, "{name}");
        }
    }

    #[test]
    fn marks_are_read_where_they_were_put() {
        let secret = "x".repeat(SECRET_LEN);
        for shard in [Shard(0), Shard(1), Shard(3843)] {
            let marked = shard.mark(secret.clone());
            assert_eq!(Shard::of_secret(&marked), shard);
            assert_eq!(marked.len() == SECRET_LEN, shard == Shard::FIRST);
            let message = shard.mark("{\"deliver\":[]}".into());
            assert_eq!(Shard::of_message(&message), (shard, "{\"deliver\":[]}"));
        }
        for other in ["", "0", "01", "0é", &"é".repeat(30), &"1".repeat(44), &"1".repeat(46)] {
            assert_eq!(Shard::of_secret(other), Shard::FIRST, "{other}");
        }
        for other in ["", "{", "{}", "é", "00{}"] {
            assert_eq!(Shard::of_message(other), (Shard::FIRST, other));
        }
    }
}
