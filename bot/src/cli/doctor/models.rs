//! The models: who writes and who judges, whether there is a key, and whether they answer.

use std::time::Duration;

use aizuchi_core::Policies;

use super::Patient;
use super::check::Check;
use crate::cli::providers::{self, KNOWN, OFFLINE};
use crate::ports::Reply;

const PART: &str = "model";

/// One real call.
pub trait Trial: Sync {
    /// What it answered and how long it took, or why it did not.
    fn call(&self, model: &str, policies: &Policies) -> Result<(Reply, Duration), String>;
}

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let models = &patient.settings.models;
    let judge = patient.policies.general().judge_model();
    if judge == models.main {
        return vec![look(patient, "writes and judges", "models.main", judge)];
    }
    vec![look(patient, "writes", "models.main", &models.main), look(patient, "judges", "models.judge", judge)]
}

fn look(patient: &Patient<'_>, does: &str, key: &str, model: &str) -> Check {
    if model == OFFLINE {
        return Check::ok(PART, format!("{model} {does}: built in, modest, without a network"));
    }
    let Some(name) = providers::provider_of(model) else {
        let expected = "expected provider/model, such as anthropic/claude-haiku-4-5, or offline";
        return Check::fail(PART, format!("`{key}` is {model:?}"), expected);
    };
    let (known, own) = (providers::find(name), patient.settings.providers.get(name));
    if known.is_none() && own.is_none_or(|own| own.url.is_none()) {
        let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        let mend = format!("set providers.{name}.url, or use one of {}", names.join(", "));
        return Check::fail(PART, format!("nobody knows where {model} ({does}) is asked"), mend);
    }
    let variables: Vec<&str> = match own.and_then(|own| own.key.as_deref()) {
        Some(variable) => vec![variable],
        // Whoever stands in for a provider at another address may well want no key.
        None if own.is_some_and(|own| own.url.is_some()) => Vec::new(),
        None => known.map_or(&[][..], |known| known.keys).to_vec(),
    };
    let held = variables.iter().find(|name| (patient.environment)(name).is_some());
    match (variables.first(), held) {
        (Some(variable), None) if patient.layers.sets(key) => {
            Check::fail(PART, format!("there is no key for {model} ({does})"), format!("put it into {variable}"))
        }
        (Some(variable), None) => Check::warn(
            PART,
            format!("there is no key for {model}, so that the built-in model {does}"),
            format!("put a key into {variable}, or choose another model with {key}"),
        ),
        (_, held) => call(patient, does, key, model, held.copied()),
    }
}

fn call(patient: &Patient<'_>, does: &str, key: &str, model: &str, held: Option<&str>) -> Check {
    let with = held.map_or_else(|| "no key needed".to_owned(), |variable| format!("key in {variable}"));
    let Some(trial) = patient.trial else {
        return Check::ok(PART, format!("{model} {does}: {with}, not called"));
    };
    match trial.call(model, patient.policies) {
        Ok((_, took)) => Check::ok(PART, format!("{model} {does}: {with}, answered in {} ms", took.as_millis())),
        Err(what) => {
            let mend = match held {
                Some(variable) => format!("look at the key in {variable}, the name in {key} and the network"),
                None => format!("look whether it is running, and at the name in {key}"),
            };
            Check::fail(PART, format!("{model} ({does}) did not answer: {what}"), mend)
        }
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::settings::Layers;

    use super::super::check::Level;
    use super::*;

    struct Answering(Result<(), String>);

    impl Trial for Answering {
        fn call(&self, _: &str, _: &Policies) -> Result<(Reply, Duration), String> {
            self.0.clone().map(|()| (Reply::default(), Duration::from_millis(812)))
        }
    }

    fn told(settings: &[&str], keys: &[&str], trial: Option<&dyn Trial>) -> Vec<(Level, String)> {
        let mut layers = Layers::default();
        settings.iter().for_each(|assignment| layers.add_assignment(assignment));
        let policies = crate::config::resolve(&layers).unwrap();
        let patient = Patient {
            layers: &layers,
            policies: &policies,
            settings: &policies.general().settings,
            environment: &|name| keys.contains(&name).then(|| "secret".to_owned()),
            trial,
        };
        let line = |check: Check| (check.level, format!("{} {}", check.told, check.mend.unwrap_or_default()));
        check(&patient).into_iter().map(line).collect()
    }

    fn one(settings: &[&str], keys: &[&str], trial: Option<&dyn Trial>) -> (Level, String) {
        told(&[settings, &["models.judge="]].concat(), keys, trial).remove(0)
    }

    #[test]
    fn without_a_key_it_says_which_variable() {
        let both = told(&[], &[], None);
        assert_eq!(both.len(), 2);
        assert!(both[0].0 == Level::Warn && both[0].1.contains("GEMINI_API_KEY") && both[0].1.contains("built-in"));
        assert!(both[1].1.contains("ANTHROPIC_API_KEY"));
        let chosen = one(&["models.main=openai/gpt-5-mini"], &[], None);
        assert!(chosen.0 == Level::Fail && chosen.1.contains("put it into OPENAI_API_KEY"), "{chosen:?}");
        let own = ["models.main=mine/x", "providers.mine.url=http://127.0.0.1:1/", "providers.mine.key=MINE"];
        assert!(one(&own, &[], None).1.contains("put it into MINE"));
        assert_eq!(one(&own[..2], &[], None).0, Level::Ok);
    }

    #[test]
    fn one_real_call_tells_whether_it_answers() {
        let google = ["models.main=google/gemini-2.5-flash"];
        let fine = one(&google, &["GOOGLE_API_KEY"], Some(&Answering(Ok(()))));
        assert_eq!(
            (fine.0, fine.1.trim()),
            (Level::Ok, "google/gemini-2.5-flash writes and judges: key in GOOGLE_API_KEY, answered in 812 ms")
        );
        let broken = one(&google, &["GEMINI_API_KEY"], Some(&Answering(Err("401: wrong key".into()))));
        assert!(broken.0 == Level::Fail && broken.1.contains("401: wrong key") && broken.1.contains("GEMINI_API_KEY"));
        assert!(!broken.1.contains("secret"));
        let local = one(&["models.main=ollama/qwen3"], &[], Some(&Answering(Err("refused".into()))));
        assert!(local.1.contains("whether it is running"), "{local:?}");
    }

    #[test]
    fn names_that_can_not_be_are_told() {
        assert_eq!(one(&["models.main=offline"], &[], None).0, Level::Ok);
        assert!(one(&["models.main=gpt"], &[], None).1.contains("expected provider/model"));
        let unknown = one(&["models.main=mine/x"], &[], None);
        assert!(unknown.0 == Level::Fail && unknown.1.contains("providers.mine.url"), "{unknown:?}");
    }
}
