//! Formats and parses RFC 3339 timestamps.

use jiff::Timestamp;

/// Formats a time as RFC 3339 in UTC, with milliseconds and `Z`. Returns `None` for times after the
/// range of `jiff`, which ends two days before the end of the year 9999.
pub fn rfc3339(milliseconds: u64) -> Option<String> {
    let moment = Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(format!("{moment:.3}"))
}

// This module parses timestamps itself, because the parsers of `jiff` would make the gzipped Worker
// 50 KB larger.

/// Parses a timestamp such as `2026-11-22T13:00:00.5+01:00` into milliseconds since 1970-01-01 UTC.
/// Ignores fractions of a second. Returns `None` if the string is malformed or the time is before
/// 1970.
pub fn parse(text: &str) -> Option<u64> {
    let (date, time) = (text.get(..10)?, text.get(11..19)?);
    if !matches!(text.get(10..11)?, "T" | "t" | " ") {
        return None;
    }
    let zone = text.get(19..)?.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let minutes_ahead = if zone.eq_ignore_ascii_case("z") {
        0
    } else {
        let [hours, minutes] = numbers(zone.get(1..)?, ':')?;
        let minutes = i64::from(hours).checked_mul(60)?.checked_add(minutes.into())?;
        match zone.chars().next()? {
            '+' => minutes,
            '-' => minutes.checked_neg()?,
            _ => return None,
        }
    };
    let utc = milliseconds(numbers(date, '-')?, numbers(time, ':')?)?;
    u64::try_from(utc.checked_sub(minutes_ahead.checked_mul(60_000)?)?).ok()
}

/// Like [`parse`], but keeps milliseconds. Truncates smaller fractions.
pub fn parse_to_millisecond(text: &str) -> Option<u64> {
    let seconds = parse(text)?;
    let fraction = text.get(19..)?.strip_prefix('.').unwrap_or_default();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).chain([b'0'; 3]).take(3);
    let milliseconds = digits.fold(0, |sum: u64, digit| {
        sum.saturating_mul(10).saturating_add(digit.saturating_sub(b'0').into())
    });
    Some(seconds.saturating_add(milliseconds))
}

/// Parses exactly `N` numbers separated by `separator`. They must consist of digits only.
pub(crate) fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i16; N]> {
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let read = |part: &str| part.parse().ok().filter(|_| is_number(part));
    let numbers: Vec<i16> = text.split(separator).map(read).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Converts a date and time in UTC to milliseconds since 1970-01-01. Returns `None` if the date or
/// the time does not exist.
pub(crate) fn milliseconds(date: [i16; 3], time: [i16; 3]) -> Option<i64> {
    let [year, month, day] = date;
    let [month, day] = [i8::try_from(month).ok()?, i8::try_from(day).ok()?];
    let [hour, minute, second] = time;
    let [hour, minute] = [i8::try_from(hour).ok()?, i8::try_from(minute).ok()?];
    let second = i8::try_from(second).ok()?;
    let moment = jiff::civil::DateTime::new(year, month, day, hour, minute, second, 0).ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(moment).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::{parse_to_millisecond, rfc3339};

    #[test]
    fn parses_fractions_to_milliseconds() {
        for (text, expected) in [
            ("1970-01-01T00:00:01Z", Some(1000)),
            ("1970-01-01T00:00:01.5Z", Some(1500)),
            ("1970-01-01T00:00:01.0421+00:00", Some(1042)),
            ("1970-01-01T01:00:01.999999+01:00", Some(1999)),
            ("1970-01-01T00:00:01.5", None),
            ("1970-01-01", None),
        ] {
            assert_eq!(parse_to_millisecond(text), expected, "{text}");
        }
    }

    /// The first millisecond that `jiff` rejects. Its range ends before the end of 9999, so that
    /// the local time is valid in every time zone.
    const END: u64 = 253_402_207_200_001;

    #[test]
    fn parses_calendar_times() {
        for (milliseconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_893_456_000_123, "2030-01-01T00:00:00.123Z"),
            (END - 1, "9999-12-30T22:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(milliseconds).as_deref(), Some(text));
        }
        assert_eq!((rfc3339(END), rfc3339(u64::MAX)), (None, None));
    }

    #[test]
    fn every_day_matches_the_calendar() {
        let mut at = jiff::Timestamp::UNIX_EPOCH;
        while at.as_millisecond().cast_unsigned() < 8_000_000_000_000 {
            assert_eq!(rfc3339(at.as_millisecond().cast_unsigned()), Some(format!("{at:.3}")));
            at += jiff::SignedDuration::from_millis(86_399_989);
        }
    }
}
