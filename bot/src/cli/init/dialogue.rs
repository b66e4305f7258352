//! Asks: on a terminal until the answer is right, elsewhere line by line.

use std::io::{BufRead as _, Write as _};

use anyhow::bail;

use super::answers::{Answers, INTERVALS, Models, PRESETS, usual_interval};
use super::words::Words;
use crate::language::Language;
use crate::models::providers::{self, PROVIDERS};

pub struct Dialogue {
    on_terminal: bool,
}

/// What is wrong with an answer.
type Wrong = &'static str;

impl Dialogue {
    pub fn new(on_terminal: bool) -> Dialogue {
        Dialogue { on_terminal }
    }

    pub fn ask(&self, language: Language) -> anyhow::Result<Answers> {
        let words = Words::of(language);
        let mut answers = Answers::usual(language);
        answers.name = self.text(words.name, &answers.name, |text| match text.is_empty() {
            true => Err(words.not_empty),
            false => Ok(text.to_owned()),
        })?;
        answers.language = self.text(words.language, answers.language, |text| {
            ["auto", "en", "ja"].into_iter().find(|known| *known == text).ok_or(words.not_language)
        })?;
        answers.preset = PRESETS[self.choice(words.preset, &words.presets, 0, words)?];
        answers.models = self.models(words)?;
        answers.persona = self.text(words.persona, "", |text| Ok(text.to_owned()))?;
        answers.group = self.text(words.group, "", |text| Ok(text.to_owned()))?;
        let address = answers.address.clone().unwrap_or_default();
        answers.address = self.text(words.address, &address, |text| match text {
            "-" => Ok(None),
            _ if is_address(text) => Ok(Some(text.to_owned())),
            _ => Err(words.not_address),
        })?;
        let usual = usual_interval(answers.preset);
        answers.interval_seconds = INTERVALS[self.choice(words.talkative, &words.intervals, usual, words)?];
        Ok(answers)
    }

    fn models(&self, words: &Words) -> anyhow::Result<Models> {
        let usual: Vec<_> = PROVIDERS.iter().filter_map(|row| Some((row, row.usual_models()?))).collect();
        let options: Vec<String> = std::iter::once(words.at_start.to_owned())
            .chain(usual.iter().map(|(row, (main, _))| format!("{}: {main} ({})", row.title, row.keys[0])))
            .collect();
        say(&format!("\n{}\n", words.models))?;
        list(&options)?;
        let chosen = |text: &str| match text.parse::<usize>() {
            Ok(1) => Ok(Models::AtStart),
            Ok(number) if (2..=options.len()).contains(&number) => {
                let (_, (main, judge)) = usual[number - 2].clone();
                Ok(Models::Chosen { main, judge })
            }
            Ok(_) => Err(words.not_model),
            Err(_) if text == providers::OFFLINE || providers::provider_of(text).is_some() => {
                Ok(Models::Chosen { main: text.into(), judge: text.into() })
            }
            Err(_) => Err(words.not_model),
        };
        self.text(words.number_or_model, "1", chosen)
    }

    fn choice(&self, question: &str, options: &[&str], usual: usize, words: &Words) -> anyhow::Result<usize> {
        say(&format!("\n{question}\n"))?;
        list(options)?;
        self.text(words.number, &(usual + 1).to_string(), |text| {
            let number = text.parse::<usize>().ok().filter(|number| (1..=options.len()).contains(number));
            number.map(|number| number - 1).ok_or(words.not_number)
        })
    }

    fn text<T>(&self, question: &str, usual: &str, read: impl Fn(&str) -> Result<T, Wrong>) -> anyhow::Result<T> {
        loop {
            say(&format!("{question} [{usual}]: "))?;
            let mut line = String::new();
            let ended = std::io::stdin().lock().read_line(&mut line)? == 0;
            if !self.on_terminal || ended {
                say("\n")?;
            }
            let given = line.trim();
            match read(if given.is_empty() { usual } else { given }) {
                Ok(answer) => return Ok(answer),
                Err(wrong) if self.on_terminal && !ended => say(&format!("{wrong}\n"))?,
                Err(wrong) => bail!("{question}: {given:?}: {wrong}"),
            }
        }
    }
}

fn say(text: &str) -> anyhow::Result<()> {
    crate::cli::print(text)?;
    Ok(std::io::stdout().flush()?)
}

fn list<T: AsRef<str>>(options: &[T]) -> anyhow::Result<()> {
    for (place, option) in options.iter().enumerate() {
        say(&format!("  {}  {}\n", place + 1, option.as_ref()))?;
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    let named = |(host, port): (&str, &str)| !host.is_empty() && !host.contains(':') && port.parse::<u16>().is_ok();
    text.parse::<std::net::SocketAddr>().is_ok() || text.rsplit_once(':').is_some_and(named)
}
