//! The server, asked over real sockets with requests written out by hand.

mod common;

use std::{io::Write, net::TcpStream, path::Path};

use common::{Running, sentence};
use pgn_lab::{
    RunConfig, Scores,
    metrics::{EpochLosses, Metrics},
};
use pgn_structures::{Dataset, Sampling, Split, Task};
use pgn_viewer::{Options, Server};
use serde_json::{Value, json};

fn metrics(epoch: u64) -> String {
    let metrics = Metrics {
        epoch,
        learning_rate: 0.005,
        losses: EpochLosses::new([], 1.0 / epoch as f64),
        validation: Some(Scores { f1: 0.5, ..Scores::default() }),
        views: None,
    };
    serde_json::to_string(&metrics).unwrap() + "\n"
}

/// A folder with a run that trains, a broken one, and a secret beside it.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("runs/lct/gnn-3");
    std::fs::create_dir_all(&run).unwrap();
    let config = RunConfig::defaults("lct", "gnn", 3).unwrap();
    std::fs::write(run.join("config.toml"), config.to_toml()).unwrap();
    std::fs::write(run.join("metrics.jsonl"), metrics(1) + &metrics(2)).unwrap();
    let broken = dir.path().join("runs/broken");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("config.toml"), "task = 7\n").unwrap();
    let outside = dir.path().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("config.toml"), config.to_toml()).unwrap();
    dir
}

