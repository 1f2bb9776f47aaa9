//! The server: from options to a listening socket, and from there to a clean end. What it answers
//! is in `api.rs`.

mod connections;
mod folder;
mod guard;
mod kept;
mod metrics;
mod page;

use std::{
    future::Future,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{self, HeaderMap, HeaderValue},
};
use pgn_structures::Task;
use tokio::{
    net::TcpListener,
    sync::{Semaphore, oneshot},
    time::timeout,
};

use crate::{
    Error, Result,
    api::{Api, Asked, Route, nothing_here, other_method},
    catalogue::{Catalogue, Folder, Tasks},
    halt::Halt,
    limits,
    refusal::{Answer, Refusal},
};
use connections::UnderWay;
use folder::Disk;
use guard::Guard;

/// What to serve, and to whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder whose runs are shown; without one, only the built-in models are.
    pub folder: Option<PathBuf>,
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on; 0 for any free one.
    pub port: u16,
    /// Names that requests may be addressed to, beside `localhost` and the address itself.
    pub names: Vec<String>,
    /// Data structures of your own, so that models of them can be shown.
    pub tasks: Vec<Task>,
}

impl Default for Options {
    /// No folder, on this machine only, at any free port.
    fn default() -> Options {
        Options {
            folder: None,
            host: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 0,
            names: Vec::new(),
            tasks: Vec::new(),
        }
    }
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    runs: usize,
    shared: Arc<Shared>,
}

/// What all requests share.
#[derive(Debug)]
struct Shared {
    guard: Guard,
    api: Api,
    replays: Arc<Semaphore>,
}

impl Server {
    /// Opens the folder and starts listening. Needs a Tokio runtime with I/O and time.
    pub async fn bind(options: Options) -> Result<Server> {
        let Options { folder, host, port, names, tasks } = options;
        let tasks = Tasks(tasks);
        pgn_machines::programs::build_in_tasks();
        let disk = folder.map(|folder| Disk::open(&folder, tasks.clone())).transpose()?;
        let ids = disk.as_ref().map(|disk| disk.ids(&Halt::default()));
        let runs = ids.and_then(std::result::Result::ok).map_or(0, |ids| ids.len());
        let catalogue = Catalogue::new(tasks, disk.map(|disk| Box::new(disk) as Box<dyn Folder>));
        let asked = SocketAddr::new(host, port);
        let bind = |cause| Error::Bind { address: asked, cause };
        let listener = TcpListener::bind(asked).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let shared = Arc::new(Shared {
            guard: Guard::new(host, &names),
            api: Api::new(catalogue),
            replays: Arc::new(Semaphore::new(limits::REPLAYS)),
        });
        Ok(Server { listener, address, runs, shared })
    }

    /// How many run directories there are in the folder now.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `shutdown` is done; requests that are then under way have a moment
    /// to end.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        let (stop, stopping) = oneshot::channel();
        let (farewell, over) = oneshot::channel::<()>();
        let watch = tokio::spawn(async move {
            shutdown.await;
            let _ = stop.send(());
            tokio::time::sleep(limits::FAREWELL).await;
            let _ = farewell.send(());
        });
        let shared = self.shared;
        let answer = move |request, under_way| respond(shared.clone(), request, under_way);
        let serving = connections::serve(self.listener, answer, async {
            let _ = stopping.await;
        });
        tokio::select! {
            () = serving => {}
            _ = over => {}
        };
        watch.abort();
        Ok(())
    }
}

/// Binds and runs in one go.
pub async fn serve(
    options: Options,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    Server::bind(options).await?.run(shutdown).await
}

