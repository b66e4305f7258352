//! The loop that keeps the engine alive.
