//! Prompts: instructions from files, people's words as data.
