//! The report: one file that needs nothing else, and the same bytes every time.

use serde_json::json;

use super::program::Folder;
use super::talk::{said, with};

/// A day in two channels in which every kind of thing happens.
fn talk() -> String {
    let mut log = String::new();
    for nth in 0..300_u32 {
        let (at, id) = (f64::from(nth) * 47.0, format!("m{nth}"));
        let author = ["ann", "bob", "花子"][nth as usize % 3];
        log += &match nth % 10 {
            3 => with(json!({"channel": "d", "thread": "t"}), at, &id, author, "Rustって速い？"),
            5 => with(json!({"mentions": ["@me"]}), at, &id, author, "what do you say"),
            7 => with(json!({"bot": true}), at, &id, "helper", "beep"),
            8 => with(json!({"channel": "d"}), at - 100.0, &id, author, "誰か教えて"),
            _ => said(at, &id, author, "I think so too, more or less, don't you?"),
        };
    }
    log
}

const RUN: &str = "replay talk.jsonl --decisions out.jsonl --report out.html --judge yes --set score.keywords=Rust";

#[test]
fn two_runs_give_the_same_bytes() {
    for preset in ["aizuchi", "kotonoha", "sphene", "myao2"] {
        let here = Folder::with("talk.jsonl", talk());
        let there = Folder::with("talk.jsonl", talk());
        here.run(&format!("{RUN} --preset {preset}")).succeeded();
        let elsewhere = [("TZ", "Asia/Tokyo"), ("LANG", "ja_JP.UTF-8"), ("COLUMNS", "60"), ("HOME", "/nowhere")];
        there.run_in(&elsewhere, &format!("{RUN} --preset {preset}")).succeeded();
        assert_eq!(here.read("out.jsonl"), there.read("out.jsonl"), "{preset}");
        assert_eq!(here.read("out.html"), there.read("out.html"), "{preset}");
        assert_eq!(here.decisions("out.jsonl").len(), 300);
        assert!(here.read("out.jsonl").contains("\"replies\""), "{preset} says something");
    }
}

/// What is between < and >.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag)
}

#[test]
fn the_report_needs_nothing_but_itself() {
    let folder = Folder::with("talk.jsonl", talk());
    folder.run(RUN).succeeded();
    let page = folder.read("out.html");
    for outside in ["http://", "https://", "url(", "@import", " src=", "<link", "<img", "<iframe", "<object", "fetch("]
    {
        assert!(!page.contains(outside), "{outside} in the report");
    }
    let links: Vec<&str> = tags(&page).filter(|tag| tag.contains("href=")).collect();
    assert!(!links.is_empty() && links.iter().all(|link| link.contains("href=\"#")), "{links:?}");
    assert!(page.contains("300 messages") && page.contains("花子") && page.contains("Rustって速い？"));
}

#[test]
fn a_link_somebody_posted_is_words_and_no_link() {
    let log =
        said(0.0, "m1", "ann", "aizuchi, see https://example.org/x.png and \" src=https://example.org/y.png x=\"");
    let folder = Folder::with("talk.jsonl", log);
    folder.run("replay talk.jsonl --report out.html").succeeded();
    let page = folder.read("out.html");
    assert!(page.contains("example.org"), "it is shown");
    assert!(tags(&page).all(|tag| !tag.contains("example.org")));
}

#[test]
fn the_report_tells_what_likelihoods_were_made_from() {
    let folder = Folder::with("talk.jsonl", talk());
    folder.run("replay talk.jsonl --report learnt.html --preset aizuchi").succeeded();
    folder.run("replay talk.jsonl --report ruled.html --preset sphene").succeeded();
    let (learnt, ruled) = (folder.read("learnt.html"), folder.read("ruled.html"));
    for told in ["<h3>Likelihood</h3>", "how likely it starts a conversation", "Average factor"] {
        assert!(learnt.contains(told) && !ruled.contains(told), "{told}");
    }
    assert!(ruled.contains("Average points") && !learnt.contains("Average points"));
}

#[test]
fn the_report_tells_what_it_was_made_from_but_not_where_that_lies() {
    let folder = Folder::with("private-place/talk.jsonl", talk());
    let log = folder.path("private-place/talk.jsonl");
    let log = log.to_str().expect("the folder has a plain name");
    folder.run(&format!("replay {log} --report out.html --preset sphene --set score.low=7")).succeeded();
    let page = folder.read("out.html");
    for told in ["talk.jsonl", "sphene", "score.low=7"] {
        assert!(page.contains(told), "{told} is missing");
    }
    assert!(!page.contains("private-place"));
}

#[test]
fn it_is_in_the_language_of_the_talk_unless_another_is_asked_for() {
    let folder = Folder::with("talk.jsonl", include_str!("../../../samples/ja.jsonl"));
    folder.run(RUN).succeeded();
    let (page, decisions) = (folder.read("out.html"), folder.read("out.jsonl"));
    assert!(
        page.contains("<html lang=\"ja\">") && page.contains("何で決まったか") && page.contains("話す理由が足りません")
    );
    for english in [">Timeline<", ">Gates<", "Stayed silent", "Score "] {
        assert!(!page.contains(english), "{english}");
    }
    assert!(decisions.contains("\"reason\":\"Stayed silent: "), "what machines read is English");
    folder.run(&format!("{RUN} --language en")).succeeded();
    let page = folder.read("out.html");
    assert!(page.contains("<html lang=\"en\">") && page.contains("13 messages") && page.contains("What decided"));
    assert_eq!(folder.read("out.jsonl"), decisions);
    folder.run(&format!("{RUN} --lang ja")).succeeded();
    assert!(folder.read("out.jsonl").contains("\"reason\":\"黙っていた："), "unless it is asked for");
}
