//! Authentication errors.

use crate::ports::StorageError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationError {
    /// The request carries no secret.
    Missing,
    /// The only secret is in the header `Authorization`, which the API does not read.
    InAuthorization,
    /// The request carries several secrets.
    Several,
    /// The key has the wrong shape or checksum.
    Malformed,
    /// The key is unknown, revoked or expired. The response is the same, so that it does not reveal which keys exist.
    Refused,
    /// The token has a wrong signature, has expired, was sent from another origin, or its key is no longer valid. The response
    /// is the same in all cases.
    BadToken,
    /// The grant of an agent's correctly signed token was ended, or has expired.
    EndedGrant,
    Storage(StorageError),
}

impl From<StorageError> for AuthenticationError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
