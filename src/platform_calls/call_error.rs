//! The reasons why a call to a platform has no response, or one that can't be read completely.

use crate::http::problem::{Code, Problem};
use crate::ports::HttpError;

/// The reason why a call has no response.
pub enum CallError {
    Problem(Problem),
    CallerDisconnected,
}

impl CallError {
    /// The error code in events.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Problem(problem) => problem.code.describe().1,
            Self::CallerDisconnected => "caller_disconnected",
        }
    }
}

impl From<Problem> for CallError {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Problem(problem) => problem,
            // The caller has disconnected, so this is never sent.
            CallError::CallerDisconnected => {
                Self::new(Code::PlatformUnreachable, "The caller disconnected.")
            }
        }
    }
}

/// The error if a response ends early or arrives too slowly.
pub fn incomplete_response(status: u16) -> Problem {
    let detail = format!(
        "The platform responded with {status}, but closed the connection before the end, or sent too slowly."
    );
    Problem::new(Code::PlatformUnreachable, detail)
}

/// The error for a request without a response.
pub fn call_error(name: &str, error: HttpError) -> CallError {
    let problem = match error {
        HttpError::CallerDisconnected => return CallError::CallerDisconnected,
        HttpError::TimedOut => {
            let detail = format!("{name} did not answer within 30 seconds.");
            Problem::new(Code::PlatformTimeout, detail)
        }
        HttpError::Unreachable | HttpError::TooLarge => {
            let detail = format!("{name} is unreachable, or closed the connection.");
            Problem::new(Code::PlatformUnreachable, detail)
        }
    };
    problem.into()
}
