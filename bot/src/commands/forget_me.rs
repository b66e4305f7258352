//! Forgets the caller: reports the progress, and which names may be another person's.

use aizuchi_core::memory::words::{DoubtfulName, NameDoubt};

use super::answers;
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandForm, CommandSpec, OfferedIn, Permission};
use crate::keeper::{ForgetError, ForgetResult, ForgetState};
use crate::language::{Language, LocalizedMessage, message, say};
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "forget-me",
    argument: Some(ArgumentSpec { name: "names", kind: ArgumentKind::Names, required: false }),
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Remember(run),
};

/// Continues after the caller has left.
fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    names: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = runner.keeper.clone() else { return Ok(answers::no_memory(language)) };
        let names = names.and_then(ArgumentValue::names).unwrap_or_default();
        let ids = runner.engine.ids_of(&call.caller.person);
        let (engine, platforms) = (runner.engine.clone(), runner.platforms.clone());
        let forgetting = tokio::spawn(async move { keeper.forget(ids, &names, &engine, &platforms).await });
        match forgetting.await.map_err(|_| CommandError::Gone)? {
            Ok(done) => Ok(format_forgotten(&done, call.form, language)),
            Err(ForgetError::NotTheirName(name)) => Ok(not_your_name(&name, language)),
            Err(ForgetError::Gone) => Err(CommandError::Gone),
            Err(ForgetError::Store(error)) => Err(CommandError::Store(error)),
        }
    })
}

fn format_forgotten(forgotten: &ForgetResult, form: CommandForm, language: Language) -> String {
    let mut text = format_state(forgotten.state, form, language);
    if let Some(question) = ask_about(&forgotten.doubtful, form, language) {
        text.push('\n');
        text.push_str(&question);
    }
    if !forgotten.shared.is_empty() {
        text.push('\n');
        text.push_str(&say!(language, "forgotten-shared", names = listed(&forgotten.shared)));
    }
    text
}

/// Asks which of these names are theirs.
pub(super) fn ask_about(doubtful: &[DoubtfulName], form: CommandForm, language: Language) -> Option<String> {
    if doubtful.is_empty() {
        return None;
    }
    let names = doubtful.iter().map(|known| &*known.name).collect::<Vec<_>>().join(", ");
    let again = form.write(&format!("forget-me {names}"));
    Some(say!(language, "forgotten-doubtful", names = listed(doubtful), again = again))
}

fn listed(names: &[DoubtfulName]) -> Vec<LocalizedMessage> {
    let name = |DoubtfulName { name, doubt }: &DoubtfulName| match doubt {
        NameDoubt::AnotherPerson(other) | NameDoubt::Beginning(other) => {
            message!("forgotten-name-other", name = &**name, other = &**other)
        }
        NameDoubt::Word => message!("forgotten-name-word", name = &**name),
        NameDoubt::UsedBefore => message!("forgotten-name-before", name = &**name),
        NameDoubt::Part => message!("forgotten-name-part", name = &**name),
        NameDoubt::Untied => message!("forgotten-name-untied", name = &**name),
    };
    names.iter().map(name).collect()
}

fn format_state(state: ForgetState, form: CommandForm, language: Language) -> String {
    match state {
        ForgetState::Done => say!(language, "forgotten-done", opt_out = form.write("opt-out")),
        ForgetState::StillRead => language.text("forgotten-still-read"),
        ForgetState::Interrupted => language.text("forgotten-interrupted"),
    }
}

fn not_your_name(name: &str, language: Language) -> String {
    say!(language, "forgotten-not-your-name", name = name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_forgotten_is_told_how_it_stands() {
        let known = |name: &str, doubt| DoubtfulName { name: name.into(), doubt };
        let doubtful = vec![known("Bo", NameDoubt::Beginning("Bob".into())), known("May", NameDoubt::Word)];
        let shared = vec![known("Rina", NameDoubt::AnotherPerson("Rina".into()))];
        let told = |state, language| {
            let result = ForgetResult { state, doubtful: doubtful.clone(), shared: Vec::new() };
            format_forgotten(&result, CommandForm::Bare, language)
        };
        let result = ForgetResult { state: ForgetState::Done, doubtful: Vec::new(), shared };
        assert!(format_forgotten(&result, CommandForm::Bare, Language::ENGLISH).contains("“Rina” (Rina?)"));
        let done = told(ForgetState::Done, Language::ENGLISH);
        assert!(done.starts_with("You are forgotten") && done.ends_with("/forget-me Bo, May"), "{done}");
        assert!(done.contains("“Bo” (Bob?), “May” (an ordinary word?)"), "{done}");
        for state in [ForgetState::StillRead, ForgetState::Interrupted] {
            assert!(!told(state, Language::ENGLISH).contains("You are forgotten"));
            assert!(!told(state, Language::from_id("ja").unwrap()).contains("忘れました"));
        }
        assert!(told(ForgetState::Done, Language::from_id("ja").unwrap()).contains("「Bo」（Bob かもしれません）"));
    }
}
