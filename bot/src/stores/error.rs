//! Why a store cannot do what it is asked.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full: {0}")]
    Full(String),
    #[error(
        "the store has version {found}, but this program supports up to {newest}: use the newer aizuchi that wrote it; nothing was changed"
    )]
    Newer { found: u32, newest: u32 },
    #[error(
        "the database {0}, or the log beside it, was deleted or replaced while aizuchi was running, and nothing can be stored: put it back, or stop \
         aizuchi, restore a backup (`aizuchi backup`) and start it again"
    )]
    Gone(String),
    /// The server does not answer, or is not ready.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Nothing can be written or read any more.
    #[error("the store is closed")]
    Closed,
    #[error("{0}")]
    Failed(String),
}
