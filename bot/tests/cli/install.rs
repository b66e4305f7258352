//! What an installed program brings along: completions, manual pages, and which build it is.

use super::program::Folder;

#[test]
fn every_shell_completes_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = folder.run(&format!("completions {shell}")).succeeded().out;
        for command in ["doctor", "replay", "web-link", "--no-browser"] {
            // Fish writes options without their dashes.
            assert!(script.contains(command.trim_start_matches('-')), "{shell} does not complete {command}");
        }
    }
    folder.run("completions csh").refused(2, &["csh", "bash"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let first = folder.run("man").succeeded().out;
    assert!(first.contains(".TH aizuchi 1") && first.contains("doctor"), "{first}");
    folder.run("man --out pages").succeeded();
    assert_eq!(folder.read("pages/aizuchi.1"), first);
    let help = folder.run("--help").succeeded().out;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        assert!(folder.has(&format!("pages/aizuchi-{name}.1")), "there is no page of {name}");
    }
}

#[test]
fn it_names_its_version_and_build() {
    let told = Folder::new().run("--version").succeeded().out;
    let (version, build) = told.trim().split_once(" (").expect("the build is in brackets");
    assert_eq!(version, concat!("aizuchi ", env!("CARGO_PKG_VERSION")));
    assert!(build.len() > 5 && build.ends_with(')'), "{told}");
}
