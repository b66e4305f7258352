//! The section `[firestore]` of the settings, combined with the environment.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;

use crate::config;

settings_section! {
    "firestore": FirestoreSettings {
        project: String = Any,
        database: String = Any,
        prefix: String = Any,
        emulator: String = Any,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(firestore: &FirestoreSettings, flat: &mut Flat) {
    if !firestore.project.is_empty() && !is_project(&firestore.project) {
        flat.misfit("firestore.project", "the id of a Google Cloud project, such as \"my-project-123\"");
    }
    if firestore.database != DEFAULT_DATABASE && !is_database(&firestore.database) {
        flat.misfit("firestore.database", "\"(default)\", or 4 to 63 lower-case letters, digits and hyphens");
    }
    if !is_prefix(&firestore.prefix) {
        flat.misfit("firestore.prefix", "1 to 64 letters, digits, hyphens and underscores, a letter first");
    }
    if !firestore.emulator.is_empty() && !is_address(&firestore.emulator) {
        flat.misfit("firestore.emulator", "a host and a port, such as \"127.0.0.1:8080\"");
    }
}

const DEFAULT_DATABASE: &str = "(default)";

/// As Google allows them; ids of an organisation have its domain before a colon.
fn is_project(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.:".contains(&byte);
    id.len() <= 128 && id.starts_with(|first: char| first.is_ascii_lowercase()) && id.bytes().all(allowed)
}

fn is_database(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (4..=63).contains(&id.len()) && id.starts_with(|first: char| first.is_ascii_lowercase()) && id.bytes().all(allowed)
}

/// Names of collections may neither contain a slash nor begin with two underscores.
fn is_prefix(prefix: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    prefix.len() <= 64 && prefix.starts_with(|first: char| first.is_ascii_alphabetic()) && prefix.bytes().all(allowed)
}

fn is_address(address: &str) -> bool {
    let (host, port) = address.rsplit_once(':').unwrap_or_default();
    !host.is_empty() && !host.contains(['/', ' ', '@']) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

impl Default for FirestoreSettings {
    fn default() -> FirestoreSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}

pub const URL_SCHEME: &str = "firestore://";
const PROJECT_VARIABLE: &str = "GOOGLE_CLOUD_PROJECT";
const EMULATOR_VARIABLE: &str = "FIRESTORE_EMULATOR_HOST";

impl FirestoreSettings {
    /// From a command-line URL: `firestore://PROJECT/DATABASE?prefix=aizuchi`. `Err` says what is wrong with it.
    pub fn from_url(url: &str) -> Result<FirestoreSettings, String> {
        let form =
            "must be firestore://PROJECT, firestore://PROJECT/DATABASE or firestore://PROJECT/DATABASE?prefix=PREFIX";
        let rest = url.strip_prefix(URL_SCHEME).ok_or(form)?;
        // What precedes it may be a password, and is not repeated.
        if rest.contains('@') {
            return Err(format!("{form}; credentials are not part of it"));
        }
        let (path, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (project, database) = path.split_once('/').unwrap_or((path, ""));
        let mut layers = config::new_layers();
        layers.add_assignment(&format!("firestore.project={project}"));
        if !database.is_empty() {
            layers.add_assignment(&format!("firestore.database={database}"));
        }
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some((name @ ("prefix" | "emulator"), value)) => {
                    layers.add_assignment(&format!("firestore.{name}={value}"));
                }
                Some(_) | None => return Err(form.to_owned()),
            }
        }
        let told = |problems: Vec<aizuchi_core::settings::Problem>| {
            problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        layers.section().map_err(told)
    }

    /// `Err` says what is missing in both the settings and the environment.
    pub fn location(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<FirestoreLocation, String> {
        let given = |setting: &str, name: &str| match setting {
            "" => variable(name).filter(|value| !value.is_empty()),
            setting => Some(setting.to_owned()),
        };
        let project = given(&self.project, PROJECT_VARIABLE);
        let project = project.ok_or_else(|| {
            format!("no Google Cloud project is named: set firestore.project, or {PROJECT_VARIABLE} in the environment")
        })?;
        let emulator = given(&self.emulator, EMULATOR_VARIABLE);
        // Google's tools write it without the scheme, others with it.
        let emulator = emulator.map(|address| address.trim_start_matches("http://").to_owned());
        Ok(FirestoreLocation { project, database: self.database.clone(), prefix: self.prefix.clone(), emulator })
    }
}

/// The collections of a Firestore database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirestoreLocation {
    pub project: String,
    pub database: String,
    /// The prefix of the names of the collections.
    pub prefix: String,
    /// The address of an emulator, instead of Google's service.
    pub emulator: Option<String>,
}

impl FirestoreLocation {
    /// For display.
    pub fn display_name(&self) -> String {
        let FirestoreLocation { project, database, prefix, emulator } = self;
        let at = emulator.as_ref().map_or_else(String::new, |address| format!(" at {address}"));
        format!("{URL_SCHEME}{project}/{database}?prefix={prefix}{at}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(assignment: &str) -> String {
        let mut layers = config::new_layers();
        layers.add_assignment(assignment);
        match layers.section::<FirestoreSettings>() {
            Ok(_) => String::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn an_impossible_value_is_reported_with_its_key() {
        for (assignment, key) in [
            ("firestore.project=My Project", "`firestore.project`"),
            ("firestore.project=a/b", "`firestore.project`"),
            ("firestore.database=x", "`firestore.database`"),
            ("firestore.database=projects/x", "`firestore.database`"),
            ("firestore.prefix=", "`firestore.prefix`"),
            ("firestore.prefix=a/b", "`firestore.prefix`"),
            ("firestore.prefix=__a", "`firestore.prefix`"),
            ("firestore.emulator=localhost", "`firestore.emulator`"),
            ("firestore.emulator=http://localhost:8080", "`firestore.emulator`"),
        ] {
            assert!(problems(assignment).contains(key), "{assignment}: {:?}", problems(assignment));
        }
        for assignment in ["firestore.project=example.com:my-project", "firestore.emulator=[::1]:8080"] {
            assert_eq!(problems(assignment), "", "{assignment}");
        }
        let defaults = FirestoreSettings::default();
        assert_eq!((&*defaults.database, &*defaults.prefix), ("(default)", "aizuchi"));
    }

    #[test]
    fn a_url_names_what_the_section_names() {
        let named = FirestoreSettings::from_url("firestore://my-project/other-db?prefix=b&emulator=127.0.0.1:8080");
        let named = named.unwrap().location(&|_| None).unwrap();
        assert_eq!(named.display_name(), "firestore://my-project/other-db?prefix=b at 127.0.0.1:8080");
        let short = FirestoreSettings::from_url("firestore://example.com:p").unwrap().location(&|_| None).unwrap();
        assert_eq!(short.display_name(), "firestore://example.com:p/(default)?prefix=aizuchi");
        for (url, told) in [
            ("firestore:my-project", "must be firestore://PROJECT"),
            ("firestore://p/db?password=x", "must be firestore://PROJECT"),
            ("firestore://My Project", "`firestore.project`"),
            ("firestore://p/x", "`firestore.database`"),
            ("firestore://user:hunter2pw@p/x", "credentials are not part of it"),
            ("firestore://p/x?emulator=user:hunter2pw@h:1", "credentials are not part of it"),
        ] {
            let error = FirestoreSettings::from_url(url).unwrap_err();
            assert!(error.contains(told) && !error.contains("hunter2pw"), "{url}: {error}");
        }
    }

    #[test]
    fn the_environment_names_what_the_settings_do_not() {
        let environment = |name: &str| match name {
            PROJECT_VARIABLE => Some("theirs".to_owned()),
            EMULATOR_VARIABLE => Some("127.0.0.1:9".to_owned()),
            _ => None,
        };
        let named = FirestoreSettings::default().location(&environment).unwrap();
        assert_eq!((&*named.project, named.emulator.as_deref()), ("theirs", Some("127.0.0.1:9")));
        let own = FirestoreSettings { project: "mine".into(), ..FirestoreSettings::default() };
        assert_eq!(own.location(&environment).unwrap().project, "mine");
        let error = FirestoreSettings::default().location(&|_| None).unwrap_err();
        assert!(error.contains("firestore.project") && error.contains(PROJECT_VARIABLE), "{error}");
    }
}
