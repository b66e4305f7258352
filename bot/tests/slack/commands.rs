//! `/aizuchi …` from people who may and people who may not.

use aizuchi::language::Language;
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::slack::SlackServer;
use serde_json::json;

use crate::office::{Office, room, until};

#[tokio::test]
async fn commands_are_run_and_answered_to_one_person() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-commands"));
    let office = Office::open(&server, &scratch).await;
    // Told without a language, which is known already or asked for.
    server.happens(json!({"type": "user_change", "user": {"id": "U2HAN", "profile": {"display_name": "はな"}}}));
    server.order("C1GEN", "U1MIA", "mute 2h");
    until("an answer", || server.workspace().answers.len() == 1).await;
    server.order("C1GEN", "U2HAN", "why");
    until("another", || server.workspace().answers.len() == 2).await;
    server.order("D1MIA", "U3TOM", "");
    until("a third", || server.workspace().answers.len() == 3).await;
    assert_eq!(server.workspace().answers[0], json!({"response_type": "ephemeral", "text": "*done* mute 2h"}));
    let given = office.commands.0.lock().unwrap().clone();
    assert_eq!((given[0].0.as_str(), given[0].1.manages, given[0].1.language), ("mute 2h", true, Language::ENGLISH));
    assert_eq!(
        (given[1].1.manages, given[1].1.language, &given[1].2),
        (false, Language::from_id("ja").unwrap(), &room("C1GEN"))
    );
    assert!(given[2].1.manages, "in a direct message everybody may");
    assert_eq!(server.sockets.redelivered(), 0);
    office.close().await;
}

#[tokio::test]
async fn a_command_that_comes_again_is_run_once_and_odd_ones_are_passed_over() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-odd-commands"));
    let office = Office::open(&server, &scratch).await;
    let answer_to = format!("http://{}/respond/1", server.address);
    let order = |envelope: &str, url: &str| {
        let payload =
            json!({"command": "/aizuchi", "text": 3, "user_id": "U1MIA", "channel_id": "C1GEN", "response_url": url});
        let frame = json!({"type": "slash_commands", "envelope_id": envelope, "payload": payload});
        server.sockets.send_raw(&frame.to_string());
    };
    order("a", &answer_to);
    order("a", &answer_to);
    // Where Slack's own way does not work, there is another.
    order("b", "http://127.0.0.1:1/");
    order("c", "file:///etc/passwd");
    server.sockets.send_raw(r#"{"type": "slash_commands", "envelope_id": "d", "payload": []}"#);
    server.sockets.send_raw(r#"{"type": "interactive", "envelope_id": "e", "payload": {"type": "block_actions"}}"#);
    until("all are acknowledged", || server.sockets.unasked() == 6).await;
    until("three are answered", || server.workspace().answers.len() == 3).await;
    assert_eq!(office.commands.0.lock().unwrap().len(), 3);
    let private = server.workspace().answers.iter().filter(|answer| answer["user"] == "U1MIA").count();
    assert_eq!(private, 2);
    office.close().await;
}
