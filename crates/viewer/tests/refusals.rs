//! Requests that make no sense, are too large, malformed or for another host.

mod common;

use common::{Running, sentence};
use serde_json::{Value, json};

#[test]
fn senseless_and_excessive_requests_are_refused_in_a_sentence() {
    let server = Running::start(None);
    let ask = |change: Value| {
        let mut request = json!({ "model": "built-in:dsu", "nodes": 5, "operations": [[0, 1]] });
        for (key, value) in change.as_object().unwrap() {
            request[key] = value.clone();
        }
        server.post("/api/replay", &request)
    };
    let many: Vec<[u32; 2]> = vec![[0, 1]; 2001];
    for (change, expected) in [
        (json!({ "model": "built-in:none" }), "no built-in model"),
        (json!({ "model": "run:x" }), "no run"),
        (json!({ "nodes": 1 }), "nodes is 1"),
        (json!({ "nodes": 0 }), "nodes is 0"),
        (json!({ "nodes": 501 }), "expected from 2 to 500"),
        (json!({ "nodes": 18446744073709551615u64 }), "nodes is 18446744073709551615"),
        (json!({ "nodes": -1 }), "nodes"),
        (json!({ "nodes": "five" }), "nodes"),
        (json!({ "operations": [[0, 5]] }), "operation 1: node 5 is out of range"),
        (json!({ "operations": [[0, 1], [2, 2]] }), "operation 2: u and v are both 2"),
        (json!({ "operations": [[0, 4294967296u64]] }), "operations"),
        (json!({ "operations": [[0]] }), "operations"),
        (json!({ "operations": many }), "at most 2000"),
        (json!({ "operations": null, "ops": 0 }), "ops is 0"),
        (json!({ "operations": null, "ops": 2001 }), "at most 2000"),
        (json!({ "operations": null, "nodes": 500, "ops": 401 }), "at most 400"),
        (json!({ "operations": null, "sequence": 100 }), "sequence is 100"),
        (json!({ "sequence": 1 }), "operations were given"),
        (json!({ "priorities": [0.1] }), "1 priorities for 5 nodes"),
        (json!({ "priorities": [0.1, 0.1, 0.2, 0.3, 0.4] }), "same priority"),
        (json!({ "priorities": [0.1, 2.0, 0.2, 0.3, 0.4] }), "not in [0, 1)"),
        (json!({ "priorities": [0.1, 1e300, 0.2, 0.3, 0.4] }), "out of range"),
        (json!({ "seed": -1 }), "seed"),
        (json!({ "surprise": 1 }), "surprise"),
    ] {
        let (status, body) = ask(change.clone());
        assert!((400..500).contains(&status), "{change}: {status}");
        assert!(sentence(&body).contains(expected), "{change}: {body}");
    }
    let replay = json!({ "model": "built-in:dsu", "nodes": 5, "operations": [[0, 1]] });
    for (step, node) in [(0, 0), (2, 0), (1, 5), (1, 4294967295u64)] {
        let request = json!({ "replay": replay, "step": step, "node": node });
        let (status, body) = server.post("/api/step", &request);
        assert_eq!(status, 400);
        sentence(&body);
    }
    let empty = json!({ "model": "built-in:dsu", "nodes": 5, "operations": [] });
    let request = json!({ "replay": empty, "step": 1, "node": 0 });
    assert_eq!(server.post("/api/step", &request).0, 400);
    server.alive();
}

#[test]
fn other_hosts_are_refused() {
    let server = Running::start(None);
    let port = server.address.port();
    for (head, allowed) in [
        (format!("Host: 127.0.0.1:{port}\r\n"), true),
        ("Host: LocalHost:1\r\n".into(), true),
        ("Host: [::1]\r\n".into(), true),
        ("Host: evil.example\r\n".into(), false),
        (format!("Host: localhost.evil.example:{port}\r\n"), false),
        ("Host: 10.0.0.1\r\n".into(), false),
        ("Host: \r\n".into(), false),
        ("Host: local\u{e9}host\r\n".into(), false),
        ("Host: localhost\r\nHost: evil.example\r\n".into(), false),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n".into(), false),
        ("Host: localhost\r\nOrigin: null\r\n".into(), false),
        (format!("Host: localhost\r\nOrigin: http://localhost:{port}\r\n"), true),
        (String::new(), false),
    ] {
        for path in ["/", "/api/runs", "/nowhere"] {
            let (status, _, body) = server.ask("GET", path, &head, "");
            if allowed {
                assert!(status == 200 || path == "/nowhere" && status == 404, "{head}");
            } else {
                assert!((400..500).contains(&status), "{head}: {status}");
                assert!(!body.contains("built-in"), "{head}");
            }
        }
    }
    let (status, ..) = server.ask("GET", "http://evil.example/", "Host: localhost\r\n", "");
    assert_eq!(status, 421);
}

#[test]
fn malformed_requests_do_no_harm() {
    let server = Running::start(None);
    let json = "Host: localhost\r\nContent-Type: application/json\r\n";
    for (method, path, head, body, expected) in [
        ("POST", "/api/replay", json, "{", 400),
        ("POST", "/api/replay", json, "", 400),
        ("POST", "/api/replay", json, "\u{0}\u{1}", 400),
        ("POST", "/api/replay", json, "[]", 422),
        ("POST", "/api/replay", json, "{\"model\":1}", 422),
        ("POST", "/api/replay", "Host: localhost\r\n", "{}", 415),
        ("POST", "/api/replay", "Host: localhost\r\nContent-Type: text/plain\r\n", "{}", 415),
        ("GET", "/api/replay", "Host: localhost\r\n", "", 405),
        ("DELETE", "/api/runs", "Host: localhost\r\n", "", 405),
        ("POST", "/", "Host: localhost\r\n", "", 405),
        ("GET", "/api/run", "Host: localhost\r\n", "", 400),
        ("GET", "/api/metrics?id=built-in:dsu&offset=-1", "Host: localhost\r\n", "", 400),
        ("GET", "/api/run?id=a&id=b", "Host: localhost\r\n", "", 400),
    ] {
        let (status, _, answer) = server.ask(method, path, head, body);
        assert_eq!(status, expected, "{method} {path} {body}");
        sentence(&serde_json::from_str(&answer).unwrap());
    }
    // Deep nesting, a body over the limit, and one whose length is a lie.
    let deep = "[".repeat(100_000);
    assert_eq!(server.ask("POST", "/api/replay", json, &deep).0, 422);
    let deep = format!("{{\"operations\":{deep}");
    assert_eq!(server.ask("POST", "/api/replay", json, &deep).0, 422);
    let long = format!("{{\"name\":\"{}\"}}", "x".repeat(2 << 20));
    assert!(matches!(server.ask("POST", "/api/operations", json, &long).0, 413 | 0));
    server.raw(
        format!("POST /api/replay HTTP/1.1\r\n{json}Content-Length: 999\r\n\r\n{{").as_bytes(),
        true,
    );
    for garbage in [
        &b"\0\0\0\0"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ] {
        server.raw(garbage, true);
        server.alive();
    }
    let head = format!("Host: localhost\r\nX-Long: {}\r\n", "y".repeat(1 << 20));
    assert!(matches!(server.ask("GET", "/", &head, "").0, 431 | 400 | 0));
    server.alive();
}
