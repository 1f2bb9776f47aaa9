//! The server: from options to a listening socket, and from there to a clean end.

use std::{
    future::Future,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use pgn_structures::Task;
use tokio::{net::TcpListener, sync::oneshot, time::timeout};

use crate::{
    Error, Result,
    api::{self, Shared},
    catalogue::Catalogue,
    connections,
    guard::Guard,
    limits, page,
    refusal::Refusal,
};

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
    app: Router,
}

impl Server {
    /// Opens the folder and starts listening. Needs a Tokio runtime with I/O and time.
    pub async fn bind(options: Options) -> Result<Server> {
        let Options { folder, host, port, names, tasks } = options;
        let catalogue = Catalogue::open(folder.as_deref(), tasks)?;
        let runs = catalogue.count();
        let asked = SocketAddr::new(host, port);
        let bind = |cause| Error::Bind { address: asked, cause };
        let listener = TcpListener::bind(asked).await.map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let guard = Arc::new(Guard::new(host, &names));
        let app = api::routes(Arc::new(Shared::new(catalogue)))
            .fallback(other)
            .layer(middleware::from_fn_with_state(guard, check));
        Ok(Server { listener, address, runs, app })
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
        let serving = connections::serve(self.listener, self.app, async {
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

/// Everything that is not under `/api`.
async fn other(request: Request) -> Response {
    let path = request.uri().path();
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        return Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes another method")
            .into_response();
    }
    page::file(path).unwrap_or_else(|| {
        Refusal::missing("there is nothing at this address; the page is at /").into_response()
    })
}

/// Around every request: the host check, a time limit, the headers.
async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.check(request.uri(), request.headers()) {
        Err(refusal) => refusal.into_response(),
        Ok(()) => timeout(limits::TIME, next.run(request)).await.unwrap_or_else(|_| {
            let sentence = format!("this took longer than {} seconds", limits::TIME.as_secs());
            Refusal::new(StatusCode::REQUEST_TIMEOUT, sentence).into_response()
        }),
    };
    for (name, value) in page::HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
