//! The people of an export.

use std::collections::HashMap;

use serde::Deserialize;

use crate::json::{Field, pieces, value};
use crate::log::Options;

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Profile<'a> {
    #[serde(borrow)]
    pub display_name: Field<'a>,
    #[serde(borrow)]
    pub real_name: Field<'a>,
    #[serde(borrow)]
    pub name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackUser<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    real_name: Field<'a>,
    #[serde(borrow)]
    is_bot: Field<'a>,
    #[serde(borrow)]
    profile: Field<'a, Profile<'a>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name people see.
    pub name: String,
    pub is_bot: bool,
    pub is_me: bool,
}

#[derive(Default)]
pub struct People(HashMap<String, Person>);

impl People {
    /// Adds a list of users; problems with an entry go to `bad`, with its position.
    pub fn add(&mut self, json: &[u8], options: &Options, bad: &mut Vec<(u64, String)>) {
        for (number, piece) in (1..).zip(pieces(json).pieces) {
            match user(piece, options) {
                Ok((id, person)) => _ = self.0.insert(id, person),
                Err(problem) => bad.push((number, problem)),
            }
        }
    }

    pub fn get(&self, id: &str) -> Option<&Person> {
        self.0.get(id)
    }
}

fn user(json: &[u8], options: &Options) -> Result<(String, Person), String> {
    let user: SlackUser<'_> = value(json)?.object("user")?;
    let id = user.id.needed("id")?.into_owned();
    let profile = if let Field::Object(profile) = user.profile { profile } else { Profile::default() };
    let names = [
        profile.display_name.text("profile.display_name")?,
        profile.real_name.text("profile.real_name")?,
        user.real_name.text("real_name")?,
        user.name.text("name")?,
    ];
    let mut names = names.into_iter().flatten().peekable();
    let name = names.peek().map_or_else(|| id.clone(), |name| name.clone().into_owned());
    let is_me = options.is_me(&id) || names.any(|name| options.is_me(&name));
    Ok((id, Person { name, is_bot: user.is_bot.flag("is_bot")?, is_me }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_goes_by_the_name_that_others_see() {
        let json = r#"[
            {"id": "U1", "name": "hanako", "real_name": "山田花子", "profile": {"display_name": "花子", "real_name": "山田花子"}},
            {"id": "U2", "name": "bob", "real_name": "Bob B.", "profile": {"display_name": ""}},
            {"id": "U3", "name": "carol"}, {"id": "U4", "is_bot": true},
            {"name": "nobody"}]"#;
        let mut people = People::default();
        let mut bad = Vec::new();
        let options = Options { me: vec!["bob".into()], ..Options::default() };
        people.add(json.as_bytes(), &options, &mut bad);
        let name = |id| people.get(id).unwrap().name.clone();
        assert_eq!([name("U1"), name("U2"), name("U3"), name("U4")], ["花子", "Bob B.", "carol", "U4"]);
        assert!(people.get("U2").unwrap().is_me && !people.get("U1").unwrap().is_me);
        assert!(people.get("U4").unwrap().is_bot);
        assert_eq!(bad, [(5, "no `id`".into())]);
    }
}
