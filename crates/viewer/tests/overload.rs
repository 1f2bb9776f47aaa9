//! Nobody can keep the server from answering others: by connections, by work, or by files.
#![cfg(unix)]

mod common;

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    time::Duration,
};

use common::{Running, sentence};
use pgn_engine::{Config, Parameters, Participants, ProcessorKind};
use pgn_lab::RunConfig;
use serde_json::json;

/// A run directory with a fresh model of these settings.
fn run(folder: &Path, name: &str, model: &str, change: impl FnOnce(&mut RunConfig)) {
    let dir = folder.join(name);
    fs::create_dir_all(&dir).unwrap();
    let task = if model == Config::EXACT { "forest" } else { "dsu" };
    let mut config = RunConfig::defaults(task, model, 0).unwrap();
    change(&mut config);
    fs::write(dir.join("config.toml"), config.to_toml()).unwrap();
    Parameters::initial(&config.network, 1).save(&dir.join("model.safetensors")).unwrap();
}

#[test]
fn half_open_connections_do_not_keep_others_out() {
    let server = Running::start(None);
    let mut held: Vec<TcpStream> = Vec::new();
    for _ in 0..600 {
        let Ok(mut connection) = TcpStream::connect(server.address) else { break };
        let _ = connection.write_all(b"GET / HTTP/1.1\r\nHost: local");
        held.push(connection);
    }
    assert!(held.len() > 300, "{}", held.len());
    server.alive();
    // The first of them was closed for the sake of others, or for want of a header.
    assert_hung_up(&mut held[0]);
}

#[test]
fn unfinished_bodies_do_not_keep_others_out() {
    let server = Running::start(None);
    let mut held: Vec<TcpStream> = Vec::new();
    for _ in 0..300 {
        let Ok(mut connection) = TcpStream::connect(server.address) else { break };
        let head = "POST /api/replay HTTP/1.1\r\nHost: localhost\r\n\
                    Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
        let _ = connection.write_all(head.as_bytes());
        held.push(connection);
    }
    assert!(held.len() > 256, "{}", held.len());
    server.alive();
    assert_hung_up(&mut held[0]);
}

/// Waits until the server closes a connection, and makes sure that it was it who did.
fn assert_hung_up(connection: &mut TcpStream) {
    connection.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
    let mut answer = Vec::new();
    if let Err(error) = connection.read_to_end(&mut answer) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}");
    }
    assert!(!String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 200"));
}

#[test]
fn headers_must_arrive_in_time() {
    let server = Running::start(None);
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: local").unwrap();
    assert_hung_up(&mut slow);
}

#[test]
fn work_that_nobody_waits_for_ends_and_others_are_answered() {
    let dir = tempfile::tempdir().unwrap();
    // Minutes for a single operation.
    run(dir.path(), "slow", Config::EXACT, |config| {
        config.network.k = 256;
        if let ProcessorKind::Iterated(settings) = &mut config.network.processor {
            (settings.steps, settings.steps_per_depth) = (4096, 64);
            settings.participants = Participants::All;
        }
    });
    let server = Running::start(Some(dir.path()));
    let request = json!({ "model": "run:slow", "nodes": 400, "sequence": 0 }).to_string();
    // More of them than there are permits, all of whose askers leave.
    for _ in 0..4 {
        let mut connection = TcpStream::connect(server.address).unwrap();
        let head = "POST /api/replay HTTP/1.1\r\nHost: localhost\r\n\
                    Content-Type: application/json\r\nContent-Length:";
        write!(connection, "{head} {}\r\n\r\n{request}", request.len()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    // It waits for a permit; where none ever comes back, the answer is a time-out.
    let quick = json!({ "model": "built-in:dsu", "nodes": 5, "operations": [[0, 1]] });
    let (status, body) = server.post("/api/replay", &quick);
    assert_eq!(status, 200, "{body}");
}

#[test]
fn only_regular_files_of_a_sensible_size_are_opened() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["pipe", "large", "pipes", "long-config"] {
        run(dir.path(), name, "pgn", |_| {});
    }
    let fifo = |path: &str| {
        let path = dir.path().join(path);
        let _ = fs::remove_file(&path);
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    fifo("pipe/model.safetensors");
    for name in ["results.json", "metrics.jsonl"] {
        fifo(&format!("pipes/{name}"));
    }
    let grow = |path: &str| {
        let file = fs::OpenOptions::new().write(true).open(dir.path().join(path)).unwrap();
        file.set_len(1 << 32).unwrap();
    };
    grow("large/model.safetensors");
    grow("long-config/config.toml");
    // Opening the pipe would block forever.
    let server = Running::start(Some(dir.path()));
    for (name, expected) in
        [("pipe", "model.safetensors is not a regular file"), ("large", "has 4294967296 bytes")]
    {
        for _ in 0..3 {
            let request = json!({ "model": format!("run:{name}"), "nodes": 5 });
            let (status, body) = server.post("/api/replay", &request);
            assert_eq!(status, 422, "{body}");
            assert!(sentence(&body).contains(expected), "{body}");
        }
    }
    let (status, runs) = server.get("/api/runs");
    assert_eq!(status, 200);
    let long = runs.as_array().unwrap().iter().find(|run| run["id"] == "run:long-config");
    let trouble = long.unwrap()["trouble"].as_str().unwrap();
    assert!(trouble.contains("expected at most 1048576"), "{trouble}");
    assert_eq!(server.get("/api/run?id=run:pipes").0, 200);
    assert!((400..500).contains(&server.get("/api/metrics?id=run:pipes").0));
}

#[test]
fn errors_do_not_tell_where_the_folder_is() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a/broken", "pgn", |_| {});
    let model = dir.path().join("a/broken/model.safetensors");
    fs::write(&model, b"no tensors").unwrap();
    let server = Running::start(Some(dir.path()));
    let request = json!({ "model": "run:a/broken", "nodes": 5 });
    let (status, body) = server.post("/api/replay", &request);
    assert_eq!(status, 422);
    assert!(sentence(&body).starts_with("a/broken/model.safetensors: "), "{body}");
    fs::write(dir.path().join("a/broken/config.toml"), "task = 7\n").unwrap();
    let (_, body) = server.post("/api/replay", &request);
    assert!(!sentence(&body).contains(dir.path().to_str().unwrap()), "{body}");
}

#[test]
fn files_that_are_links_out_of_the_folder_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (secret, runs) = (dir.path().join("secret"), dir.path().join("runs"));
    fs::write(&secret, r#"{"certified": true, "statement": "secret:Class"}"#).unwrap();
    let files = ["structure.txt", "certificate.json", "kept/4.safetensors"];
    for (index, name) in files.iter().enumerate() {
        run(&runs, &format!("{index}/kept/.."), "pgn", |_| {});
        std::os::unix::fs::symlink(&secret, runs.join(index.to_string()).join(name)).unwrap();
    }
    let server = Running::start(Some(&runs));
    for (index, name) in files.iter().enumerate() {
        let mut request = json!({ "model": format!("run:{index}"), "nodes": 5 });
        if name.starts_with("kept") {
            request["epoch"] = 4.into();
        }
        let (status, body) = server.post("/api/replay", &request);
        assert_eq!(status, 422, "{body}");
        assert_eq!(
            sentence(&body),
            format!("{name} is a link that leads out of the folder being served")
        );
        let (status, run) = server.get(&format!("/api/run?id=run:{index}"));
        assert_eq!((status, &run["certificate"]), (200, &json!(null)), "{run}");
        assert!(!run.to_string().contains("secret"), "{run}");
    }
}
