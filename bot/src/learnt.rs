//! Models that were adapted to a room: read from the file in the settings, and kept in the data folder under their hash, so
//! that a replay of the journal uses the same model, whatever has happened to the file since.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::learnt::LearntModels;
use aizuchi_core::policy::StoredPolicies;
use anyhow::Context as _;

/// Their folder in the data folder.
const FOLDER: &str = "models";
/// The maximum size of a model.
const BYTES_MAX: u64 = 32 << 20;

/// Reads a model; the error names file and line.
pub fn read(file: &str) -> Result<Arc<LearntModels>, String> {
    let told = |error: std::io::Error| format!("cannot read {file}: {error}");
    let about = fs::metadata(file).map_err(told)?;
    if !about.is_file() {
        return Err(format!("{file} is no regular file"));
    }
    let length = about.len();
    if length > BYTES_MAX {
        return Err(format!("{file} is no model: it has {length} bytes"));
    }
    let bytes = fs::read(file).map_err(told)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{file}:1: not UTF-8"))?;
    LearntModels::parse(&text).map(Arc::new).map_err(|bad| format!("{file}:{bad}"))
}

/// Copies the models in use into the data folder.
pub fn keep(folder: &Path, policies: &Policies) -> anyhow::Result<()> {
    for models in policies.all().map(|policy| &policy.models) {
        let Some(file) = &models.file else { continue };
        let kept = folder.join(FOLDER).join(format!("{}.txt", file.hash));
        if kept.exists() {
            continue;
        }
        fs::create_dir_all(folder.join(FOLDER))?;
        // Renamed afterwards, so that a stop in the middle leaves no partial file.
        let half = kept.with_extension("new");
        fs::write(&half, file.text.as_bytes())?;
        fs::rename(&half, &kept)?;
    }
    Ok(())
}

/// Keeps them there; returns the policies of a start, which include all kept models.
pub fn kept_in(folder: &Path, policies: &Policies) -> anyhow::Result<Policies> {
    keep(folder, policies).with_context(|| format!("cannot keep a copy of the model in {}", folder.display()))?;
    Ok(with_kept(folder, policies.clone()))
}

/// Adds all kept models, for the records that refer to them. A model that cannot be read counts as missing.
pub fn with_kept(folder: &Path, policies: Policies) -> Policies {
    let entries = match fs::read_dir(folder.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) => {
            if error.kind() != ErrorKind::NotFound {
                tracing::warn!(%error, "cannot read the models in the data folder");
            }
            return policies;
        }
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let kept = paths.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    policies.knowing(kept.filter_map(|path| read(&path.to_string_lossy()).ok()))
}

/// The problem if a journal refers to missing models, and how to fix it.
pub fn missing(stated: &StoredPolicies, known: &Policies) -> Option<String> {
    let unknown = stated.models_unknown_to(known);
    let told = |(file, hash): &(&str, &str)| {
        let now = match read(file) {
            Ok(models) => format!("it has the hash {} now", models.hash().unwrap_or_default()),
            Err(problem) => problem,
        };
        format!("{file} with the hash {hash} ({now})")
    };
    let files: Vec<String> = unknown.iter().map(told).collect();
    (!files.is_empty()).then(|| format!("the journal was decided by a model that is missing: {}", files.join(", ")))
}
