//! Random histories: nobody learns what they may not know, and no search finds what is forgotten.

use std::collections::BTreeSet;

use aizuchi_core::memory::{ContextTurn, pairs_of_ties};
use proptest::prelude::*;

use super::*;

const HOUSES: [&str; 2] = ["discord:1", "slack:T"];
const PEOPLE: usize = 4;
const ROOMS: usize = 6;

/// A step of a life; numbers are taken modulo what there is. `Repeat` says the same as a fact, in other letters; `Unsay` asks
/// the bot to forget one.
#[derive(Clone, Debug)]
enum MemoryStep {
    Keep { room: usize, by: usize, also: Option<usize>, message: usize },
    Repeat { said: usize, by: usize, message: usize },
    Unsay { said: usize },
    Hear { room: usize, by: usize, message: usize },
    Answer { room: usize, by: usize, to: usize, message: usize },
    Summarize { room: usize, by: usize },
    Delete { room: usize, message: usize },
    Forget { person: usize },
    OptOut { person: usize, out: bool },
    Narrow { room: usize },
}

fn step() -> impl Strategy<Value = MemoryStep> {
    let (room, person, message, deleted) = (0..ROOMS, 0..PEOPLE, 0..5_usize, 0..10_usize);
    prop_oneof![
        6 => (room.clone(), person.clone(), proptest::option::of(person.clone()), message.clone())
            .prop_map(|(room, by, also, message)| MemoryStep::Keep { room, by, also, message }),
        5 => (0..40_usize, person.clone(), message.clone())
            .prop_map(|(said, by, message)| MemoryStep::Repeat { said, by, message }),
        1 => (0..40_usize).prop_map(|said| MemoryStep::Unsay { said }),
        3 => (room.clone(), person.clone(), message.clone())
            .prop_map(|(room, by, message)| MemoryStep::Hear { room, by, message }),
        4 => (room.clone(), person.clone(), person.clone(), message.clone())
            .prop_map(|(room, by, to, message)| MemoryStep::Answer { room, by, to, message }),
        1 => (room.clone(), person.clone()).prop_map(|(room, by)| MemoryStep::Summarize { room, by }),
        // An edit is the same to memory: what the message said before is gone.
        3 => (room.clone(), deleted).prop_map(|(room, message)| MemoryStep::Delete { room, message }),
        1 => person.clone().prop_map(|person| MemoryStep::Forget { person }),
        1 => (person, any::<bool>()).prop_map(|(person, out)| MemoryStep::OptOut { person, out }),
        1 => room.prop_map(|room| MemoryStep::Narrow { room }),
    ]
}

/// Words that nothing else holds.
fn secret(serial: usize) -> String {
    format!("qz{serial:04}zq")
}

fn name(person: usize) -> String {
    format!("Nym{}xq", ["alpha", "beta", "gamma", "delta"][person])
}

fn person(number: usize) -> PersonId {
    PersonId::new(format!("id-{}", name(number)))
}

/// What was said, told apart by its secret word, as a plain book-keeper has it.
#[derive(Clone, Debug)]
struct SecretTold {
    room: usize,
    was: Visibility,
    people: Vec<usize>,
    messages: BTreeSet<usize>,
    secret: String,
    /// A word of a tie: only so many are kept.
    in_tie: bool,
    /// A fact, or the wording of one.
    in_fact: bool,
    gone: bool,
}

/// Said beside a fact: its words go with their message, their author and the fact.
#[derive(Clone, Debug)]
struct NearbyWords {
    fact: usize,
    room: usize,
    person: usize,
    message: usize,
    secret: String,
    gone: bool,
}

struct Book {
    rooms: Vec<Origin>,
    said: Vec<SecretTold>,
    beside: Vec<NearbyWords>,
    out: BTreeSet<usize>,
}

