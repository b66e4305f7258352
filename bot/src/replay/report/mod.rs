//! The report of a replay: one self-contained HTML page, the same bytes for the same replay.

mod page;

mod calls;
mod causes;
mod moments;
mod scores;
mod timeline;

mod chart;
mod tally;
mod words;

pub use page::html;

#[cfg(test)]
mod tests;
