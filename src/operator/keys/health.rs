//! Warnings about API keys, based on their expiry and use.

use serde::Serialize;

use super::table::KeyWithUsage;
use crate::operator::time::{Day, Moment};

/// `keys list` warns this many days before a key expires.
const EXPIRY_WARNING_DAYS: i64 = 14;
/// `keys list` warns after this many days without use.
const UNUSED_WARNING_DAYS: i64 = 90;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A reason why a key may need attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// The key will expire after this many milliseconds.
    ExpiresSoon(i64),
    Expired,
    /// The key has not been used for this many days.
    Unused(i64),
    /// The key's secret contains the number of a database that the account has left, so each
    /// request queries two databases.
    Forwarded,
}

impl Warning {
    pub const fn code(self) -> &'static str {
        match self {
            Self::ExpiresSoon(_) => "expires_soon",
            Self::Expired => "expired",
            Self::Unused(_) => "unused",
            Self::Forwarded => "forwarded",
        }
    }

    /// The warning as text.
    pub fn message(self) -> String {
        match self {
            Self::ExpiresSoon(millis) => format!("expires in {}", format_duration(millis)),
            Self::Expired => "expired".into(),
            Self::Forwarded => {
                "rotate it: its account has moved, so each request queries two databases".into()
            }
            Self::Unused(days) => format!("not used for {}", format_count(days, "day")),
        }
    }
}

/// Formats a duration in the largest unit that fits.
fn format_duration(millis: i64) -> String {
    let in_units = |unit| millis.checked_div(unit).unwrap_or_default();
    match millis {
        DAY_MS.. => format_count(in_units(DAY_MS), "day"),
        HOUR_MS.. => format_count(in_units(HOUR_MS), "hour"),
        MINUTE_MS.. => format_count(in_units(MINUTE_MS), "minute"),
        _ => "less than a minute".into(),
    }
}

fn format_count(number: i64, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}

impl KeyWithUsage {
    /// The day of the key's last use. Returns `None` if no use has been recorded.
    pub fn last_used(&self) -> Option<Day> {
        self.last_used_day.map(Day::from_days)
    }

    /// The day of the key's last use, or `never`.
    pub fn format_last_use(&self) -> String {
        self.last_used().map_or_else(|| "never".into(), |day| day.to_string())
    }

    /// The warnings about the key. Empty if the key is revoked.
    pub fn warnings(&self, now: Moment) -> Vec<Warning> {
        match self.row.state(now) {
            "active" => {
                let remaining = self.row.expires_at.map(|end| end.saturating_sub(now.millis()));
                let soon = remaining
                    .filter(|remaining| *remaining <= EXPIRY_WARNING_DAYS * DAY_MS)
                    .map(Warning::ExpiresSoon);
                let created = Day::from(Moment::from_millis(self.row.created_at));
                let idle = Day::from(now).since(self.last_used().unwrap_or(created));
                let unused = (idle >= UNUSED_WARNING_DAYS).then_some(Warning::Unused(idle));
                let forwarded = self.is_forwarded.then_some(Warning::Forwarded);
                soon.into_iter().chain(unused).chain(forwarded).collect()
            }
            "expired" => vec![Warning::Expired],
            _ => Vec::new(),
        }
    }
}

/// The members in the JSON of `keys list` that describe a key's use.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyHealth<'a> {
    last_used_on: Option<String>,
    replaced_by: Option<&'a str>,
    warnings: Vec<&'static str>,
}

impl<'a> KeyHealth<'a> {
    pub fn new(listed: &'a KeyWithUsage, now: Moment) -> Self {
        Self {
            last_used_on: listed.last_used().map(|day| day.to_string()),
            replaced_by: listed.replaced_by.as_deref(),
            warnings: listed.warnings(now).into_iter().map(Warning::code).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Row;
    use super::*;

    const NOW: i64 = 20_779 * DAY_MS + 12 * HOUR_MS;

    fn listed(
        created_at: i64,
        expires_at: Option<i64>,
        last_used_day: Option<i64>,
    ) -> KeyWithUsage {
        let row = Row {
            id: "a".into(),
            account: "acme".into(),
            environment: "test".into(),
            scopes: "catalog:read".into(),
            created_at,
            expires_at,
            revoked_at: None,
        };
        KeyWithUsage { row, last_used_day, replaced_by: None, is_forwarded: false }
    }

    fn message(listed: &KeyWithUsage) -> Vec<String> {
        listed.warnings(Moment::from_millis(NOW)).into_iter().map(Warning::message).collect()
    }

    #[test]
    fn warns_two_weeks_before_expiry() {
        for (left, expected) in [
            (EXPIRY_WARNING_DAYS * DAY_MS + 1, None),
            (EXPIRY_WARNING_DAYS * DAY_MS, Some("expires in 14 days")),
            (EXPIRY_WARNING_DAYS * DAY_MS - 1, Some("expires in 13 days")),
            (2 * DAY_MS - 1, Some("expires in 1 day")),
            (DAY_MS, Some("expires in 1 day")),
            (DAY_MS - 1, Some("expires in 23 hours")),
            (HOUR_MS, Some("expires in 1 hour")),
            (HOUR_MS - 1, Some("expires in 59 minutes")),
            (1, Some("expires in less than a minute")),
            (0, Some("expired")),
            (-DAY_MS, Some("expired")),
        ] {
            let found = message(&listed(NOW, Some(NOW + left), None));
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{left}");
        }
        assert!(message(&listed(NOW, None, None)).is_empty());
    }

    #[test]
    fn warns_of_unused_key() {
        let old = NOW - 1000 * DAY_MS;
        for (listed, expected) in [
            (listed(old, None, Some(20_779)), None),
            (listed(old, None, Some(20_779 - 89)), None),
            (listed(old, None, Some(20_779 - 90)), Some("not used for 90 days")),
            // The days of an unused key are counted from its creation.
            (listed(NOW - 89 * DAY_MS, None, None), None),
            (listed(NOW - 90 * DAY_MS, None, None), Some("not used for 90 days")),
        ] {
            assert_eq!(message(&listed), expected.into_iter().collect::<Vec<_>>(), "{listed:?}");
        }
        let both = listed(old, Some(NOW + HOUR_MS), Some(20_000));
        assert_eq!(message(&both), ["expires in 1 hour", "not used for 779 days"]);
        let mut revoked = both;
        revoked.row.revoked_at = Some(NOW - 1);
        assert!(message(&revoked).is_empty());
    }

    #[test]
    fn formats_the_last_use() {
        let used = listed(0, None, Some(20_779));
        assert_eq!(used.format_last_use(), "2026-11-22");
        assert_eq!(listed(0, None, None).format_last_use(), "never");
        let health = KeyHealth::new(&used, Moment::from_millis(NOW));
        assert_eq!(
            serde_json::to_value(health).unwrap(),
            serde_json::json!({"lastUsedOn": "2026-11-22", "replacedBy": null, "warnings": []})
        );
        let old = KeyWithUsage { replaced_by: Some("b".into()), ..listed(0, Some(NOW + 1), None) };
        assert_eq!(
            serde_json::to_value(KeyHealth::new(&old, Moment::from_millis(NOW))).unwrap(),
            serde_json::json!({"lastUsedOn": null, "replacedBy": "b", "warnings": ["expires_soon", "unused"]})
        );
    }
}
