//! The layers of the core: each module may use those that this list names, and no others.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

/// What each module may use, lowest first. An edge that nobody needs any more is to be taken out.
const MAY_USE: &[(&str, &[&str])] = &[
    ("trees", &[]),
    ("types", &[]),
    ("usage", &[]),
    ("settings", &["types"]),
    ("reminders", &["types"]),
    ("tools", &["reminders", "settings", "types"]),
    ("transcript", &["types", "usage"]),
    ("phrases", &["settings", "types"]),
    ("conversations", &["phrases", "trees", "types"]),
    ("judge", &["phrases", "settings", "transcript", "types"]),
    ("likelihood", &["conversations", "trees", "types"]),
    ("learnt", &["conversations", "likelihood", "trees", "types"]),
    ("policy", &["learnt", "phrases", "settings", "types"]),
    ("memory", &["conversations", "settings", "types"]),
    ("reply", &["policy", "types"]),
    ("input", &["likelihood", "memory", "policy", "reminders", "tools", "types", "usage"]),
    ("trace", &["likelihood", "settings", "tools", "types"]),
    ("effect", &["memory", "reminders", "settings", "tools", "trace", "transcript", "types", "usage"]),
    (
        "room",
        &[
            "conversations",
            "effect",
            "judge",
            "likelihood",
            "memory",
            "policy",
            "reminders",
            "settings",
            "tools",
            "trace",
            "transcript",
            "types",
            "usage",
        ],
    ),
    ("gates", &["policy", "room", "trace", "types"]),
    ("listen", &["phrases", "policy", "room", "settings", "trace", "types"]),
    ("points", &["phrases", "policy", "room", "settings", "types"]),
    ("decider", &["likelihood", "points", "policy", "room", "settings", "trace", "types"]),
    ("view", &["effect", "listen", "policy", "reminders", "room", "types"]),
    (
        "engine",
        &[
            "conversations",
            "decider",
            "effect",
            "gates",
            "input",
            "judge",
            "likelihood",
            "listen",
            "memory",
            "phrases",
            "policy",
            "reminders",
            "reply",
            "room",
            "settings",
            "tools",
            "trace",
            "types",
            "usage",
            "view",
        ],
    ),
    ("siblings", &["engine", "input", "likelihood", "trace", "types"]),
    ("total", &["engine", "input", "policy", "room", "types"]),
    (
        "sim",
        &["effect", "engine", "input", "judge", "memory", "policy", "settings", "siblings", "total", "types", "usage"],
    ),
];

/// Names at the root of the crate, each with the module it is of.
fn root_names(lib: &str) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for line in lib.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        let Some((module, rest)) = line.trim_end_matches(';').split_once("::") else { continue };
        for name in rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|name| !name.is_empty()) {
            names.insert(name.to_owned(), module.to_owned());
        }
    }
    names
}

/// The path of the module that a file under `core/src` is.
fn module_of(file: &str) -> Vec<String> {
    let path = file.trim_start_matches("core/src/").trim_end_matches(".rs").trim_end_matches("/mod");
    path.split('/').map(str::to_owned).collect()
}

/// Which module uses which, with the files in which it does.
fn edges(sources: &[(String, String)]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let lib = sources.iter().find(|(file, _)| file == "core/src/lib.rs").expect("the crate has a root");
    let root_names = root_names(&lib.1);
    let modules: BTreeSet<String> = sources.iter().map(|(file, _)| module_of(file)[0].clone()).collect();
    let mut edges = BTreeMap::<_, BTreeSet<String>>::new();
    for (file, text) in sources.iter().filter(|(file, _)| file != "core/src/lib.rs" && !file.ends_with("/tests.rs")) {
        let module = module_of(file);
        let named = paths::named(text, &module).unwrap_or_else(|what| panic!("{file} has {what}"));
        for path in named {
            let name = &path[0];
            let used = if modules.contains(name) { name } else { root_names.get(name).unwrap_or(name) };
            assert!(modules.contains(used), "{file} names {}, which is in no module", path.join("::"));
            if *used != module[0] {
                edges.entry((module[0].clone(), used.clone())).or_default().insert(file.clone());
            }
        }
    }
    edges
}

