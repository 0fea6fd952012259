//! Errors in authenticating a request.

use crate::ports::StorageError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthenticationError {
    /// The request contains no secret.
    Missing,
    /// The only secret is in the header `Authorization`, which this endpoint does not accept.
    InAuthorization,
    /// The request contains several secrets.
    Several,
    /// The format or the checksum of the key is wrong.
    Malformed,
    /// The key is unknown, revoked or expired. These cases are not distinguished, so that a
    /// response does not reveal which keys exist.
    Refused,
    /// The token has an invalid signature, has expired, was sent from a different origin, or its
    /// key is no longer valid. These cases are not distinguished.
    BadToken,
    /// The signature of an agent's token is valid, but its grant was revoked or has expired.
    EndedGrant,
    Storage(StorageError),
}

impl From<StorageError> for AuthenticationError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error)
    }
}
