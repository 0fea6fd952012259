//! Moments as texts.

/// Days from 0000-03-01 to 1970-01-01: years that begin in March have their leap day at the end.
const DAYS_BEFORE_1970: u64 = 719_468;
/// The first millisecond of the year 10000.
const END: u64 = 253_402_300_800_000;

/// RFC 3339 in UTC with milliseconds and `Z`; none past the year 9999. A library that knows time zones does the same
/// with eight times the code, which every cold start would load.
#[must_use]
pub fn rfc3339(milliseconds: u64) -> Option<String> {
    if milliseconds >= END {
        return None;
    }
    let (seconds, fraction) = (milliseconds / 1000, milliseconds % 1000);
    let (minutes, second) = (seconds / 60, seconds % 60);
    let (hours, minute) = (minutes / 60, minutes % 60);
    let (year, month, day) = date((hours / 24).saturating_add(DAYS_BEFORE_1970));
    let hour = hours % 24;
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"))
}

/// The date so many days after 0000-03-01, in the Gregorian calendar (Howard Hinnant, `civil_from_days`).
fn date(days: u64) -> (u64, u64, u64) {
    let (era, day) = (days / 146_097, days % 146_097);
    let leap_days = (day / 1460).saturating_add(day / 146_096).saturating_sub(day / 36_524);
    let year = day.saturating_sub(leap_days) / 365;
    let before = year.saturating_mul(365).saturating_add(year / 4).saturating_sub(year / 100);
    let day = day.saturating_sub(before);
    // 0 is March; from there on every five months have 153 days.
    let month = day.saturating_mul(5).saturating_add(2) / 153;
    let before = month.saturating_mul(153).saturating_add(2) / 5;
    let from_january = if month < 10 { month.saturating_add(3) } else { month.saturating_sub(9) };
    let year = era.saturating_mul(400).saturating_add(year);
    let year = year.saturating_add(u64::from(from_january < 3));
    (year, from_january, day.saturating_sub(before).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::{END, rfc3339};

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_893_456_000_123, "2030-01-01T00:00:00.123Z"),
            (END - 1, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(milliseconds).as_deref(), Some(text));
        }
        assert_eq!((rfc3339(END), rfc3339(u64::MAX)), (None, None));
    }

    #[test]
    fn every_day_is_the_one_that_a_calendar_gives() {
        let mut at = jiff::Timestamp::UNIX_EPOCH;
        while at.as_millisecond().cast_unsigned() < 8_000_000_000_000 {
            assert_eq!(rfc3339(at.as_millisecond().cast_unsigned()), Some(format!("{at:.3}")));
            at += jiff::SignedDuration::from_millis(86_399_989);
        }
    }
}
