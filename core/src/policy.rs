//! Settings resolved for a room, with what is prepared once: name and keyword finders, prices, local time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::learnt::{LearntModels, ModelShelf};
use crate::phrases::{Finder, NameUse, Notice, name_use};
use crate::settings::{JudgeStyle, Layers, MatchStyle, Price, Pricing, Problem, Resolved, Settings, of_room};
use crate::types::{Span, Zone};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug)]
pub struct Policy {
    pub settings: Settings,
    pub zone: Zone,
    /// The learnt models.
    pub models: Arc<LearntModels>,
    /// What is detected in every text.
    pub(crate) notice: Notice,
    pub(crate) names: BotNames,
    /// Keywords with a space inside, which may span two messages.
    pub(crate) spanning_keywords: Option<Finder>,
}

impl Policy {
    fn new(settings: Settings, zone: Zone, models: Arc<LearntModels>) -> Policy {
        let style = settings.address.name_match;
        let keywords: Vec<&str> = settings.score.keywords.iter().map(String::as_str).collect();
        let spanning: Vec<&str> = keywords.iter().copied().filter(|keyword| keyword.contains(' ')).collect();
        let spans = style == MatchStyle::Substring && !spanning.is_empty();
        Policy {
            names: BotNames::new(&settings),
            notice: Notice::new(&settings),
            spanning_keywords: spans.then(|| Finder::new(&spanning, style)),
            settings,
            zone,
            models,
        }
    }

    /// Whether a text may call the bot by its name, if that counts.
    pub fn is_called_in(&self, text: &str) -> bool {
        self.names.are_called_in(text)
    }

    /// How the bot's name is used in a text, if that counts; a substring match always calls.
    pub(crate) fn name_use(&self, text: &str, for_another: bool) -> Option<NameUse> {
        self.names.used_in(text, for_another)
    }

    /// How long a message is part of the talk that the score and the gates look at; `None` as long as it is in the buffer.
    pub fn talk_life(&self) -> Option<Span> {
        let minutes = self.settings.listen.buffer_minutes;
        (minutes > 0).then(|| Span::minutes(minutes.into()))
    }

    /// How long a message stays in the buffer, where judge and writer read it; `None` until newer ones replace it.
    pub fn buffer_life(&self) -> Option<Span> {
        let read = Span::minutes(60 * u64::from(self.settings.listen.read_hours));
        self.talk_life().map(|life| life.max(read))
    }

    pub fn judge_model(&self) -> &str {
        self.or_main(&self.settings.models.judge)
    }

    pub fn summary_model(&self) -> &str {
        self.or_main(&self.settings.models.summarize)
    }

    pub fn reflection_model(&self) -> &str {
        self.or_main(&self.settings.models.reflect)
    }

    /// The model for embeddings; `None` if there is none.
    pub fn embedding_model(&self) -> Option<String> {
        let memory = &self.settings.memory;
        self.settings.embedding_model().filter(|_| memory.enabled && memory.vectors)
    }

    fn or_main<'a>(&'a self, model: &'a str) -> &'a str {
        if model.is_empty() { &self.settings.models.main } else { model }
    }

    /// The price of a model; see [`Settings::pricing`].
    pub fn price(&self, model: &str) -> Price {
        self.settings.pricing(model).price
    }

    /// Whether a model is asked about what is neither clearly silent nor clearly addressed.
    pub fn asks_a_model(&self) -> bool {
        self.settings.judge.style != JudgeStyle::None
            && (self.settings.score.ask_between || !self.settings.score.enabled)
    }
}

/// The names of the bot, and whether they call it.
#[derive(Clone, Debug)]
pub struct BotNames {
    pub(crate) finder: Finder,
    /// `None` if a name in a text does not count.
    style: Option<MatchStyle>,
}

impl BotNames {
    pub fn new(settings: &Settings) -> BotNames {
        let bot = &settings.bot;
        let mut names: Vec<&str> = std::iter::once(&bot.name).chain(&bot.aliases).map(String::as_str).collect();
        // The product's name in Japanese, where nobody gave it another one.
        if settings.score.learned && bot.aliases.is_empty() && bot.name.eq_ignore_ascii_case("aizuchi") {
            names.push("相槌");
        }
        let style = settings.address.name_match;
        BotNames { finder: Finder::new(&names, style), style: settings.address.name.then_some(style) }
    }

    /// Whether a text may call the bot by one of them, if that counts.
    pub fn are_called_in(&self, text: &str) -> bool {
        self.used_in(text, false).is_some_and(|used| used != NameUse::InPassing)
    }

    fn used_in(&self, text: &str, for_another: bool) -> Option<NameUse> {
        match self.style? {
            MatchStyle::Word => name_use(text, &self.finder, for_another),
            MatchStyle::Substring => self.finder.is_in(text).then_some(NameUse::Called),
        }
    }
}

impl Layers {
    /// The checked policies of all rooms. `zones` knows time zones by name.
    pub fn resolve(&self, zones: &dyn Fn(&str) -> Option<Zone>) -> Result<Policies, Vec<Problem>> {
        let Resolved { general: (settings, zone), channels } = self.settings(zones)?;
        Ok(Policies::new((settings, zone), channels, BTreeMap::new(), ModelShelf::default()))
    }
}

/// The policy of every room: the general one, and the channels that have their own.
#[derive(Clone, Debug)]
pub struct Policies {
    general: Policy,
    channels: BTreeMap<String, Policy>,
    /// The hash of each model file that a room uses.
    files: BTreeMap<String, String>,
    /// The models of these files, and others that records may refer to.
    shelf: ModelShelf,
}

