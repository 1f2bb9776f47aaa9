//! What the checker of proofs reads, and what it found.

use pgn_machines::Trial;
use pgn_structures::files::TensorWriter;
use serde::{Deserialize, Serialize};

use super::{MachineRun, certificate::hash};
use crate::{Error, Result};

/// The part of a certificate that is about the proof.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProofRecord {
    /// Whether the checker has verified everything.
    pub proved: bool,
    /// What that means, in one paragraph.
    pub statement: String,
    /// The SHA-256 of all that it is about: names, clauses, lenses, table and network.
    #[serde(default)]
    pub subject: String,
    /// Views that the clauses allow.
    pub views: usize,
    /// Obligations that a clause holds after a row of the table.
    pub induction: usize,
    /// Pointers that must not close a cycle.
    pub acyclic: usize,
    /// Obligations for the initial memory and the start of operations.
    pub start: usize,
    /// Obligations about answers.
    pub answers: usize,
    /// Decisions of the network.
    pub decisions: usize,
    /// The largest share of a decision's lead that rounding errors can use up.
    pub rounding: f64,
    /// What the checker has against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refutation: Option<String>,
}

/// Random runs of a program whose clauses are not proved.
const TRIALS: [Trial; 2] = [
    Trial { sequences: 100, nodes: 6, operations: 40, seed: 1 },
    Trial { sequences: 40, nodes: 14, operations: 80, seed: 2 },
];

impl MachineRun {
    /// The machine with its program and clauses, as `pgn check` reads it.
    pub fn proof(&self) -> Vec<u8> {
        let settings = self.config().network;
        let network = serde_json::json!({
            "k": settings.k, "rounds": settings.rounds, "cap": settings.cap,
        });
        let parameters = self.net().parameters();
        let mut file = TensorWriter::new();
        file.metadata("proof", self.machine().proof(network));
        for tensor in parameters.tensors() {
            let values = parameters.get(tensor.name).unwrap_or_default();
            file.f32(tensor.name, &tensor.shape, values);
        }
        let mut bytes = Vec::new();
        file.write(&mut bytes).unwrap_or_else(|_| unreachable!("memory can be written"));
        bytes
    }
}

impl ProofRecord {
    /// Asks the checker; where it proves nothing, tests the clauses instead.
    pub(super) fn of(run: &MachineRun) -> Result<ProofRecord> {
        let proof = run.proof();
        let subject = hash(&proof);
        let report = match pgn_check::check(&proof) {
            Ok(report) => report,
            Err(refutation) => return ProofRecord::tested(run, &refutation.to_string(), subject),
        };
        Ok(ProofRecord {
            proved: true,
            subject,
            statement: report.statement(),
            views: report.views,
            induction: report.induction,
            acyclic: report.acyclic,
            start: report.start,
            answers: report.answers,
            decisions: report.decisions,
            rounding: report.rounding,
            refutation: None,
        })
    }

    fn tested(run: &MachineRun, refutation: &str, subject: String) -> Result<ProofRecord> {
        let machine = run.machine();
        let mut operations = 0;
        for trial in TRIALS {
            machine.test_assumptions(trial).map_err(Error::from)?;
            operations += trial.sequences * trial.operations as u64;
        }
        let (name, version) = (&machine.signature().name, machine.signature().version);
        let statement = format!(
            "Certified and tested, not proved: the network does what program `{name}` (version \
             {version}) does on each of {} views, and its clauses held in {operations} random \
             operations. The checker could not prove that they always do.",
            machine.consistent().len()
        );
        let refutation = Some(refutation.to_owned());
        Ok(ProofRecord { statement, subject, refutation, ..ProofRecord::default() })
    }
}
