//! Everything in the project that reads a file, as functions of bytes. A reader may refuse; it must
//! not panic, hang or take more memory than the file is worth. What it accepts is used, as the
//! program would.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use pgn_engine::{Config, MachineNet, Model, Parameters};
use pgn_lab::{
    AnyRun, Checkpoint, LearnerState, MachineConfig, Results, Run, RunConfig,
    analysis::Analyses,
    collection::Collection,
    machine::{MachineCertificate, MachineRun, Mode},
    metrics::{EpochLosses, Metrics, MetricsFile, read_events, read_metrics},
};
use pgn_machines::Signature;
use pgn_runs::Sweep;
use pgn_structures::{Dataset, Statistics, Task, files::TensorReader, read_operations};
use pgn_uses::{
    Graph, LearnedDsu, Problem, UnionFind,
    graph::Format,
    problems::{online_forest, spanning_forest},
};

/// One reader: its name, an intact input, and the function.
pub struct Reader {
    pub name: &'static str,
    pub kind: Kind,
    pub seed: Vec<u8>,
    /// Whether it accepted the bytes.
    pub read: fn(&[u8]) -> bool,
}

/// How a file is built, for mutations that keep most of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Tensors,
    Json,
    Lines,
    Text,
    Bytes,
}

/// The files of a run that comes with the program.
const CONFIG: &[u8] = include_bytes!("../../models/dsu/config.toml");
const MODEL: &[u8] = include_bytes!("../../models/dsu/model.safetensors");
const RESULTS: &[u8] = include_bytes!("../../models/dsu/results.json");

fn run_config() -> RunConfig {
    toml::from_str(std::str::from_utf8(CONFIG).unwrap()).unwrap()
}

/// A loaded run that is tested on little.
fn small_run() -> Run {
    let mut config = run_config();
    (config.test.nodes, config.test.ops, config.test.sequences) = (vec![8], vec![6], 2);
    let parameters = Parameters::from_bytes(network(), MODEL, Path::new("model.safetensors"));
    let model = Model::from_parameters(network().clone(), parameters.unwrap()).unwrap();
    Run::new(config, model, &Task::named("dsu").unwrap()).unwrap()
}

