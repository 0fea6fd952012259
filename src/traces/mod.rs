//! Traces of platform calls: the trace context of a request, which is passed on to the platform,
//! and spans, which are sent to a collector (`OTLP_URL`).

pub mod collector;
pub mod context;
pub mod span;
