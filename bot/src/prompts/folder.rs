//! The user's own prompts: read when they are used, and again when they have changed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::built_in::NAMES;
use crate::language::Language;

pub struct PromptFolder {
    /// None where there are no prompts but ours.
    root: Option<PathBuf>,
    state: Mutex<FolderState>,
}

#[derive(Default)]
struct FolderState {
    files: HashMap<(Language, &'static str), CachedFile>,
    /// When the folders last changed, as of the last look at what is in them.
    listed: Option<Vec<Option<SystemTime>>>,
    /// Everything that was wrong, each told once.
    told: HashSet<String>,
    untold: Vec<String>,
}

/// A file as it was when it was last read.
#[derive(Clone)]
struct CachedFile {
    stamp: Option<FileVersion>,
    text: Option<Arc<str>>,
}

/// A file that still has both is taken to be the same.
type FileVersion = (Option<SystemTime>, u64);

/// The longest file that is taken for a prompt.
const BYTES_MAX: u64 = 256 * 1024;
/// What nobody asks for is not kept for ever.
const UNTOLD_MAX: usize = 100;

impl PromptFolder {
    pub fn new(root: PathBuf) -> PromptFolder {
        let root = Some(root).filter(|root| !root.as_os_str().is_empty());
        PromptFolder { root, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, FolderState> {
        // Nothing is left half done when somebody panics with it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn path(&self, language: Language, name: &str) -> Option<PathBuf> {
        Some(self.root.as_ref()?.join(language.id()).join(format!("{name}.md")))
    }

    /// The user's text of a prompt, as it is now; `None` where ours is to be used.
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

    /// This text is of no use until it changes: ours takes its place.
    pub fn give_up(&self, language: Language, name: &'static str, problem: String) {
        let mut state = self.state();
        if let Some(found) = state.files.get_mut(&(language, name)) {
            found.text = None;
        }
        state.report(problem);
    }

    /// Looks for files that nobody will ever read, if anything in the folders has changed.
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

    /// What was wrong since the last call.
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

/// The files of a folder, in order; those of editors and systems aside.
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