/// Policies as they are stored. A model is stored as its hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredPolicies {
    general: (Settings, Zone),
    channels: BTreeMap<String, (Settings, Zone)>,
    /// The hash of each model file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
    /// The models, while they are not stored yet.
    #[serde(skip)]
    shelf: ModelShelf,
}

impl PartialEq for StoredPolicies {
    fn eq(&self, other: &StoredPolicies) -> bool {
        (&self.general, &self.channels, &self.files) == (&other.general, &other.channels, &other.files)
    }
}

impl StoredPolicies {
    /// The number of engines the rooms are distributed over.
    pub fn shards(&self) -> usize {
        self.general.0.runtime.shards as usize
    }

    /// For a program that continues with its current engines.
    pub fn with_shards(mut self, shards: usize) -> StoredPolicies {
        let shards = u32::try_from(shards).expect("the number of shards is a setting");
        let channels = self.channels.values_mut();
        std::iter::once(&mut self.general).chain(channels).for_each(|(settings, _)| settings.runtime.shards = shards);
        self
    }

    /// The policies, with the models that the others know.
    pub fn known_to(mut self, known: &Policies) -> Policies {
        self.shelf.add_all(&known.shelf);
        self.into()
    }

    /// Files whose models these policies do not know, each with the requested hash.
    pub fn models_unknown_to(&self, known: &Policies) -> Vec<(&str, &str)> {
        let unknown = |hash: &str| self.shelf.get(hash).or(known.shelf.get(hash)).is_none();
        let files = self.files.iter().map(|(file, hash)| (file.as_str(), hash.as_str()));
        files.filter(|(_, hash)| unknown(hash)).collect()
    }
}

/// An unknown model is replaced by the built-in one.
impl From<StoredPolicies> for Policies {
    fn from(stated: StoredPolicies) -> Policies {
        Policies::new(stated.general, stated.channels, stated.files, stated.shelf)
    }
}

impl Policies {
    /// As a journal stores them: what the engine decides by, without the shell's settings.
    pub fn stated(&self) -> StoredPolicies {
        let plain = |policy: &Policy| (policy.settings.clone(), policy.zone.clone());
        let channels = self.channels.iter().map(|(name, policy)| (name.clone(), plain(policy))).collect();
        let (files, shelf) = (self.files.clone(), self.shelf.clone());
        StoredPolicies { general: plain(&self.general), channels, files, shelf }
    }

    fn new(
        general: (Settings, Zone),
        channels: BTreeMap<String, (Settings, Zone)>,
        files: BTreeMap<String, String>,
        shelf: ModelShelf,
    ) -> Policies {
        let policy = |(settings, zone): (Settings, Zone)| {
            let of_file = files.get(&settings.score.model_file).and_then(|hash| shelf.get(hash));
            let models = of_file.cloned().unwrap_or_else(LearntModels::built_in);
            Policy::new(settings, zone, models)
        };
        let channels = channels.into_iter().map(|(name, own)| (name, policy(own))).collect();
        Policies { general: policy(general), channels, files, shelf }
    }

    /// The files with models that rooms have, each once.
    pub fn model_files(&self) -> BTreeSet<&str> {
        self.all().map(|policy| policy.settings.score.model_file.as_str()).filter(|file| !file.is_empty()).collect()
    }

    /// With the models of these files.
    pub fn with_models(self, models: impl IntoIterator<Item = (String, Arc<LearntModels>)>) -> Policies {
        let mut stated = self.stated();
        for (file, models) in models {
            if let Some(hash) = models.hash() {
                stated.files.insert(file, hash.to_owned());
            }
            stated.shelf.add(models);
        }
        stated.into()
    }

    /// With additional models, for records that refer to them.
    pub fn knowing(mut self, models: impl IntoIterator<Item = Arc<LearntModels>>) -> Policies {
        models.into_iter().for_each(|models| self.shelf.add(models));
        self
    }

    /// For talk in which nobody hears the bot: what people say there is no comment on its words.
    pub fn unheard(mut self) -> Policies {
        let all = std::iter::once(&mut self.general).chain(self.channels.values_mut());
        all.for_each(|policy| policy.settings.effect.feedback = false);
        self
    }

    /// A preset as it is, for tests and tools.
    pub fn preset(name: &str) -> Result<Policies, Vec<Problem>> {
        let mut layers = Layers::default();
        layers.add_assignment(&format!("preset={name}"));
        layers.resolve(&|_| None)
    }

    pub fn general(&self) -> &Policy {
        &self.general
    }

    /// The general one first.
    pub fn all(&self) -> impl Iterator<Item = &Policy> {
        std::iter::once(&self.general).chain(self.channels.values())
    }

    /// Every model that may be called, with its price, without duplicates.
    pub fn priced_models(&self) -> Vec<(String, Pricing)> {
        let mut priced: Vec<(String, Pricing)> = Vec::new();
        for policy in self.all() {
            let memory = &policy.settings.memory;
            let wanted = |wanted: bool, model: &str| (memory.enabled && wanted).then(|| model.to_owned());
            let models = [
                Some(policy.settings.models.main.clone()),
                policy.asks_a_model().then(|| policy.judge_model().to_owned()),
                wanted(memory.channel_context, policy.summary_model()),
                wanted(memory.reflection, policy.reflection_model()),
                policy.embedding_model(),
            ];
            for model in models.into_iter().flatten() {
                if priced.iter().all(|(known, _)| *known != model) {
                    let pricing = policy.settings.pricing(&model);
                    priced.push((model, pricing));
                }
            }
        }
        priced
    }

    pub fn for_room(&self, room: &str) -> &Policy {
        of_room(&self.channels, room).unwrap_or(&self.general)
    }
}
