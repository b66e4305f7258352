//! Forgets the caller: how far that is, and which names may be somebody else's.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{Argument, ArgumentKind, CommandForm, CommandSpec, Effect, Offered, Permission, Text};
use crate::keeper::{ForgetState, Forgotten, NotForgotten};
use crate::language::Language;
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "forget-me",
    name_ja: "忘れて",
    argument: Some(Argument { name: "names", kind: ArgumentKind::Names, required: false, help: Text::new("names of yours that it asked about, such as: Bo, Rina", "確認された自分の名前。例：Bo, Rina") }),
    help: Text::new("forget you: what you said, what is known of you, what rests on it; names only if it asks", "あなたの発言と、あなたについて知っていることをすべて忘れる（名前は聞かれたときだけ）"),
    example: Text::same("forget-me"),
    manual: Text::new("forgets you: what you said, what is known of you, what rests on it, and the answers that repeat it. For good; `/forget-me Bo` where it asks about a name", "あなたを忘れる。発言、あなたについて知っていること、それをもとにしたこと、それを繰り返した返事を、完全に。名前について聞かれたら `/forget-me Bo`"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

/// Goes on when the caller has gone.
fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, names: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = runner.keeper.clone() else { return Ok(answers::no_memory(language).to_owned()) };
        let names = names.and_then(Value::names).unwrap_or_default();
        let ids = runner.ears.ids_of(&call.caller.person);
        let (ears, platforms) = (runner.ears.clone(), runner.platforms.clone());
        let forgetting = tokio::spawn(async move { keeper.forget(ids, &names, &ears, &platforms).await });
        match forgetting.await.map_err(|_| CommandError::Gone)? {
            Ok(done) => Ok(format_forgotten(&done, call.form, language)),
            Err(NotForgotten::NotTheirName(name)) => Ok(not_your_name(&name, language)),
            Err(NotForgotten::Gone) => Err(CommandError::Gone),
            Err(NotForgotten::Store(error)) => Err(CommandError::Store(error)),
        }
    })
}

fn format_forgotten(forgotten: &Forgotten, form: CommandForm, language: Language) -> String {
    let mut text = state(forgotten.state, form, language);
    if forgotten.doubtful.is_empty() {
        return text;
    }
    let name = |(name, other): &(Box<str>, Option<Box<str>>)| match other {
        Some(other) => language.choose(format!("“{name}” ({other}?)"), format!("「{name}」（{other} かもしれません）")),
        None => language
            .choose(format!("“{name}” (an ordinary word?)"), format!("「{name}」（ふつうの言葉かもしれません）")),
    };
    let listed = forgotten.doubtful.iter().map(name).collect::<Vec<_>>().join(language.choose(", ", "、"));
    let names = forgotten.doubtful.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ");
    let again = form.write(&format!("forget-me {names}"));
    text.push('\n');
    text.push_str(&language.choose(
        format!(
            "What it said or remembers by these names may be about somebody else and was left: {listed}. To have it \
             removed too, within the hour: {again}"
        ),
        format!(
            "次の名前で話したことや覚えていることは、ほかの人のことかもしれないので残しました：{listed}。\
             それも消すには、1 時間以内に {again}"
        ),
    ));
    text
}

fn state(state: ForgetState, form: CommandForm, language: Language) -> String {
    let opt_out = form.write("opt-out");
    match state {
        ForgetState::Done => language.choose(
            format!(
                "You are forgotten: what you said, what was known of you and what rested on it. What you say from now on is \
                 heard again; {opt_out} keeps it out of memory."
            ),
            format!(
                "あなたのことを忘れました。あなたの発言、あなたについて知っていたこと、それをもとにしたことは残っていません。\
                 これからの発言はまた聞こえます。覚えてほしくなければ {opt_out} を使ってください。"
            ),
        ),
        ForgetState::StillRead => language
            .choose(
                "Almost done: everything of you is deleted, but something else is reading the file (a backup, perhaps), and \
                 as long as it does, old pages stay in it. They go by themselves as soon as that ends, also after a restart.",
                "もう少しで終わります。あなたに関するものはすべて削除しましたが、ほかのもの（バックアップなど）がファイルを読んで\
                 いる間は、古いページが残ります。読み終わりしだい、再起動のあとでも、ひとりでに消えます。",
            )
            .to_owned(),
        ForgetState::Interrupted => language
            .choose(
                "It is noted that you want to be forgotten, but it could not be finished now. It goes on by itself, also \
                 after a restart.",
                "忘れてほしいという希望は記録しましたが、いまは最後までできませんでした。再起動のあとでも、ひとりでに続けます。",
            )
            .to_owned(),
    }
}

fn not_your_name(name: &str, language: Language) -> String {
    language.choose(
        format!("“{name}” is none of your names, as far as is known: nothing was removed."),
        format!("「{name}」はあなたの名前として知られていません。何も消していません。"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_forgotten_is_told_how_it_stands() {
        let doubtful = vec![("Bo".into(), Some("Bob".into())), ("May".into(), None)];
        let told =
            |state, language| format_forgotten(&Forgotten { state, doubtful: doubtful.clone() }, CommandForm::Bare, language);
        let done = told(ForgetState::Done, Language::English);
        assert!(done.starts_with("You are forgotten") && done.ends_with("/forget-me Bo, May"), "{done}");
        assert!(done.contains("“Bo” (Bob?), “May” (an ordinary word?)"), "{done}");
        for state in [ForgetState::StillRead, ForgetState::Interrupted] {
            assert!(!told(state, Language::English).contains("You are forgotten"));
            assert!(!told(state, Language::Japanese).contains("忘れました"));
        }
        assert!(told(ForgetState::Done, Language::Japanese).contains("「Bo」（Bob かもしれません）"));
    }
}
