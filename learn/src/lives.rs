//! The same logs lived through in several ways: as they are, and poorer, the way talk elsewhere looks.

use aizuchi_core::join;
use aizuchi_core::strands::{Lexicon, Models, Strands};
use aizuchi_core::trees::Trees;

use crate::boost::{Goal, Growth, Matrix, grow};
use crate::logs::Channel;
use crate::rows::{LinkRows, Rows, collect};
use crate::words::heard;

/// How much of each life a model is shown, compared with the talk as it is.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    pub wordless: f32,
    pub nameless: f32,
}

/// What is lived through.
pub struct Talk<'a> {
    channels: &'a [Channel],
    unnamed: Vec<Channel>,
}

pub struct Lives {
    pub known: Rows,
    /// As if no word were known: another language.
    pub wordless: Rows,
    /// And as if nobody were called by name: another custom.
    pub nameless: Rows,
}

impl<'a> Talk<'a> {
    pub fn of(channels: &'a [Channel]) -> Talk<'a> {
        Talk { channels, unnamed: channels.iter().map(without_names).collect() }
    }

    /// Lives through every channel with the models that are meant for it.
    pub fn live<'m>(&self, models: impl Fn(usize) -> &'m Models) -> Lives {
        let wordless: Vec<Models> = (0..self.channels.len()).map(|channel| without_words(models(channel))).collect();
        Lives {
            known: collect(self.channels, &models),
            wordless: collect(self.channels, |channel| &wordless[channel]),
            nameless: collect(&self.unnamed, |channel| &wordless[channel]),
        }
    }
}

impl Lives {
    pub fn all(&self) -> [&Rows; 3] {
        [&self.known, &self.wordless, &self.nameless]
    }

    fn shared(&self, shares: &Shares) -> [(&Rows, f32); 3] {
        [(&self.known, 1.0), (&self.wordless, shares.wordless), (&self.nameless, shares.nameless)]
    }

    pub fn grow_links(&self, shares: &Shares, growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
        let rows = LinkRows::of(&self.shared(shares), wanted);
        let goal = Goal::OneOf { begins: &rows.begins, target: &rows.target, share: &rows.share };
        grow(&rows.matrix, &goal, growth)
    }

    pub fn grow_join(&self, shares: &Shares, growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
        let mut matrix = Matrix::new(join::FEATURES.len());
        let (mut target, mut weight) = (Vec::new(), Vec::new());
        for row in (0..self.known.join.len()).filter(|row| wanted(self.known.join_channel[*row])) {
            for (rows, share) in self.shared(shares) {
                matrix.push(rows.join[row].iter().copied());
                target.push(rows.joined[row]);
                weight.push(share);
            }
        }
        grow(&matrix, &Goal::Whether { target: &target, weight: &weight }, growth)
    }
}

/// The same models in a language whose words they do not know.
fn without_words(models: &Models) -> Models {
    Models { lexicon: Lexicon::default(), ..models.clone() }
}

/// The same talk in a place where nobody calls anybody by name.
fn without_names(channel: &Channel) -> Channel {
    let (models, mut strands) = (Models::empty(), Strands::default());
    let mut channel = channel.clone();
    for said in &mut channel.said {
        strands.hear(&heard(said), &models);
        said.text = strands.body(&said.text, said.author).to_owned();
        said.name = String::new();
    }
    channel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::parse;

    #[test]
    fn names_are_taken_off_what_is_said() {
        let log = r#"{"ts": 1, "channel": "c", "author": "ann", "text": "how?"}
{"ts": 2, "channel": "c", "author": "ben", "text": "ann: like this"}"#;
        let channel = parse(log.as_bytes()).expect("it parses").remove(0);
        let texts: Vec<String> = without_names(&channel).said.into_iter().map(|said| said.name + &said.text).collect();
        assert_eq!(texts, ["how?", "like this"]);
    }
}
