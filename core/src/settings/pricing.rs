//! The price of a model that is not listed: free if it runs locally, otherwise that of the most expensive listed model.

use super::schema::Settings;
use super::value::{Price, WireFormat};

/// The price of a model, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pricing {
    pub price: Price,
    pub basis: PriceBasis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceBasis {
    /// The settings say so.
    Listed,
    /// It is built in, or runs on one's own machine.
    Home,
    /// Not listed: as the most expensive of its provider.
    DearestOfProvider,
    /// Not listed, nor is any of its provider: as the most expensive of all.
    DearestOfAll,
}

impl PriceBasis {
    pub fn is_estimate(self) -> bool {
        match self {
            PriceBasis::Listed | PriceBasis::Home => false,
            PriceBasis::DearestOfProvider | PriceBasis::DearestOfAll => true,
        }
    }
}

/// The built-in model.
const BUILT_IN: &str = "offline";
/// Embeddings from a folder are computed by the program itself.
const FOLDER: &str = "folder:";
/// Programs that run models on their own machine, whatever their name in the settings if they speak Ollama's format. A
/// proxy such as LiteLLM is none of them: others send the bill.
const HOME_PROVIDERS: [&str; 3] = ["ollama", "llamacpp", "lmstudio"];
/// Ollama's own name for models that run elsewhere.
const ELSEWHERE: &str = "cloud";
/// An embedding model without a provider is one of Google's.
const USUAL_EMBEDDER: &str = "google";

impl Settings {
    /// The price of a model, as `provider/model`. A listed price always applies, including zero.
    pub fn pricing(&self, model: &str) -> Pricing {
        if let Some(price) = self.prices.get(model) {
            return Pricing { price: *price, basis: PriceBasis::Listed };
        }
        if self.runs_at_home(model) {
            return Pricing { price: Price::default(), basis: PriceBasis::Home };
        }
        let provider = model.split_once('/').map_or("", |(provider, _)| provider);
        match self.dearest(|listed| listed.split_once('/').is_some_and(|(of, _)| of == provider)) {
            Some(price) => Pricing { price, basis: PriceBasis::DearestOfProvider },
            None => {
                let price = self.dearest(|_| true).unwrap_or_default();
                Pricing { price, basis: PriceBasis::DearestOfAll }
            }
        }
    }

    /// The highest input price and the highest output price. A model that is listed as free says nothing about others.
    fn dearest(&self, counts: impl Fn(&str) -> bool) -> Option<Price> {
        let listed = self.prices.iter().filter(|(model, _)| counts(model)).map(|(_, price)| *price);
        listed.filter(|price| price.input > 0.0 || price.output > 0.0).reduce(|dearest, price| Price {
            input: dearest.input.max(price.input),
            output: dearest.output.max(price.output),
            cached: None,
        })
    }

    fn runs_at_home(&self, model: &str) -> bool {
        if model == BUILT_IN || model.starts_with(FOLDER) {
            return true;
        }
        let Some((provider, name)) = model.split_once('/') else { return false };
        let set = self.providers.get(provider);
        let is_ollama = set.is_some_and(|set| set.format == Some(WireFormat::Ollama));
        let url = set.and_then(|set| set.url.as_deref());
        (HOME_PROVIDERS.contains(&provider) || is_ollama)
            && !name.ends_with(ELSEWHERE)
            && url.is_none_or(is_own_network)
    }

    /// The embedding model, as `provider/model`; `None` if a folder is used, so that no provider is called.
    pub fn embedding_model(&self) -> Option<String> {
        let named = self.models.embed.trim();
        let whole = |named: &str| named.contains('/').then(|| named.to_owned());
        (!named.starts_with(FOLDER)).then(|| whole(named).unwrap_or_else(|| format!("{USUAL_EMBEDDER}/{named}")))
    }
}

