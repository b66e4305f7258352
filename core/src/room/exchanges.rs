//! What people said to the bot and what it answered, if the buffer is not to contain both: it affects no decision, and is
//! kept for the writer of the next answer.

use serde::{Deserialize, Serialize};

use crate::types::{ClockShift, MessageId, Time};

/// Oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Exchanges(Vec<Exchange>);

/// A question, and the answer once people see it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// Who asked, by the key in the room's speakers.
    pub person: u64,
    pub name: Box<str>,
    pub question: ExchangedText,
    pub answer: Option<ExchangedText>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExchangedText {
    pub id: MessageId,
    pub at: Time,
    pub text: Box<str>,
}

/// How many exchanges are kept per place, over all people.
const EXCHANGES_MAX: usize = 256;

impl Exchanges {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Exchange> {
        self.0.iter()
    }

    pub(crate) fn of_question(&self, id: &MessageId) -> Option<&Exchange> {
        self.0.iter().find(|exchange| exchange.question.id == *id)
    }

    pub(crate) fn push(&mut self, exchange: Exchange) {
        if self.0.len() == EXCHANGES_MAX {
            self.0.remove(0);
        }
        self.0.push(exchange);
    }

    /// The question was answered; at most `turns` exchanges are kept per person.
    pub(crate) fn note_answer(&mut self, question: &MessageId, answer: &ExchangedText, turns: usize) {
        let Some(asked) = self.0.iter_mut().find(|exchange| exchange.question.id == *question) else { return };
        asked.answer = Some(answer.clone());
        let person = asked.person;
        let theirs = |exchange: &Exchange| exchange.person == person && exchange.answer.is_some();
        let mut over = self.0.iter().filter(|exchange| theirs(exchange)).count().saturating_sub(turns);
        self.0.retain(|exchange| {
            let goes = over > 0 && theirs(exchange);
            over -= usize::from(goes);
            !goes
        });
    }

    pub(crate) fn retain(&mut self, stays: impl FnMut(&Exchange) -> bool) {
        self.0.retain(stays);
    }

    /// A message of either side was edited, or deleted together with its exchange. Returns whether anything changed.
    pub(crate) fn change(&mut self, id: &str, text: Option<&str>) -> bool {
        let is_it = |said: &ExchangedText| said.id.as_str() == id;
        let before = self.0.len();
        let Some(text) = text else {
            self.0.retain(|exchange| !is_it(&exchange.question) && !exchange.answer.as_ref().is_some_and(is_it));
            return self.0.len() < before;
        };
        let said =
            self.0.iter_mut().flat_map(|exchange| [&mut exchange.question].into_iter().chain(&mut exchange.answer));
        let mut changed = false;
        for said in said.filter(|said| is_it(said) && &*said.text != text) {
            said.text = text.into();
            changed = true;
        }
        changed
    }

    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        for exchange in &mut self.0 {
            exchange.question.at = exchange.question.at.shifted(by);
            if let Some(answer) = &mut exchange.answer {
                answer.at = answer.at.shifted(by);
            }
        }
    }
}
