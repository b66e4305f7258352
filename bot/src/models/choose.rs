//! Chooses the models by the available keys if a person has not chosen.

use aizuchi_core::Policy;
use aizuchi_core::settings::{Layers, is_own_network};

use super::ask::address_of;
use super::local_server::LocalModel;
use super::providers::{OFFLINE, PROVIDERS, Variables, find};
use crate::config;

/// The chosen models, and how they were chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub main: String,
    pub judge: String,
    /// The server on this machine that was chosen because there was nothing else.
    pub local: Option<LocalModel>,
    /// One sentence for the person who starts the program.
    pub told: String,
}

impl ModelChoice {
    pub fn is_offline(&self) -> bool {
        self.main == OFFLINE && self.judge == OFFLINE
    }
}

/// Keeps what a person has chosen, and says which key it lacks. If nobody has chosen and the default lacks its key, it is
/// replaced: by the model a person chose for the other task, by one of a provider whose key is set, by `local` if a server
/// was found, or by the built-in model.
pub fn choose(
    layers: &mut Layers,
    environment: &dyn Fn(&str) -> Option<String>,
    local: Option<&LocalModel>,
) -> anyhow::Result<ModelChoice> {
    let policies = config::resolve(layers)?;
    let policy = policies.general();
    let variables = Variables::read(&policies, environment);
    let models = &policy.settings.models;
    let chosen = |key: &str| layers.sets_for_all(key);
    let (main_chosen, judge_chosen) = (chosen("models.main"), chosen("models.judge"));
    let named = [("models.main", &models.main, main_chosen), ("models.judge", &models.judge, judge_chosen)];
    for (key, model, _) in named.iter().filter(|(_, model, chosen)| *chosen && !model.is_empty()) {
        address_of(model, policy, &variables)
            .map_err(|what| config::mistake(layers, key, model, format!("{key}: {what}")))?;
    }

    suggest_address(layers, policy, &variables);
    let lacks = |model: &str| address_of(model, policy, &variables).is_err();
    let by_key = usual_by_key(policy, &variables);
    let own = |other: &str, other_chosen: bool| (other_chosen && !other.is_empty()).then(|| other.to_owned());
    let (main, judge) = (models.main.clone(), models.judge.clone());
    let mut choice = ModelChoice { main, judge, local: None, told: String::new() };
    if !main_chosen && lacks(&choice.main) {
        let key_holder = by_key.as_ref().map(|(main, _)| main.clone());
        choice.main = own(&models.judge, judge_chosen).or(key_holder).unwrap_or_else(|| OFFLINE.into());
        layers.suggest_model("models.main", &choice.main);
    }
    if choice.judge.is_empty() {
        choice.judge = choice.main.clone();
    } else if !judge_chosen && lacks(&choice.judge) {
        let key_holder = by_key.map(|(_, judge)| judge);
        choice.judge = own(&models.main, main_chosen).or(key_holder).unwrap_or_else(|| OFFLINE.into());
        layers.suggest_model("models.judge", &choice.judge);
    }
    if let Some(local) = local.filter(|_| choice.is_offline() && may_use_local_server(layers, policy)) {
        choice = use_local(local, layers, policy);
    }
    choice.told = describe(&choice);
    Ok(choice)
}

/// Whether a server on this machine may be used if there is no key: no model is chosen, and the settings do not forbid it.
pub(super) fn may_use_local_server(layers: &Layers, policy: &Policy) -> bool {
    let is_chosen = ["models.main", "models.judge"].iter().any(|key| layers.sets_for_all(key));
    policy.settings.models.local_server && !is_chosen
}

fn use_local(local: &LocalModel, layers: &mut Layers, policy: &Policy) -> ModelChoice {
    let name = local.full_name();
    layers.suggest_model("models.main", &name);
    if !policy.settings.models.judge.is_empty() {
        layers.suggest_model("models.judge", &name);
    }
    ModelChoice { main: name.clone(), judge: name, local: Some(local.clone()), told: String::new() }
}

/// A model on another network is not free: what determines the cost has to be in the settings, where a replay finds it.
fn suggest_address(layers: &mut Layers, policy: &Policy, variables: &Variables) {
    for row in PROVIDERS.iter().filter(|row| !row.needs_key && row.url_variable().is_some()) {
        let key = format!("providers.{}.url", row.name);
        let Ok(address) = find(&format!("{}/any", row.name), &policy.settings.providers, variables) else { continue };
        if !layers.sets(&key) && !is_own_network(&address.url) {
            layers.suggest_model(&key, &address.url);
        }
    }
}

/// The default models of the first provider with a key: the writer and the judge.
fn usual_by_key(policy: &Policy, variables: &Variables) -> Option<(String, String)> {
    PROVIDERS.iter().find_map(|row| {
        let usual = row.usual_models()?;
        let address = find(&usual.0, &policy.settings.providers, variables).ok()?;
        address.key.secret.is_some().then_some(usual)
    })
}

