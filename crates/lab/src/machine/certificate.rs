//! The certificate of a trained machine: its network equals its program on every consistent view.

use pgn_machines::{Certificate, Trial, View, certify_on};
use serde::{Deserialize, Serialize};

use super::{MachineRun, proof::ProofRecord};
use crate::Result;

/// `certificate.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCertificate {
    /// Program, views, outcome, what is proved. `weights` is the SHA-256 of `model.safetensors`.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The smallest lead of a decision over its runner-up, over all views.
    pub margin: f32,
    /// What the checker found, if the network is right on all views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofRecord>,
    /// The version of `pgn` that made it.
    pub pgn: String,
}

impl MachineCertificate {
    pub(super) fn of(run: &MachineRun) -> Result<MachineCertificate> {
        let machine = run.machine();
        for (sequences, nodes) in TRIED {
            let trial = Trial { sequences, nodes, operations: 30, seed: run.config().seed };
            machine.test_assumptions(trial)?;
        }
        let pairs = machine.consistent();
        let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
        let predictions = run.net().predictions(&views)?;
        let margin = predictions.iter().map(|one| one.margin).fold(f32::INFINITY, f32::min);
        let mut found = predictions.into_iter().map(|prediction| prediction.action);
        let mut certificate = certify_on(machine, pairs, |_| found.next().unwrap_or_default());
        certificate.weights = Some(hash(&run.net().parameters().to_bytes()));
        let proof = certificate.certified.then(|| ProofRecord::of(run)).transpose()?;
        if let Some(proof) = &proof {
            certificate.statement = proof.statement.clone();
        }
        let pgn = env!("CARGO_PKG_VERSION").to_owned();
        Ok(MachineCertificate { certificate, margin, proof, pgn })
    }
}

impl MachineRun {
    /// What its certificate says, proved or tested, if it is a certificate of this network and of
    /// this program.
    pub fn statement(&self) -> Option<String> {
        self.certificate_of_this().map(|known| known.certificate.statement.clone())
    }

    /// Whether its certificate says that it is proved, and is of this network and program.
    pub fn is_proved(&self) -> bool {
        let known = self.certificate_of_this().and_then(|known| known.proof.as_ref());
        known.is_some_and(|proof| proof.proved)
    }

    fn certificate_of_this(&self) -> Option<&MachineCertificate> {
        let known = self.certificate()?;
        (known.proof.as_ref()?.subject == hash(&self.proof())).then_some(known)
    }
}

/// Sequences and their nodes on which invariants are tested before a certificate is given.
const TRIED: [(u64, usize); 3] = [(20, 3), (10, 8), (5, 20)];

pub(super) fn hash(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(bytes);
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
