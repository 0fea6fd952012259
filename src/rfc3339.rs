//! Moments as texts.

/// RFC 3339 in UTC with milliseconds and `Z`; none past the year 9999.
#[must_use]
pub fn rfc3339(milliseconds: u64) -> Option<String> {
    let timestamp = jiff::Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()?;
    Some(format!("{timestamp:.3}"))
}
