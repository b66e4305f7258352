//! Where things are kept.
