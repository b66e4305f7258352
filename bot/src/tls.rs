//! The TLS provider. One is compiled in, and it is installed before anything connects.

/// Called before the first client is created; calling it again changes nothing.
pub fn install_provider() {
    // An earlier call has installed the same provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// For an HTTP client.
pub fn client_builder() -> reqwest::ClientBuilder {
    install_provider();
    reqwest::Client::builder()
}

/// For a model client. `Err` says why TLS is not available.
pub fn model_client() -> Result<genai::Client, String> {
    install_provider();
    genai::Client::builder().build().map_err(|error| format!("cannot set up TLS: {error}"))
}

#[cfg(test)]
mod tests {
    /// Two that are compiled in are a panic wherever nobody has chosen: in a test, or in a library that looks for itself.
    #[test]
    fn one_provider_is_compiled_in() {
        let config = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty());
        assert!(!config.with_no_client_auth().crypto_provider().cipher_suites.is_empty());
    }
}
