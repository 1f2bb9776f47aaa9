//! The page of commands in the documentation, which `docs/build` makes.

#[allow(dead_code, reason = "a test has the rest of this file")]
fn main() {
    print!("{}", markdown());
}

/// Every command with its long help, as users see it in a terminal of 80 columns.
pub fn markdown() -> String {
    let mut program = pgn_cli::command().term_width(80);
    program.build();
    let mut text = String::from(
        "# Commands\n\nThe help of every command, as `pgn COMMAND --help` prints it. Exit codes: 0 \
         done, 1 failed, 2 wrong usage, 75 not ready, 130 stopped and resumable.\n\n",
    );
    text += &format!("```text\n{}```\n", trimmed(&program.render_long_help().to_string()));
    let mut add = |name: &str, command: &mut clap::Command| {
        let help = trimmed(&command.render_long_help().to_string());
        text += &format!("\n## pgn {name}\n\n```text\n{help}```\n");
    };
    for command in program.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let name = command.get_name().to_owned();
        add(&name, command);
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            add(&format!("{name} {}", inner.get_name()), inner);
        }
    }
    text
}

/// Without spaces at the ends of lines, which terminals do not show.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
