//! Asks the questions: on a terminal until the answer is valid, otherwise line by line.

use std::io::{BufRead as _, Write as _};

use anyhow::bail;

use super::answers::{AUTO, INTERVALS, InitAnswers, ModelAnswer, PRESETS, USUAL_INTERVAL};
use crate::language::{Language, LocalizedMessage, message};
use crate::models::providers::{self, PROVIDERS};

pub struct Dialogue {
    on_terminal: bool,
    language: Language,
}

/// What is wrong with an answer.
type InvalidAnswer = LocalizedMessage;

impl Dialogue {
    pub fn new(on_terminal: bool, language: Language) -> Dialogue {
        Dialogue { on_terminal, language }
    }

    pub fn ask(&self) -> anyhow::Result<InitAnswers> {
        let mut answers = InitAnswers::usual(self.language);
        answers.name = self.text(&message!("init-name"), &answers.name, |text| match text.is_empty() {
            true => Err(message!("init-not-empty")),
            false => Ok(text.to_owned()),
        })?;
        let question = message!("init-language", languages = Language::listed());
        answers.language = self.text(&question, answers.language, |text| {
            let known = Language::from_id(text).map(Language::id).or((text == AUTO).then_some(AUTO));
            known.ok_or_else(|| message!("init-not-language", languages = Language::listed()))
        })?;
        answers.preset = PRESETS[self.choice(&message!("init-preset"), &PRESETS.map(preset), 0)?];
        answers.models = self.models()?;
        answers.persona = self.text(&message!("init-persona"), "", |text| Ok(text.to_owned()))?;
        answers.group = self.text(&message!("init-group"), "", |text| Ok(text.to_owned()))?;
        let address = answers.address.clone().unwrap_or_default();
        answers.address = self.text(&message!("init-address"), &address, |text| match text {
            "-" => Ok(None),
            _ if is_address(text) => Ok(Some(text.to_owned())),
            _ => Err(message!("init-not-address")),
        })?;
        let (question, intervals) = (message!("init-talkative"), INTERVALS.map(interval));
        answers.interval_seconds = INTERVALS[self.choice(&question, &intervals, USUAL_INTERVAL)?];
        Ok(answers)
    }

    fn models(&self) -> anyhow::Result<ModelAnswer> {
        let usual: Vec<_> = PROVIDERS.iter().filter_map(|row| Some((row, row.usual_models()?))).collect();
        let options: Vec<String> = std::iter::once(self.language.text("init-at-start"))
            .chain(usual.iter().map(|(row, (main, _))| format!("{}: {main} ({})", row.title, row.keys[0])))
            .collect();
        print(&format!("\n{}\n", self.language.text("init-models")))?;
        list(&options)?;
        let wrong = || message!("init-not-model");
        let chosen = |text: &str| match text.parse::<usize>() {
            Ok(1) => Ok(ModelAnswer::AtStart),
            Ok(number) if (2..=options.len()).contains(&number) => {
                let (_, (main, judge)) = usual[number - 2].clone();
                Ok(ModelAnswer::Chosen { main, judge })
            }
            Ok(_) => Err(wrong()),
            Err(_) if text == providers::OFFLINE || providers::provider_of(text).is_some() => {
                Ok(ModelAnswer::Chosen { main: text.into(), judge: text.into() })
            }
            Err(_) => Err(wrong()),
        };
        self.text(&message!("init-number-or-model"), "1", chosen)
    }

    fn choice(&self, question: &LocalizedMessage, options: &[LocalizedMessage], usual: usize) -> anyhow::Result<usize> {
        print(&format!("\n{}\n", question.say(self.language)))?;
        list(&options.iter().map(|option| option.say(self.language)).collect::<Vec<_>>())?;
        self.text(&message!("init-number"), &(usual + 1).to_string(), |text| {
            let number = text.parse::<usize>().ok().filter(|number| (1..=options.len()).contains(number));
            number.map(|number| number - 1).ok_or_else(|| message!("init-not-number"))
        })
    }

    fn text<T>(
        &self,
        question: &LocalizedMessage,
        usual: &str,
        read: impl Fn(&str) -> Result<T, InvalidAnswer>,
    ) -> anyhow::Result<T> {
        let question = question.say(self.language);
        loop {
            print(&format!("{question} [{usual}]: "))?;
            let mut line = String::new();
            let ended = std::io::stdin().lock().read_line(&mut line)? == 0;
            if !self.on_terminal || ended {
                print("\n")?;
            }
            let given = line.trim();
            match read(if given.is_empty() { usual } else { given }) {
                Ok(answer) => return Ok(answer),
                Err(wrong) if self.on_terminal && !ended => print(&format!("{}\n", wrong.say(self.language)))?,
                Err(wrong) => bail!("{question}: {given:?}: {}", wrong.say(self.language)),
            }
        }
    }
}

fn preset(name: &str) -> LocalizedMessage {
    message!(format!("init-preset-{name}"))
}

fn interval(seconds: Option<u32>) -> LocalizedMessage {
    match seconds {
        Some(1800) => message!("init-interval-half-hour"),
        Some(300) => message!("init-interval-five-minutes"),
        Some(60) => message!("init-interval-minute"),
        Some(_) => message!("init-interval-whenever"),
        None => message!("init-interval-usual"),
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    crate::cli::print(text)?;
    Ok(std::io::stdout().flush()?)
}

fn list<T: AsRef<str>>(options: &[T]) -> anyhow::Result<()> {
    for (index, option) in options.iter().enumerate() {
        print(&format!("  {}  {}\n", index + 1, option.as_ref()))?;
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    let named = |(host, port): (&str, &str)| !host.is_empty() && !host.contains(':') && port.parse::<u16>().is_ok();
    text.parse::<std::net::SocketAddr>().is_ok() || text.rsplit_once(':').is_some_and(named)
}