impl Book {
    /// Whether it may be known where this reader is, in words other than those of the walls.
    fn may(&self, said: &SecretTold, reader: usize) -> bool {
        let (origin, reader_at) = (&self.rooms[said.room], &self.rooms[reader]);
        if said.gone {
            return false;
        }
        if said.room == reader {
            return said.was == Visibility::Public || reader_at.visibility != Visibility::Public;
        }
        let guild = |room: &Origin| room.room.as_str().split('/').next().unwrap().to_owned();
        said.was == Visibility::Public
            && reader_at.visibility != Visibility::Direct
            && guild(origin) == guild(reader_at)
    }

    /// One of the facts that were said.
    fn fact(&self, nth: usize) -> Option<&SecretTold> {
        let facts: Vec<&SecretTold> = self.said.iter().filter(|said| said.in_fact).collect();
        facts.get(nth % facts.len().max(1)).copied()
    }

    /// Whether everybody who said it is gone.
    fn is_gone(&self, secret: &str) -> bool {
        self.said.iter().filter(|said| said.secret == secret).all(|said| said.gone)
    }

    /// Whether several people said it in the end, or one of them no longer.
    fn is_repeated(&self, secret: &str) -> bool {
        self.said.iter().filter(|said| said.secret == secret).count() > 1
    }

    fn forget(&mut self, person: usize) {
        self.said.iter_mut().filter(|said| said.people.contains(&person)).for_each(|said| said.gone = true);
        self.beside.iter_mut().filter(|beside| beside.person == person).for_each(|beside| beside.gone = true);
    }
}

async fn live(store: &str, visibilities: Vec<u8>, steps: Vec<MemoryStep>) {
    let house = MemoryFixture::with(store, "properties", &["memory.facts_max=1000"]).await;
    let visibility =
        |number: &u8| [Visibility::Public, Visibility::Private, Visibility::Direct][usize::from(*number) % 3];
    let rooms = visibilities.iter().enumerate().map(|(at, number)| {
        let house = HOUSES[at % HOUSES.len()];
        Origin::new(format!("{house}/{at}"), visibility(number))
    });
    let mut book = Book { rooms: rooms.collect(), said: Vec::new(), beside: Vec::new(), out: BTreeSet::new() };
    for (serial, step) in steps.iter().enumerate() {
        let changes = if let MemoryStep::Unsay { said } = step {
            unsay(&house, &mut book, *said).await
        } else {
            to_changes(&mut book, serial, step)
        };
        house.apply(changes).await;
    }
    check(&house, &book).await;
}

/// Keeps a fact with a message beside it.
fn keep(
    book: &mut Book,
    serial: usize,
    room: usize,
    (by, also): (usize, Option<usize>),
    message: usize,
) -> Vec<MemoryChange> {
    let people: Vec<usize> = [Some(by), also].into_iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    let messages: BTreeSet<usize> = people.iter().map(|of| (message + of) % 5).collect();
    let origin = book.rooms[room].clone();
    let secret = secret(serial);
    let gone = people.iter().any(|person| book.out.contains(person));
    let mut draft = draft(&origin, &format!("common words around {secret}"));
    draft.people = people.iter().map(|of| person(*of)).collect();
    draft.messages = messages.iter().map(|message| MessageId::new(format!("m{message}"))).collect();
    let other = (by + 1 + message % 2) % PEOPLE;
    let beside = NearbyWords {
        fact: book.said.len(),
        room,
        person: other,
        message: message + 5,
        secret: format!("vx{serial:04}xv"),
        gone: book.out.contains(&other),
    };
    draft.context = vec![ContextTurn {
        message: MessageId::new(format!("m{}", beside.message)),
        person: person(other),
        name: name(other).into(),
        at: day(0),
        offset: -1,
        text: format!("before it {}", beside.secret).into(),
    }];
    book.beside.push(beside);
    book.said.push(SecretTold {
        room,
        was: origin.visibility,
        people,
        messages,
        secret,
        in_tie: false,
        in_fact: true,
        gone,
    });
    vec![kept(draft)]
}

