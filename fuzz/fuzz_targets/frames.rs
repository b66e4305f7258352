//! Whatever people call themselves and say, a model sees as many lines as there are messages, each by its own speaker; and
//! nobody who reads them without what cannot be seen, with look-alikes folded into one, finds a mark or a line in them.
//!
//! An input is a talk: messages between lines of `%%`, each a name and, behind a line of `%`, its words. A name that begins
//! with `!` is another bot's; the name `=` alone is its own.
#![no_main]

use std::sync::LazyLock;

use aizuchi::ports::PromptBuilder as _;
use aizuchi::prompts::Prompts;
use aizuchi_core::Policies;
use aizuchi_core::effect::{Brief, Kind, TranscriptLine, Lines, Transcript};
use aizuchi_core::memory::Memories;
use aizuchi_core::settings::Layers;
use aizuchi_core::tools::ToolOffer;
use aizuchi_core::types::{CallId, MessageId, Place, RoomId, Time, Voice};
use aizuchi_test_servers::suspicious_reader::{forged_lines, is_plain_name, letters_seen, marks};
use libfuzzer_sys::fuzz_target;

const OWN_NAME: &str = "aizuchi";
const MESSAGES_MAX: usize = 20;

static POLICIES: LazyLock<[Policies; 2]> = LazyLock::new(|| ["en", "ja"].map(speaking));
static PROMPTS: LazyLock<Prompts> = LazyLock::new(|| Prompts::new("".into()));

fn speaking(language: &str) -> Policies {
    let mut layers = Layers::default();
    let language = format!("bot.language={language}");
    // Nothing is left out for its length, so that every line can be looked for.
    for assignment in [&language, "prompts.message_chars=100000", "prompts.talk_chars=1000000"] {
        layers.add_assignment(assignment);
    }
    layers.resolve(&|_| None).expect("settings that fit")
}

type Said<'a> = (&'a str, Voice, &'a str);

fuzz_target!(|talk: &str| {
    let said: Vec<Said<'_>> = talk.split("\n%%\n").take(MESSAGES_MAX).map(message).collect();
    for policies in &*POLICIES {
        let prompt = PROMPTS.write(&brief(&said), Vec::new(), policies.general()).expect("our own prompts can be filled");
        let ok: Vec<Said<'_>> = said.iter().map(|(name, voice, _)| (*name, *voice, "ok")).collect();
        let harmless = PROMPTS.write(&brief(&ok), Vec::new(), policies.general()).expect("our own prompts can be filled");
        check(&said, &prompt.turns[0].text, &harmless.turns[0].text);
    }
});

fn message(text: &str) -> Said<'_> {
    let (name, words) = text.split_once("\n%\n").unwrap_or(("alice", text));
    match name.strip_prefix('!') {
        Some(bot) => (bot, Voice::Bot, words),
        None if name == "=" => (OWN_NAME, Voice::Me, words),
        None => (name, Voice::Person, words),
    }
}

fn brief(said: &[Said<'_>]) -> Brief {
    let ids: Vec<String> = (1..=said.len()).map(|number| format!("m{number}")).collect();
    let lines: Lines =
        said.iter().zip(&ids).map(|((name, voice, text), id)| TranscriptLine { id, name, voice: *voice, text }).collect();
    Brief {
        call: CallId { room: RoomId::new("room"), serial: 1 },
        at: Time(0),
        place: Place::room("room"),
        kind: Kind::Full,
        model: "m".into(),
        tokens_max: 50,
        answering: vec![MessageId::new(format!("m{}", said.len()))],
        addressed: true,
        transcript: Transcript { lines, ..Transcript::default() },
        memories: Memories::default(),
        telling: None,
        tools: ToolOffer::None,
        steps: Vec::new(),
        errand: None,
    }
}

fn check(said: &[Said<'_>], turn: &str, harmless: &str) {
    let lines = unframe(turn);
    assert_eq!(lines.len(), said.len(), "as many lines as messages: {turn}");
    for (index, (line, (name, voice, words))) in lines.iter().zip(said).enumerate() {
        assert_eq!(line.number, index + 1, "{turn}");
        assert_eq!(letters(line.words), letters(words), "its own words, all of them: {turn}");
        let own = line.speaker.ends_with(" (you)") || line.speaker.ends_with("（あなた）");
        assert_eq!(own, *voice == Voice::Me, "its own lines are its own: {turn}");
        let (bare, mark) = without_mark(line.speaker);
        assert!(is_plain_name(bare), "{turn}");
        let is_its_name = letters_seen(name) == letters_seen(OWN_NAME) && *voice == Voice::Person;
        assert!(!is_its_name || [" (not you)", "（別人）"].contains(&mark), "{turn}");
        assert!(forged_lines(line.words).is_empty(), "{turn}");
        for (other, (other_name, other_voice, _)) in lines.iter().zip(said) {
            let same = (name, voice) == (other_name, other_voice);
            assert_eq!(same, line.speaker == other.speaker, "a speaker is a speaker: {turn}");
        }
    }
    assert!(!turn.contains(|c: char| c.is_control() && c != '\n'), "{turn:?}");
    assert_eq!(marks(turn), marks(harmless), "only what is ours can be read as a mark: {turn}");
}

/// The marks that the frame puts behind a name.
const LABEL_MARKS: &[&str] =
    &[" (you)", "（あなた）", " (bot)", "（ボット）", " (not you)", "（別人）", " (a person)", "（人）"];

fn without_mark(speaker: &str) -> (&str, &str) {
    let found = LABEL_MARKS.iter().find_map(|mark| Some((speaker.strip_suffix(mark)?, *mark)));
    found.unwrap_or((speaker, ""))
}

struct Read<'a> {
    number: usize,
    speaker: &'a str,
    words: &'a str,
}

/// As somebody reads it who knows the frame and nothing of how it is made.
fn unframe(turn: &str) -> Vec<Read<'_>> {
    for tag in ["<talk>", "</talk>"] {
        assert_eq!(turn.to_lowercase().matches(tag).count(), 1, "{tag}: {turn}");
    }
    let inside = turn.split('\n').skip_while(|line| *line != "<talk>").skip(1).take_while(|line| *line != "</talk>");
    inside
        .map(|line| {
            let (number, rest) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).expect(line);
            let alone = || rest.strip_suffix(':').map(|speaker| (speaker, ""));
            let (speaker, words) = rest.split_once(": ").or_else(alone).expect(line);
            Read { number: number.parse().expect(line), speaker, words }
        })
        .collect()
}

/// What is never taken out of words: the rest may be invisible, or a mark of the frame.
fn letters(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).collect()
}
