//! `pgn figures`: pictures of what was measured.

use std::path::PathBuf;

use anyhow::Result;

use crate::{interrupt, listing, output, steps::Steps};

/// Draw figures of analyses and scores, as SVG and PNG
///
/// RESULTS holds an analyses.json from pgn analyse --out, and may hold a runs.json from pgn
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
    /// Where the figures go; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// SVG only
    #[arg(long)]
    no_png: bool,
    /// PNG pixels per SVG unit
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    scale: u8,
    /// Print JSON: names and captions
    #[arg(long)]
    json: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        interrupt::leave_nothing()?;
        let figures = pgn_figures::draw(&self.results)?;
        let steps = Steps::new("figures", figures.len());
        // All are made before the first is written.
        let mut files = Vec::new();
        for figure in &figures {
            files.push((format!("{}.svg", figure.name), figure.svg.clone().into_bytes()));
            if !self.no_png {
                let draw = || pgn_figures::png(figure, f32::from(self.scale));
                files.push((format!("{}.png", figure.name), steps.step(&figure.name, draw)?));
            }
        }
        drop(steps);
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
        let kinds = if self.no_png { ".svg" } else { ".svg, .png" };
        let place = |name: &str| self.out.join(name).display().to_string();
        let lines =
            figures.iter().map(|f| (format!("{}{kinds}", place(&f.name)), f.caption.clone()));
        let heading = format!("{} figures", figures.len());
        output::print(&listing::render(&[(&heading, lines.collect())]))
    }
}