#[test]
fn the_page_and_its_headers() {
    let server = Running::start(None);
    for (path, kind) in [
        ("/", "text/html"),
        ("/page.js", "text/javascript"),
        ("/page.css", "text/css"),
        ("/icon.svg", "image/svg+xml"),
        ("/third-party.txt", "text/plain"),
    ] {
        let (status, head, body) = server.ask("GET", path, "Host: localhost\r\n", "");
        assert_eq!(status, 200, "{path}");
        assert!(head.contains(&format!("content-type: {kind}")), "{head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        assert!(!head.contains("access-control-allow-origin"), "{head}");
        assert!(!body.is_empty());
        // Nothing is loaded from elsewhere.
        if path == "/" {
            assert!(!body.contains("http"), "{body}");
        }
    }
    let (status, body) = server.get("/api/about");
    assert_eq!((status, &body["folder"]), (200, &Value::Null));
}

#[test]
fn runs_and_curves() {
    let dir = folder();
    let server = Running::start(Some(&dir.path().join("runs")));
    let (status, runs) = server.get("/api/runs");
    assert_eq!(status, 200);
    let ids: Vec<_> =
        runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(
        ids,
        [
            "built-in:dsu",
            "built-in:lct",
            "built-in:dsu-free",
            "built-in:lct-free",
            "built-in:dsu-free-2",
            "built-in:lct-free-2",
            "built-in:dsu-ordered",
            "built-in:forest",
            "built-in:machine-dsu",
            "built-in:machine-lct",
            "built-in:machine-forest",
            "built-in:machine-splay",
            "built-in:machine-heap",
            "run:broken",
            "run:lct/gnn-3"
        ]
    );
    assert_eq!(runs[0]["test"][0]["nodes"], 20);
    assert_eq!((&runs[0]["finished"], &runs[0]["playable"]), (&json!(true), &json!(true)));
    let named = |id: &str| {
        let found = runs.as_array().unwrap().iter().find(|run| run["id"] == id);
        found.unwrap_or_else(|| panic!("{id} is listed"))
    };
    assert!(named("run:broken")["trouble"].as_str().unwrap().starts_with("config.toml"));
    let training = named("run:lct/gnn-3");
    assert_eq!((&training["epoch"], &training["epochs"]), (&json!(2), &json!(5000)));
    assert_eq!((&training["finished"], &training["playable"]), (&json!(false), &json!(false)));

    let (status, run) = server.get("/api/run?id=run:lct%2Fgnn-3");
    assert_eq!(status, 200);
    assert!(run["config"].as_str().unwrap().contains("task = \"lct\""));

    let (_, first) = server.get("/api/metrics?id=run:lct/gnn-3");
    assert_eq!(first["lines"].as_array().unwrap().len(), 2);
    let path = dir.path().join("runs/lct/gnn-3/metrics.jsonl");
    std::fs::write(&path, metrics(1) + &metrics(2) + &metrics(3)).unwrap();
    let (_, second) =
        server.get(&format!("/api/metrics?id=run:lct/gnn-3&offset={}", first["offset"]));
    assert_eq!(second["lines"][0]["epoch"], 3);
    assert_eq!((&second["afresh"], second["lines"].as_array().unwrap().len()), (&json!(false), 1));
    let (_, built_in) = server.get("/api/metrics?id=built-in:dsu");
    assert_eq!(built_in["lines"], json!([]));
}

#[test]
fn a_replay_is_the_ground_truth_and_the_models_own_rollout() {
    let server = Running::start(None);
    for (name, model) in [("dsu", "dsu"), ("lct", "lct"), ("lct", "lct-free")] {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model);
        let model = format!("built-in:{model}");
        let request = json!({ "model": model, "nodes": 20, "seed": 5, "sequence": 3 });
        let (status, replay) = server.post("/api/replay", &request);
        assert_eq!(status, 200, "{replay}");
        // The page is told in words what the task's operation and answers are.
        let about = Task::named(name).unwrap();
        assert_eq!(replay["operation"], about.operation());
        assert_eq!(replay["answers"], json!(about.answers()));

        let sampling = Sampling { nodes: 20, ops: 30, count: 4, seed: 5, split: Split::Test };
        let task = Task::named(name).unwrap();
        let set = Dataset::sample(&task, &sampling).unwrap();
        let truth = set.sequence(3);
        // The engine's batch rollout is another path through the model than step by step.
        let run = pgn_lab::Run::load(&dir).unwrap();
        let model = run.model();
        let rollout = model.rollout(truth).unwrap();
        let (own, masks) = (rollout.pointers.unwrap(), rollout.mask_logits.unwrap());

        let steps = replay["steps"].as_array().unwrap();
        assert_eq!(steps.len(), 30);
        let mut pointers: [Vec<u64>; 2] = [(0..20).collect(), (0..20).collect()];
        for (t, step) in steps.iter().enumerate() {
            assert_eq!(step["u"], truth.operations[t].u);
            assert_eq!(step["truth"]["answer"], truth.answers[t]);
            assert_eq!(step["model"]["logit"].as_f64().unwrap() as f32, rollout.query_logits[t]);
            for (pointers, side) in pointers.iter_mut().zip(["truth", "model"]) {
                for moved in step[side]["moved"].as_array().unwrap() {
                    let (node, to) = (moved[0].as_u64().unwrap(), moved[1].as_u64().unwrap());
                    assert_ne!(pointers[node as usize], to, "told as moved, but was not");
                    pointers[node as usize] = to;
                }
            }
            let same = |a: &[u64], b: &[u32]| a.iter().zip(b).all(|(&a, &b)| a == u64::from(b));
            assert!(same(&pointers[0], truth.pointers_after(t)));
            assert!(same(&pointers[1], &own[t * 20..][..20]));
            let zero: Vec<u32> = (0..20).filter(|&i| masks[t * 20 + i as usize] <= 0.0).collect();
            assert_eq!(step["model"]["visited"], json!(zero));
            let zero: Vec<u32> = (0..20).filter(|&i| truth.mask(t)[i as usize] == 0).collect();
            assert_eq!(step["truth"]["visited"], json!(zero));
        }

        // A node that was just re-aimed points to its strongest candidate.
        let (t, step) = steps
            .iter()
            .enumerate()
            .find(|(_, step)| step["model"]["moved"][0].is_array())
            .unwrap();
        let moved = &step["model"]["moved"][0];
        let request = json!({ "replay": request, "step": t + 1, "node": moved[0] });
        let (status, told) = server.post("/api/step", &request);
        assert_eq!(status, 200, "{told}");
        assert_eq!(told["alpha"].as_array().unwrap().len(), 1);
        let alpha: Vec<f64> =
            told["alpha"][0].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect();
        let strongest = alpha[moved[1].as_u64().unwrap() as usize];
        assert!(alpha.iter().all(|&one| one <= strongest));
        assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-3);
        let logit = told["mask_logits"][moved[0].as_u64().unwrap() as usize].as_f64().unwrap();
        assert!(logit <= 0.0, "a re-aimed node has mask 0");
    }
}

