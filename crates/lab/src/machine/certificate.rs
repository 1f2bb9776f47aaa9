//! The certificate of a trained machine: its network equals its program on every consistent view.

use pgn_engine::{MachineNet, SimdLevel};
use pgn_machines::{Certificate, View, certify_on};
use serde::{Deserialize, Serialize};

use super::MachineRun;
use crate::{Error, Result};

/// `certificate.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachineCertificate {
    /// Program, views, outcome, what is proved. `weights` is the SHA-256 of `model.safetensors`.
    #[serde(flatten)]
    pub certificate: Certificate,
    /// The smallest lead of a decision over its runner-up, over all views and sets of instructions.
    pub margin: f32,
    /// The sets of instructions that the check was made with: a machine may be run with any.
    pub arithmetic: Vec<String>,
    /// The version of `pgn` that made it.
    pub pgn: String,
}

impl MachineCertificate {
    pub(super) fn of(run: &MachineRun) -> Result<MachineCertificate> {
        let machine = run.machine();
        let pairs = machine.consistent();
        let views: Vec<&View> = pairs.iter().map(|(view, _)| view).collect();
        let mut levels = vec![SimdLevel::best()];
        if SimdLevel::portable().name() != SimdLevel::best().name() {
            levels.push(SimdLevel::portable());
        }
        let mut found: Vec<_> = pairs.iter().map(|(_, action)| action.clone()).collect();
        let mut margin = f32::INFINITY;
        for &level in &levels {
            let net = run.net().clone().on_level(level);
            for (place, prediction) in net.predictions(&views)?.into_iter().enumerate() {
                margin = margin.min(prediction.margin);
                // Wrong with one set of instructions is wrong.
                if found[place] == pairs[place].1 {
                    found[place] = prediction.action;
                }
            }
        }
        let mut found = found.into_iter();
        let mut certificate = certify_on(machine, pairs, |_| found.next().unwrap_or_default());
        certificate.weights = Some(hash(run.net()));
        Ok(MachineCertificate {
            certificate,
            margin,
            arithmetic: levels.iter().map(|level| level.name().to_owned()).collect(),
            pgn: env!("CARGO_PKG_VERSION").to_owned(),
        })
    }

    /// Refuses a certificate that does not say that `run` is right.
    pub fn check(&self, run: &MachineRun) -> Result<()> {
        let refuse = |trouble: String| {
            Err(Error::Request(format!("the certificate of {} {trouble}", run.name())))
        };
        let signature = run.machine().signature();
        let Certificate { program, version, certified, views, right, weights, .. } =
            &self.certificate;
        if (program, *version) != (&signature.name, signature.version) {
            return refuse(format!(
                "is for program {program} version {version}; this is {} version {}: run `pgn \
                 certify` again",
                signature.name, signature.version
            ));
        }
        if *weights != Some(hash(run.net())) {
            return refuse("is for other weights: run `pgn certify` again".to_owned());
        }
        if !certified {
            let wrong = views - right;
            return refuse(format!("says that the network is wrong on {wrong} of {views} views"));
        }
        Ok(())
    }
}

fn hash(net: &MachineNet) -> String {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(net.parameters().to_bytes());
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
