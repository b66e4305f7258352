//! The tool `fetch`: a web page as text.

mod address;
mod charset;
mod download;
mod hosts;
mod html;
mod line_writer;
mod page;
mod settings;
mod tool;
mod xml;

pub use address::{AddressRule, Network};
pub use settings::FetchSettings;
pub use tool::Fetch;

pub(super) use download::read_body;

#[cfg(test)]
pub(super) mod tests;
