//! Parses and formats times of commands.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

const DAY_MS: i64 = 86_400_000;

/// A time in whole milliseconds. `Display` formats it as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(i64);

impl Moment {
    pub fn now() -> Self {
        Self(Timestamp::now().as_millisecond())
    }

    /// Creates a time from milliseconds since 1970-01-01 UTC.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01 UTC.
    pub const fn millis(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// A day in UTC. `Display` formats it like `2026-11-22`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// Creates a day from days since 1970-01-01 UTC.
    pub const fn from_days(days: i64) -> Self {
        Self(days)
    }

    /// The number of days from `earlier` to this day.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl From<Moment> for Day {
    fn from(moment: Moment) -> Self {
        Self(moment.0.div_euclid(DAY_MS))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = Timestamp::from_millisecond(self.0.saturating_mul(DAY_MS));
        match moment {
            Ok(moment) => write!(f, "{}", moment.to_zoned(TimeZone::UTC).date()),
            Err(_) => write!(f, "day {}", self.0),
        }
    }
}

/// When a key expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// This long after the key is created.
    After(SignedDuration),
    At(Moment),
}

impl Expiry {
    pub fn from(self, now: Moment) -> Result<Moment> {
        let moment = match self {
            Self::At(moment) => moment,
            Self::After(time) => {
                let millis =
                    i64::try_from(time.as_millis()).ok().and_then(|time| now.0.checked_add(time));
                let millis = millis.filter(|millis| Timestamp::from_millisecond(*millis).is_ok());
                Moment(millis.context("that is beyond the year 9999")?)
            }
        };
        if moment <= now {
            bail!("the expiry must be in the future, but {moment} is in the past");
        }
        Ok(moment)
    }
}

const EXPIRY_FORMATS: &str =
    "a duration like 30m, 12h, 90d, 2w, or a date like 2030-01-31 or 2030-01-31T12:00:00Z";

impl FromStr for Expiry {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(time) = duration(text) {
            return Ok(Self::After(time));
        }
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(Self::At(Moment(moment.as_millisecond())));
        }
        // A date without a time means the start of that day in UTC. The parser of `Date` must see
        // only dates, because it would ignore a time without a zone.
        if text.len() == "2030-01-31".len()
            && let Ok(date) = text.parse::<Date>()
        {
            let midnight = date.to_zoned(TimeZone::UTC)?.timestamp();
            return Ok(Self::At(Moment(midnight.as_millisecond())));
        }
        bail!("expected {EXPIRY_FORMATS}")
    }
}

/// How long a key remains valid after a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap(SignedDuration);

impl Overlap {
    /// When the overlap ends; `None` if there is no overlap.
    pub fn from(self, now: Moment) -> Result<Option<Moment>> {
        (!self.0.is_zero()).then(|| Expiry::After(self.0).from(now)).transpose()
    }
}

impl FromStr for Overlap {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let time = if text == "0" { Some(SignedDuration::ZERO) } else { duration(text) };
        time.map(Self).context("expected a duration like 30m, 12h, 7d, 2w, or 0 for none")
    }
}

/// When the new key of a rotation expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewExpiry {
    Never,
    Ends(Expiry),
}

impl NewExpiry {
    /// When the new key expires; `None` if never.
    pub fn from(self, now: Moment) -> Result<Option<Moment>> {
        match self {
            Self::Never => Ok(None),
            Self::Ends(expiry) => expiry.from(now).map(Some),
        }
    }
}

impl FromStr for NewExpiry {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "never" {
            return Ok(Self::Never);
        }
        text.parse().map(Self::Ends).map_err(|_| anyhow!("expected never, {EXPIRY_FORMATS}"))
    }
}

/// Parses a duration: digits and a unit of `m`, `h`, `d` or `w`.
fn duration(text: &str) -> Option<SignedDuration> {
    let (number, seconds) = [('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(1_790_000_000_123);

    fn expiry(text: &str) -> Result<String> {
        Ok(text.parse::<Expiry>()?.from(NOW)?.to_string())
    }

    #[test]
    fn a_moment_has_milliseconds_and_utc() {
        assert_eq!(NOW.to_string(), "2026-09-21T14:13:20.123Z");
        assert_eq!(Moment(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn parses_times_and_dates() {
        for (text, moment) in [
            ("30m", "2026-09-21T14:43:20.123Z"),
            ("12h", "2026-09-22T02:13:20.123Z"),
            ("90d", "2026-12-20T14:13:20.123Z"),
            ("2w", "2026-10-05T14:13:20.123Z"),
            ("2030-01-31", "2030-01-31T00:00:00.000Z"),
            ("2030-01-31T12:00:00Z", "2030-01-31T12:00:00.000Z"),
            ("2030-01-31T12:00:00.5+02:00", "2030-01-31T10:00:00.500Z"),
        ] {
            assert_eq!(expiry(text).unwrap(), moment, "{text}");
        }
    }

    #[test]
    fn parses_days() {
        for (millis, day) in [
            (0, "1970-01-01"),
            (86_399_999, "1970-01-01"),
            (86_400_000, "1970-01-02"),
            (NOW.0, "2026-09-21"),
            (-1, "1969-12-31"),
        ] {
            assert_eq!(Day::from(Moment(millis)).to_string(), day);
        }
        assert_eq!(Day::from_days(20_779).to_string(), "2026-11-22");
        assert_eq!(Day::from_days(i64::MAX).to_string(), format!("day {}", i64::MAX));
        assert_eq!(Day::from_days(20_779).since(Day::from_days(20_778)), 1);
    }

    #[test]
    fn parses_overlaps() {
        let end = |text: &str| -> Result<_> {
            Ok(text.parse::<Overlap>()?.from(NOW)?.map(|end| end.to_string()))
        };
        for text in ["0", "0m", "0d", "00w"] {
            assert_eq!(end(text).unwrap(), None, "{text}");
        }
        assert_eq!(end("7d").unwrap().unwrap(), "2026-09-28T14:13:20.123Z");
        assert_eq!(end("24h").unwrap().unwrap(), "2026-09-22T14:13:20.123Z");
        for text in ["", "1", "00", "-1d", "never", "2030-01-31", "9999999999d"] {
            assert!(end(text).is_err(), "{text}");
        }
    }

    #[test]
    fn parses_the_expiry_of_a_replacement() {
        let end = |text: &str| -> Result<_> {
            Ok(text.parse::<NewExpiry>()?.from(NOW)?.map(|end| end.to_string()))
        };
        assert_eq!(end("never").unwrap(), None);
        assert_eq!(end("90d").unwrap().unwrap(), "2026-12-20T14:13:20.123Z");
        for text in ["", "Never", "0d", "2020-01-01"] {
            assert!(end(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rejects_other_formats() {
        for text in [
            "",
            "d",
            "12",
            "-1d",
            "+1d",
            "1.5h",
            "1 d",
            "0d",
            "90D",
            "soon",
            "2030-13-01",
            "2030-01-31T12:00:00",
            "2020-01-01",
            "99999999999999999999d",
            "9999999999d",
            "1y",
            "２d",
        ] {
            assert!(expiry(text).is_err(), "{text}");
        }
    }
}
