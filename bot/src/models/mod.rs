//! Models: who judges and writes.
