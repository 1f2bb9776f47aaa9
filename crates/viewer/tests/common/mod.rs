//! What the tests of the server share: a server, and requests written out by hand.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    time::Duration,
};

use pgn_viewer::{Options, Server};
use serde_json::Value;
use tokio::sync::oneshot;

/// A server on a thread of its own, stopped at the end.
pub struct Running {
    pub address: SocketAddr,
    pub stop: Option<oneshot::Sender<()>>,
    pub thread: Option<std::thread::JoinHandle<()>>,
}

impl Running {
    pub fn start(folder: Option<&Path>) -> Running {
        let options = Options { folder: folder.map(Path::to_owned), ..Options::default() };
        let (stop, stopped) = oneshot::channel();
        let (tell, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            runtime.block_on(async {
                let server = Server::bind(options).await.unwrap();
                tell.send(server.address()).unwrap();
                let stopped = async {
                    let _ = stopped.await;
                };
                server.run(stopped).await.unwrap();
            });
        });
        let address = address.recv().unwrap();
        Running { address, stop: Some(stop), thread: Some(thread) }
    }

    /// Sends bytes and reads all that comes back; `ended` says that no more will come, which
    /// makes the server give up on a request that is not whole.
    pub fn raw(&self, request: &[u8], ended: bool) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // Only a hanging server ever gets near it.
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        // The server may refuse and hang up before all is sent.
        let _ = stream.write_all(request);
        if ended {
            let _ = stream.shutdown(std::net::Shutdown::Write);
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status, the head and the body of the answer to a request.
    pub fn ask(&self, method: &str, path: &str, head: &str, body: &str) -> (u16, String, String) {
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.raw(request.as_bytes(), false);
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        (status, head.to_ascii_lowercase(), body.to_owned())
    }

    pub fn get(&self, path: &str) -> (u16, Value) {
        let (status, head, body) = self.ask("GET", path, "Host: localhost\r\n", "");
        assert!(head.contains("content-type: application/json"), "{head}");
        (status, serde_json::from_str(&body).unwrap())
    }

    pub fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let head = "Host: localhost\r\nContent-Type: application/json\r\n";
        let (status, head, body) = self.ask("POST", path, head, &body.to_string());
        assert!(head.contains("content-type: application/json"), "{head}");
        (status, serde_json::from_str(&body).unwrap())
    }

    pub fn alive(&self) {
        assert_eq!(self.get("/api/about").0, 200);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// A refusal is one sentence.
pub fn sentence(body: &Value) -> &str {
    let sentence = body["error"].as_str().unwrap();
    assert!(!sentence.is_empty() && !sentence.contains('\n') && sentence.len() < 500, "{sentence}");
    sentence
}
