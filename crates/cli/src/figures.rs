//! `pgn figures`: pictures of what was measured.

use std::path::PathBuf;

use anyhow::Result;

use crate::output;

/// Draw the figures of a folder of results, as SVG and PNG
///
/// RESULTS holds an analyses.json, made by pgn analyse, and may hold a runs.json, made by pgn
/// reproduce. The same results give the same files, byte for byte.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn figures results/paper --out docs/images
  pgn figures results/paper --out /tmp/figures --no-png")]
pub struct Args {
    /// The folder with the results
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Where the figures go; made if need be
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// SVG only
    #[arg(long)]
    no_png: bool,
    /// Pixels of a PNG to a unit of its SVG
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    scale: u8,
    /// Print JSON: names and captions
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let figures = pgn_figures::draw(&self.results)?;
        // All are made before the first is written.
        let mut files = Vec::new();
        for figure in &figures {
            files.push((format!("{}.svg", figure.name), figure.svg.clone().into_bytes()));
            if !self.no_png {
                let png = pgn_figures::png(figure, f32::from(self.scale))?;
                files.push((format!("{}.png", figure.name), png));
            }
        }
        for (name, bytes) in &files {
            output::write(&self.out.join(name), bytes)?;
        }
        if self.json {
            let captions: Vec<_> = figures
                .iter()
                .map(|figure| serde_json::json!({ "name": figure.name, "caption": figure.caption }))
                .collect();
            return output::print_json(&captions);
        }
        let lines = figures.iter().map(|figure| format!("{}: {}\n", figure.name, figure.caption));
        output::print(&lines.collect::<String>())
    }
}
