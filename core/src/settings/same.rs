//! Ids of one person on several platforms: "discord:1 = slack:T1/U1".

use serde::{Deserialize, Serialize};
use toml::Value;

use super::value::Setting;

/// One list of ids for each person; the first id is the main one. No id is in two lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SamePeople(pub Vec<Vec<String>>);

const RIGHT: &str = r#"a list of ids of one person, such as ["discord:80351110224678912 = slack:T0123/U0456"]"#;

impl SamePeople {
    /// What is allowed instead, if an id belongs to a platform that is not among these.
    pub fn check_platforms(&self, platforms: &[&str]) -> Result<(), String> {
        let is_known = |id: &str| id.split_once(':').is_some_and(|(platform, _)| platforms.contains(&platform));
        let Some(ids) = self.0.iter().find(|ids| !ids.iter().all(|id| is_known(id))) else { return Ok(()) };
        let odd = ids.iter().find(|id| !is_known(id)).expect("one of them is not known");
        let (last, others) = platforms.split_last().expect("there are platforms");
        let known = format!("{} or {last}", others.join(", "));
        Err(format!("{RIGHT} (the platform of {odd:?} in {:?} must be {known})", ids.join(" = ")))
    }
}

impl Setting for SamePeople {
    fn read(value: &Value) -> Result<SamePeople, String> {
        let mut people: Vec<Vec<String>> = Vec::new();
        for entry in Vec::<String>::read(value).map_err(|_| RIGHT)? {
            let ids: Vec<String> = entry.split('=').map(|id| id.trim().to_owned()).collect();
            if ids.len() < 2 {
                return Err(format!("{RIGHT} ({entry:?} has only one id)"));
            }
            if let Some(odd) = ids.iter().find(|id| !is_id(id)) {
                return Err(format!("{RIGHT} ({odd:?} in {entry:?} is not platform:id)"));
            }
            let is_known =
                |index: usize| people.iter().flatten().chain(&ids[..index]).any(|known| *known == ids[index]);
            if let Some(index) = (0..ids.len()).find(|index| is_known(*index)) {
                return Err(format!("{RIGHT}, each id once ({:?} is there twice)", ids[index]));
            }
            people.push(ids);
        }
        Ok(SamePeople(people))
    }
}

fn is_id(id: &str) -> bool {
    let parts = id.split_once(':');
    parts.is_some_and(|(platform, own)| !platform.is_empty() && !own.is_empty()) && !id.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entries: &[&str]) -> Result<SamePeople, String> {
        SamePeople::read(&Value::from(entries.to_vec()))
    }

    #[test]
    fn ids_are_read_in_their_order() {
        let people = read(&["discord:1 = slack:T1/U1=web:x", "discord:2 = web:y"]).unwrap();
        assert_eq!(people.0, [vec!["discord:1", "slack:T1/U1", "web:x"], vec!["discord:2", "web:y"]]);
        assert_eq!(read(&[]), Ok(SamePeople::default()));
    }

    #[test]
    fn what_is_no_pair_of_ids_is_refused_with_what_is_wrong() {
        for (odd, why) in [
            ("discord:1", "has only one id"),
            ("", "has only one id"),
            ("discord:1 =", "is not platform:id"),
            ("discord:1 = mia", "\"mia\" in \"discord:1 = mia\" is not platform:id"),
            ("discord:1 slack:2 = web:x", "is not platform:id"),
            ("discord:1 = discord:1", "\"discord:1\" is there twice"),
            ("discord:9 = web:a", "\"discord:9\" is there twice"),
        ] {
            let told = read(&["discord:9 = slack:T1/U9", odd]).unwrap_err();
            assert!(told.contains("such as [\"discord:") && told.contains(why), "{odd}: {told}");
        }
        assert_eq!(SamePeople::read(&Value::from("discord:1 = web:x")), Err(RIGHT.to_owned()));
    }

    #[test]
    fn an_id_is_of_a_platform_that_there_is() {
        let people = read(&["discord:1 = web:x", "foo:1 = bar:2"]).unwrap();
        assert_eq!(people.check_platforms(&["bar", "discord", "foo", "web"]), Ok(()));
        let told = people.check_platforms(&["bar", "discord", "web"]).unwrap_err();
        assert!(
            told.ends_with("(the platform of \"foo:1\" in \"foo:1 = bar:2\" must be bar, discord or web)"),
            "{told}"
        );
    }
}