/// Says the same as an earlier fact, with a word of its own beside it.
fn repeat(book: &mut Book, serial: usize, said: usize, by: usize, message: usize) -> Vec<MemoryChange> {
    let Some(earlier) = book.fact(said).cloned() else { return Vec::new() };
    let origin = book.rooms[earlier.room].clone();
    let mut draft = draft(&origin, &format!("COMMON words really around {}", earlier.secret));
    let keyword = secret(serial);
    draft.keywords = vec![keyword.clone().into()];
    draft.people = vec![person(by)];
    draft.messages = vec![MessageId::new(format!("m{message}"))];
    let own = SecretTold {
        was: origin.visibility,
        people: vec![by],
        messages: BTreeSet::from([message]),
        gone: book.out.contains(&by),
        ..earlier
    };
    // Of the same words by the same message, one wording is kept.
    book.said.push(SecretTold { secret: keyword, in_tie: true, in_fact: false, ..own.clone() });
    book.said.push(own);
    vec![kept(draft)]
}

async fn unsay(house: &MemoryFixture, book: &mut Book, said: usize) -> Vec<MemoryChange> {
    let Some(SecretTold { secret, room, .. }) = book.fact(said).cloned() else { return Vec::new() };
    let facts = house.facts().await;
    let fact = facts.iter().find(|fact| fact.content.contains(&secret) && fact.origin.room == book.rooms[room].room);
    let Some(fact) = fact else { return Vec::new() };
    let words = format!("{fact:?}");
    book.said.iter_mut().filter(|said| words.contains(&said.secret)).for_each(|said| said.gone = true);
    vec![MemoryChange::Forgotten { fact: fact.id }]
}

/// Somebody answers somebody: a word of the answer, and one of what it answers.
fn answer(book: &mut Book, serial: usize, room: usize, (by, to): (usize, usize), message: usize) -> MemoryChange {
    let origin = book.rooms[room].clone();
    let gone = by == to || book.out.contains(&by) || book.out.contains(&to);
    let mut words = Vec::new();
    for (message, secret) in [(message, secret(serial)), (message + 5, format!("tw{serial:04}wt"))] {
        words.push((secret.clone(), format!("m{message}")));
        let (people, messages) = (vec![by, to], BTreeSet::from([message]));
        book.said.push(SecretTold {
            room,
            was: origin.visibility,
            people,
            messages,
            secret,
            in_tie: true,
            in_fact: false,
            gone,
        });
    }
    let words: Vec<(&str, &str)> = words.iter().map(|(word, message)| (word.as_str(), message.as_str())).collect();
    answered(&origin, person(by).as_str(), person(to).as_str(), &words)
}

