//! A trained machine.

use std::path::Path;

use pgn_engine::MachineNet;
use pgn_machines::{Machine, programs};
use pgn_structures::Task;

use super::{MachineCertificate, built_in};
use pgn_runs::{files, json_checksum};

use crate::{
    Error, MachineConfig, Result, Results, config::is_machine, results::check_model,
    run::check_is_run,
};

/// A trained machine: program, network and how it was trained.
///
/// ```
/// use pgn_lab::machine::MachineRun;
///
/// let lct = MachineRun::built_in("lct")?;
/// let certificate = lct.certify()?;
/// assert!(certificate.certificate.certified);
/// # Ok::<(), pgn_lab::Error>(())
/// ```
#[derive(Clone)]
pub struct MachineRun {
    config: MachineConfig,
    machine: Machine,
    net: MachineNet,
    certificate: Option<MachineCertificate>,
}

impl MachineRun {
    /// A machine that was just trained.
    pub fn new(config: MachineConfig, machine: Machine, net: MachineNet) -> MachineRun {
        MachineRun { config, machine, net, certificate: None }
    }

    /// Loads a run directory, or the built-in machine of this name if there is no such directory.
    pub fn open(place: &Path) -> Result<MachineRun> {
        match place.to_str() {
            Some(name) if !place.exists() && built_in::NAMES.contains(&name) => {
                MachineRun::built_in(name)
            }
            _ => MachineRun::load(place),
        }
    }

    /// Whether [`MachineRun::open`] would find a machine there, trained or not.
    pub fn is_at(place: &Path) -> bool {
        let name = place.to_str().is_some_and(|name| built_in::NAMES.contains(&name));
        MachineRun::is_in(place) || name && !place.exists()
    }

    /// Whether a run directory is that of a machine: its config says so.
    pub fn is_in(run: &Path) -> bool {
        files::read_text(&run.join(files::CONFIG)).is_ok_and(|text| is_machine(&text))
    }

    /// Loads a run directory.
    pub fn load(dir: &Path) -> Result<MachineRun> {
        check_is_run(dir)?;
        let config = MachineConfig::load(&dir.join(files::CONFIG))?;
        let path = dir.join(files::MODEL);
        if !path.exists() {
            return Err(Error::file(
                &path,
                "its run is not finished: start the same `pgn train` again to resume",
            ));
        }
        check_model(dir, files::MODEL)?;
        let machine = config.machine()?;
        let bytes = files::read(&path)?;
        let signature = machine.signature().clone();
        let net = MachineNet::from_bytes(signature, config.network, &bytes, &path)?;
        let path = dir.join(files::CERTIFICATE);
        let certificate = if path.exists() { Some(files::read_json(&path)?) } else { None };
        Ok(MachineRun { config, machine, net, certificate })
    }

    /// The proof in its directory, which must be this machine's.
    pub fn proof_in(&self, dir: &Path) -> Result<Vec<u8>> {
        let path = dir.join(files::PROOF);
        if !path.exists() {
            return Err(Error::file(&path, "it is missing; `pgn certify` writes it"));
        }
        let bytes = files::read(&path)?;
        match bytes == self.proof() {
            true => Ok(bytes),
            false => Err(Error::file(
                &path,
                "it is not the proof of the machine beside it; run `pgn certify` again",
            )),
        }
    }

    /// A machine that comes with this program.
    pub fn built_in(name: &str) -> Result<MachineRun> {
        let found = built_in::files(name)?;
        let path = Path::new(name);
        let config = MachineConfig::from_toml(found.config, path)?;
        let machine = config.machine()?;
        let signature = machine.signature().clone();
        let net = MachineNet::from_bytes(signature, config.network, found.model, path)?;
        let certificate = serde_json::from_str(found.certificate)
            .map_err(|error| Error::file(path, format!("damaged certificate ({error})")))?;
        Ok(MachineRun { config, machine, net, certificate: Some(certificate) })
    }

    /// What a machine that comes with this program scored.
    pub fn built_in_results(name: &str) -> Result<Results> {
        serde_json::from_str(built_in::files(name)?.results)
            .map_err(|error| Error::file(Path::new(name), format!("damaged results ({error})")))
    }

    /// The files of a machine that comes with this program, by name.
    pub fn built_in_files(name: &str) -> Result<[(&'static str, &'static [u8]); 3]> {
        let found = built_in::files(name)?;
        Ok([
            (files::CONFIG, found.config.as_bytes()),
            (files::MODEL, found.model),
            (files::CERTIFICATE, found.certificate.as_bytes()),
        ])
    }

    /// The names of the machines that come with this program.
    pub fn built_in_names() -> &'static [&'static str] {
        &built_in::NAMES
    }

    /// How it was trained.
    pub fn config(&self) -> &MachineConfig {
        &self.config
    }

    /// Its program.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Its network.
    pub fn net(&self) -> &MachineNet {
        &self.net
    }

    /// What it is called in messages.
    pub fn name(&self) -> String {
        self.config.name()
    }

    /// The certificate that lies beside it: a record, which may be of other weights.
    pub fn certificate(&self) -> Option<&MachineCertificate> {
        self.certificate.as_ref()
    }

    /// Checks the network against the program on every consistent view.
    pub fn certify(&self) -> Result<MachineCertificate> {
        MachineCertificate::of(self)
    }

    /// [`MachineRun::certify`], written to `certificate.json` in a run directory, with
    /// `proof.safetensors` beside it.
    pub fn certify_in(&self, dir: &Path) -> Result<MachineCertificate> {
        let certificate = self.certify()?;
        files::write(&dir.join(files::PROOF), &self.proof())?;
        let path = dir.join(files::CERTIFICATE);
        files::write(&path, &json_checksum::add(files::json_bytes(&path, &certificate)?))?;
        Ok(certificate)
    }

    /// The data structure whose data sets it can be run on: one of the same name, or the program
    /// itself. A structure with a single kind of operation has the program's first.
    pub fn task(&self) -> Result<Task> {
        programs::build_in_tasks();
        Task::named(&self.config.task).map_err(|_| {
            Error::request(format!(
                "there are no data sets of {}: not all of its operations take one or two nodes",
                self.config.task
            ))
        })
    }
}
