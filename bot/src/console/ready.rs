//! What `/ready` answers where all is well, and where something needs an operator although the process does its work.

/// `alert` is what an operator should know; empty if there is nothing.
pub fn ready_text(alert: &str) -> String {
    match alert {
        "" => "ready\n".to_owned(),
        alert => format!("ready\nalert: {alert}\n"),
    }
}
