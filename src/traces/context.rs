//! W3C Trace Context (<https://www.w3.org/TR/trace-context/>): the headers `traceparent` and
//! `tracestate`.

/// The header that identifies the sender's span and its trace.
pub const TRACEPARENT: &str = "traceparent";
/// The header with vendor-specific data about the trace.
pub const TRACESTATE: &str = "tracestate";

/// The known flags: sampled, and random trace id. Flags that a sender does not know must not be
/// passed on with a new parent.
const KNOWN_FLAGS: u8 = 0b11;
const SAMPLED: u8 = 0b01;

/// The maximum number of members in `tracestate`.
const MAX_MEMBERS: usize = 32;

/// The trace to which a request belongs. Both headers have been validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The original value of `traceparent`.
    traceparent: String,
    /// 32 hexadecimal digits.
    pub trace_id: String,
    /// The id of the sender's span: 16 hexadecimal digits.
    pub parent_id: String,
    pub flags: u8,
    /// The value of `tracestate`, if it was sent and is valid.
    pub state: Option<String>,
}

impl TraceContext {
    /// Parses the headers of a request. Their names must be in lower case. Returns `None` without a
    /// valid `traceparent`, because `tracestate` alone has no meaning.
    pub fn read(headers: &[(String, String)]) -> Option<Self> {
        let values_of = |header: &'static str| {
            headers.iter().filter(move |(name, _)| name == header).map(|(_, value)| value.as_str())
        };
        let mut parents = values_of(TRACEPARENT);
        let traceparent = parents.next().filter(|_| parents.next().is_none())?.trim();
        let (trace_id, parent_id, flags) = parse(traceparent)?;
        let state = values_of(TRACESTATE).collect::<Vec<_>>().join(",");
        Some(Self {
            traceparent: traceparent.to_owned(),
            trace_id: trace_id.to_owned(),
            parent_id: parent_id.to_owned(),
            flags,
            state: Some(state).filter(|state| is_state(state)),
        })
    }

    /// Whether the sender requests that the trace is recorded.
    pub const fn is_sampled(&self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Replaces both headers of a request. With `span_id`, that span becomes the parent. Without
    /// it, the context is passed on unchanged.
    pub fn set(context: Option<&Self>, span_id: Option<&str>, headers: &mut Vec<(String, String)>) {
        headers.retain(|(name, _)| name != TRACEPARENT && name != TRACESTATE);
        let Some(Self { traceparent, trace_id, flags, state, .. }) = context else { return };
        let traceparent = span_id.map_or_else(
            || traceparent.clone(),
            |span_id| format!("00-{trace_id}-{span_id}-{:02x}", flags & KNOWN_FLAGS),
        );
        headers.push((TRACEPARENT.to_owned(), traceparent));
        let state = state.iter().map(|state| (TRACESTATE.to_owned(), state.clone()));
        headers.extend(state);
    }
}

/// Parses the trace id, the parent id and the flags of `traceparent`. Versions above 00 may have
/// more parts.
fn parse(text: &str) -> Option<(&str, &str, u8)> {
    let mut parts = text.split('-');
    let version = hex(parts.next()?, 2)?;
    let trace_id = hex(parts.next()?, 32).filter(|id| id.bytes().any(|byte| byte != b'0'))?;
    let parent_id = hex(parts.next()?, 16).filter(|id| id.bytes().any(|byte| byte != b'0'))?;
    let flags = u8::from_str_radix(hex(parts.next()?, 2)?, 16).ok()?;
    let has_more = parts.next().is_some();
    let is_valid = version != "ff" && !(version == "00" && has_more);
    is_valid.then_some((trace_id, parent_id, flags))
}

/// Returns the text if it consists of exactly this number of lower-case hexadecimal digits.
fn hex(text: &str, digits: usize) -> Option<&str> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_digit)).then_some(text)
}

/// Whether a string is a valid `tracestate` with at least one member.
fn is_state(text: &str) -> bool {
    let is_space = |char| matches!(char, ' ' | '\t');
    let members = text.split(',').map(|member| member.trim_matches(is_space));
    let members: Vec<&str> = members.filter(|member| !member.is_empty()).collect();
    let is_member = |member: &&str| {
        member.split_once('=').is_some_and(|(key, value)| is_key(key) && is_value(value))
    };
    !members.is_empty() && members.len() <= MAX_MEMBERS && members.iter().all(is_member)
}

