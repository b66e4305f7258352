//! Names: what they delete of others' words, where, and what they only ask about.

use aizuchi_core::memory::{FactDraft, Origin};
use aizuchi_core::types::{Time, Visibility};

use crate::made_up::{START, Scratch};
use crate::own_data::{answer, contents, draft, keep, says_as, says_to};
use crate::remembering_life::RememberingLife;

/// What Bo said, somewhere.
fn elsewhere(room: &str, visibility: Visibility, content: &str) -> FactDraft {
    FactDraft { origin: Origin::new(room, visibility), ..of_bo(content) }
}

fn of_bo(content: &str) -> FactDraft {
    draft(content, &[("id-bo", "m9")])
}

const BO: (&str, &str) = ("id-bo", "Bo Quill");

/// Nobody called them that, and it is what others speak of.
#[tokio::test(start_paused = true)]
async fn a_word_that_somebody_calls_themselves_deletes_nothing_unasked() {
    let words =
        [("会議", "会議は木曜に変わった"), ("Invoice", "the invoice is due"), ("Zorblax", "Zorblax ships in May")];
    for (nick, content) in words {
        for command in ["forget-me", "opt-out"] {
            let scratch = Scratch::new();
            let life = RememberingLife::start(&scratch, 1).await;
            says_as(&life, 1, "id-mallory", nick, "hello").await;
            keep(&life, [of_bo(content)]).await;
            let told = answer(&life, "id-mallory", command).await;
            assert_eq!(contents(&life).await, [content], "{command}: {told}");
            assert!(told.contains(&format!("forget-me {nick}")), "{command}: {told}");
            life.runtime.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_deletes_nothing_where_its_owner_never_spoke() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-hanako", "Hanako", "hello").await;
    says_to(&life, 2, BO, &["id-hanako"], "Hanako, welcome").await;
    let stays = ["Hanako drives", "Hanako had a surgery"];
    let kept = [
        elsewhere("discord:1/2", Visibility::Public, stays[0]),
        elsewhere("slack:T/C", Visibility::Private, stays[1]),
        of_bo("Hanako sings"),
    ];
    keep(&life, kept.clone()).await;
    let told = answer(&life, "id-hanako", "forget-me").await;
    assert_eq!(contents(&life).await, stays, "Bo called her that, here: {told}");
    answer(&life, "id-hanako", "forget-me Hanako").await;
    says_as(&life, 3, "id-hanako", "Hanako", "hello again").await;
    says_to(&life, 4, BO, &["id-hanako"], "Hanako, welcome back").await;
    answer(&life, "id-hanako", "opt-out").await;
    assert_eq!(contents(&life).await, stays);
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_name_that_was_in_use_before_its_owner_came_is_asked_about() {
    let older = |content: &str| FactDraft { at: Time(START.0 - 1_000), ..of_bo(content) };
    for (is_called_so, left) in [(true, 0), (false, 1)] {
        let scratch = Scratch::new();
        let life = RememberingLife::start(&scratch, 1).await;
        says_as(&life, 1, "id-rina", "Rina", "hello").await;
        if is_called_so {
            says_to(&life, 2, BO, &["id-rina"], "Rina, welcome").await;
        }
        keep(&life, [older("Rina is a good name for a cat")]).await;
        let told = answer(&life, "id-rina", "forget-me").await;
        assert_eq!(contents(&life).await.len(), 1, "she is asked: {told}");
        let told = answer(&life, "id-rina", "forget-me Rina").await;
        assert_eq!(contents(&life).await.len(), left, "where nobody calls her so, it is not hers: {told}");
        life.runtime.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_in_hiragana_is_found_and_what_is_unclear_is_listed() {
    let said = ["ゆいが猫を飼っている", "昨日ゆいと会った", "ゆいも離婚した", "弟はゆいより背が高い"];
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-yui", "ゆい", "こんにちは").await;
    keep(&life, said.map(of_bo)).await;
    let shown = answer(&life, "id-yui", "what-do-you-know").await;
    assert!(said.iter().all(|content| shown.contains(content)), "perhaps hers: {shown}");
    says_to(&life, 2, BO, &["id-yui"], "ゆいさん、こんにちは").await;
    let unclear = "それゆいとがいい";
    keep(&life, [of_bo(unclear)]).await;
    let told = answer(&life, "id-yui", "forget-me").await;
    assert_eq!(contents(&life).await, [unclear], "{told}");
    assert!(told.contains("forget-me ゆい"), "{told}");
    answer(&life, "id-yui", "forget-me ゆい").await;
    assert!(contents(&life).await.is_empty());
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_opt_out_goes_by_the_same_names_as_forgetting() {
    for command in ["forget-me", "opt-out"] {
        let scratch = Scratch::new();
        let life = RememberingLife::start(&scratch, 1).await;
        for number in 0..8 {
            let name = format!("Wordak{number}");
            says_as(&life, number, "id-renamed", &name, "hello").await;
            says_to(&life, 100 + number, BO, &["id-renamed"], &format!("{name}, hello")).await;
        }
        keep(&life, (0..8).map(|number| of_bo(&format!("Wordak{number} has {number} ducks")))).await;
        let told = answer(&life, "id-renamed", command).await;
        assert_eq!(contents(&life).await, [""; 0], "{command}, by all eight names: {told}");
        life.runtime.stop().await;
    }
}

/// What was said of one of two may be about either, also when the other is gone.
#[tokio::test(start_paused = true)]
async fn a_name_that_two_people_had_deletes_nothing_unasked_when_one_of_them_is_gone() {
    for first in ["forget-me", "opt-out"] {
        for second in ["forget-me", "opt-out"] {
            let scratch = Scratch::new();
            let life = RememberingLife::start(&scratch, 1).await;
            for (number, id) in [(1, "id-sam"), (2, "id-other")] {
                says_as(&life, number, id, "Sam", "hello").await;
                says_to(&life, 10 + number, BO, &[id], "Sam, welcome").await;
            }
            keep(&life, [of_bo("Sam plays the xylophone")]).await;
            for (id, command) in [("id-sam", first), ("id-other", second)] {
                let told = answer(&life, id, command).await;
                assert_eq!(contents(&life).await.len(), 1, "{first}, {second}: {told}");
            }
            life.runtime.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_confirmed_name_deletes_what_was_listed_or_counted() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    says_as(&life, 1, "id-bixby", "Bixby", "hello").await;
    says_as(&life, 2, "id-bixbyson", "Bixbyson", "hello").await;
    let stays = "Bixby is in jail";
    let kept = [
        of_bo("Bixby likes tea"),
        elsewhere("log:1/den", Visibility::Private, "Bixby owes Bo a lunch"),
        elsewhere("discord:1/2", Visibility::Public, stays),
    ];
    keep(&life, kept).await;
    let shown = answer(&life, "id-bixby", "what-do-you-know").await;
    assert!(shown.contains("Bixby likes tea") && shown.contains("1 more in rooms"), "{shown}");
    assert!(!shown.contains("lunch") && !shown.contains("jail"), "{shown}");
    answer(&life, "id-bixby", "forget-me").await;
    assert_eq!(contents(&life).await.len(), 3);
    answer(&life, "id-bixby", "forget-me Bixby").await;
    assert_eq!(contents(&life).await, [stays]);
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_name_of_the_bot_is_nobody_elses() {
    for nick in ["相槌", "あいづち", "Aizuchi."] {
        let scratch = Scratch::new();
        let life = RememberingLife::start(&scratch, 1).await;
        says_as(&life, 1, "id-mallory", nick, "hello").await;
        says_to(&life, 2, BO, &["id-mallory"], &format!("{nick}、hello")).await;
        let content = format!("{nick}は親切");
        keep(&life, [of_bo(&content)]).await;
        for command in ["forget-me".to_owned(), format!("forget-me {nick}"), "opt-out".to_owned()] {
            let told = answer(&life, "id-mallory", &command).await;
            assert_eq!(contents(&life).await, [&*content], "{command}: {told}");
        }
        life.runtime.stop().await;
    }
}
