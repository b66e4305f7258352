//! Which commit a release is built from, for `aizuchi --version`.

use std::path::Path;
use std::process::Command;

pub fn tell() {
    println!("cargo:rerun-if-env-changed=AIZUCHI_COMMIT");
    println!("cargo:rustc-env=AIZUCHI_BUILD={}", build());
}

/// A debug build does not say: it would have to be compiled again after every commit.
fn build() -> String {
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return "debug build".into();
    }
    // Packages are often built from an archive, without a repository.
    if let Ok(commit) = std::env::var("AIZUCHI_COMMIT") {
        return commit;
    }
    commit().unwrap_or_else(|| "unknown commit".into())
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}
