//! The user's own prompts: read when they are used, and again after they have changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::built_in::NAMES;
use crate::language::Language;

pub struct PromptFolder {
    /// `None` if only the built-in prompts are used.
    root: Option<PathBuf>,
    state: Mutex<FolderState>,
}

#[derive(Default)]
struct FolderState {
    files: HashMap<(Language, &'static str), CachedFile>,
    /// The modification times of the folders when they were last listed.
    listed: Option<Vec<Option<SystemTime>>>,
    /// All problems so far, so that each is reported once.
    told: HashSet<String>,
    untold: Vec<String>,
}

/// A file as it was last read.
#[derive(Clone)]
struct CachedFile {
    stamp: Option<FileVersion>,
    text: Option<Arc<str>>,
}

/// A file with the same modification time and size is considered unchanged.
type FileVersion = (Option<SystemTime>, u64);

/// The maximum size of a prompt file.
const BYTES_MAX: u64 = 256 * 1024;
/// Problems that nobody asks for are not kept without limit.
const UNTOLD_MAX: usize = 100;

impl PromptFolder {
    pub fn new(root: PathBuf) -> PromptFolder {
        let root = Some(root).filter(|root| !root.as_os_str().is_empty());
        PromptFolder { root, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, FolderState> {
        // A panic leaves no inconsistent state behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn path(&self, language: Language, name: &str) -> Option<PathBuf> {
        Some(self.root.as_ref()?.join(language.id()).join(format!("{name}.md")))
    }

    /// The current text of the user's prompt; `None` if the built-in one is to be used.
    pub fn text(&self, language: Language, name: &'static str) -> Option<Arc<str>> {
        let path = self.path(language, name)?;
        let stamp = stamp(&path);
        let mut state = self.state();
        let known = state.files.get(&(language, name)).filter(|found| found.stamp == stamp);
        if let Some(found) = known {
            return found.text.clone();
        }
        let text = stamp.and_then(|(_, length)| match read(&path, length) {
            Ok(text) => Some(Arc::from(text)),
            Err(problem) => {
                state.report(format!("{}: {problem}", path.display()));
                None
            }
        });
        state.files.insert((language, name), CachedFile { stamp, text: text.clone() });
        text
    }

    /// This text is unusable until it changes; the built-in one is used instead.
    pub fn give_up(&self, language: Language, name: &'static str, problem: String) {
        let mut state = self.state();
        if let Some(found) = state.files.get_mut(&(language, name)) {
            found.text = None;
        }
        state.report(problem);
    }

    /// Looks for files that are never read, if anything in the folders has changed.
    pub fn look_for_strangers(&self) {
        let Some(root) = &self.root else { return };
        let own = Language::ALL.map(|language| root.join(language.id()));
        let folders: Vec<PathBuf> = own.into_iter().chain([root.clone()]).collect();
        let changed: Vec<_> = folders.iter().map(|folder| fs::metadata(folder).ok()?.modified().ok()).collect();
        let mut state = self.state();
        if state.listed.as_ref() == Some(&changed) {
            return;
        }
        state.listed = Some(changed);
        for file in names_in(root) {
            let is_prompt = file.strip_suffix(".md").is_some_and(|name| NAMES.contains(&name));
            if is_prompt {
                let place = root.display();
                let own = Language::ALL.map(|language| format!("{place}/{}", language.id())).join(" and ");
                state.report(format!("{place}/{file} is ignored: prompts are in {own}"));
            }
        }
        for folder in &folders[..Language::ALL.len()] {
            for file in names_in(folder) {
                let name = file.strip_suffix(".md");
                if name.is_none_or(|name| !NAMES.contains(&name)) {
                    let near = nearest(name.unwrap_or(&file));
                    let place = folder.display();
                    state.report(format!("{place}/{file}: unknown prompt; did you mean `{near}.md`?"));
                }
            }
        }
    }

    /// The problems since the last call.
    pub fn problems(&self) -> Vec<String> {
        std::mem::take(&mut self.state().untold)
    }
}

impl FolderState {
    fn report(&mut self, problem: String) {
        if self.told.len() >= UNTOLD_MAX {
            self.told.clear();
        }
        if !self.told.insert(problem.clone()) {
            return;
        }
        tracing::warn!("{problem}");
        if self.untold.len() < UNTOLD_MAX {
            self.untold.push(problem);
        }
    }
}

fn stamp(path: &Path) -> Option<FileVersion> {
    let file = fs::metadata(path).ok().filter(|file| file.is_file())?;
    Some((file.modified().ok(), file.len()))
}

fn read(path: &Path, length: u64) -> Result<String, String> {
    if length > BYTES_MAX {
        return Err(format!(
            "the prompt has {length} bytes and at most {BYTES_MAX} are allowed; using the built-in prompt"
        ));
    }
    fs::read_to_string(path).map_err(|error| format!("cannot be read ({error}); using the built-in prompt"))
}

/// The files of a folder, sorted, without those of editors and operating systems.
fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> =
        names.filter(|name| !name.starts_with(['.', '#']) && !name.ends_with(['~', '#'])).collect();
    names.sort();
    names
}

fn nearest(name: &str) -> &'static str {
    let likeness = |known: &&&str| strsim::jaro_winkler(known, name);
    NAMES.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).expect("there are prompts")
}