fn to_changes(book: &mut Book, serial: usize, step: &MemoryStep) -> Vec<MemoryChange> {
    let up_to = serial as u64 + 1;
    match step.clone() {
        MemoryStep::Keep { room, by, also, message } => keep(book, serial, room, (by, also), message),
        MemoryStep::Hear { room, by, message } => {
            let (origin, secret) = (book.rooms[room].clone(), secret(serial));
            let gone = book.out.contains(&by);
            let (was, messages) = (origin.visibility, BTreeSet::from([message]));
            let (people, in_tie) = (vec![by], false);
            book.said.push(SecretTold {
                room,
                was,
                people,
                messages,
                secret: secret.clone(),
                in_tie,
                in_fact: false,
                gone,
            });
            vec![MemoryChange::Heard(Box::new(HeardFrom {
                origin,
                up_to,
                message: MessageId::new(format!("m{message}")),
                person: person(by),
                name: name(by).into(),
                at: day(0),
                mentions_me: false,
                topics: vec![secret.into()],
            }))]
        }
        MemoryStep::Repeat { said, by, message } => repeat(book, serial, said, by, message),
        MemoryStep::Unsay { .. } => Vec::new(),
        MemoryStep::Answer { room, by, to, message } => vec![answer(book, serial, room, (by, to), message)],
        MemoryStep::Summarize { room, by } => {
            let active = if book.out.contains(&by) { vec![] } else { vec![(person(by), name(by))] };
            let active: Vec<(&str, &str)> = active.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
            vec![summarized(&book.rooms[room], up_to, "Nothing in particular.", &active)]
        }
        MemoryStep::Delete { room, message } => {
            for said in book.said.iter_mut().filter(|said| said.room == room) {
                // Nobody can tell which of its words are from this message.
                said.gone |= said.messages.contains(&message);
            }
            let at = |beside: &&mut NearbyWords| beside.room == room && beside.message == message;
            book.beside.iter_mut().filter(at).for_each(|beside| beside.gone = true);
            vec![gone(book.rooms[room].room.as_str(), &format!("m{message}"))]
        }
        MemoryStep::Forget { person: who } => {
            book.forget(who);
            vec![forget(person(who).as_str())]
        }
        MemoryStep::OptOut { person: who, out } => {
            if out {
                book.forget(who);
                book.out.insert(who);
            } else {
                book.out.remove(&who);
            }
            let by_name = out.then(|| forget(person(who).as_str()));
            by_name.into_iter().chain([MemoryChange::OptedOut { person: person(who), out }]).collect()
        }
        MemoryStep::Narrow { room } => {
            let origin = Origin { visibility: Visibility::Private, ..book.rooms[room].clone() };
            if book.rooms[room].visibility == Visibility::Public {
                book.rooms[room].visibility = Visibility::Private;
                for said in book.said.iter_mut().filter(|said| said.room == room) {
                    said.was = Visibility::Private;
                }
            }
            vec![MemoryChange::Narrowed { origin }]
        }
    }
}

async fn check(house: &MemoryFixture, book: &Book) {
    for (at, reader) in book.rooms.iter().enumerate() {
        let mut told: String = house.found("common words", reader).await.join(" ");
        for said in &book.said {
            told += &house.found(&said.secret, reader).await.join(" ");
        }
        for person in house.memory.people(None).await.unwrap() {
            told += &format!("{:?}", person.known_to(reader, true, &[6, 31, 101]));
        }
        let mut ties = house.ties().await;
        ties.retain(|tie| tie.is_known_to(reader, true));
        told += &format!("{:?}", pairs_of_ties(&ties, day(0)));
        for said in &book.said {
            let may = book.said.iter().any(|other| other.secret == said.secret && book.may(other, at));
            assert!(may || !told.contains(&said.secret), "{reader:?} sees {said:?}");
        }
    }
    let mut everything = format!("{:?} {:?}", house.facts().await, house.memory.people(None).await.unwrap());
    everything += &format!("{:?}", house.ties().await);
    for person in 0..PEOPLE {
        everything += &format!("{:?}", house.memory.about(&self::person(person)).await.unwrap().facts);
    }
    for said in &book.said {
        let gone = book.is_gone(&said.secret);
        assert!(!gone || !everything.contains(&said.secret), "{said:?} is still there");
        assert!(!gone || scan(&house.folder, &said.secret).is_none(), "{said:?} is in a file");
        let kept_as_fact = everything.contains(&format!("around {}", said.secret));
        assert!(said.gone || kept_as_fact || said.in_tie || said.people.len() == 1, "{said:?} was lost");
    }
    for beside in &book.beside {
        let of = &book.said[beside.fact];
        let gone = beside.gone || of.gone;
        assert!(!gone || !everything.contains(&beside.secret), "{beside:?} is still there");
        assert!(!gone || scan(&house.folder, &beside.secret).is_none(), "{beside:?} is in a file");
        // Beside a fact that several said, it goes with the first of them.
        assert!(gone || book.is_repeated(&of.secret) || everything.contains(&beside.secret), "{beside:?} was lost");
    }
    for person in book.out.iter() {
        assert_eq!(scan(&house.folder, &name(*person)), None, "{} is in a file", name(*person));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_told_what_they_may_not_know_and_nothing_forgotten_is_found(
        store in 0..stores().len(),
        visibilities in proptest::collection::vec(0..3_u8, ROOMS),
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(live(&stores()[store], visibilities, steps));
    }
}
