//! Names in languages that put spaces between words: English first, with some words of German, French and Spanish.

use super::NameUse::{self, Called, InPassing, Unclear};
use super::latin_words::*;
use super::occurrence::{Occurrence, SEPARATORS, begins_with_version};

/// A word in lower case, or a punctuation mark.
type Token = String;

pub(super) fn judge(occurrence: &Occurrence<'_>) -> NameUse {
    let (before, after) = (tokens(occurrence.before), tokens(occurrence.after));
    if occurrence.after.starts_with(['\'', '’']) || after.first().is_some_and(|first| first == ")") {
        return InPassing;
    }
    let clause = NameClause { before: &before, after: &after, occurrence };
    let lead = clause.lead();
    if clause.is_listed()
        || clause.is_apposition()
        || clause.is_reported()
        || clause.is_introduced()
        || clause.is_given()
    {
        InPassing
    } else if lead.is_empty() || lead.iter().all(|word| is_in(word, OPENERS) || is_in(word, GREETINGS)) {
        clause.judge_head(lead.iter().any(|word| is_in(word, GREETINGS)))
    } else if after.first().is_none_or(|first| is_sign(first)) {
        clause.judge_end(lead)
    } else {
        judge_middle(lead, &after)
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let plain = text.to_lowercase().replace('’', "'");
    let mut tokens: Vec<Token> = Vec::new();
    let mut word = String::new();
    for c in plain.chars().chain([' ']) {
        let joins = c.is_alphanumeric() || c == '\'' || (c == '-' && !word.is_empty()) || c == '_' || c == '&';
        if joins {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            let dash = word.ends_with('-');
            tokens.push(word.trim_end_matches('-').trim_matches('\'').to_owned());
            tokens.extend(dash.then(|| "-".to_owned()));
            word.clear();
        }
        if SEPARATORS.contains(c) || "()[]/".contains(c) {
            tokens.push(c.to_string());
        }
    }
    tokens.retain(|token| !token.is_empty());
    tokens
}

fn is_sign(token: &str) -> bool {
    !token.contains(char::is_alphanumeric) && token != "&"
}

fn is_in(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// A sentence with the name removed.
struct NameClause<'a> {
    before: &'a [Token],
    after: &'a [Token],
    occurrence: &'a Occurrence<'a>,
}

impl NameClause<'_> {
    fn asks(&self) -> bool {
        matches!(self.occurrence.end, Some('?' | '？'))
    }

    /// What follows the name and the punctuation after it.
    fn after_name(&self) -> &str {
        self.occurrence.after.trim_start_matches(|c: char| c.is_whitespace() || SEPARATORS.contains(c))
    }

    fn speaks_to_somebody(&self) -> bool {
        self.after.iter().any(|word| is_in(word, SECOND_PERSON) || is_in(word, FIRST_PERSON))
    }

    /// The words between the last punctuation mark and the name.
    fn lead(&self) -> &[Token] {
        let start = self.before.iter().rposition(|token| is_sign(token)).map_or(0, |at| at + 1);
        &self.before[start..]
    }

    /// One of several names: "sphene, aizuchi and others", "x, y, aizuchi".
    fn is_listed(&self) -> bool {
        let Some((last, earlier)) = self.before.split_last() else { return false };
        if last != "," && last != "、" {
            return false;
        }
        let start = earlier.iter().rposition(|token| is_sign(token)).map_or(0, |at| at + 1);
        let part = &earlier[start..];
        let known = |word: &Token| {
            let lists = [OPENERS, GREETINGS, SECOND_PERSON, IMPERATIVES, SAFE_ENDS, QUESTION_WORDS];
            lists.iter().any(|list| is_in(word, list))
        };
        let is_name = (1..=2).contains(&part.len()) && !part.iter().any(known);
        let goes_on = match self.after {
            [] => start > 0,
            [first, ..] if is_in(first, "and or & und et y oder ou") => true,
            [first, second, ..] => is_sign(first) && is_in(second, "and or &") && self.after.len() <= 4,
            _ => false,
        };
        is_name && goes_on || self.after.first().is_some_and(|first| is_in(first, "and or")) && start > 0 && is_name
    }

    /// Refers to what was said just before: "my bot, aizuchi, is broken".
    fn is_apposition(&self) -> bool {
        let Some((last, earlier)) = self.before.split_last() else { return false };
        let start = earlier.iter().rposition(|token| is_sign(token)).map_or(0, |at| at + 1);
        let points = |word: &Token| is_in(word, ARTICLES) || is_in(word, "my our your this that these those");
        // A single word, as in "no, aizuchi, that is wrong", is not such a noun.
        let named = earlier.len() > start + 1 && earlier.get(start).is_some_and(points);
        let goes_on = matches!(self.after, [comma, verb, ..] if comma == "," && is_third_person(verb));
        last == "," && named && goes_on && !self.asks()
    }

    /// Introduced by what it is: "meet our new bot, aizuchi".
    fn is_introduced(&self) -> bool {
        const KINDS: &str =
            "bot robot assistant helper member colleague friend newcomer addition mascot companion teammate";
        let Some((last, earlier)) = self.before.split_last() else { return false };
        let start = earlier.iter().rposition(|token| is_sign(token)).map_or(0, |at| at + 1);
        let part = &earlier[start..];
        let points = |word: &Token| is_in(word, "my our your the this a another new newest");
        let is_kind = part.iter().rev().take(2).any(|word| is_in(word, KINDS));
        last == "," && self.after.is_empty() && is_kind && part.iter().any(points) && !self.asks()
    }

    /// What somebody named: "I named it aizuchi".
    fn is_given(&self) -> bool {
        const NAMING: &str = "name named naming call called calling christened dubbed";
        let lead = self.lead();
        let naming = lead.iter().rposition(|word| is_in(word, NAMING));
        self.after.is_empty() && naming.is_some_and(|at| lead.len() - at <= 4 && lead.len() - at >= 2)
    }

    /// A quotation: "bob said: aizuchi, what …", "quote from bob: aizuchi, what …".
    fn is_reported(&self) -> bool {
        let [first, .., colon] = self.before else { return false };
        let reports = self.before.iter().rev().nth(1).is_some_and(|word| is_in(word, REPORTS));
        matches!(colon.as_str(), ":" | "：") && (reports || is_in(first, "quote quotes quoted quoting"))
    }

    /// The clause begins with the name, perhaps after a greeting.
    fn judge_head(&self, greets: bool) -> NameUse {
        let alone = self.before.is_empty() && !self.occurrence.has_more;
        if !self.asks() && !self.speaks_to_somebody() && begins_with_version(self.after_name()) {
            return InPassing;
        }
        let Some((first, rest)) = self.after.split_first() else {
            return match self.before.last().map(String::as_str) {
                Some(":" | "(" | "/" | "[" | "-") => InPassing,
                None if alone && self.occurrence.end == Some('.') => Unclear,
                // "Who did that? aizuchi" may answer what was asked.
                None if self.occurrence.may_answer && self.occurrence.end.is_none_or(|end| end == '.') => Unclear,
                _ => Called,
            };
        };
        if is_sign(first) {
            return self.judge_set_off(first, rest);
        }
        self.judge_words(greets)
    }

    /// A punctuation mark follows the name.
    fn judge_set_off(&self, sign: &str, rest: &[Token]) -> NameUse {
        let next = rest.first().map_or("", String::as_str);
        let comma = rest.iter().position(|token| token == ",");
        let third_after = |at: usize| rest.get(at + 1).is_some_and(|word| is_third_person(word));
        let apposition = is_in(next, ARTICLES) && comma.is_some_and(third_after);
        let plural = rest.iter().take(6).any(|word| is_in(word, "are were both"))
            && rest.iter().take(4).any(|word| is_in(word, "and &"))
            && !rest.iter().any(|word| is_in(word, SECOND_PERSON));
        let to_it = self.asks() || rest.iter().any(|word| is_in(word, SECOND_PERSON));
        let in_brackets = rest.iter().skip(1).take(3).position(|token| token == ",").map(|at| at + 1);
        let aside = is_in(next, ADVERBS) && in_brackets.is_some_and(|at| rest.len() > at + 1) && !to_it;
        let defines = is_in(next, "a an the") && !self.asks() && !self.speaks_to_somebody();
        let of_release = || rest.iter().any(|word| is_in(word, "release releases released version versions changelog"));
        match sign {
            "(" | "[" | "/" | ")" | "]" => InPassing,
            // "aizuchi — a bot that listens", "aizuchi: a new release is available".
            "-" | "—" | "–" | "~" if defines => InPassing,
            ":" | "：" if (defines || is_in(next, "new version release")) && of_release() => Unclear,
            // "aizuchi: a bot for quiet rooms", without a verb.
            ":" | "：" if defines && !rest.iter().any(|word| is_verb(word)) => Unclear,
            "," if is_in(next, "which who whose") && (comma.is_some() || !self.asks()) => InPassing,
            "," if apposition || plural || aside || !to_it && is_list_of_subjects(rest) => InPassing,
            _ => Called,
        }
    }

    /// A word follows the name.
    fn judge_words(&self, greets: bool) -> NameUse {
        let word = |at: usize| self.after.get(at).map_or("", String::as_str);
        let (first, second) = (word(0), word(1));
        let politely = self.after.last().is_some_and(|last| is_in(last, "please pls plz"));
        // "aizuchi just told me", "aizuchi search is broken".
        let tells = is_in(first, "just finally kept") && (is_third_person(second) || is_in(second, PAST))
            || is_in(first, "just never") && is_in(second, PAST)
            || is_in(first, NOUNS_OR_IMPERATIVES) && is_in(second, AUXILIARIES) && !self.asks();
        if tells && !politely {
            return InPassing;
        }
        if is_in(first, GROUPS) && !is_in(second, SECOND_PERSON) {
            return InPassing;
        }
        if is_in(first, "and or & und et y") {
            return if greets { Called } else { self.judge_pair() };
        }
        if is_in(first, AUXILIARIES) {
            let inverted = is_in(second, "you u ya i we he she they anyone someone everyone");
            let thing = is_in(second, "it this that there these those");
            let noun = is_in(second, ARTICLES) && is_in(first, "is are do does did was");
            return match self.asks() {
                _ if inverted => Called,
                true if thing => Called,
                true if noun => Unclear,
                _ if is_in(first, "do don't have") && !inverted => Called,
                _ => InPassing,
            };
        }
        if is_in(first, "which who whose") && !self.asks() {
            return InPassing;
        }
        if is_in(first, SECOND_PERSON) || is_in(first, QUESTION_WORDS) || is_in(first, FIRST_PERSON) {
            return Called;
        }
        if is_in(first, NOUNS_OR_IMPERATIVES) {
            let object =
                second.is_empty() || is_in(second, OBJECTS) || is_in(second, ARTICLES) || is_in(second, PREPOSITIONS);
            return if object { Called } else { InPassing };
        }
        if is_in(first, IMPERATIVES) || is_in(first, GREETINGS) || is_in(first, ASIDES) {
            return Called;
        }
        if is_third_person(first) {
            return InPassing;
        }
        let states = || self.after.iter().any(|word| is_third_person(word) || is_in(word, PAST));
        match self.after.len() {
            _ if greets || politely => Called,
            2..=4 if self.asks() && is_in(first, "latest next another more any current") && !states() => Called,
            1..=3 if self.asks() && !states() => Unclear,
            1 if is_in(first, "next louder") => Called,
            _ => InPassing,
        }
    }

    /// "aizuchi and bob, what …" calls both, "aizuchi and bob were …" neither.
    fn judge_pair(&self) -> NameUse {
        match self.after.get(2).map(String::as_str) {
            Some("," | ":") => Called,
            Some(word)
                if is_in(word, AUXILIARIES) && is_in(self.after.get(3).map_or("", |next| next), SECOND_PERSON) =>
            {
                Called
            }
            Some(word) if is_in(word, SECOND_PERSON) => Called,
            None if self.before.is_empty() => Unclear,
            _ => InPassing,
        }
    }

    /// The clause ends with the name, without punctuation before it.
    fn judge_end(&self, lead: &[Token]) -> NameUse {
        let word = |back: usize| lead.len().checked_sub(back).map_or("", |at| lead[at].as_str());
        let (last, second) = (word(1), word(2));
        let head = lead.iter().find(|word| !is_in(word, OPENERS)).map_or("", String::as_str);
        let to_you = lead.iter().any(|word| is_in(word, SECOND_PERSON));
        let orders = is_in(head, IMPERATIVES) || is_in(head, NOUNS_OR_IMPERATIVES);
        let greets = is_in(head, GREETINGS);
        let turns_to_it = to_you || orders || greets;
        // "Quick question aizuchi, what is …"
        let announces = lead.len() <= 3 && is_in(last, "question favor favour talk request");
        let your_turn = lead.len() == 2 && lead[0] == "your" && is_in(last, "turn move call choice go pick round");
        if announces && self.after.len() > 1 || your_turn {
            return Called;
        }
        let may = lead.len() > 2 && is_in(head, "can could may might shall") && is_in(&lead[1], "we i you");
        if may && self.asks() && !is_in(last, PREPOSITIONS) && !is_in(last, ARTICLES) && !is_in(last, TAKES_OBJECT) {
            return Called;
        }
        if is_in(last, "up down off out on") {
            let call = is_in(second, "shut wake hurry what's whats cheer listen speak sup come calm pipe well");
            return if call { Called } else { InPassing };
        }
        if is_in(last, "this that all one more the") {
            let asked = self.asks() && is_in(head, QUESTION_WORDS) && lead.len() > 2;
            return match last != "the" {
                true if turns_to_it => Called,
                true if asked => Unclear,
                _ => InPassing,
            };
        }
        if lead.len() == 1 && is_in(last, "stop help look") {
            return Unclear;
        }
        if is_in(last, SAFE_ENDS) || is_in(last, SECOND_PERSON) {
            return Called;
        }
        if is_in(last, PREPOSITIONS) || is_in(last, ARTICLES) || is_in(last, TAKES_OBJECT) || is_in(last, AUXILIARIES) {
            return InPassing;
        }
        let verb_before = is_in(second, AUXILIARIES)
            || is_in(second, FIRST_PERSON)
            || is_in(second, BEFORE_VERB)
            || is_in(second, SECOND_PERSON);
        if lead.len() == 1
            || verb_before
            || last.ends_with("ed")
            || last.ends_with("ing") && !is_in(last, "morning evening thing nothing anything something everything")
        {
            return InPassing;
        }
        let noun = is_in(second, ARTICLES) || is_in(second, PREPOSITIONS) || is_in(word(3), ARTICLES);
        match turns_to_it {
            true if noun => Called,
            true => Unclear,
            false if (is_in(head, QUESTION_WORDS) || is_in(head, AUXILIARIES)) && self.asks() => Unclear,
            false => InPassing,
        }
    }
}

