//! The clap definition of the command line, with the help template. It uses `args` and `help`;
//! `args` uses `help`.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::args::Args;
use super::help::GROUPS;

/// The definition, with a help template that groups the commands.
pub(super) fn command() -> Command {
    let mut command = Args::command();
    let template = template(&command);
    command = command.help_template(template);
    command
}

fn template(command: &Command) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut groups = String::new();
    for (heading, names) in GROUPS {
        let listed: Vec<_> = names.iter().filter_map(|n| command.find_subcommand(n)).collect();
        if listed.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(groups, "{header}{heading}:{header:#}");
        for one in listed {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let name = one.get_name();
            let _ = writeln!(groups, "  {literal}{name:<12}{literal:#} {about}");
        }
        groups.push('\n');
    }
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::unavailable;

    #[test]
    fn every_command_has_its_group_and_an_example() {
        let command = command();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        for one in command.get_subcommands().filter(|one| !one.is_hide_set()) {
            let name = one.get_name();
            assert_eq!(grouped.iter().filter(|other| **other == name).count(), 1, "{name}");
            let after = one.get_after_help().map(ToString::to_string).unwrap_or_default();
            let has_example = after.contains(&format!("bisect-ppl {name}"));
            assert!(has_example || one.has_subcommands(), "{name} has no example");
        }
        for name in grouped {
            let exists = command.find_subcommand(name).is_some();
            assert_ne!(exists, unavailable::COMMANDS.contains(&name), "{name}");
        }
    }

    #[test]
    fn help_fits_a_terminal_of_eighty_columns() {
        fn check(command: &mut Command) {
            let mut command = command.clone().term_width(80);
            // clap would wrap a longer line to the left margin, even in the examples.
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let help = [command.render_help(), command.render_long_help()];
            for text in help.iter().map(ToString::to_string).chain([after]) {
                for line in text.lines() {
                    assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
                }
            }
            for one in command.get_subcommands_mut() {
                check(one);
            }
        }
        check(&mut command());
    }
}
