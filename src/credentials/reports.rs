//! Reports of the vault keys that each running service has.
//!
//! Rows are re-encrypted with a new key only after every running service has reported that key,
//! because a service without the key could not decrypt them. Each service reports its keys once an
//! hour. During a rotation, when another list of keys was reported within the last hour, it reports
//! them each minute.
//!
//! A service is identified by its list of keys. An old list counts as that of a running service if
//! it was reported after the first report of the new key, because a service that has received the
//! new key no longer reports its old list.

use serde::Deserialize;

use super::VaultKeys;
use crate::ports::{Param, Statement};
use crate::util::json;

/// The retention of reports, in milliseconds.
const RETENTION_MS: u64 = 24 * 60 * 60 * 1000;

/// The interval of reports while all services report the same keys, in milliseconds.
pub const REPORT_INTERVAL_MS: u64 = 60 * 60 * 1000;
/// The tolerance for a late report, in milliseconds.
const LATE_TOLERANCE_MS: u64 = 5 * 60 * 1000;

/// A service's report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Report {
    keys: String,
    first_at: u64,
    last_at: u64,
}

/// Whether all rows may be encrypted with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// Every running service has the key.
    Ready,
    /// No service has reported.
    NoReports,
    /// No running service has the key.
    Missing,
    /// A service has reported the key only once. The next report will show whether another service
    /// lacks it.
    Unconfirmed,
    /// One service has the key, and another service lacks it.
    Divided,
}

impl Report {
    /// The keys, in the form of [`VaultKeys::ids_and_fingerprints`].
    pub fn keys(&self) -> Vec<String> {
        serde_json::from_str(&self.keys).unwrap_or_default()
    }

    /// The time of the last report, in milliseconds since 1970-01-01 UTC.
    pub const fn last_at(&self) -> u64 {
        self.last_at
    }
}

/// Reports the keys of this service, unless it has done so twice and no other list was reported.
pub fn report(keys: &VaultKeys, now: u64) -> [Statement; 2] {
    // A list that returns after a day counts as new.
    let report = "INSERT INTO vault_key_reports (keys, first_at, last_at) \
        VALUES (?1, ?2, ?2) \
        ON CONFLICT DO UPDATE \
        SET last_at = max(last_at, excluded.last_at) \
        WHERE last_at = first_at OR last_at <= excluded.last_at - ?3 OR EXISTS (SELECT 1 \
        FROM vault_key_reports o WHERE o.keys <> excluded.keys AND o.last_at >= excluded.last_at - ?4)";
    let forget = "DELETE FROM vault_key_reports WHERE last_at < ?1";
    let keys = json::text(&keys.ids_and_fingerprints());
    [
        Statement {
            sql: forget.into(),
            params: vec![Param::integer(now.saturating_sub(RETENTION_MS))],
        },
        Statement {
            sql: report.into(),
            params: vec![
                Param::text(&keys),
                Param::integer(now),
                Param::integer(REPORT_INTERVAL_MS),
                Param::integer(REPORT_INTERVAL_MS.saturating_add(LATE_TOLERANCE_MS)),
            ],
        },
    ]
}

/// Reads the reports since a time.
pub fn reports(since: u64) -> Statement {
    let sql = "SELECT keys, first_at, last_at FROM vault_key_reports WHERE last_at >= ?1";
    Statement { sql: sql.into(), params: vec![Param::integer(since)] }
}

/// Whether all rows may be encrypted with `key`, in the form of [`VaultKeys::ids_and_fingerprints`].
pub fn readiness(reports: &[Report], key: &str) -> Readiness {
    let (with_key, without_key): (Vec<_>, Vec<_>) =
        reports.iter().partition(|report| report.keys().iter().any(|reported| reported == key));
    let Some(since) = with_key.iter().map(|report| report.first_at).min() else {
        return if without_key.is_empty() { Readiness::NoReports } else { Readiness::Missing };
    };
    if without_key.iter().any(|report| report.last_at >= since) {
        return Readiness::Divided;
    }
    let is_confirmed = with_key.iter().any(|report| report.last_at > since);
    if is_confirmed { Readiness::Ready } else { Readiness::Unconfirmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_encrypt_once_all_running_services_have_it() {
        let report =
            |keys: &str, first_at, last_at| Report { keys: keys.into(), first_at, last_at };
        let old = |first_at, last_at| report(r#"["old:1"]"#, first_at, last_at);
        let both = |first_at, last_at| report(r#"["new:2","old:1"]"#, first_at, last_at);
        for (case, reports, expected) in [
            ("nobody", vec![], Readiness::NoReports),
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
            assert_eq!(readiness(&reports, "new:2"), expected, "{case}");
        }
    }

    #[test]
    fn a_report_contains_fingerprints_but_no_keys() {
        let (a, b) = (
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
            "ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        );
        let reported = |text: &str| VaultKeys::parse(text).unwrap().ids_and_fingerprints();
        let [first, second] = reported(&format!("new:{a},old:{b}")).try_into().unwrap();
        assert!(first.starts_with("new:") && second.starts_with("old:"));
        assert_eq!(first.len(), "new:".len() + 43);
        // The same key under another id, and another key under the same id, have different
        // fingerprints.
        let others =
            reported(&format!("old:{a}")).concat() + &reported(&format!("new:{b}")).concat();
        assert!(!others.contains(&first) && !others.contains(&second));
        assert!(!first.contains("AAEC") && !first.contains("00010203"));
    }
}
