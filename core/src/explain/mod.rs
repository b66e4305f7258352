//! A decision in words: made from its trace when somebody asks.

mod sentence;
