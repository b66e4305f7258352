//! Lists the languages there are: a folder of `locales/` is one, with the prompts of the same name in
//! `prompts/` and the conversations that have it in their name in `samples/`.
//! A new language is a new folder; no line of code names it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// It comes first, and stands in for what another language does not have.
const FIRST: &str = "en";

pub fn list() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let (locales, prompts, samples) = (root.join("locales"), root.join("prompts"), root.join("samples"));
    let mut languages: Vec<String> =
        entries(&locales).into_iter().filter(|path| path.is_dir()).map(|path| stem(&path)).collect();
    languages.sort_by_key(|id| (id != FIRST, id.clone()));
    assert_eq!(languages.first().map(String::as_str), Some(FIRST), "there is no locales/{FIRST}");
    let mut code = String::from("pub(super) const LOCALES: &[Locale] = &[\n");
    for id in &languages {
        writeln!(code, "Locale {{ id: {id:?},").expect("a string takes every text");
        list_files("files", &locales.join(id), "ftl", &mut code);
        list_files("prompts", &prompts.join(id), "md", &mut code);
        list_samples(id, &samples, &mut code);
        code.push_str("},\n");
    }
    code.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("locales.rs");
    fs::write(out, code).expect("the output folder can be written");
}

/// Names and texts of the files of a folder, compiled in.
fn list_files(field: &str, folder: &Path, extension: &str, code: &mut String) {
    writeln!(code, "{field}: &[").expect("a string takes every text");
    let files = if folder.is_dir() { entries(folder) } else { Vec::new() };
    for path in files.iter().filter(|path| path.extension().is_some_and(|found| found == extension)) {
        println!("cargo:rerun-if-changed={}", path.display());
        writeln!(code, "({:?}, include_str!({:?})),", stem(path), path).expect("a string takes every text");
    }
    code.push_str("],\n");
}

/// Its sample conversations: those with its id in their name, named without it.
fn list_samples(id: &str, folder: &Path, code: &mut String) {
    writeln!(code, "samples: &[").expect("a string takes every text");
    for path in entries(folder) {
        let name = path.file_name().expect("a listed file has a name").to_string_lossy().into_owned();
        if name.split('.').any(|part| part == id) {
            println!("cargo:rerun-if-changed={}", path.display());
            let name = name.split('.').filter(|part| *part != id).collect::<Vec<_>>().join(".");
            writeln!(code, "({name:?}, include_str!({path:?})),").expect("a string takes every text");
        }
    }
    code.push_str("],\n");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a listed file has a name").to_string_lossy().into_owned()
}
