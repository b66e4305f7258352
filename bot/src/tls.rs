//! Who encrypts our connections. One provider is compiled in, and it is chosen before anything connects.

/// Once per program, before any other thread is there.
pub fn install_provider() {
    // Somebody who came before has chosen the same.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
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