/// Whether an address is on this machine or in a private network.
pub fn is_own_network(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if let Some(literal) = host.strip_prefix('[') {
        let address = literal.split(']').next().unwrap_or_default();
        return address == "::1" || address.starts_with("fd") || address.starts_with("fe80:");
    }
    let host = host.split(':').next().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
    let parts: Vec<Option<u8>> = host.split('.').map(|part| part.parse().ok()).collect();
    match parts[..] {
        [Some(first), Some(second), Some(_), Some(_)] => {
            matches!((first, second), (127 | 10, _) | (192, 168) | (172, 16..=31) | (169, 254))
        }
        _ => !host.is_empty() && (!host.contains('.') || host.ends_with(".local") || host.ends_with(".localhost")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Layers;
    use super::*;
    use crate::Policies;

    fn policies(settings: &str) -> Policies {
        let mut layers = Layers::default();
        layers.add_file("test.toml", settings);
        layers.resolve(&|_| None).unwrap()
    }

    fn priced(settings: &str, model: &str) -> (f64, f64, PriceBasis) {
        let Pricing { price, basis } = policies(settings).general().settings.pricing(model);
        (price.input, price.output, basis)
    }

    #[test]
    fn what_nobody_listed_costs_as_much_as_the_dearest() {
        use PriceBasis::{DearestOfAll, DearestOfProvider, Home, Listed};
        assert_eq!(priced("", "google/gemini-2.5-flash-lite"), (0.1, 0.4, Listed));
        assert_eq!(priced("", "google/gemini-9"), (0.3, 2.5, DearestOfProvider));
        assert_eq!(priced("", "litellm/gpt-5"), (3.0, 15.0, DearestOfAll));
        assert_eq!(priced("", "nonsense"), (3.0, 15.0, DearestOfAll));
        for model in ["offline", "folder:/models/e5", "ollama/llama3.2", "llamacpp/x", "lmstudio/y"] {
            assert_eq!(priced("", model), (0.0, 0.0, Home), "{model}");
        }
        assert_eq!(priced("", "ollama/gpt-oss:120b-cloud").2, DearestOfAll);
        let elsewhere = "[providers]\nollama.url = \"https://ollama.com/v1/\"\nllamacpp.url = \"http://10.0.0.7:8080\"";
        assert_eq!(priced(elsewhere, "ollama/llama3.2").2, DearestOfAll);
        assert_eq!(priced(elsewhere, "llamacpp/x").2, Home);
        let own = "[providers]\nmine.url = \"http://127.0.0.1:8080\"\nbox.url = \"http://box:11434\"\nbox.format = \"ollama\"";
        assert_eq!(priced(own, "mine/x").2, DearestOfAll, "whatever listens there may pass it on");
        assert_eq!(priced(own, "box/x").2, Home);
        // One side may be dear and the other cheap: each counts by itself.
        let mixed = "[prices]\n\"mine/a\" = [9.0, 1.0]\n\"mine/b\" = [1.0, 7.0]\n\"mine/free\" = [0.0, 0.0]";
        assert_eq!(priced(mixed, "mine/c"), (9.0, 7.0, DearestOfProvider));
        assert_eq!(priced(mixed, "mine/free"), (0.0, 0.0, Listed));
        let free = "[prices]\n\"google/gemini-9\" = [0.0, 0.0]\n\"mine/free\" = [0.0, 0.0]";
        assert_eq!(priced(free, "google/gemini-9"), (0.0, 0.0, Listed));
        assert_eq!(priced(free, "mine/other").2, DearestOfAll, "what is free says nothing about the others");
    }

    #[test]
    fn settings_written_down_before_there_was_a_budget_over_all_rooms_are_read() {
        let mut written = serde_json::to_value(&policies("").general().settings).unwrap();
        let budget = written["budget"].as_object_mut().unwrap();
        budget.retain(|key, _| !key.starts_with("total_"));
        let read: Settings = serde_json::from_value(written).unwrap();
        assert_eq!(read, policies("").general().settings);
    }

    /// Such settings are the shell's now, and no longer in the journal.
    #[test]
    fn settings_written_down_with_a_section_of_the_shell_are_read() {
        let mut written = serde_json::to_value(&policies("").general().settings).unwrap();
        written["store"] =
            serde_json::json!({"folder": "data", "keep_days": 30, "deleted_hours": 24, "snapshot_records": 20000});
        assert_eq!(serde_json::from_value::<Settings>(written).unwrap(), policies("").general().settings);
    }

    #[test]
    fn an_embedding_model_has_a_provider() {
        let named = |name: &str| policies(&format!("[models]\nembed = {name:?}")).general().settings.embedding_model();
        assert_eq!(named("text-embedding-004").as_deref(), Some("google/text-embedding-004"));
        assert_eq!((named("ollama/nomic").as_deref(), named("folder:/m")), (Some("ollama/nomic"), None));
    }

    #[test]
    fn addresses_at_home_are_told_from_others() {
        for url in [
            "http://127.0.0.1:11434/v1/",
            "http://localhost:1234",
            "http://[::1]:8080/v1",
            "http://user:word@192.168.1.5/v1",
            "http://gpu-box:11434/",
            "https://gpu.local/",
            "http://172.31.0.1",
        ] {
            assert!(is_own_network(url), "{url}");
        }
        for url in ["https://ollama.com/v1/", "http://8.8.8.8/", "http://127.0.0.1.evil.com/", "http://172.32.0.1", ""]
        {
            assert!(!is_own_network(url), "{url}");
        }
    }
}
