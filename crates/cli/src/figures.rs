//! `pgn figures`: figures of analyses and scores.

use std::path::PathBuf;

use anyhow::Result;
use pgn_figures::Figure;

use crate::{interrupt, listing, output};

/// Draw figures of analyses and scores, as SVG
///
/// RESULTS holds an analyses.json from pgn analyse --out, and may hold a runs.json from pgn
/// reproduce. The same results give the same files, byte for byte.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn figures results/paper --out docs/images")]
pub struct Args {
    /// The folder with the results
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Where the figures go; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print JSON: names and captions
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        let figures = pgn_figures::draw(&self.results)?;
        // All are made before the first is written.
        for Figure { name, svg, .. } in &figures {
            output::write(&self.out.join(format!("{name}.svg")), svg.as_bytes())?;
        }
        if self.json {
            let captions: Vec<_> = figures
                .iter()
                .map(|figure| serde_json::json!({ "name": figure.name, "caption": figure.caption }))
                .collect();
            return output::print_json(&captions);
        }
        let place = |figure: &Figure| self.out.join(format!("{}.svg", figure.name));
        let lines = figures.iter().map(|f| (place(f).display().to_string(), f.caption.clone()));
        let heading = format!("{} figures", figures.len());
        output::print(&listing::render(&[(&heading, lines.collect())]))?;
        if let Some(first) = figures.first() {
            output::next(&format!("open {} in a browser", place(first).display()));
        }
        Ok(())
    }
}
