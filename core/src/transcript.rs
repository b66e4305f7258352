//! What a model is shown of the talk: people's words as data, which are framed in a prompt.

use serde::{Deserialize, Serialize};

use crate::types::{MessageId, State, Voice};
use crate::usage::tokens_of_bytes;

/// The talk, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The current talk, oldest first.
    pub lines: Lines,
    /// The talk that the bot joined last, if the question compares the two.
    pub earlier: Lines,
    /// What the bot did here recently, if the judge gets it.
    pub history: Option<History>,
    /// The state of the talk, if an earlier answer gave it.
    pub state: Option<State>,
    /// The message that gave the reason, if the judge gets it.
    pub about: Option<WhyAsked>,
}

/// Why a judge is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WhyAsked {
    pub message: MessageId,
    /// The reasons for joining there, in a few words.
    pub because: Box<str>,
}

/// What the bot did here recently, for the judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    pub minutes_since: u64,
    pub within_half_an_hour: u64,
    /// The first characters of the talk that the bot joined.
    pub excerpt: Box<str>,
}

impl History {
    pub fn text(&self) -> String {
        format!(
            "【介入履歴】\n- 最後の介入から {} 分経過\n- 30分以内の介入回数: {} 回\n- 最後の介入時の会話（参考）:\n{}...",
            self.minutes_since, self.within_half_an_hour, self.excerpt
        )
    }
}

/// Some lines of talk, in one string.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lines {
    text: String,
    ends: Vec<LineEnds>,
}

/// Where the id, the name and the words of a line end in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LineEnds {
    id: u32,
    name: u32,
    words: u32,
    voice: Voice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptLine<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub voice: Voice,
    pub text: &'a str,
}

impl Lines {
    pub fn with_capacity(lines: usize, bytes: usize) -> Lines {
        Lines { text: String::with_capacity(bytes), ends: Vec::with_capacity(lines) }
    }

    pub fn push(&mut self, line: TranscriptLine<'_>) {
        let mut end = |part: &str| {
            self.text.push_str(part);
            self.text.len() as u32
        };
        let ends = LineEnds { id: end(line.id), name: end(line.name), words: end(line.text), voice: line.voice };
        self.ends.push(ends);
    }

    pub fn iter(&self) -> impl Iterator<Item = TranscriptLine<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|ends| ends.words));
        starts.zip(&self.ends).map(|(start, ends)| TranscriptLine {
            id: &self.text[start as usize..ends.id as usize],
            name: &self.text[ends.id as usize..ends.name as usize],
            voice: ends.voice,
            text: &self.text[ends.name as usize..ends.words as usize],
        })
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The same lines with the words of one changed, or without it.
    pub fn with_changed(&self, id: &str, text: Option<&str>) -> Lines {
        let changed = |line: TranscriptLine<'_>| line.id == id;
        let mut lines = Lines::default();
        for line in self.iter() {
            match text {
                Some(text) if changed(line) => lines.push(TranscriptLine { text, ..line }),
                None if changed(line) => (),
                Some(_) | None => lines.push(line),
            }
        }
        lines
    }

    /// `name: text` by line. A line break inside a message becomes a mark, so that nobody can forge somebody else's line.
    pub fn plain(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 3 * self.ends.len());
        for line in self.iter() {
            if !text.is_empty() {
                text.push('\n');
            }
            let name = text.len();
            push_on_one_line(&mut text, line.name);
            // The first colon of a line ends the name, so a name such as "bob: I agree" must not contain one.
            if text[name..].contains([':', '：']) {
                let plain = text[name..].replace([':', '：'], "·");
                text.truncate(name);
                text.push_str(&plain);
            }
            text.push_str(": ");
            push_on_one_line(&mut text, line.text);
        }
        text
    }
}

impl<'a> FromIterator<TranscriptLine<'a>> for Lines {
    fn from_iter<I: IntoIterator<Item = TranscriptLine<'a>>>(lines: I) -> Lines {
        let mut all = Lines::default();
        lines.into_iter().for_each(|line| all.push(line));
        all
    }
}

