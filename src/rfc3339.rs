//! Timestamps as text.

use jiff::Timestamp;

/// RFC 3339 in UTC with milliseconds and `Z`. Returns `None` from the last two days of the year 9999 on, the end of time for the library.
#[must_use]
pub fn rfc3339(milliseconds: u64) -> Option<String> {
    let moment = Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(format!("{moment:.3}"))
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    /// The first millisecond that is too late for the library: the end of the year 9999 in every time zone.
    const END: u64 = 253_402_207_200_001;

    #[test]
    fn moments_are_those_of_the_calendar() {
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
    fn every_day_is_the_one_that_a_calendar_gives() {
        let mut at = jiff::Timestamp::UNIX_EPOCH;
        while at.as_millisecond().cast_unsigned() < 8_000_000_000_000 {
            assert_eq!(rfc3339(at.as_millisecond().cast_unsigned()), Some(format!("{at:.3}")));
            at += jiff::SignedDuration::from_millis(86_399_989);
        }
    }
}
