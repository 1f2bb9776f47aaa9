//! `pgn serve`: a local page that shows what was learned.

use std::{net::IpAddr, path::PathBuf};

use anyhow::{Context, Result};
use pgn_viewer::{Options, Server};

use crate::output;

/// The folder that is served if none is named and it is there.
const RUNS: &str = "runs";

/// Look at runs and rollouts in a browser
///
/// The page has every run directory under DIR, with live learning curves; a player with the data
/// structure and the model side by side; and a playground for operations of your own. Trained
/// models come with the program, so it works before you train anything.
///
/// Only this machine can reach the page unless --host is given. There is no password.
#[derive(clap::Args)]
#[command(after_long_help = "Examples:
  pgn serve
  pgn serve results --port 8000
  pgn serve runs --host 0.0.0.0 --allow-host lab-pc.example.org")]
pub struct Args {
    /// The folder of run directories [default: runs, if there is such a folder]
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The port; 0 for any free one
    #[arg(long, default_value_t = 7474)]
    port: u16,
    /// The address to listen on; 0.0.0.0 lets other machines connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Also answer requests addressed to this host name; can be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(self) -> Result<()> {
        let default = || Some(PathBuf::from(RUNS)).filter(|folder| folder.is_dir());
        let folder = self.folder.or_else(default);
        let options = Options {
            folder: folder.clone(),
            host: self.host,
            port: self.port,
            names: self.allow_host,
            tasks: Vec::new(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start the server's threads")?;
        let served = runtime.block_on(async {
            // Before anyone is told where the page is: who knows may also stop it.
            let stop = stop_signal()?;
            let server = Server::bind(options).await?;
            let runs = match (&folder, server.runs()) {
                (None, _) => {
                    "Showing the built-in models: there is no folder `runs` here".to_owned()
                }
                (Some(folder), 1) => format!("Showing {} (1 run)", folder.display()),
                (Some(folder), runs) => format!("Showing {} ({runs} runs)", folder.display()),
            };
            output::print(&format!("http://{}/ (Ctrl-C stops it)\n{runs}.\n", server.address()))?;
            Ok(server.run(stop).await?)
        });
        // A replay under way must not hold up the end.
        runtime.shutdown_background();
        served
    }
}

/// Done when the program is asked to stop, by Ctrl-C or by the system.
fn stop_signal() -> Result<impl Future<Output = ()> + Send + 'static> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
