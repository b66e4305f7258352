//! One suite that every platform passes: the same scenes on the web room, on Discord and on Slack, with the real engine,
//! store and adapter behind them, and decisions that a replay of the export takes again. And one that every store passes.

mod life;
mod stage;

mod discord;
mod slack;
mod web;

mod replay;
mod scenes;

mod store_stages;
mod stores;

/// Every scene on every platform.
macro_rules! contract {
    ($($platform:ident: $stage:ty;)+ => $scenes:tt) => {
        $(contract!(@ $platform $stage, $scenes);)+
    };
    (@ $platform:ident $stage:ty, [$($scene:path as $name:ident,)+]) => {
        mod $platform {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    $scene(<$stage as crate::stage::PlatformStage>::open().await).await;
                }
            )+
        }
    };
}

mod passes {
    contract! {
        on_web: crate::web::WebRoom;
        on_discord: crate::discord::Guild;
        on_slack: crate::slack::Workplace;
        => [
            crate::scenes::said as said,
            crate::scenes::threaded as threaded,
            crate::scenes::replied as replied,
            crate::scenes::reacted as reacted,
            crate::scenes::approved as approved,
            crate::scenes::edited as edited,
            crate::scenes::deleted as deleted,
            crate::scenes::long_answer as long_answer,
            crate::scenes::deleted_in_mid_answer as deleted_in_mid_answer,
            crate::scenes::hostile_names as hostile_names,
            crate::scenes::reconnect_in_mid_answer as reconnect_in_mid_answer,
            crate::scenes::redelivery as redelivery,
            crate::scenes::rate_limit as rate_limit,
            crate::scenes::permission_lost as permission_lost,
            crate::replay::of_the_export_decides_the_same as replay_of_the_export_decides_the_same,
        ]
    }
}
