//! The program's log on standard error: human-readable on a terminal, JSON lines otherwise.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::io::IsTerminal as _;
use std::panic::PanicHookInfo;

use aizuchi_core::settings::Any;
use aizuchi_core::{setting_choice, settings_section};
use anyhow::Context as _;
use tracing::Subscriber;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

use crate::config::BadSettings;
use crate::runtime::panic_message;

settings_section! {
    /// The section `[log]` of the settings.
    "log": LogSettings {
        format: LogFormat = Any,
        level: String = Any,
    }
    defaults: include_str!("logs.default.toml"),
    check: |_: &LogSettings, _: &mut _| ()
}

setting_choice!(
    /// How a log line is written.
    LogFormat {
        /// Human-readable on a terminal, JSON otherwise.
        Auto = "auto",
        Human = "human",
        Json = "json",
    }
);

/// Sends logs to standard error, according to the settings. Called once per program.
pub fn start(settings: &LogSettings) -> anyhow::Result<()> {
    let on_terminal = std::io::stderr().is_terminal();
    let colours = on_terminal && wants_colours();
    let subscriber = subscriber(settings, on_terminal, colours, std::io::stderr)?;
    tracing::subscriber::set_global_default(subscriber).context("logs were started before")?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// The message of a panic may quote what people said, as that of a text which is cut in the middle of a letter does.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let (thread, location) = (thread.name().unwrap_or("unnamed"), panic.location().map(ToString::to_string));
    let backtrace = Backtrace::capture();
    let backtrace = (backtrace.status() == BacktraceStatus::Captured).then(|| backtrace.to_string());
    tracing::error!(thread, location, backtrace, "panicked");
    tracing::trace!(why = panic_message(panic.payload()), "panicked");
}

/// See no-color.org.
pub fn wants_colours() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn subscriber<W>(
    settings: &LogSettings,
    on_terminal: bool,
    colours: bool,
    writer: W,
) -> Result<Box<dyn Subscriber + Send + Sync>, BadSettings>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let level = settings.level.as_str();
    // A person who starts the program by hand reads the greeting instead.
    let greeted = on_terminal && settings.format == LogFormat::Auto && level == "info";
    let filter = filter(if greeted { BESIDE_THE_GREETING } else { level }).map_err(|what| BadSettings(vec![what]))?;
    // An error in writing the log could not be logged either, and must not end the program.
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).log_internal_errors(false);
    let for_people = match settings.format {
        LogFormat::Auto => on_terminal,
        LogFormat::Human => true,
        LogFormat::Json => false,
    };
    Ok(match for_people {
        true => Box::new(builder.with_ansi(colours).with_timer(LocalTimer).with_target(false).finish()),
        false => Box::new(builder.with_ansi(false).json().flatten_event(true).finish()),
    })
}

const BESIDE_THE_GREETING: &str = "info,aizuchi::runtime::start=warn,aizuchi::platforms::web::server=warn";

/// At TRACE it logs all traffic byte by byte, which is only useful to those who ask for it by name.
const TALKATIVE: &str = "genai";

/// The first tells what MCP servers send, as long and as often as they like: that is logged here, bounded. The second tells that a
/// call to Google failed, and not why: that is logged here, with the cause.
const SILENT: [&str; 2] = ["rmcp", "gcloud_sdk"];

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// `Err` describes what is wrong with the setting.
pub fn filter(level: &str) -> Result<EnvFilter, String> {
    let right = r#""error", "warn", "info", "debug", "trace", or a filter such as "info,aizuchi::models=debug""#;
    let bad = |why: String| format!("`log.level` must be {right}, got {level:?}{why}");
    let parts: Vec<&str> = level.split(',').map(str::trim).collect();
    // An unknown word would be taken as a module name and enable everything it logs: surely a typo.
    let is_slip = |part: &str| !part.contains(['=', '[', ']', ':']) && !LEVELS.contains(&part.to_lowercase().as_str());
    if parts.iter().any(|part| is_slip(part)) {
        return Err(bad(String::new()));
    }
    let mut filter = parts.join(",");
    for silent in SILENT.iter().filter(|silent| !level.contains(**silent)) {
        filter += &format!(",{silent}=off");
    }
    if !filter.contains(TALKATIVE) && parts.iter().any(|part| part.eq_ignore_ascii_case("trace")) {
        filter += &format!(",{TALKATIVE}=debug");
    }
    EnvFilter::try_new(filter).map_err(|error| bad(format!(" ({error})")))
}

/// The local time of day.
struct LocalTimer;