fn is_key(text: &str) -> bool {
    let starts = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let follows = |byte: u8| starts(byte) || b"_-*/@".contains(&byte);
    text.len() <= 256 && text.bytes().next().is_some_and(starts) && text.bytes().all(follows)
}

fn is_value(text: &str) -> bool {
    let is_char = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b'=';
    (1..=256).contains(&text.len()) && text.bytes().all(is_char)
}

#[cfg(test)]
mod tests {
    use super::TraceContext;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const PARENT: &str = "00f067aa0ba902b7";

    fn headers(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn only_a_valid_traceparent_is_read() {
        let valid = format!("00-{TRACE}-{PARENT}-01");
        for (text, expected) in [
            (valid.clone(), Some(1)),
            (format!("00-{TRACE}-{PARENT}-00"), Some(0)),
            (format!("cc-{TRACE}-{PARENT}-03"), Some(3)),
            (format!("cc-{TRACE}-{PARENT}-01-what-the-future-brings"), Some(1)),
            (format!("{valid}-more"), None),
            (format!("ff-{TRACE}-{PARENT}-01"), None),
            (format!("0-{TRACE}-{PARENT}-01"), None),
            (format!("00-{TRACE}-{PARENT}"), None),
            (format!("00-{TRACE}-{PARENT}-1"), None),
            (format!("00-{TRACE}-{PARENT}-0x"), None),
            (format!("cc-{TRACE}-{PARENT}-01x"), None),
            (format!("00-{}-{PARENT}-01", "0".repeat(32)), None),
            (format!("00-{TRACE}-{}-01", "0".repeat(16)), None),
            (format!("00-{}-{PARENT}-01", TRACE.to_uppercase()), None),
            (format!("00-{}-{PARENT}-01", TRACE.strip_prefix('4').unwrap()), None),
            (format!("{valid}, {valid}"), None),
            (String::new(), None),
        ] {
            let read = TraceContext::read(&headers(&[("traceparent", &text)]));
            assert_eq!(read.map(|context| context.flags), expected, "{text}");
        }
        let twice = headers(&[("traceparent", &valid), ("traceparent", &valid)]);
        assert_eq!(TraceContext::read(&twice), None);
        assert_eq!(TraceContext::read(&headers(&[("tracestate", "a=1")])), None);
    }

    #[test]
    fn an_invalid_tracestate_is_dropped() {
        let parent = format!("00-{TRACE}-{PARENT}-01");
        let (many, key) = (vec!["a=1"; 33].join(","), "k".repeat(256));
        for (text, is_valid) in [
            ("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", true),
            (" congo=a , ,rojo=b\t", true),
            ("0tenant@vendor/a-b_c*=x y", true),
            (many.strip_prefix("a=1,").unwrap(), true),
            (&format!("{key}=1"), true),
            (&many, false),
            (&format!("{key}k=1"), false),
            ("Congo=1", false),
            ("congo", false),
            ("congo=", false),
            ("congo=a=b", false),
            ("congo=größe", false),
            (",", false),
            ("", false),
        ] {
            let sent = headers(&[("traceparent", &parent), ("tracestate", text)]);
            let read = TraceContext::read(&sent).unwrap();
            assert_eq!(read.state.as_deref(), is_valid.then_some(text), "{text}");
        }
        let sent =
            headers(&[("traceparent", &parent), ("tracestate", "a=1"), ("tracestate", "b=2")]);
        assert_eq!(TraceContext::read(&sent).unwrap().state.as_deref(), Some("a=1,b=2"));
    }

    #[test]
    fn replaces_parent_only_with_a_span() {
        let sent = format!("cc-{TRACE}-{PARENT}-ff-more");
        let pairs = [("accept", "*/*"), ("traceparent", sent.as_str()), ("tracestate", "a=1")];
        let context = TraceContext::read(&headers(&pairs)).unwrap();
        let apply = |context: Option<&TraceContext>, span_id: Option<&str>| {
            let mut all = headers(&pairs);
            TraceContext::set(context, span_id, &mut all);
            all
        };
        assert_eq!(apply(Some(&context), None), headers(&pairs));
        let changed = format!("00-{TRACE}-1234567890abcdef-03");
        let expected =
            [("accept", "*/*"), ("traceparent", changed.as_str()), ("tracestate", "a=1")];
        assert_eq!(apply(Some(&context), Some("1234567890abcdef")), headers(&expected));
        assert_eq!(apply(None, Some("1234567890abcdef")), headers(&[("accept", "*/*")]));
    }
}
