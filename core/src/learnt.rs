//! All learnt models together: the built-in ones, or those adapted to a room and read from a file.
//!
//! The file is a text: a line with the version, a few lines about where it comes from, the sections `[links]`, `[join]`,
//! `[turn]` and `[usual]`, and a last line with the hash of what is above it. A missing section is the built-in one, and so
//! are the words. The hash is the identity of a model: a journal contains it, and not the model.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use crate::conversations::{LinkModel, pairs};
use crate::likelihood::{FEATURES, JoinModel, TurnModel, steps, turn};
use crate::trees::{Feature, Trees};
use crate::types::stable_hash;

/// The first line of a file of this version.
const HEADER: &str = "aizuchi model 1";
const HASH: &str = "hash ";

#[derive(Clone, Debug)]
pub struct LearntModels {
    pub link: LinkModel,
    pub join: JoinModel,
    pub turn: TurnModel,
    /// Absent for the built-in ones.
    pub file: Option<ModelFile>,
}

/// Information about the file that models were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFile {
    pub hash: Box<str>,
    /// When it was written, according to the file itself.
    pub date: Box<str>,
    /// The whole text.
    pub text: Box<str>,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadModel {
    pub line: usize,
    pub problem: String,
}

impl fmt::Display for BadModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.problem)
    }
}

static BUILT_IN: LazyLock<Arc<LearntModels>> = LazyLock::new(|| {
    let (link, join, turn) = (LinkModel::built_in(), JoinModel::built_in(), TurnModel::built_in());
    Arc::new(LearntModels { link: link.clone(), join: join.clone(), turn: turn.clone(), file: None })
});

impl LearntModels {
    pub fn built_in() -> Arc<LearntModels> {
        BUILT_IN.clone()
    }

    /// Parses what [`write`] wrote.
    pub fn parse(text: &str) -> Result<LearntModels, BadModel> {
        let bad = |line: usize, problem: String| BadModel { line, problem };
        let first = text.lines().next().unwrap_or_default();
        if first != HEADER {
            return Err(bad(1, format!("the first line must be {HEADER:?}, got {:?}", shortened(first))));
        }
        let lines = text.lines().count();
        let body = text.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
        let (body, last) = text.split_at(body);
        let stated = last.trim_end().strip_prefix(HASH);
        let stated = stated.ok_or_else(|| bad(lines, "the file ends early: no hash in its last line".to_owned()))?;
        let hash = hash_of(body);
        if stated != hash {
            return Err(bad(lines, format!("the file was changed or is damaged: its hash is {hash}, not {stated}")));
        }
        let mut sections = Sections::default();
        for (number, line) in body.lines().enumerate().skip(1) {
            sections.take_line(line).map_err(|problem| bad(number + 1, problem))?;
        }
        let file = ModelFile { hash: hash.into(), date: sections.date.clone(), text: text.into() };
        sections.finish(file).map_err(|problem| bad(lines, problem))
    }

    /// The hash of the file; absent for the built-in ones.
    pub fn hash(&self) -> Option<&str> {
        self.file.as_ref().map(|file| &*file.hash)
    }
}

fn hash_of(text: &str) -> String {
    format!("{:016x}", stable_hash(0, text))
}

fn shortened(line: &str) -> String {
    line.chars().take(40).collect()
}

/// The contents of a file, as far as they differ from the built-in models.
#[derive(Clone, Debug, Default)]
pub struct OwnModels<'a> {
    /// When it was learnt.
    pub date: &'a str,
    /// The source, in a few words.
    pub source: &'a str,
    pub links: Option<&'a Trees>,
    pub join: Option<&'a Trees>,
    pub turn: Option<&'a Trees>,
    pub usual: Option<&'a [f32; steps::STEPS]>,
}

/// The text of a file.
pub fn write(own: &OwnModels<'_>) -> String {
    let source: String = own.source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut text = format!("{HEADER}\ndate {}\nsource {source}\n", own.date);
    let trees: [(&str, Option<&Trees>, &[Feature]); 3] =
        [("links", own.links, &pairs::FEATURES), ("join", own.join, &FEATURES), ("turn", own.turn, &turn::FEATURES)];
    for (name, trees, features) in trees {
        if let Some(trees) = trees {
            text += &format!("[{name}]\n{}", trees.write(features));
        }
    }
    if let Some(usual) = own.usual {
        text += &format!("[usual]\n{}", steps::write(usual));
    }
    let hash = hash_of(&text);
    text + HASH + &hash + "\n"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Head,
    Links,
    Join,
    Turn,
    Usual,
}

/// The sections that were read so far.
struct Sections {
    part: Part,
    date: Box<str>,
    links: Option<Trees>,
    join: Option<Trees>,
    turn: Option<Trees>,
    usual: Option<String>,
}

impl Default for Sections {
    fn default() -> Sections {
        Sections { part: Part::Head, date: "".into(), links: None, join: None, turn: None, usual: None }
    }
}