/// The modules by layer: each uses only those of earlier ones. `Err` names the modules that use each other in a circle.
fn layers(may_use: &[(&str, &[&str])]) -> Result<Vec<BTreeSet<String>>, BTreeSet<String>> {
    let mut left: BTreeMap<&str, &[&str]> = may_use.iter().copied().collect();
    let mut layers = Vec::new();
    while !left.is_empty() {
        let lowest = |used: &&[&str]| used.iter().all(|used| !left.contains_key(used));
        let layer: BTreeSet<String> =
            left.iter().filter(|(_, used)| lowest(used)).map(|(module, _)| (*module).to_owned()).collect();
        if layer.is_empty() {
            return Err(left.keys().map(|module| (*module).to_owned()).collect());
        }
        left.retain(|module, _| !layer.contains(*module));
        layers.push(layer);
    }
    Ok(layers)
}

/// The files of the engine: a flow goes from one stage to the next and never back, so they form layers too.
pub fn check_stages(sources: &[(String, String)]) {
    let of_engine = |file: &str| file.starts_with("core/src/engine/") && !file.ends_with("/tests.rs");
    let mut uses = BTreeMap::<String, BTreeSet<String>>::new();
    for (file, text) in sources.iter().filter(|(file, _)| of_engine(file)) {
        let module = module_of(file);
        let Some(stage) = module.get(1) else { continue };
        let named = paths::named(text, &module).unwrap_or_else(|what| panic!("{file} has {what}"));
        let used = named.into_iter().filter(|path| path[0] == "engine").filter_map(|path| path.get(1).cloned());
        uses.entry(stage.clone()).or_default().extend(used.filter(|used| used != stage));
    }
    let list: Vec<(&str, Vec<&str>)> =
        uses.iter().map(|(stage, used)| (stage.as_str(), used.iter().map(String::as_str).collect())).collect();
    let list: Vec<(&str, &[&str])> = list.iter().map(|(stage, used)| (*stage, used.as_slice())).collect();
    let layers = layers(&list).unwrap_or_else(|circle| panic!("these stages lead in a circle: {circle:?}"));
    print_layers("stages of the engine", &layers);
}

fn print_layers(what: &str, layers: &[BTreeSet<String>]) {
    println!("{what}, lowest first");
    for (number, layer) in layers.iter().enumerate() {
        println!("{number:2}  {}", layer.iter().cloned().collect::<Vec<_>>().join(", "));
    }
}

pub fn check(sources: &[(String, String)]) {
    let layers =
        layers(MAY_USE).unwrap_or_else(|circle| panic!("these modules use each other in a circle: {circle:?}"));
    print_layers("modules of the core", &layers);
    let edges = edges(sources);
    let listed: BTreeSet<(String, String)> = MAY_USE
        .iter()
        .flat_map(|(module, used)| used.iter().map(|used| ((*module).to_owned(), (*used).to_owned())))
        .collect();
    let mut wrong: Vec<String> = edges
        .iter()
        .filter(|(edge, _)| !listed.contains(edge))
        .map(|((module, used), files)| format!("{module} uses {used} in {files:?}, and may not"))
        .collect();
    let unused = listed.iter().filter(|edge| !edges.contains_key(edge));
    wrong
        .extend(unused.map(|(module, used)| format!("{module} may use {used}, and does not: take it out of the list")));
    let declared: BTreeSet<&str> = MAY_USE.iter().map(|(module, _)| *module).collect();
    let all: BTreeSet<String> = sources.iter().map(|(file, _)| module_of(file)[0].clone()).collect();
    wrong.extend(
        all.iter()
            .filter(|module| *module != "lib" && !declared.contains(module.as_str()))
            .map(|module| format!("{module} is in no layer")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_circle_is_found() {
    assert_eq!(layers(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]), Err(["a", "b"].map(str::to_owned).into()));
    assert_eq!(layers(&[("a", &["b"]), ("b", &[])]).map(|layers| layers.len()), Ok(2));
}
