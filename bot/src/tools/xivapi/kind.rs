//! What can be looked up: sheets of the game's data, and which fields of each are shown.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupKind {
    Item,
    Action,
    Quest,
}

/// A field, and its label.
pub struct FieldLabel {
    pub field: &'static str,
    pub words: &'static str,
}

const fn label(field: &'static str, words: &'static str) -> FieldLabel {
    FieldLabel { field, words }
}

const OF_ITEMS: &[FieldLabel] = &[
    label("ItemUICategory.Name", "{}"),
    label("LevelItem@as(raw)", "item level {}"),
    label("LevelEquip", "equipped from level {}"),
    label("ClassJobCategory.Name", "for {}"),
    label("StackSize", "stack of {}"),
    label("CanBeHq", "high quality: {}"),
    label("IsUnique", "unique: {}"),
    label("IsUntradable", "untradable: {}"),
];

const OF_ACTIONS: &[FieldLabel] = &[
    label("ActionCategory.Name", "{}"),
    label("ClassJobCategory.Name", "for {}"),
    label("ClassJobLevel", "from level {}"),
    label("Cast100ms", "cast {}"),
    label("Recast100ms", "recast {}"),
    label("Range", "range {}"),
    label("EffectRange", "radius {}"),
];

const OF_QUESTS: &[FieldLabel] = &[
    label("JournalGenre.Name", "{}"),
    label("Expansion.Name", "{}"),
    label("PlaceName.Name", "begins in {}"),
    label("IssuerStart.Singular", "given by {}"),
];

impl LookupKind {
    pub const ALL: [LookupKind; 3] = [LookupKind::Item, LookupKind::Action, LookupKind::Quest];

    pub fn name(self) -> &'static str {
        match self {
            LookupKind::Item => "item",
            LookupKind::Action => "action",
            LookupKind::Quest => "quest",
        }
    }

    pub fn sheet(self) -> &'static str {
        match self {
            LookupKind::Item => "Item",
            LookupKind::Action => "Action",
            LookupKind::Quest => "Quest",
        }
    }

    pub fn labels(self) -> &'static [FieldLabel] {
        match self {
            LookupKind::Item => OF_ITEMS,
            LookupKind::Action => OF_ACTIONS,
            LookupKind::Quest => OF_QUESTS,
        }
    }

    pub fn fields(self) -> String {
        let described = if self == LookupKind::Item { ",Description" } else { "" };
        let labels: Vec<&str> = self.labels().iter().map(|label| label.field).collect();
        format!("Name,{}{described}", labels.join(","))
    }

    /// A second sheet that the game keeps beside the first.
    pub fn transient(self) -> Option<&'static str> {
        (self == LookupKind::Action).then_some("Description")
    }
}
