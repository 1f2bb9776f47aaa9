//! The certificate of a trained machine: its network equals its program on every consistent view.

use pgn_engine::MachineNet;
use pgn_machines::{Certificate, View, certify_on};
use serde::{Deserialize, Serialize};

use super::MachineRun;
use crate::Result;

/// `certificate.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCertificate {
    /// Program, views, outcome, what is proved. `weights` is the SHA-256 of `model.safetensors`.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The smallest lead of a decision over its runner-up, over all views.
    pub margin: f32,
    /// The version of `pgn` that made it.
    pub pgn: String,
}

impl MachineCertificate {
    pub(super) fn of(run: &MachineRun) -> Result<MachineCertificate> {
        let machine = run.machine();
        let pairs = machine.consistent();
        let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
        let predictions = run.net().predictions(&views)?;
        let margin = predictions.iter().map(|one| one.margin).fold(f32::INFINITY, f32::min);
        let mut found = predictions.into_iter().map(|prediction| prediction.action);
        let mut certificate = certify_on(machine, pairs, |_| found.next().unwrap_or_default());
        certificate.weights = Some(hash(run.net()));
        Ok(MachineCertificate { certificate, margin, pgn: env!("CARGO_PKG_VERSION").to_owned() })
    }
}

fn hash(net: &MachineNet) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(net.parameters().to_bytes());
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