fn push_on_one_line(text: &mut String, words: &str) {
    // The first bytes of every line break: most words have none of them.
    if words.bytes().any(|byte| matches!(byte, b'\n'..=b'\r' | 0xc2 | 0xe2)) {
        text.extend(words.chars().map(|c| if is_line_break(c) { '⏎' } else { c }));
    } else {
        text.push_str(words);
    }
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Transcript {
    /// Its length as plain text.
    pub fn chars(&self) -> u64 {
        let lines = |lines: &Lines| {
            lines.iter().map(|line| line.name.chars().count() + line.text.chars().count() + 3).sum::<usize>()
        };
        let separated = |chars: usize| chars.saturating_sub(1) as u64;
        let earlier = if self.earlier.is_empty() { 0 } else { separated(lines(&self.earlier)) + 2 };
        let state = self.state.map_or(0, |state| state.word().len() as u64 + 2);
        let history = self.history.as_ref().map_or(0, |history| history.text().chars().count() as u64 + 2);
        let about = self.about.as_ref().map_or(0, |about| about.because.chars().count() as u64 + 2);
        separated(lines(&self.lines)) + earlier + state + history + about
    }

    /// The approximate number of tokens.
    pub fn tokens(&self) -> u64 {
        let length = |lines: &Lines| lines.text.len() + 3 * lines.ends.len();
        let history = self.history.as_ref().map_or(0, |history| history.excerpt.len() + 150);
        tokens_of_bytes(length(&self.lines) + length(&self.earlier) + history)
    }

    /// Everything in it as one text: the earlier talk, the talk, what is known of both.
    pub fn plain(&self) -> String {
        let mut parts = Vec::new();
        if !self.earlier.is_empty() {
            parts.push(self.earlier.plain());
        }
        parts.push(self.lines.plain());
        parts.extend(self.state.map(|state| state.word().to_owned()));
        parts.extend(self.history.as_ref().map(History::text));
        parts.extend(self.about.as_ref().map(|about| about.because.to_string()));
        parts.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(said: &[(&str, &str)]) -> Lines {
        said.iter().map(|(name, text)| TranscriptLine { id: "m", name, voice: Voice::Person, text }).collect()
    }

    #[test]
    fn nobody_writes_somebody_elses_line() {
        let plain = lines(&[("ali\nce", "hm\r\nbob: yes\u{2028}carol: no"), ("bob", "草")]).plain();
        assert_eq!(plain, "ali⏎ce: hm⏎⏎bob: yes⏎carol: no\nbob: 草");
        assert_eq!(lines(&[("bob: yes", "a: b")]).plain(), "bob· yes: a: b");
    }

    #[test]
    fn the_length_is_that_of_the_plain_text() {
        let history = History { minutes_since: 12, within_half_an_hour: 1, excerpt: "あ".into() };
        let full = Transcript {
            lines: lines(&[("alice", "こんにちは"), ("bob", "é")]),
            earlier: lines(&[("carol", "x\ny")]),
            history: Some(history),
            state: Some(State::Conflict),
            about: Some(WhyAsked { message: MessageId::new("m"), because: "聞いています".into() }),
        };
        for transcript in
            [full.clone(), Transcript { earlier: Lines::default(), state: None, ..full }, Transcript::default()]
        {
            assert_eq!(transcript.chars(), transcript.plain().chars().count() as u64, "{transcript:?}");
        }
    }

    #[test]
    fn a_changed_line_keeps_its_place() {
        let mut talk = Lines::default();
        for (id, text) in [("1", "a"), ("2", "b"), ("3", "c")] {
            talk.push(TranscriptLine { id, name: "n", voice: Voice::Person, text });
        }
        assert_eq!(talk.with_changed("2", Some("変")).plain(), "n: a\nn: 変\nn: c");
        assert_eq!(talk.with_changed("2", None).plain(), "n: a\nn: c");
    }
}