/// Around every request: the host check, a time limit, the headers.
async fn respond(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    under_way: UnderWay,
) -> Response<Full<Bytes>> {
    let answered = match shared.guard.check(request.uri(), request.headers()) {
        Err(refusal) => Err(refusal),
        Ok(()) => {
            timeout(limits::TIME, answer(&shared, request, under_way)).await.unwrap_or_else(|_| {
                let seconds = limits::TIME.as_secs();
                Err(Refusal::new(408, format!("this took longer than {seconds} seconds")))
            })
        }
    };
    let (status, kind, bytes) = match answered {
        Ok((kind, bytes)) => (200, kind, bytes),
        Err(refusal) => (refusal.status, JSON, refusal.json().into()),
    };
    let zipped = page::is_gzip(&bytes);
    let mut response = Response::new(Full::new(bytes));
    if zipped {
        let encoding = HeaderValue::from_static("gzip");
        response.headers_mut().insert(header::CONTENT_ENCODING, encoding);
    }
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    let kind = [(header::CONTENT_TYPE, kind)];
    for (name, value) in page::HEADERS.into_iter().chain(kind) {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

const JSON: &str = "application/json";

/// The answer to a request, which is under way as soon as all of it has arrived: what it is, and
/// its bytes.
async fn answer(
    shared: &Arc<Shared>,
    request: Request<Incoming>,
    under_way: UnderWay,
) -> Answer<(&'static str, Bytes)> {
    let (head, body) = request.into_parts();
    let body = Limited::new(body, limits::BODY).collect().await.map_err(|_| {
        let most = limits::BODY;
        Refusal::new(413, format!("the request is too long; expected at most {most} bytes"))
    })?;
    let _begun = under_way.begin();
    let (path, method) = (head.uri.path(), &head.method);
    if !path.starts_with("/api/") {
        if *method != Method::GET && *method != Method::HEAD {
            return Err(other_method());
        }
        let (kind, bytes) = page::file(path, &head.headers).ok_or_else(nothing_here)?;
        return Ok((kind, Bytes::from_static(bytes)));
    }
    let route = Route::find(method.as_str(), path)?;
    if *method == Method::POST && !is_json(&head.headers) {
        return Err(Refusal::new(415, format!("expected a body of the type {JSON}")));
    }
    let query = head.uri.query().unwrap_or_default().to_owned();
    let json = blocking(shared, route, query, body.to_bytes()).await?;
    Ok((JSON, json.into()))
}

/// Answers on a thread of its own; work that computes waits for one of a few permits first, and
/// holds it to its end. It is told to end when the request takes too long.
async fn blocking(
    shared: &Arc<Shared>,
    route: &'static Route,
    query: String,
    body: Bytes,
) -> Answer<Vec<u8>> {
    let permit = match route.computes {
        true => shared.replays.clone().acquire_owned().await.ok(),
        false => None,
    };
    let halt = Halt::default();
    // Dropped with this future: when the request takes too long, or its asker is gone.
    let _giving = halt.when_dropped();
    let shared = shared.clone();
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        halt.check()?;
        route.answer(&shared.api, Asked { query: &query, body: &body }, &halt)
    });
    done.await.unwrap_or_else(|_| Err(Refusal::new(500, "the server failed at this request")))
}

/// A page elsewhere can only send other types without being asked about it first.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.split(';').next().unwrap_or_default().trim() == JSON)
}

#[cfg(test)]
mod tests {
    use std::{io::Write, sync::mpsc, time::Duration};

    use super::*;
    use crate::{metrics::Lines, subject::Subject, summary::Details};

    /// A folder that is read until nobody waits for it.
    struct Endless(mpsc::Sender<()>);

    impl Folder for Endless {
        fn path(&self) -> String {
            String::new()
        }
        fn ids(&self, halt: &Halt) -> Answer<Vec<String>> {
            while halt.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let _ = self.0.send(());
            Err(nothing_here())
        }
        fn details(&self, _: &str) -> Answer<Details> {
            Err(nothing_here())
        }
        fn metrics(&self, _: &str, _: u64) -> Answer<Lines> {
            Err(nothing_here())
        }
        fn load(&self, _: &str, _: Option<u64>) -> Answer<Subject> {
            Err(nothing_here())
        }
    }

    #[tokio::test]
    async fn a_list_of_runs_that_nobody_waits_for_is_given_up() {
        let mut server = Server::bind(Options::default()).await.unwrap();
        let (tell, told) = mpsc::channel();
        let catalogue = Catalogue::new(Tasks::default(), Some(Box::new(Endless(tell))));
        Arc::get_mut(&mut server.shared).unwrap().api = Api::new(catalogue);
        let address = server.address();
        let asked = tokio::task::spawn_blocking(move || {
            let mut asker = std::net::TcpStream::connect(address).unwrap();
            asker.write_all(b"GET /api/runs HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            assert!(told.recv_timeout(Duration::from_millis(300)).is_err(), "it is waited for");
            drop(asker);
            told.recv_timeout(Duration::from_secs(20)).unwrap();
        });
        server.run(async { asked.await.unwrap() }).await.unwrap();
    }
}