impl Sections {
    fn take_line(&mut self, line: &str) -> Result<(), String> {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return self.begin(name);
        }
        match self.part {
            Part::Head => {
                if let Some(date) = line.strip_prefix("date ") {
                    self.date = date.into();
                }
                Ok(())
            }
            Part::Links => self.links.get_or_insert_with(Trees::empty).take_line(line, &pairs::FEATURES),
            Part::Join => self.join.get_or_insert_with(Trees::empty).take_line(line, &FEATURES),
            Part::Turn => self.turn.get_or_insert_with(Trees::empty).take_line(line, &turn::FEATURES),
            Part::Usual => {
                let number = line.parse::<f32>().ok().filter(|number| number.is_finite());
                number.ok_or_else(|| format!("{:?} is not a number", shortened(line)))?;
                let usual = self.usual.get_or_insert_default();
                usual.push_str(line);
                usual.push('\n');
                Ok(())
            }
        }
    }

    fn begin(&mut self, name: &str) -> Result<(), String> {
        self.part = match name {
            "links" => Part::Links,
            "join" => Part::Join,
            "turn" => Part::Turn,
            "usual" => Part::Usual,
            other => return Err(format!("no section is called {:?}", shortened(other))),
        };
        Ok(())
    }

    fn finish(self, file: ModelFile) -> Result<LearntModels, String> {
        if self.part == Part::Head {
            return Err("a model has at least one of the sections [links], [join], [turn] and [usual]".to_owned());
        }
        let mut models = LearntModels { file: Some(file), ..(**BUILT_IN).clone() };
        if let Some(links) = self.links {
            models.link.trees = links.into();
        }
        if let Some(join) = self.join {
            models.join.trees = join.into();
        }
        if let Some(turn) = self.turn {
            models.turn.trees = turn.into();
        }
        if let Some(usual) = self.usual {
            models.join.usual = steps::parse(&usual).map_err(|problem| format!("[usual]: {problem}"))?;
        }
        Ok(models)
    }
}

/// Models that were read from files, by their hash.
#[derive(Clone, Debug, Default)]
pub struct ModelShelf(BTreeMap<Box<str>, Arc<LearntModels>>);

impl ModelShelf {
    pub fn add(&mut self, models: Arc<LearntModels>) {
        if let Some(hash) = models.hash() {
            self.0.insert(hash.into(), models.clone());
        }
    }

    pub fn add_all(&mut self, other: &ModelShelf) {
        self.0.extend(other.0.iter().map(|(hash, models)| (hash.clone(), models.clone())));
    }

    pub fn get(&self, hash: &str) -> Option<&Arc<LearntModels>> {
        self.0.get(hash)
    }

    pub fn all(&self) -> impl Iterator<Item = &Arc<LearntModels>> {
        self.0.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join() -> Trees {
        Trees { bias: -1234, ..Trees::clone(&JoinModel::built_in().trees) }
    }

    fn text() -> String {
        let usual = [31.2; steps::STEPS];
        write(&OwnModels {
            date: "2024-05-06",
            source: "a\nlog",
            join: Some(&join()),
            usual: Some(&usual),
            ..OwnModels::default()
        })
    }

    /// The same with a line changed, under the hash that fits.
    fn forged(from: &str, to: &str) -> Result<LearntModels, String> {
        let text = text().replacen(from, to, 1);
        let body = &text[..text.rfind("hash ").expect("it has a hash")];
        LearntModels::parse(&format!("{body}hash {}\n", hash_of(body))).map_err(|bad| bad.to_string())
    }

    #[test]
    fn what_is_its_own_comes_back_and_the_rest_is_built_in() {
        let models = LearntModels::parse(&text()).expect("it parses");
        assert_eq!(*models.join.trees, join());
        assert_eq!(models.join.usual, [31.2; steps::STEPS]);
        assert_eq!(*models.link.trees, *LinkModel::built_in().trees);
        let file = models.file.expect("it is of a file");
        assert_eq!((&*file.date, &*file.text, file.hash.len()), ("2024-05-06", &*text(), 16));
        assert!(LearntModels::built_in().hash().is_none());
    }

    #[test]
    fn a_damaged_file_is_told_with_its_line() {
        let text = text();
        let lines = text.lines().count();
        let told = |text: &str| LearntModels::parse(text).map(|_| ()).expect_err("refused").to_string();
        assert_eq!(told("tree"), r#"1: the first line must be "aizuchi model 1", got "tree""#);
        let changed = told(&text.replacen("bias -1234", "bias -1235", 1));
        assert!(
            changed.starts_with(&format!("{lines}: the file was changed or is damaged: its hash is ")),
            "{changed}"
        );
        let cut = text.split_inclusive('\n').take(6).collect::<String>();
        assert_eq!(told(&cut), "6: the file ends early: no hash in its last line");
        assert_eq!(told(HEADER), "1: the file ends early: no hash in its last line");
    }

    #[test]
    fn what_does_not_exist_here_is_told_by_its_name() {
        assert_eq!(forged("bias -1234", "bias x").map(|_| ()), Err("5: no number".to_owned()));
        assert_eq!(forged("[join]", "[joy]").map(|_| ()), Err(r#"4: no section is called "joy""#.to_owned()));
        let told = forged("bias -1234", "tree mood>3 : 1 2 : aa").map(|_| ()).expect_err("refused");
        assert_eq!(told, "5: no feature is called mood");
        for number in ["much", "NaN", "inf"] {
            let told = forged("31.2", number).map(|_| ()).expect_err("refused");
            assert!(told.contains("is not a number"), "{told}");
        }
        let empty = write(&OwnModels { date: "2024-05-06", source: "nothing", ..OwnModels::default() });
        let told = LearntModels::parse(&empty).map(|_| ()).expect_err("refused").to_string();
        assert!(told.starts_with("4: a model has at least one of the sections"), "{told}");
    }
}
