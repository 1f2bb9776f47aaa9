//! `pgn man`: manual pages, and the page of commands in the documentation.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap_mangen::Man;

use crate::output;

/// Write manual pages: pgn.1 and one page per command
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn man ~/.local/share/man/man1 && man pgn-train
  pgn man docs --markdown")]
pub struct Args {
    /// Where the pages go; created if it does not exist
    #[arg(value_name = "DIR")]
    out: PathBuf,
    /// Write one Markdown page, commands.md, with the help of every command
    #[arg(long)]
    markdown: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        if self.markdown {
            let path = self.out.join("commands.md");
            output::write(&path, markdown().as_bytes())?;
            return output::print(&format!("{}\n", path.display()));
        }
        let mut program = crate::command();
        program.build();
        let mut pages = 0;
        let mut write = |name: &str, command: clap::Command| -> Result<()> {
            let mut page = Vec::new();
            Man::new(command).render(&mut page).context("cannot make a manual page")?;
            pages += 1;
            output::write(&self.out.join(format!("{name}.1")), &page)
        };
        write("pgn", program.clone())?;
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            write(&format!("pgn-{}", command.get_name()), command.clone())?;
        }
        output::print(&format!("{}: {pages} manual pages\n", self.out.display()))
    }
}

/// Every command with its long help, as users see it in a terminal of 80 columns.
fn markdown() -> String {
    let mut program = crate::command().term_width(80);
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_has_every_command_and_fits_80_columns() {
        let page = super::markdown();
        for command in crate::command().get_subcommands() {
            assert!(page.contains(&format!("\n## pgn {}\n", command.get_name())), "{page}");
        }
        assert!(page.contains("\n## pgn cluster slurm\n"));
        let wide: Vec<&str> = page.lines().filter(|line| line.chars().count() > 80).collect();
        // The introduction, and examples that are meant to be pasted.
        let pasted = |line: &&str| line.starts_with("  pgn ") || line.starts_with("The help of");
        assert!(wide.iter().all(pasted), "{wide:#?}");
    }
}
