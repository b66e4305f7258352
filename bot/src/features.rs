//! What is not in every build: the heavier parts, each a feature of the crate.

pub struct BuildFeature {
    pub name: &'static str,
    pub is_built_in: bool,
}

pub const CLUSTER: BuildFeature = BuildFeature { name: "cluster", is_built_in: cfg!(feature = "cluster") };

pub const FIRESTORE: BuildFeature = BuildFeature { name: "firestore", is_built_in: cfg!(feature = "firestore") };

pub const LOCAL_EMBEDDINGS: BuildFeature =
    BuildFeature { name: "local-embeddings", is_built_in: cfg!(feature = "local-embeddings") };

pub const MCP: BuildFeature = BuildFeature { name: "mcp", is_built_in: cfg!(feature = "mcp") };

pub const POSTGRES: BuildFeature = BuildFeature { name: "postgres", is_built_in: cfg!(feature = "postgres") };

/// All of them are in a build with the feature `full`.
pub const FEATURES: &[BuildFeature] = &[LOCAL_EMBEDDINGS, POSTGRES, CLUSTER, FIRESTORE, MCP];

impl BuildFeature {
    /// `Err` says how to get a build that has it; `setting` is what asks for it.
    pub fn require(&self, setting: &str) -> Result<(), String> {
        self.lacking().map_or(Ok(()), |lacking| Err(format!("{setting}: {lacking}")))
    }

    /// How to get a build that has it, if this one has not.
    pub fn lacking(&self) -> Option<String> {
        let BuildFeature { name, is_built_in } = self;
        let told =
            || format!("this build lacks the feature `{name}`: cargo install --locked --path bot --features {name}");
        (!is_built_in).then(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lacks_is_named_with_how_to_get_it() {
        let lacking = BuildFeature { name: "wings", is_built_in: false };
        assert_eq!(
            lacking.require("models.embed = \"folder:x\"").unwrap_err(),
            "models.embed = \"folder:x\": this build lacks the feature `wings`: cargo install --locked --path bot --features \
             wings"
        );
        assert_eq!(BuildFeature { name: "wings", is_built_in: true }.require("x"), Ok(()));
    }

    #[test]
    fn the_manifest_has_each_and_full_has_all() {
        let manifest: toml_edit::DocumentMut = include_str!("../Cargo.toml").parse().unwrap();
        let features = manifest["features"].as_table().unwrap();
        let mut named: Vec<&str> = features.iter().map(|(name, _)| name).filter(|name| *name != "full").collect();
        let full: Vec<&str> = features["full"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
        let own: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        named.retain(|name| *name != "default");
        assert_eq!((&named, &full), (&own, &own));
    }
}