#[test]
fn given_operations_and_undo() {
    let server = Running::start(None);
    let play = |operations: Value| {
        let request =
            json!({ "model": "built-in:dsu", "nodes": 5, "seed": 1, "operations": operations });
        server.post("/api/replay", &request)
    };
    let (_, nothing) = play(json!([]));
    assert_eq!(nothing["steps"], json!([]));
    assert_eq!(nothing["priorities"].as_array().unwrap().len(), 5);
    let (_, two) = play(json!([[0, 1], [1, 0]]));
    let answers: Vec<_> = (0..2).map(|t| &two["steps"][t]["truth"]["answer"]).collect();
    assert_eq!(answers, [&json!(1), &json!(0)]);
    // One operation less is the same as undoing it.
    let (_, one) = play(json!([[0, 1]]));
    assert_eq!(one["steps"][0], two["steps"][0]);

    let csv = |text: &str| {
        server.post("/api/operations", &json!({ "name": "my.csv", "nodes": 5, "text": text }))
    };
    let (status, body) = csv("# saved\nu,v\n0,1\n3,2\n");
    assert_eq!((status, body), (200, json!({ "operations": [[0, 1], [3, 2]] })));
    let (status, body) = csv("u,v\n0,9\n");
    assert_eq!(status, 400);
    assert!(sentence(&body).starts_with("my.csv: line 2: node 9 is out of range"));
    assert_eq!(csv("").0, 400);
    assert_eq!(csv("0;1").0, 400);
}

#[test]
fn nothing_outside_the_folder_is_reachable() {
    let dir = folder();
    let server = Running::start(Some(&dir.path().join("runs")));
    let outside = dir.path().join("outside").display().to_string();
    for id in [
        "run:../outside",
        "run:..%2Foutside",
        "run:%2e%2e/outside",
        "run:lct/../../outside",
        "run:..%5Coutside",
        "run:lct/gnn-3%00",
        "run:",
        &format!("run:{outside}"),
        "built-in:../../outside",
        "%ff",
    ] {
        for path in ["run", "metrics"] {
            let (status, body) = server.get(&format!("/api/{path}?id={id}"));
            assert!((400..500).contains(&status), "{id}");
            sentence(&body);
        }
        let request = json!({ "model": id, "nodes": 5 });
        assert!((400..500).contains(&server.post("/api/replay", &request).0));
    }
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/assets/index.html",
        "/index.html",
        "/api",
        "/api/runs/",
        "/api/../page.js",
    ] {
        let (status, body) = server.get(path);
        assert_eq!(status, 404, "{path}");
        sentence(&body);
    }
}

#[test]
fn it_stops_when_told_even_with_a_connection_left_open() {
    let mut server = Running::start(None);
    let mut idle = TcpStream::connect(server.address).unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
    server.alive();
    drop(server.stop.take());
    server.thread.take().unwrap().join().unwrap();
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn a_port_in_use_and_a_missing_folder_are_said_in_a_sentence() {
    let server = Running::start(None);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let taken = Options { port: server.address.port(), ..Options::default() };
        let error = Server::bind(taken).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot listen on 127.0.0.1:"), "{error}");
        let missing = Options { folder: Some("/no/such/folder".into()), ..Options::default() };
        let error = Server::bind(missing).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot read the folder /no/such/folder"), "{error}");
    });
}

