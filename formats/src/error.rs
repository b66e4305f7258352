//! Why a log cannot be read.

use std::error::Error;

use super::log::BadLine;

#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system, or the archive that contains it, cannot read it.
    #[error("{what}")]
    Unreadable { what: String, source: Box<dyn Error + Send + Sync> },
    #[error("{what} is larger than {max_mb} MB{}", if *.unpacked { " unpacked" } else { "" })]
    TooLarge { what: String, max_mb: u64, unpacked: bool },
    /// It has no known format, or lacks what its format requires.
    #[error("{0}")]
    Unrecognized(String),
    /// Only in strict mode.
    #[error("{0}")]
    BadLine(BadLine),
}

impl ReadError {
    /// For `map_err`: says what was tried.
    pub(crate) fn unreadable<E: Into<Box<dyn Error + Send + Sync>>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        move |source| ReadError::Unreadable { what, source: source.into() }
    }

    pub(crate) fn too_large(what: impl Into<String>, bytes_max: u64) -> ReadError {
        ReadError::TooLarge { what: what.into(), max_mb: bytes_max >> 20, unpacked: false }
    }

    pub(crate) fn too_large_unpacked(what: impl Into<String>, bytes_max: u64) -> ReadError {
        ReadError::TooLarge { what: what.into(), max_mb: bytes_max >> 20, unpacked: true }
    }
}
