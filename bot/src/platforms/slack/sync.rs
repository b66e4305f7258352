//! Fetches everybody's names, page by page, in the background, so that few messages have to wait for one.

use tracing::{info, warn};

use super::backfill::call_with_patience;
use super::errors::ApiError;
use super::listen::SlackContext;
use super::people::{SlackChannel, SlackPerson};
use super::read::{list, text};

const PAGE: &str = "200";
/// In larger workspaces the other names are fetched one by one.
const PAGES_MAX: usize = 50;

pub async fn keep(context: &SlackContext) {
    while !context.stop.is_cancelled() {
        tokio::select! {
            () = look(context) => (),
            () = context.stop.cancelled() => return,
        }
        context.pause(context.slack.pace.sync_every).await;
        if let Err(failed) = context.slack.sweep().await {
            warn!(%failed, "cannot remove old Slack events");
        }
    }
}

async fn look(context: &SlackContext) {
    let names = &context.slack.names;
    let people = pages(context, "users.list", &[("include_locale", "true")], "members", |user| {
        SlackPerson::read(user).map(|person| names.is_person(person)).is_some()
    });
    let people = people.await;
    let kinds = [("types", "public_channel,private_channel"), ("exclude_archived", "true")];
    let channels = pages(context, "conversations.list", &kinds, "channels", |channel| {
        SlackChannel::read(channel).map(|channel| names.is_channel(channel)).is_some()
    });
    match (people, channels.await) {
        (Ok(people), Ok(channels)) => info!(people, channels, "loaded the members of a Slack workspace"),
        (Err(error), _) | (_, Err(error)) => warn!(%error, "cannot list Slack members; looking names up one by one"),
    }
}

/// Returns how many there were.
async fn pages(
    context: &SlackContext,
    method: &str,
    form: &[(&str, &str)],
    field: &str,
    note: impl Fn(&serde_json::Value) -> bool,
) -> Result<usize, ApiError> {
    let (mut count, mut cursor) = (0, String::new());
    for _ in 0..PAGES_MAX {
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("limit", PAGE), ("cursor", &cursor)]).collect();
        let page = call_with_patience(context, method, &form).await?;
        count += list(&page, field).iter().filter(|entry| note(entry)).count();
        match page.get("response_metadata").and_then(|more| text(more, "next_cursor")) {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    Ok(count)
}
