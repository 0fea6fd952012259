//! The port for HTTP requests to other services.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::rc::Rc;

use crate::platform_calls::charset;
use crate::terms::Method;

/// A request to another service. `Debug` prints no header values, body or query, because they
/// contain secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    pub method: Method,
    /// An absolute URL.
    pub url: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Empty if there is no body.
    pub body: Vec<u8>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        let url = self.url.split('?').next().unwrap_or_default();
        write!(f, "{} {url} {names:?}", self.method.as_str())
    }
}

/// The complete response of another service. `Debug` prints only its status.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The value of a header. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Decodes the body, without a byte order mark. If the bytes are invalid in the declared
    /// charset, decodes them as Windows-1252, which older servers send without declaring it.
    pub fn text(&self) -> String {
        let (charset, from) =
            charset::detect(self.header("content-type").unwrap_or(""), &self.body);
        let bytes = self.body.get(from..).unwrap_or_default();
        [charset.as_str(), "utf-8", "windows-1252"]
            .into_iter()
            .find_map(|charset| charset::decode(charset, bytes))
            .unwrap_or_default()
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpResponse {}", self.status)
    }
}

/// Why the response of another service could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpError {
    /// The service can't be reached, or the connection broke. The request may have arrived.
    Unreachable,
    /// The service did not respond in time.
    TimedOut,
    /// The response is longer than [`MAX_RESPONSE`].
    TooLarge,
    /// The caller that caused the request has disconnected.
    CallerDisconnected,
}

/// The maximum size of another service's response, in bytes.
pub const MAX_RESPONSE: usize = 1 << 20;

/// A request to another service. Its response is streamed.
#[derive(Clone, Copy)]
pub struct StreamingRequest<'a> {
    pub method: &'a str,
    /// An absolute URL.
    pub url: &'a str,
    /// Header names in lower case, with their values.
    pub headers: &'a [(String, String)],
    pub payload: Payload<'a>,
}

/// The body of a [`StreamingRequest`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The given bytes; empty if there is no body.
    Bytes(&'a [u8]),
    /// The body of the caller's request, as it arrives. It can be sent only once.
    Stream,
}

/// A response of another service. Its body may not have arrived completely.
#[derive(Debug)]
pub struct StreamingResponse {
    pub status: u16,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body, in a type of the implementation of the port. Dropping it cancels the transfer.
    pub body: Rc<dyn Any>,
}

impl StreamingResponse {
    /// The value of a header. `name` must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The `User-Agent` header of this service. Some services reject requests without one.
pub fn user_agent() -> (String, String) {
    ("user-agent".to_owned(), "connector-vault".to_owned())
}

/// An HTTP client that does not follow redirects.
pub trait Http {
    /// Sends a request and reads the whole response.
    fn send(
        &self,
        request: HttpRequest,
        timeout_ms: u32,
    ) -> impl Future<Output = Result<HttpResponse, HttpError>>;

    /// Sends a request and returns as soon as the response begins. The deadline starts when the
    /// whole request has been sent.
    fn open(
        &self,
        request: StreamingRequest<'_>,
        timeout_ms: u32,
    ) -> impl Future<Output = Result<StreamingResponse, HttpError>>;

    /// Reads the whole body of a streamed response. Fails with [`HttpError::TooLarge`] if it is
    /// longer than `max` bytes, and with [`HttpError::Unreachable`] if the connection breaks.
    fn read(
        &self,
        body: Rc<dyn Any>,
        max: usize,
    ) -> impl Future<Output = Result<Vec<u8>, HttpError>>;

    /// Like [`Self::read`], but calls `grow` with the number of bytes that have arrived. If it
    /// returns false, fails with [`HttpError::TooLarge`].
    fn read_within(
        &self,
        body: Rc<dyn Any>,
        max: usize,
        grow: Rc<dyn Fn(usize) -> bool>,
    ) -> impl Future<Output = Result<Vec<u8>, HttpError>> {
        async move {
            let bytes = self.read(body, max).await?;
            if grow(bytes.len()) { Ok(bytes) } else { Err(HttpError::TooLarge) }
        }
    }

    /// Copies a streamed body, so that it can be both read and forwarded. Returns `None` if the
    /// implementation does not support this.
    fn copy(&self, _: &Rc<dyn Any>) -> Option<Rc<dyn Any>> {
        None
    }

    /// Decodes bytes in a charset. `charset` must be in lower case. Returns `None` if the charset
    /// is unknown or the bytes are invalid.
    fn decode(&self, charset: &str, bytes: &[u8]) -> Option<String> {
        charset::decode(charset, bytes)
    }
}