fn describe(choice: &ModelChoice) -> String {
    let ModelChoice { main, judge, local, .. } = choice;
    if let Some(local) = local {
        return format!("No key is set: using {local}.");
    }
    if choice.is_offline() {
        let keys: Vec<&str> = PROVIDERS.iter().filter(|row| row.needs_key).map(|row| row.keys[0]).collect();
        return format!(
            "No model is connected: it judges by simple rules and answers from templates. Set {} to connect one.",
            keys.join(" or ")
        );
    }
    if main == judge { format!("{main} judges and writes.") } else { format!("{judge} judges, {main} writes.") }
}

#[cfg(test)]
mod tests {
    use super::super::providers::tests::environment;
    use super::*;

    fn chosen(file: &str, variables: &[(&str, &str)]) -> Result<(String, String), String> {
        let mut layers = Layers::default();
        layers.add_file("aizuchi.toml", file);
        let choice = choose(&mut layers, &environment(variables), None).map_err(|error| error.to_string())?;
        let policies = config::resolve(&layers).unwrap();
        let policy = policies.general();
        assert_eq!(
            (policy.settings.models.main.as_str(), policy.judge_model()),
            (choice.main.as_str(), choice.judge.as_str()),
            "it reports what the settings say"
        );
        Ok((choice.main, choice.judge))
    }

    fn pair(main: &str, judge: &str) -> Result<(String, String), String> {
        Ok((main.into(), judge.into()))
    }

    const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "a");
    const GOOGLE: (&str, &str) = ("GOOGLE_API_KEY", "g");
    const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "o");

    #[test]
    fn nobody_chose_and_the_keys_decide() {
        assert_eq!(chosen("", &[]), pair("offline", "offline"));
        assert_eq!(chosen("", &[ANTHROPIC, GOOGLE]), pair("google/gemini-2.5-flash", "anthropic/claude-haiku-4-5"));
        assert_eq!(chosen("", &[ANTHROPIC]), pair("anthropic/claude-sonnet-4-5", "anthropic/claude-haiku-4-5"));
        assert_eq!(chosen("", &[GOOGLE]), pair("google/gemini-2.5-flash", "google/gemini-2.5-flash-lite"));
        assert_eq!(chosen("", &[OPENAI]), pair("openai/gpt-5-mini", "openai/gpt-5-nano"));
        assert_eq!(chosen("preset = \"sphene\"", &[OPENAI]), pair("openai/gpt-5-mini", "openai/gpt-5-mini"));
        assert_eq!(chosen("preset = \"kotonoha\"", &[]), pair("offline", "offline"));
    }

    #[test]
    fn what_a_person_chose_stays_and_serves_for_both() {
        let local = "[models]\nmain = \"ollama/llama3.2\"";
        assert_eq!(chosen(local, &[]), pair("ollama/llama3.2", "ollama/llama3.2"));
        assert_eq!(chosen(local, &[ANTHROPIC]), pair("ollama/llama3.2", "anthropic/claude-haiku-4-5"));
        assert_eq!(chosen("[models]\njudge = \"offline\"", &[GOOGLE]), pair("google/gemini-2.5-flash", "offline"));
        assert_eq!(
            chosen("[channel.\"a\".models]\nmain = \"ollama/x\"", &[]),
            pair("offline", "offline"),
            "what one channel has chosen says nothing about the others"
        );
    }

    #[test]
    fn what_is_asked_elsewhere_is_not_free() {
        use aizuchi_core::settings::PriceBasis;
        let basis = |variables: &[(&str, &str)]| {
            let mut layers = Layers::default();
            layers.add_file("aizuchi.toml", "[models]\nmain = \"ollama/llama3.2\"");
            choose(&mut layers, &environment(variables), None).unwrap();
            config::resolve(&layers).unwrap().general().settings.pricing("ollama/llama3.2").basis
        };
        assert_eq!(basis(&[]), PriceBasis::Home);
        assert_eq!(basis(&[("OLLAMA_HOST", "gpu-box")]), PriceBasis::Home);
        assert_eq!(basis(&[("OLLAMA_HOST", "https://ollama.com")]), PriceBasis::DearestOfAll);
    }

    #[test]
    fn a_chosen_model_without_its_key_is_told() {
        let told = chosen("[models]\nmain = \"openai/gpt-5\"", &[ANTHROPIC]).unwrap_err();
        assert_eq!(
            told,
            "aizuchi.toml:2: models.main: the model \"openai/gpt-5\" needs an API key of openai: set the environment variable OPENAI_API_KEY"
        );
        let told = chosen("[models]\njudge = \"opnai/gpt-5\"", &[]).unwrap_err();
        assert!(
            told.starts_with("aizuchi.toml:2: models.judge: ") && told.contains("did you mean \"openai\"?"),
            "{told}"
        );
    }

    #[test]
    fn a_stand_in_at_another_address_needs_no_key() {
        let here = [("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")];
        assert_eq!(chosen("[models]\nmain = \"openai/x\"", &here), pair("openai/x", "openai/x"));
    }
}