/// Words on both sides: a part of the sentence.
fn judge_middle(lead: &[Token], after: &[Token]) -> NameUse {
    let last = lead.last().map_or("", String::as_str);
    let opinion = after.len() == 1 && is_in(&after[0], "think say prefer suggest recommend");
    let asked = is_in(last, "does would will") && is_in(&lead[0], QUESTION_WORDS);
    let then_to_you = after.len() > 1
        && (is_in(&after[0], AUXILIARIES) && is_in(&after[1], "you u ya") || is_in(&after[0], "you you're"))
        && (is_in(last, SAFE_ENDS) || is_in(&lead[0], GREETINGS));
    match () {
        () if opinion && asked => Unclear,
        () if then_to_you => Called,
        () => InPassing,
    }
}

fn is_third_person(word: &str) -> bool {
    is_in(word, THIRD_PERSON) || is_verb(word)
}

fn is_verb(word: &str) -> bool {
    let ends = |end: &str| word.len() > end.len() + 2 && word.ends_with(end);
    is_in(word, AUXILIARIES) || is_in(word, REPORTS) || ends("ed") || ends("n't")
}

/// "…, kotonoha and sphene all crashed": further names, and what became of them all.
fn is_list_of_subjects(rest: &[Token]) -> bool {
    let Some(and) = rest.iter().take(7).position(|word| is_in(word, "and &")) else { return false };
    let names = rest[..and].split(|token| token == ",");
    let are_names = names.clone().count() > 0 && names.clone().all(|name| (1..=2).contains(&name.len()));
    let next = |at: usize| rest.get(and + at).map_or("", String::as_str);
    let verb = |word: &str| {
        is_in(word, "all both are were have had got") || is_third_person(word) && !is_in(word, "can could will would")
    };
    are_names && !is_in(next(1), FIRST_PERSON) && (verb(next(2)) || verb(next(3)))
        || are_names && is_in(next(1), "i me") && is_in(next(2), PAST)
}
