//! Which keys the running services have. The schedule reports them to its database once an hour, and each minute while
//! another list was reported within the last hour, which is when keys are rotated: an idle minute writes nothing. Nothing is sealed again
//! with a key before every service that runs has reported it: a service could not open what a key seals that it lacks.
//!
//! A service is known by its list of keys only. So a list counts as that of a running service as long as it may have been
//! reported after the new key was: whoever was given the new key reports its former list no more.

use serde::Deserialize;

use super::VaultKeys;
use crate::ports::{Param, Statement};
use crate::util::json;

/// A list that was not reported for so long is deleted.
const FORGOTTEN_MS: u64 = 24 * 60 * 60 * 1000;

/// How long a service that reports alone waits until it reports again.
pub const REPEATED_MS: u64 = 60 * 60 * 1000;
/// How much later than due a report may be.
const LATE_MS: u64 = 5 * 60 * 1000;

/// A list of keys that a service has reported.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Report {
    keys: String,
    first_at: u64,
    last_at: u64,
}

/// Whether everything may be sealed with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Every running service has the key.
    Ready,
    /// No service has reported.
    Silent,
    /// No running service has the key.
    Missing,
    /// A service has the key, and reported it only once. Whether another one lacks it shows with the next report.
    Unconfirmed,
    /// A service has the key, and another one lacks it.
    Divided,
}

impl Report {
    /// The keys, as [`VaultKeys::reported`] has them.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        serde_json::from_str(&self.keys).unwrap_or_default()
    }

    /// When it was reported last.
    #[must_use]
    pub const fn last_at(&self) -> u64 {
        self.last_at
    }
}

/// Reports the keys of this service, unless it has done so twice and nobody else reports others.
#[must_use]
pub fn report(keys: &VaultKeys, now: u64) -> [Statement; 2] {
    // A list that comes back after a day is as good as new.
    let report = "INSERT INTO vault_key_reports (keys, first_at, last_at) VALUES (?1, ?2, ?2) ON CONFLICT DO UPDATE SET last_at = max(last_at, excluded.last_at) WHERE last_at = first_at OR last_at <= excluded.last_at - ?3 OR EXISTS (SELECT 1 FROM vault_key_reports o WHERE o.keys <> excluded.keys AND o.last_at >= excluded.last_at - ?4)";
    let forget = "DELETE FROM vault_key_reports WHERE last_at < ?1";
    let keys = json::text(&keys.reported());
    [
        Statement {
            sql: forget.into(),
            params: vec![Param::integer(now.saturating_sub(FORGOTTEN_MS))],
        },
        Statement {
            sql: report.into(),
            params: vec![
                Param::text(&keys),
                Param::integer(now),
                Param::integer(REPEATED_MS),
                Param::integer(REPEATED_MS.saturating_add(LATE_MS)),
            ],
        },
    ]
}

/// Reads the reports since a time.
#[must_use]
pub fn reports(since: u64) -> Statement {
    let sql = "SELECT keys, first_at, last_at FROM vault_key_reports WHERE last_at >= ?1";
    Statement { sql: sql.into(), params: vec![Param::integer(since)] }
}

/// Whether everything may be sealed with a key; `key` is as [`VaultKeys::reported`] has it.
#[must_use]
pub fn readiness(reports: &[Report], key: &str) -> Readiness {
    let (with, without): (Vec<_>, Vec<_>) =
        reports.iter().partition(|report| report.keys().iter().any(|reported| reported == key));
    let Some(since) = with.iter().map(|report| report.first_at).min() else {
        return if without.is_empty() { Readiness::Silent } else { Readiness::Missing };
    };
    if without.iter().any(|report| report.last_at >= since) {
        return Readiness::Divided;
    }
    let is_confirmed = with.iter().any(|report| report.last_at > since);
    if is_confirmed { Readiness::Ready } else { Readiness::Unconfirmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_seal_everything_once_every_running_service_has_it() {
        let report =
            |keys: &str, first_at, last_at| Report { keys: keys.into(), first_at, last_at };
        let old = |first_at, last_at| report(r#"["old:1"]"#, first_at, last_at);
        let both = |first_at, last_at| report(r#"["new:2","old:1"]"#, first_at, last_at);
        for (what, reports, expected) in [
            ("nobody", vec![], Readiness::Silent),
            ("the old service", vec![old(1, 9)], Readiness::Missing),
            ("another key of that id", vec![report(r#"["new:3"]"#, 1, 9)], Readiness::Missing),
            ("the new one, once", vec![old(1, 9), both(10, 10)], Readiness::Unconfirmed),
            ("the new one, twice", vec![old(1, 9), both(10, 11)], Readiness::Ready),
            ("both at once", vec![old(1, 10), both(10, 10)], Readiness::Divided),
            ("both all the time", vec![old(1, 11), both(10, 11)], Readiness::Divided),
            ("the old one again", vec![old(1, 12), both(10, 11)], Readiness::Divided),
            (
                "without the old key",
                vec![report(r#"["new:2"]"#, 12, 12), both(10, 11)],
                Readiness::Ready,
            ),
            ("no keys at all", vec![report("[]", 12, 13), both(10, 11)], Readiness::Divided),
            ("damaged", vec![report("{}", 12, 13)], Readiness::Missing),
        ] {
            assert_eq!(readiness(&reports, "new:2"), expected, "{what}");
        }
    }

    #[test]
    fn a_report_names_keys_and_reveals_none() {
        let (a, b) = (
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        );
        let reported = |text: &str| VaultKeys::parse(text).unwrap().reported();
        let [first, second] = reported(&format!("new:{a},old:{b}")).try_into().unwrap();
        assert!(first.starts_with("new:") && second.starts_with("old:"));
        assert_eq!(first.len(), "new:".len() + 43);
        // The same key under another id, and another key under the same id, are told apart.
        let others =
            reported(&format!("old:{a}")).concat() + &reported(&format!("new:{b}")).concat();
        assert!(!others.contains(&first) && !others.contains(&second));
        assert!(!first.contains("AAEC") && !first.contains("00010203"));
    }
}
