//! Signs deliveries according to Standard Webhooks, with symmetric secrets.

use std::fmt;

use base64ct::{Base64, Encoding as _};
use serde::{Deserialize, Serialize};

use crate::auth::mac::mac;
use crate::credentials::{Kind, OpenError, SealContext, SealError, Sealed, VaultKeys};
use crate::ports::Random;
use crate::terms::Environment;
use crate::util::json;

/// How long a replaced secret still signs, in milliseconds: 24 hours.
pub const OVERLAP_MS: u64 = 24 * 60 * 60 * 1000;

/// How long a repeated rotation returns the secret of the first one, in milliseconds: a double
/// click or a retry must not end the secret that receivers still use.
const REPEAT_MS: u64 = 60 * 1000;

const PREFIX: &str = "whsec_";

/// The signing secrets of a webhook. `Debug` prints none of them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secrets {
    /// `whsec_` followed by 32 random bytes in base64.
    pub current: String,
    /// The previous secret, and the time until which it also signs, in milliseconds since
    /// 1970-01-01 UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous: Option<(String, u64)>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(…)")
    }
}

/// The encryption context of a webhook's secrets.
pub const fn seal_context<'a>(
    account: &'a str,
    environment: Environment,
    id: &'a str,
) -> SealContext<'a> {
    SealContext { account, environment, kind: Kind::Webhook, id }
}

impl Secrets {
    /// Generates a new secret.
    pub fn new(random: &impl Random) -> Self {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        Self { current: format!("{PREFIX}{}", Base64::encode_string(&bytes)), previous: None }
    }

    /// Whether the secret was replaced less than a minute ago.
    pub fn was_just_rotated(&self, now: u64) -> bool {
        let until = now.saturating_add(OVERLAP_MS).saturating_sub(REPEAT_MS);
        self.previous.as_ref().is_some_and(|(_, valid_until)| *valid_until > until)
    }

    /// Replaces the secret. The old secret also signs for another 24 hours.
    pub fn rotated(self, now: u64, random: &impl Random) -> Self {
        let previous = Some((self.current, now.saturating_add(OVERLAP_MS)));
        Self { previous, ..Self::new(random) }
    }

    pub fn seal(
        &self,
        keys: &VaultKeys,
        seal_context: &SealContext<'_>,
        random: &impl Random,
    ) -> Result<Sealed, SealError> {
        keys.seal(seal_context, &json::bytes(self), random)
    }

    pub fn open(
        keys: &VaultKeys,
        seal_context: &SealContext<'_>,
        sealed: &str,
    ) -> Result<Self, OpenError> {
        let plain = keys.open(seal_context, &Sealed::from(sealed.to_owned()))?;
        json::from_bytes(&plain).map_err(|_| OpenError::Damaged)
    }

    /// The value of the header `webhook-signature`: a signature with each valid secret. `seconds`
    /// is the value of `webhook-timestamp`, in seconds since 1970-01-01 UTC.
    pub fn sign(&self, id: &str, seconds: u64, body: &[u8], now: u64) -> String {
        let previous = self.previous.as_ref().filter(|(_, until)| now < *until);
        let valid = [Some(&self.current), previous.map(|(secret, _)| secret)];
        let signed = valid.into_iter().flatten().map(|secret| {
            let key = secret.strip_prefix(PREFIX).and_then(|text| Base64::decode_vec(text).ok());
            let head = format!("{id}.{seconds}.");
            let signature = mac(&key.unwrap_or_default(), &[head.as_bytes(), body]);
            format!("v1,{}", Base64::encode_string(&signature))
        });
        signed.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::{OVERLAP_MS, Secrets};
    use crate::ports::Random;

    struct FixedRandom;

    impl Random for FixedRandom {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn signatures_match_the_example_of_the_standard() {
        // The example of the specification, verified with its reference implementation.
        let secrets = Secrets {
            current: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
            previous: None,
        };
        let signature = secrets.sign(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            br#"{"test": 2432232314}"#,
            0,
        );
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn the_replaced_secret_signs_for_a_day() {
        let first = Secrets::new(&FixedRandom);
        assert_eq!(first.current.len(), "whsec_".len() + 44);
        let by_first = first.sign("evt_1", 1, b"{}", 0);
        let second =
            Secrets { current: "whsec_c2Vjb25k".to_owned(), ..first.rotated(5, &FixedRandom) };
        for (now, count) in [(5, 2), (4 + OVERLAP_MS, 2), (5 + OVERLAP_MS, 1)] {
            let signatures = second.sign("evt_1", 1, b"{}", now);
            assert_eq!(signatures.split(' ').count(), count, "{now}");
            assert_eq!(signatures.ends_with(&by_first), count == 2, "{now}");
        }
        assert_eq!(format!("{second:?}"), "Secrets(…)");
    }
}
