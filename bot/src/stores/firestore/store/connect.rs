//! Connects to Firestore: Google's, with the credentials that its libraries find, or an emulator.

use std::time::Duration;

use firestore::errors::FirestoreError;
use firestore::gcloud_sdk::HeaderMap;
use firestore::gcloud_sdk::google_cloud_auth::credentials::{
    CacheableResource, Credentials, CredentialsProvider, EntityTag,
};
use firestore::gcloud_sdk::google_cloud_auth::errors::CredentialsError;
use firestore::{FirestoreDb, FirestoreDbOptions};
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::http::Extensions;

use super::client::DocumentClient;
use super::patience::Patience;
use super::scope::MessageScope;
use crate::stores::firestore::FirestoreLocation;

const CONNECTS_MAX: Duration = Duration::from_secs(10);

pub async fn connect(
    location: &FirestoreLocation,
    scope: MessageScope,
    patience: Patience,
) -> Result<DocumentClient, String> {
    let options = FirestoreDbOptions::new(location.project.clone()).with_database_id(location.database.clone());
    crate::tls::install_provider();
    let connecting = async {
        match &location.emulator {
            Some(address) => {
                // An address where nothing listens is reported in plain words, before the library tries it.
                let listens = tokio::net::TcpStream::connect(address).await;
                listens.map_err(|error| format!("cannot connect to Firestore at {address}, an emulator: {error}"))?;
                let credentials = Credentials::from(EmulatorOwner { tag: EntityTag::new() });
                let options = options.with_firebase_api_url(format!("http://{address}"));
                let connected = FirestoreDb::with_options_auth(options, credentials).await;
                connected.map_err(|error| format!("cannot connect to Firestore at {address}: {}", cause(&error)))
            }
            None => FirestoreDb::with_options(options).await.map_err(|error| cannot_connect(&error)),
        }
    };
    let db = match tokio::time::timeout(CONNECTS_MAX, connecting).await {
        Ok(connected) => connected?,
        Err(_) => return Err(format!("Firestore did not answer within {} seconds", CONNECTS_MAX.as_secs())),
    };
    Ok(DocumentClient::new(db, location.prefix.clone(), scope, patience))
}

fn cannot_connect(error: &FirestoreError) -> String {
    format!(
        "cannot connect to Firestore: {}; credentials are those of Google's libraries, such as the file that \
         GOOGLE_APPLICATION_CREDENTIALS names",
        cause(error)
    )
}

/// What everything else follows from, without how libraries wrap it.
fn cause(error: &FirestoreError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Whom an emulator lets do everything.
#[derive(Debug)]
struct EmulatorOwner {
    tag: EntityTag,
}

impl CredentialsProvider for EmulatorOwner {
    async fn headers(&self, extensions: Extensions) -> Result<CacheableResource<HeaderMap>, CredentialsError> {
        if extensions.get::<EntityTag>() == Some(&self.tag) {
            return Ok(CacheableResource::NotModified);
        }
        let headers = [(AUTHORIZATION, HeaderValue::from_static("Bearer owner"))].into_iter().collect();
        Ok(CacheableResource::New { entity_tag: self.tag.clone(), data: headers })
    }

    async fn universe_domain(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_emulator_that_is_not_there_is_an_error() {
        let location = FirestoreLocation {
            project: "p".into(),
            database: "(default)".into(),
            prefix: "aizuchi".into(),
            emulator: Some("127.0.0.1:9".into()),
        };
        let error = connect(&location, MessageScope::all(), Patience::COPY).await.err().unwrap();
        assert!(error.starts_with("cannot connect to Firestore at 127.0.0.1:9, an emulator: "), "{error}");
        assert!(!error.contains("CREDENTIALS") && !error.contains("Status"), "{error}");
    }
}
