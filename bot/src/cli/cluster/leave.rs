//! `aizuchi cluster leave`: the database of a cluster becomes that of a single process.

use crate::cli::settings::SettingsArguments;
use crate::cli::{print, store};
use crate::cluster::{ClusterSettings, RestateClient, hand_back};

pub fn run(settings: &SettingsArguments) -> anyhow::Result<()> {
    let section: ClusterSettings = settings.section()?;
    let (location, policies) = (store::location_of(&settings.section()?)?, settings.policies()?);
    let restate = RestateClient::new(&section.ingress, &section.admin)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let rooms = runtime.block_on(async {
        let (database, _) = location.open_among_others().await?;
        hand_back(&restate, &*database, &policies).await
    })?;
    print(&format!(
        "{rooms} rooms are in {} now. Stop the workers; then `aizuchi run` goes on there. Restate still has the rooms as they were: give a \
         cluster that starts on this database again an empty one.\n",
        location.shown()
    ))
}
