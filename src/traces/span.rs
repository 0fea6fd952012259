//! The span of a platform call, and the document that sends spans to a collector (OTLP/HTTP with
//! JSON, <https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding>).
//!
//! A span contains the platform, the action and the tenant. It contains no identity, and no path,
//! query, header or body, because these may contain secrets or personal data.

use serde_json::{Value, json};

use super::context::TraceContext;
use crate::connect::rules::origin;
use crate::ports::Random;
use crate::util::json;

/// The timeout of a request to the collector, in milliseconds.
pub const COLLECTOR_TIMEOUT_MS: u32 = 5000;

/// The maximum number of spans per request of a caller.
pub const MAX_SPANS: usize = 100;

/// The OTLP value for the span kind "client": a span that sends a request.
const CLIENT: u8 = 3;
/// The OTLP value for the status of a failed span.
const ERROR: u8 = 2;

/// The ids of a span for one request to a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanIds {
    trace_id: String,
    /// 16 hexadecimal digits.
    pub span_id: String,
}

impl SpanIds {
    /// Creates the ids of a new span. It belongs to the trace of the caller's request, if there
    /// is one, and otherwise to a new trace. Returns `None` if the caller's trace is not sampled.
    pub fn new(context: Option<&TraceContext>, random: &impl Random) -> Option<Self> {
        let (mut trace, mut span) = ([0; 16], [0; 8]);
        random.fill(&mut span);
        let trace_id = match context {
            Some(context) if !context.is_sampled() => return None,
            Some(context) => context.trace_id.clone(),
            None => {
                random.fill(&mut trace);
                hex(&trace)
            }
        };
        Some(Self { trace_id, span_id: hex(&span) })
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// A request to a platform, to be sent as a span.
#[derive(Debug, Clone, Copy)]
pub struct PlatformSpan<'a> {
    pub ids: &'a SpanIds,
    pub context: Option<&'a TraceContext>,
    pub method: &'a str,
    /// The URL of the request. Only its scheme, host and port are sent.
    pub url: &'a str,
    /// The number of earlier requests for the same call.
    pub resend_count: u32,
    /// Milliseconds since 1970-01-01 UTC.
    pub began: u64,
    /// When the response began or the request failed, in milliseconds since 1970-01-01 UTC.
    pub ended: u64,
    pub status: Option<u16>,
    /// Why there is no response.
    pub error: Option<&'a str>,
    pub platform: &'a str,
    /// `None` for a request through the proxy.
    pub action: Option<&'a str>,
    pub account: &'a str,
    pub environment: &'a str,
    pub request_id: &'a str,
}

impl PlatformSpan<'_> {
    /// The span as JSON. The names of its attributes are from the semantic conventions for HTTP
    /// (<https://opentelemetry.io/docs/specs/semconv/http/http-spans/>), or specific to this
    /// service.
    pub fn to_json(self) -> Value {
        let origin = origin(self.url);
        let (scheme, authority) = origin.split_once("://").unwrap_or_default();
        let default = if scheme == "https" { 443 } else { 80 };
        let (host, port) =
            authority.rsplit_once(':').map_or((authority, default), |(host, port)| {
                (host, port.parse::<u16>().unwrap_or(default))
            });
        let is_known = matches!(
            self.method,
            "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "TRACE" | "CONNECT"
        );
        let method = if is_known { self.method } else { "_OTHER" };
        let failed = self.status.filter(|status| *status >= 400).map(|status| status.to_string());
        let error = self.error.or(failed.as_deref());
        let mut attributes = vec![
            text("http.request.method", method),
            text("server.address", host),
            number("server.port", port.into()),
            text("url.scheme", scheme),
            // The path and the query may contain secrets and personal data.
            text("url.full", &format!("{origin}/REDACTED")),
            text("connector_vault.platform", self.platform),
            text("connector_vault.account", self.account),
            text("connector_vault.environment", self.environment),
            text("connector_vault.request_id", self.request_id),
        ];
        attributes.extend(self.action.map(|action| text("connector_vault.action", action)));
        let status = self.status.map(|status| number("http.response.status_code", status.into()));
        attributes.extend(status);
        attributes.extend(error.map(|error| text("error.type", error)));
        if self.resend_count > 0 {
            attributes.push(number("http.request.resend_count", self.resend_count));
        }
        let mut span = json!({
            "traceId": self.ids.trace_id,
            "spanId": self.ids.span_id,
            "name": if is_known { method } else { "HTTP" },
            "kind": CLIENT,
            "startTimeUnixNano": nanoseconds(self.began),
            "endTimeUnixNano": nanoseconds(self.ended),
            "attributes": attributes,
            "status": if error.is_some() { json!({"code": ERROR}) } else { json!({}) },
        });
        if let (Some(context), Some(span)) = (self.context, span.as_object_mut()) {
            span.insert("parentSpanId".to_owned(), Value::from(context.parent_id.as_str()));
            let state = context.state.as_deref();
            span.extend(state.map(|state| ("traceState".to_owned(), Value::from(state))));
        }
        span
    }
}

/// The document that sends the spans of one request.
pub fn document(spans: &[Value]) -> Vec<u8> {
    let version = env!("CARGO_PKG_VERSION");
    json::bytes(&json!({
        "resourceSpans": [{
            "resource": {
                "attributes": [text("service.name", "connector-vault"), text("service.version", version)],
            },
            "scopeSpans": [{"scope": {"name": "connector-vault", "version": version}, "spans": spans}],
        }],
    }))
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// OTLP's JSON encoding represents 64-bit numbers as strings.
fn number(key: &str, value: u32) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

fn nanoseconds(milliseconds: u64) -> String {
    format!("{milliseconds}000000")
}
