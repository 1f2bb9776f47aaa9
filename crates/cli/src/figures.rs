//! `pgn figures`: figures of analyses and scores.

use std::path::PathBuf;

use anyhow::Result;
use pgn_figures::Figure;

use crate::{interrupt, listing, output, steps::Steps};

/// Draw figures of analyses and scores, as SVG or PNG
///
/// RESULTS holds an analyses.json from pgn analyse --out, and may hold a runs.json from pgn
/// reproduce. The same results give the same files, byte for byte.
#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  pgn figures results/paper --out docs/images
  pgn figures results/paper --out slides --png --scale 4")]
pub struct Args {
    /// The folder with the results
    #[arg(value_name = "RESULTS")]
    results: PathBuf,
    /// Where the figures go; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Write PNG files too; needs a `pgn` that was installed with `--features png`
    #[arg(long)]
    png: bool,
    /// With --png: pixels per SVG unit
    #[arg(long, value_name = "N", requires = "png", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
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
            if self.png {
                let draw = || png(figure, f32::from(self.scale));
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
        let kinds = if self.png { ".svg, .png" } else { ".svg" };
        let place = |name: &str| self.out.join(name).display().to_string();
        let lines =
            figures.iter().map(|f| (format!("{}{kinds}", place(&f.name)), f.caption.clone()));
        let heading = format!("{} figures", figures.len());
        output::print(&listing::render(&[(&heading, lines.collect())]))?;
        if let Some(first) = figures.first() {
            output::next(&format!("open {} in a browser", place(&format!("{}.svg", first.name))));
        }
        Ok(())
    }
}

#[cfg(feature = "png")]
fn png(figure: &Figure, scale: f32) -> Result<Vec<u8>> {
    Ok(pgn_figures::png(figure, scale)?)
}

#[cfg(not(feature = "png"))]
fn png(_: &Figure, _: f32) -> Result<Vec<u8>> {
    anyhow::bail!(
        "this pgn was compiled without PNG; install it with \
         `cargo install --path crates/cli --features png`, or leave out --png for SVG"
    )
}