impl FormatTime for LocalTimer {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        write!(writer, "{}", jiff::Zoned::now().strftime("%H:%M:%S"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::captured_log::CapturedLog;

    fn log_examples(format: LogFormat, level: &str, on_terminal: bool) -> String {
        let settings = LogSettings { format, level: level.into() };
        let log = CapturedLog::default();
        let subscriber = subscriber(&settings, on_terminal, on_terminal, log.clone()).unwrap();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(room = "web:lobby", score = 45, "asked the judge");
            tracing::debug!("details");
            tracing::trace!(target: "genai::webc", "raw bytes");
            tracing::error!(target: "rmcp::service", "whatever a server sends");
            tracing::warn!(target: "gcloud_sdk::middleware", "Err: took 0ms");
            tracing::info!(target: "aizuchi::platforms::web::server", "open");
        });
        log.text()
    }

    #[test]
    fn people_read_a_short_line_with_colours_only_on_a_terminal() {
        let plain = log_examples(LogFormat::Human, "info", false);
        assert!(plain.contains("INFO asked the judge room=\"web:lobby\" score=45\n"), "{plain}");
        assert_eq!((plain.as_bytes()[2], plain.as_bytes()[5], plain.lines().count()), (b':', b':', 2), "{plain}");
        let coloured = log_examples(LogFormat::Auto, "info", true);
        assert!(!plain.contains('\u{1b}') && coloured.contains('\u{1b}'));
        assert_eq!(coloured.lines().count(), 1, "what the greeting says is not said twice: {coloured}");
    }

    #[test]
    fn bytes_on_the_line_are_told_only_to_who_asks_for_them_by_name() {
        assert!(!log_examples(LogFormat::Json, "trace", false).contains("raw bytes"));
        assert!(!log_examples(LogFormat::Json, "Trace,hyper=off", false).contains("raw bytes"));
        assert!(log_examples(LogFormat::Json, "info,genai=trace", false).contains("raw bytes"));
        assert!(!log_examples(LogFormat::Json, "warn", false).contains("genai"), "a cap raises nothing");
    }

    #[test]
    fn what_an_mcp_server_sends_is_told_only_to_who_asks_for_it_by_name() {
        assert!(!log_examples(LogFormat::Json, "trace", false).contains("whatever"));
        assert!(log_examples(LogFormat::Json, "info,rmcp=error", false).contains("whatever"));
        assert!(
            !log_examples(LogFormat::Json, "trace", false).contains("took"),
            "a failure is logged once, with its cause"
        );
        assert!(log_examples(LogFormat::Json, "info,gcloud_sdk=warn", false).contains("took"));
    }

    #[test]
    fn machines_read_json() {
        let line = log_examples(LogFormat::Auto, "debug", false);
        let first: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&first["message"], &first["score"], &first["level"]),
            (&"asked the judge".into(), &45.into(), &"INFO".into())
        );
        assert!(first["timestamp"].is_string(), "{line}");
        assert_eq!(line.lines().count(), 3);
        assert_eq!(log_examples(LogFormat::Json, "warn", true), "");
    }

    /// What is logged of a panic.
    fn panic_log(level: &str) -> String {
        let settings = LogSettings { format: LogFormat::Json, level: level.into() };
        let log = CapturedLog::default();
        let subscriber = subscriber(&settings, false, false, log.clone()).unwrap();
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(log_panic));
        let text = std::hint::black_box("あのquokka");
        let panicked = tracing::subscriber::with_default(subscriber, || std::panic::catch_unwind(|| text[1..].len()));
        std::panic::set_hook(usual);
        assert!(panicked.is_err(), "a letter is cut in two");
        log.text()
    }

    #[test]
    fn a_panic_is_logged_with_its_place_and_its_message_only_at_trace() {
        let told = panic_log("debug");
        assert!(told.contains(r#""level":"ERROR""#) && told.contains(r#""location":"bot/src/cli/logs.rs:"#), "{told}");
        assert!(!told.contains("quokka"), "{told}");
        assert!(panic_log("trace").contains("quokka"));
    }

    #[test]
    fn a_filter_that_cannot_be_names_the_setting() {
        for odd in ["inf", "info,aizuchi::models=loud", "", "info,,", "aizuchi=debug,verbose"] {
            let told = filter(odd).unwrap_err();
            assert!(told.starts_with("`log.level` must be ") && told.contains(&format!(", got {odd:?}")), "{told}");
        }
        for fine in ["info", "WARN", "off", "info,aizuchi::models=debug", "aizuchi=trace", "info, hyper=off"] {
            assert!(filter(fine).is_ok(), "{fine}");
        }
    }
}
