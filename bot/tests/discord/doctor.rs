//! What `doctor` finds out about the bot on Discord.

use aizuchi::platforms::discord::{Finding, examine};
use serde_json::json;

use crate::house::policies;
use crate::server::{Server, TOKEN};

async fn findings(server: &Server, token: &str) -> Vec<Finding> {
    examine(&policies(server, &[]).general().settings, &token.into()).await
}

#[tokio::test]
async fn it_names_what_is_missing_and_how_to_mend_it() {
    let server = Server::start().await;
    let fine = findings(&server, TOKEN).await;
    assert!(fine.len() == 3 && fine.iter().all(Result::is_ok), "{fine:?}");
    let refused = findings(&server, "another").await;
    assert!(matches!(&refused[..], [Err(wrong)] if wrong.fatal && wrong.mend.contains("DISCORD_TOKEN")), "{refused:?}");
    server.world.with(|world| {
        world.message_content_granted = false;
        world.guild["roles"][0]["permissions"] = json!("2048");
    });
    let lacking = findings(&server, TOKEN).await;
    let [Ok(_), Err(intent), Err(permissions)] = &lacking[..] else { panic!("{lacking:?}") };
    assert!(intent.fatal && intent.mend.contains("Message Content Intent"));
    assert!(permissions.told.starts_with("in garden it lacks: View Channels, Send Messages in Threads"));
}