/// All readers, with an intact file for each.
pub fn all() -> Vec<Reader> {
    let network = network();
    let checkpoint = {
        let parameters = Parameters::initial(network, 1);
        let checkpoint = Checkpoint {
            epoch: 3,
            learner: LearnerState {
                trainer: pgn_engine::TrainerState {
                    first_moment: parameters.clone(),
                    second_moment: parameters.clone(),
                    parameters,
                    adam_steps: 3,
                    running_accuracy: 0.5,
                },
                hard: vec![1, 2],
                taken: 7,
            },
            best: None,
            seconds: 1.0,
            metrics_crc32c: 7,
        };
        let path = scratch("seed-checkpoint");
        checkpoint.save(&path, CONFIG_OF_CHECKPOINT).unwrap();
        fs::read(path).unwrap()
    };
    let set = {
        let task = Task::named("lct").unwrap();
        let sampling = pgn_structures::Sampling { count: 2, ..pgn_structures::Sampling::paper(5) };
        let path = scratch("seed-set");
        let set = Dataset::sample(&task, &sampling).unwrap().with_fields(&task).unwrap();
        set.save(&path).unwrap();
        fs::read(path).unwrap()
    };
    let line = |epoch| Metrics {
        epoch,
        learning_rate: 0.005,
        losses: EpochLosses::new([], 1.0),
        validation: Some(Default::default()),
        views: None,
    };
    let metrics: String =
        (1..=4).map(|epoch| serde_json::to_string(&line(epoch)).unwrap() + "\n").collect();
    let events = {
        let path = scratch("seed-events");
        let _ = fs::remove_file(&path);
        let mut file = pgn_lab::metrics::EventFile::open(&path, 0).unwrap();
        (1..=3).for_each(|epoch| file.add(&line(epoch)).unwrap());
        file.flush().unwrap();
        fs::read(path).unwrap()
    };
    let results = RESULTS.to_vec();
    let runs = format!("{{\"runs\":[{}]}}", String::from_utf8(results.clone()).unwrap());
    let machine = MachineRun::built_in("dsu").unwrap();
    let run = small_run();
    let rollout = {
        let [data, out] = ["seed-rollout-data", "seed-rollout"].map(scratch);
        let sampling = pgn_structures::Sampling { count: 2, ..pgn_structures::Sampling::paper(5) };
        Dataset::sample(run.task().unwrap(), &sampling).unwrap().save(&data).unwrap();
        let run = AnyRun::Model(Box::new(small_run()));
        run.write_rollouts(&data, &out, Mode::default()).unwrap();
        fs::read(out).unwrap()
    };
    let analyses = Analyses::new(vec![run.analyse().unwrap()]).to_json().unwrap().into_bytes();
    let sweep = b"epochs = 3\n[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\n".to_vec();
    let reader = |name, kind, seed, read| Reader { name, kind, seed, read };
    vec![
        reader("data set", Kind::Tensors, set, data_set),
        reader("model", Kind::Tensors, MODEL.to_vec(), model),
        reader("checkpoint", Kind::Tensors, checkpoint, self::checkpoint),
        reader("rollout", Kind::Tensors, rollout, self::rollout),
        reader("config", Kind::Text, CONFIG.to_vec(), config),
        reader("settings", Kind::Text, CONFIG.to_vec(), settings),
        reader(
            "machine config",
            Kind::Text,
            machine.config().to_toml().into_bytes(),
            machine_config,
        ),
        reader("sweep", Kind::Text, sweep, self::sweep),
        reader("metrics", Kind::Lines, metrics.into_bytes(), self::metrics),
        reader("results", Kind::Json, results, self::results),
        reader("runs", Kind::Json, runs.into_bytes(), self::runs),
        reader("analyses", Kind::Json, analyses, self::analyses),
        reader("certificate", Kind::Json, json(machine.certificate().unwrap()), certificate),
        reader("machine signature", Kind::Json, json(machine.machine().signature()), signature),
        reader("operations", Kind::Text, b"u,v\n0,1\n2,3 # c\n\n 4 , 1\n".to_vec(), operations),
        reader("events", Kind::Bytes, events, self::events),
        reader("machine model", Kind::Tensors, built_in_model(), machine_model),
        reader("graph", Kind::Text, GRAPH.to_vec(), graph),
        reader("judge", Kind::Text, JUDGE.to_vec(), judge),
    ]
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).unwrap()
}

const CONFIG_OF_CHECKPOINT: &str = "a = 1\n";

fn network() -> &'static Config {
    static NETWORK: OnceLock<Config> = OnceLock::new();
    NETWORK.get_or_init(|| run_config().network)
}

