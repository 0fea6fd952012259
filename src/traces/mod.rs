//! Tracing of platform calls: the trace context of a request, which is passed to the platform, and the spans that a
//! collector receives (`OTLP_URL`).

pub mod collector;
pub mod context;
pub mod span;