#[test]
fn masks_attention_sequences_baselines_and_micro_steps() {
    let server = Running::start(None);
    let replay = json!({ "model": "built-in:dsu", "nodes": 12, "seed": 0, "sequence": 2 });
    let (status, step) = server.post("/api/step", &json!({ "replay": replay, "step": 5 }));
    assert_eq!(status, 200);
    let (logits, alpha) = (step["mask_logits"].as_array().unwrap(), step["alpha"].as_array());
    assert_eq!((logits.len(), alpha.unwrap().len()), (12, 12));
    for row in alpha.unwrap() {
        let sum: f64 = row.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }
    // One node's details are a part of it.
    let (_, node) = server.post("/api/step", &json!({ "replay": replay, "step": 5, "node": 3 }));
    assert_eq!(node["mask_logits"], step["mask_logits"]);
    for (exact, rounded) in
        node["alpha"][0].as_array().unwrap().iter().zip(alpha.unwrap()[3].as_array().unwrap())
    {
        assert!((exact.as_f64().unwrap() - rounded.as_f64().unwrap()).abs() < 1e-6);
    }
    for step in [0, 19] {
        let (status, refusal) =
            server.post("/api/step", &json!({ "replay": replay, "step": step }));
        assert_eq!(status, 400);
        assert!(sentence(&refusal).contains("expected from 1 to 18"));
    }

    // The equations lead to the same answer, along pointers only.
    let asked = json!({ "replay": replay, "step": 5, "equations": true });
    let (_, told) = server.post("/api/step", &asked);
    assert_eq!((&told["mask_logits"], &told["alpha"]), (&step["mask_logits"], &step["alpha"]));
    let (_, replayed) = server.post("/api/replay", &replay);
    let mut pointers: Vec<u64> = (0..12).collect();
    for step in &replayed["steps"].as_array().unwrap()[..4] {
        for moved in step["model"]["moved"].as_array().unwrap() {
            pointers[moved[0].as_u64().unwrap() as usize] = moved[1].as_u64().unwrap();
        }
    }
    let equations = &told["equations"];
    let heard: Vec<[u64; 3]> = serde_json::from_value(equations["messages"].clone()).unwrap();
    for &[reader, sender, _] in &heard {
        assert!(pointers[reader as usize] == sender || pointers[sender as usize] == reader);
    }
    assert!((0..12).all(|node| heard.iter().filter(|one| one[0] == node).count() > 0));
    let readout: Vec<u64> = serde_json::from_value(equations["readout"].clone()).unwrap();
    assert_eq!((readout.len(), readout.iter().sum::<u64>()), (12, 64));
    assert_eq!(equations["h"][3].as_array().unwrap().len(), 32);
    let many = json!({ "model": "built-in:dsu", "nodes": 51 });
    let large = json!({ "replay": many, "step": 1, "equations": true });
    assert!(sentence(&server.post("/api/step", &large).1).contains("at most 50"));
    let iterated = json!({ "model": "built-in:forest", "nodes": 8 });
    let other = json!({ "replay": iterated, "step": 1, "equations": true });
    assert_eq!(server.post("/api/step", &other).0, 400);

    let asked = json!({ "model": "built-in:lct", "nodes": 20, "seed": 0, "count": 4 });
    let (_, scores) = server.post("/api/sequences", &asked);
    assert_eq!(scores.as_array().unwrap().len(), 4);
    let one = json!({ "model": "built-in:lct", "nodes": 20, "seed": 0, "sequence": 3 });
    let (_, replayed) = server.post("/api/replay", &one);
    let steps = replayed["steps"].as_array().unwrap();
    let wrong: Vec<usize> = (1..)
        .zip(steps)
        .filter(|(_, step)| step["truth"]["answer"] != step["model"]["answer"])
        .map(|(number, _)| number)
        .collect();
    assert_eq!(scores[3]["errors"], wrong.len());
    assert_eq!(scores[3]["first_error"], json!(wrong.first()));
    assert!(scores[3]["depth"].as_u64().unwrap() > 1);
    let many = json!({ "model": "built-in:lct", "nodes": 20, "count": 101 });
    assert_eq!(server.post("/api/sequences", &many).0, 400);

    let (_, run) = server.get("/api/run?id=built-in:dsu");
    assert_eq!((&run["paper"][2], &run["test"][2]["nodes"]), (&json!(0.866), &json!(100)));
    let counting = run["test"][2]["counting_f1"].as_f64().unwrap();
    assert!(counting > 0.88 && counting < 0.91, "{counting}");

    let asked = json!({ "task": "lct", "nodes": 6, "seed": 1, "operations": [[0, 1], [1, 2]] });
    let (_, inside) = server.post("/api/micro-steps", &asked);
    assert_eq!(
        (&inside["program"], &inside["arguments"]),
        (&json!("lct"), &json!([["u", 1], ["v", 2]]))
    );
    assert!(inside["steps"].as_array().unwrap().len() > 10);
    let none = json!({ "task": "nothing", "nodes": 6, "operations": [[0, 1]] });
    assert_eq!(server.post("/api/micro-steps", &none).0, 404);
    server.alive();
}

#[test]
fn tasks_and_models_are_told_by_name() {
    let server = Running::start(None);
    let (_, about) = server.get("/api/about");
    for preset in pgn_engine::Preset::ALL {
        assert_eq!(about["models"][preset.name], preset.summary);
    }
    assert!(about["models"]["pgn-machine"].is_string());
    for task in Task::all() {
        assert_eq!(about["tasks"][task.name()], task.title());
    }
    assert_eq!(about["tasks"]["heap"], "Pairing heap");
}

#[test]
fn a_machine_gives_answers_without_probabilities() {
    let server = Running::start(None);
    let replay = json!({ "model": "built-in:machine-lct", "nodes": 12, "seed": 0, "sequence": 2 });
    let (status, told) = server.post("/api/replay", &replay);
    assert_eq!(status, 200, "{told}");
    for step in told["steps"].as_array().unwrap() {
        assert_eq!(step["model"]["answer"], step["truth"]["answer"]);
        assert!(step["model"]["logit"].is_null());
    }
    let (_, step) = server.post("/api/step", &json!({ "replay": replay, "step": 5 }));
    assert_eq!(step, json!({ "mask_logits": null, "alpha": null }));
}

