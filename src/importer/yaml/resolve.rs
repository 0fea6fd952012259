//! Interprets plain scalars according to the core schema of YAML 1.2 (section 10.3.2).

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'t str),
}

/// The value of a plain scalar. Infinity and NaN stay strings, because JSON can't represent them.
pub(super) fn resolve(text: &str) -> Scalar<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "true" | "True" | "TRUE" => Scalar::Bool(true),
        "false" | "False" | "FALSE" => Scalar::Bool(false),
        _ => number(text).unwrap_or(Scalar::Text(text)),
    }
}

fn number(text: &str) -> Option<Scalar<'_>> {
    let in_base = |digits: &str, base| {
        let is_valid = digits.chars().all(|c| c.is_digit(base));
        u64::from_str_radix(digits, base).ok().filter(|_| is_valid).map(Scalar::Unsigned)
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return in_base(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return in_base(digits, 8);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !is_decimal(unsigned) {
        return None;
    }
    let whole = text.strip_prefix('+').unwrap_or(text);
    if let Ok(number) = whole.parse::<u64>() {
        return Some(Scalar::Unsigned(number));
    }
    if let Ok(number) = whole.parse::<i64>() {
        return Some(Scalar::Signed(number));
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Scalar::Float)
}

/// Whether the text matches `[0-9]+`, or `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+
/// )?`.
fn is_decimal(text: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(mantissa, rest)| (mantissa, Some(rest)));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    is_digits(whole)
        && is_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|digits| !digits.is_empty() && is_digits(digits))
}