/// A folder of this process and thread, in memory where there is such a thing.
fn folder() -> PathBuf {
    thread_local! {
        static FOLDER: PathBuf = {
            let memory = Path::new("/dev/shm");
            let all = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
            let thread = format!("{:?}", std::thread::current().id());
            let digits: String = thread.chars().filter(char::is_ascii_digit).collect();
            let folder = all.join(format!("pgn-fuzz-{}-{digits}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            folder
        };
    }
    FOLDER.with(PathBuf::clone)
}

/// Removes this thread's scratch files.
pub fn clean_up() {
    let _ = fs::remove_dir_all(folder());
}

/// The path of a scratch file.
fn scratch(name: &str) -> PathBuf {
    folder().join(name)
}

/// A scratch file with these bytes.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn tensors(bytes: &[u8]) -> Option<TensorReader> {
    TensorReader::from_bytes("fuzzed.safetensors".into(), bytes.to_vec()).ok()
}

fn data_set(bytes: &[u8]) -> bool {
    let Some(set) = tensors(bytes).and_then(|file| Dataset::read(&file).ok()) else { return false };
    Statistics::of(&set);
    if let Ok(task) = Task::named(&set.task) {
        let _ = set.agrees_with(&task);
    }
    true
}

fn model(bytes: &[u8]) -> bool {
    let path = Path::new("fuzzed.safetensors");
    let Ok(parameters) = Parameters::from_bytes(network(), bytes, path) else { return false };
    let model = Model::from_parameters(network().clone(), parameters).unwrap();
    let mut state = model.start(4).unwrap();
    state.apply(pgn_structures::Operation::new(0, 3)).unwrap();
    true
}

fn checkpoint(bytes: &[u8]) -> bool {
    let path = file("checkpoint", bytes);
    Checkpoint::epoch_of(&path);
    Checkpoint::load(&path, CONFIG_OF_CHECKPOINT, &Parameters::zeros(network())).is_ok()
}

fn rollout(bytes: &[u8]) -> bool {
    let Some(file) = tensors(bytes) else { return false };
    let names = file.names();
    names.iter().all(|name| {
        let shape = file.shape(name).unwrap();
        file.f32(name, &shape).is_ok() || file.u32(name, &shape).is_ok()
    })
}

fn config(bytes: &[u8]) -> bool {
    let Ok(config) = RunConfig::load(&file("config.toml", bytes)) else { return false };
    // What was loaded can be written, and is then the same.
    let again = RunConfig::load(&file("again.toml", config.to_toml().as_bytes())).unwrap();
    assert!(config.difference(&again).is_none());
    config.departures();
    true
}

fn settings(bytes: &[u8]) -> bool {
    let Ok(settings) = pgn_lab::read_settings(&file("settings.toml", bytes)) else {
        return false;
    };
    RunConfig::resolve(settings).is_ok()
}

fn machine_config(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // Programs are enumerated when they are loaded; the smallest one will do.
    let other = ["lct", "splay", "heap", "forest"].iter().any(|name| text.contains(name));
    !other && MachineConfig::from_toml(text, Path::new("config.toml")).is_ok()
}

fn sweep(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    Sweep::parse(text)
        .is_ok_and(|sweep| sweep.queue(pgn_lab::Experiments, Path::new("nowhere")).is_ok())
}

fn metrics(bytes: &[u8]) -> bool {
    let path = file("metrics.jsonl", bytes);
    let whole = read_metrics(&path).is_ok();
    // Opened at some epoch it always becomes a file that can be read.
    drop(MetricsFile::open(&path, 3, 1).unwrap());
    assert!(read_metrics(&path).unwrap().iter().all(|line| line.epoch <= 3));
    whole
}

fn results(bytes: &[u8]) -> bool {
    let path = file("results.json", bytes);
    let Ok(results) = Results::load(path.parent().unwrap()) else { return false };
    results.at(20);
    true
}

fn runs(bytes: &[u8]) -> bool {
    let path = file("runs.json", bytes);
    // Not `Collection::load`: counting is measured again where results lack it, which takes long.
    let Ok(runs) = pgn_runs::files::read_json::<Collection>(&path) else { return false };
    for task in ["dsu", "lct"] {
        runs.groups(task);
        runs.f1(task, "pgn", 20);
    }
    true
}

fn analyses(bytes: &[u8]) -> bool {
    let Ok(analyses) = Analyses::load(&file("analyses.json", bytes)) else { return false };
    pgn_figures::of_analyses(&analyses);
    true
}

fn certificate(bytes: &[u8]) -> bool {
    pgn_runs::files::read_json::<MachineCertificate>(&file("certificate.json", bytes)).is_ok()
}

fn signature(bytes: &[u8]) -> bool {
    let Ok(signature) = serde_json::from_slice::<Signature>(bytes) else { return false };
    if signature.check().is_err() {
        return false;
    }
    pgn_machines::Store::new(&signature, &[0.1, 0.2, 0.3]).len() == 3
}

fn operations(bytes: &[u8]) -> bool {
    let task = Task::named("dsu").unwrap();
    let read = read_operations(bytes, "fuzzed.csv".as_ref(), &task, 6);
    let Ok(operations) = read else { return false };
    if operations.is_empty() {
        return false;
    }
    let priorities = [0.1, 0.5, 0.3, 0.9, 0.2, 0.7];
    let set = Dataset::from_operations(&task, 6, &priorities, &operations).unwrap();
    let mut steps = 0;
    small_model()
        .replay(set.sequence(0), |_| {
            steps += 1;
            if steps < 20 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .unwrap();
    true
}

fn small_model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| Model::new(network().clone(), 0).unwrap())
}

fn machines() -> &'static [MachineRun; 2] {
    static RUNS: OnceLock<[MachineRun; 2]> = OnceLock::new();
    RUNS.get_or_init(|| ["dsu", "lct"].map(|name| MachineRun::built_in(name).unwrap()))
}