/// A run whose model reads the input graph, of Kruskal's algorithm.
fn kruskal(folder: &Path) -> pgn_lab::Run {
    let config = pgn_engine::Config {
        input_graph: pgn_engine::InputGraph::Edges,
        ..pgn_engine::Config::preset("pgn").unwrap()
    };
    let run = folder.join("kruskal");
    std::fs::create_dir(&run).unwrap();
    let dsu = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/dsu");
    let text = std::fs::read_to_string(dsu.join("config.toml")).unwrap();
    let mut table: toml::Table = text.parse().unwrap();
    table.insert("task".into(), "kruskal".into());
    table.insert("network".into(), toml::Value::try_from(&config).unwrap());
    std::fs::write(run.join("config.toml"), table.to_string()).unwrap();
    std::fs::copy(dsu.join("model.safetensors"), run.join("model.safetensors")).unwrap();
    pgn_lab::Run::load(&run).unwrap()
}

#[test]
fn an_input_graph_is_drawn_and_the_model_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let run = kruskal(dir.path());
    let server = Running::start(Some(dir.path()));
    let request = json!({ "model": "run:kruskal", "nodes": 12, "seed": 3, "sequence": 1 });
    let (status, replay) = server.post("/api/replay", &request);
    assert_eq!(status, 200, "{replay}");
    let task = Task::named("kruskal").unwrap();
    let sampling = Sampling { nodes: 12, ops: 18, count: 2, seed: 3, split: Split::Test };
    let set = Dataset::sample(&task, &sampling).unwrap();
    let truth = set.sequence(1);
    let graph = replay["graph"].as_array().unwrap();
    assert_eq!(graph.len(), truth.edges.len());
    // Its edges, the lightest first, are the operations.
    for (edge, operation) in graph.iter().zip(truth.operations) {
        assert_eq!((&edge["u"], &edge["v"]), (&json!(operation.u), &json!(operation.v)));
    }
    let rollout = run.model().rollout(truth).unwrap();
    for (step, &logit) in replay["steps"].as_array().unwrap().iter().zip(&rollout.query_logits) {
        assert_eq!(step["model"]["logit"].as_f64().unwrap() as f32, logit);
    }
    // Operations of one's own are the graph's edges.
    let own = json!({ "model": "run:kruskal", "nodes": 5, "operations": [[0, 1], [3, 2], [1, 0]] });
    let (_, replay) = server.post("/api/replay", &own);
    let ends: Vec<[u64; 2]> = replay["graph"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| ["u", "v"].map(|end| edge[end].as_u64().unwrap()))
        .collect();
    assert_eq!(ends, [[0, 1], [3, 2]]);
    let (_, without) = server.post("/api/replay", &json!({ "model": "built-in:dsu", "nodes": 5 }));
    assert!(without["graph"].is_null());
}

#[test]
fn a_run_is_rolled_out_with_the_models_it_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    std::fs::create_dir_all(run.join("kept")).unwrap();
    let (_, files) = pgn_viewer::built_in_models().find(|(name, _)| *name == "dsu").unwrap();
    let file = |wanted: &str| files.iter().find(|(name, _)| *name == wanted).unwrap().1;
    // It is still training: there is no best model yet.
    std::fs::write(run.join("config.toml"), file("config.toml")).unwrap();
    std::fs::write(run.join("kept/300.safetensors"), file("model.safetensors")).unwrap();
    let network = pgn_engine::Config::preset("pgn").unwrap();
    let initial = pgn_engine::Parameters::initial(&network, 1);
    initial.save(&run.join("kept/0.safetensors")).unwrap();
    let server = Running::start(Some(dir.path()));
    let (_, details) = server.get("/api/run?id=run:run");
    assert_eq!((&details["kept"], &details["playable"]), (&json!([0, 300]), &json!(true)));
    let ask = |model: &str, epoch: Option<u64>| {
        let request = json!({ "model": model, "nodes": 12, "sequence": 0, "epoch": epoch });
        server.post("/api/replay", &request)
    };
    let (_, best) = ask("built-in:dsu", None);
    assert_eq!(ask("run:run", Some(300)), (200, best.clone()));
    assert_eq!(ask("run:run", None), (200, best.clone()));
    let (status, first) = ask("run:run", Some(0));
    assert!(status == 200 && first["steps"] != best["steps"]);
    let (status, refusal) = ask("run:run", Some(7));
    assert!(status == 422 && sentence(&refusal).contains("kept/7.safetensors"), "{refusal}");
    assert_eq!(ask("built-in:dsu", Some(7)).0, 404);
}
