//! Nothing is left of somebody who is forgotten, and each layer can be in another store.

use aizuchi_core::types::PersonId;
use aizuchi_test_servers::firestore::shared;
use aizuchi_test_servers::folder::Scratch;

use super::super::document::hash;
use super::*;
use crate::config;
use crate::memory::table::OptOutMark;
use crate::memory::tests::{answered, forget, heard, note, public, reflected, sourced, summarized};
use crate::memory::{self, MemoryContext, MemoryUser};
use crate::stores::{DataFolder, Database};

fn life() -> Vec<MemoryChange> {
    let lobby = public("web:lobby");
    let fact = sourced(&lobby, "Zebediah plays the xylophone", &[("web:zebediah", "m1")]);
    let other = sourced(&lobby, "Bob grows tomatoes", &[("web:bob", "m2")]);
    vec![
        heard(&lobby, 1, "web:zebediah", "Zebediah", "xylophones"),
        heard(&lobby, 2, "web:bob", "Bob", "tomatoes"),
        answered(&lobby, "web:bob", "web:zebediah", &[("xylophones", "m1")]),
        summarized(&lobby, 2, "Zebediah plays.", &[("web:zebediah", "Zebediah"), ("web:bob", "Bob")]),
        reflected(&lobby, 2, vec![fact, other], vec![note("web:zebediah", "xylophonist", "m1")]),
    ]
}

#[tokio::test]
async fn no_document_has_anything_of_somebody_who_is_forgotten() {
    let emulator = shared().await;
    let out = |out| MemoryChange::OptedOut { person: PersonId::new("web:zebediah"), out };
    let number = format!("{:016x}", OptOutMark::from(&PersonId::new("web:zebediah")).0);
    for (project, change) in [("forgotten", forget("web:zebediah")), ("opted-out", out(true))] {
        let opts_out = matches!(change, MemoryChange::OptedOut { .. });
        let memory = open(&emulator, project).await;
        memory.make(life()).await;
        let theirs = ["zebediah", "xylophon", &hash(&["web:zebediah"])];
        let dump = emulator.dump(project).to_lowercase();
        assert!(theirs.iter().all(|word| dump.contains(word)), "the search would find it: {dump}");
        memory.make([change]).await;
        let dump = emulator.dump(project).to_lowercase();
        for word in theirs {
            assert!(!dump.contains(word), "{word} in {dump}");
        }
        assert!(dump.contains("tomatoes"));
        assert_eq!(dump.contains(&number), opts_out, "all that is kept is a number");
        let known = memory.people(Some(&PersonId::new("web:zebediah"))).await.unwrap();
        assert_eq!(known.iter().any(|known| known.opted_out), opts_out);
    }
}

#[tokio::test]
async fn each_layer_can_be_in_another_store() {
    let (emulator, stores) = (shared().await, ["local", "memory", "firestore"]);
    for turn in 0..stores.len() {
        let folder = Scratch::new("mixture");
        let database = Database::open(&DataFolder::database_in(&folder)).unwrap();
        let project = format!("mixture-{turn}-{}", std::process::id());
        let mut layers = config::new_layers();
        let layer_names = ["channel_context", "profiles", "facts"];
        let chosen: Vec<String> = layer_names
            .iter()
            .enumerate()
            .map(|(at, layer)| format!("memory.{layer}_store={}", stores[(at + turn) % stores.len()]))
            .collect();
        chosen.iter().for_each(|assignment| layers.add_assignment(assignment));
        layers.add_assignment(&format!("firestore.project={project}"));
        layers.add_assignment(&format!("firestore.emulator={}", emulator.address()));
        let policies = config::resolve(&layers).unwrap();
        let context = MemoryContext { backend: &database, layers: &layers, user: MemoryUser::CommandLine };
        let memory = memory::open(&policies.general().settings.memory, context).await.unwrap();
        memory.apply(life(), &policies).await.unwrap();
        let held = emulator.dump(&project);
        let layer = layer_names[(3 + 2 - turn) % 3];
        assert_eq!(held.contains("Zebediah plays."), layer == "channel_context", "{chosen:?}: {held}");
        assert_eq!(held.contains("note xylophonist"), layer == "profiles", "{chosen:?}: {held}");
        assert_eq!(held.contains("Bob grows"), layer == "facts", "{chosen:?}: {held}");
        assert_eq!(memory.facts(Filter::default()).await.unwrap().len(), 2);
        assert_eq!(memory.people(None).await.unwrap().len(), 2);
        memory.apply(vec![forget("web:zebediah")], &policies).await.unwrap();
        assert_eq!(memory.facts(Filter::default()).await.unwrap().len(), 1);
        assert!(!emulator.dump(&project).to_lowercase().contains("zebediah"));
    }
}