fn built_in_model() -> Vec<u8> {
    let [_, (name, model), _] = MachineRun::built_in_files("dsu").unwrap();
    assert_eq!(name, "model.safetensors");
    model.to_vec()
}

fn machine_model(bytes: &[u8]) -> bool {
    let [run, _] = machines();
    let (signature, settings) = (run.net().signature().clone(), *run.net().settings());
    let path = Path::new("fuzzed.safetensors");
    let Ok(net) = MachineNet::from_bytes(signature, settings, bytes, path) else { return false };
    // With these weights it may do anything, but not for ever.
    let run = MachineRun::new(run.config().clone(), run.machine().clone(), net);
    let mut sets = LearnedDsu::new(&run, Mode::Network, 3).unwrap();
    let _ = sets.unite(0, 1).and_then(|_| sets.same(0, 2));
    true
}

/// More nodes are no other code, only more time.
const FEW: usize = 2000;

const GRAPH: &[u8] = b"p sp 4 3\nc roads\na 1 2 2.5\na 2 3 1\na 3 4 -4e2\n";

fn graph(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let formats = [Format::EdgeList, Format::Dimacs, Format::MatrixMarket, Format::Csv];
    let graphs = formats.into_iter().filter_map(|format| Graph::parse(text, format).ok());
    let mut accepted = false;
    for graph in graphs.filter(|graph| graph.nodes <= FEW && graph.edges.len() <= FEW) {
        let [dsu, lct] = machines();
        let (forest, _) = spanning_forest(dsu, Mode::Compiled, graph.nodes, &graph.edges).unwrap();
        graph.weight(forest);
        if graph.nodes > 0 {
            online_forest(lct, Mode::Compiled, graph.nodes, &graph.edges).unwrap();
        }
        accepted = true;
    }
    accepted
}

/// An input of `unionfind`, and of `minimum_spanning_tree` but for what its numbers mean.
const JUDGE: &[u8] = b"4 4\n0 0 1\n1 0 2\n0 2 3\n1 0 1\n";

fn judge(bytes: &[u8]) -> bool {
    let first = bytes.split(u8::is_ascii_whitespace).find(|word| !word.is_empty());
    let first = first.and_then(|word| std::str::from_utf8(word).ok()?.parse::<usize>().ok());
    if first.is_some_and(|nodes| nodes > FEW) || bytes.len() > 1 << 14 {
        return false;
    }
    let mut accepted = false;
    for problem in Problem::ALL {
        let run = &machines()[usize::from(problem.machine() == "lct")];
        let learned = problem.solve(run, Mode::Compiled, bytes).map(|solution| solution.output);
        let by_hand = problem.solve_by_hand(bytes);
        // The learned structure and the one written by hand say the same, errors included.
        match (learned, by_hand) {
            (Ok(learned), Ok(by_hand)) => {
                assert_eq!(learned, by_hand, "{}", problem.name());
                accepted = true;
            }
            (Err(_), Err(_)) => {}
            (learned, by_hand) => panic!("{}: {learned:?}, {by_hand:?}", problem.name()),
        }
    }
    accepted
}

fn events(bytes: &[u8]) -> bool {
    let path = file("events", bytes);
    let count = read_events(&path).unwrap().len();
    drop(pgn_lab::metrics::EventFile::open(&path, 2).unwrap());
    count > 3
}
