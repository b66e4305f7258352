//! The loop around the engine, on the real journal, in virtual time.

mod clock;
#[cfg(feature = "cluster")]
mod cluster;
mod crash;
mod durable;
mod failures;
mod first;
mod forgets;
mod looked_up;
mod made_up;
mod memory_away;
mod money;
mod own_data;
mod own_names;
mod people;
mod remembering_life;
mod remembers;
mod requests;
mod restart;
mod shards;
mod supervised;
mod talks;
mod ties;
mod tools;
mod virtual_time;
mod years_ahead;
