//! The connections of the server: how many, how long each may take to ask, and how they end.
//!
//! A connection costs its owner nothing, so a server that keeps all of them can be blocked by
//! anyone. Two rules prevent that: headers must arrive within [`limits::HEADERS`], and where there
//! are [`limits::CONNECTIONS`] already, a new one takes the place of the one that has had no request
//! under way for longest. A request is under way once its body has arrived.

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use crate::limits;
use http_body_util::Full;
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use tokio::{
    net::TcpListener,
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};

/// How long to wait for a place, or after the system refused a connection.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether a connection's request is under way.
#[derive(Clone)]
pub struct UnderWay(watch::Sender<bool>);

impl UnderWay {
    /// Until what is returned is dropped.
    pub fn begin(&self) -> Begun {
        self.0.send_replace(true);
        Begun(self.0.clone())
    }
}

/// See [`UnderWay::begin`].
pub struct Begun(watch::Sender<bool>);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// Answers requests until `shutdown` is done, then waits for those under way.
pub async fn serve<A, F>(listener: TcpListener, answer: A, shutdown: impl Future<Output = ()>)
where
    A: Fn(Request<Incoming>, UnderWay) -> F + Clone + Send + 'static,
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
    // Told when a place is needed. Those who wait for it are woken in the order in which they began
    // to wait, so that the one that has been idle for longest makes room.
    let needed = Arc::new(Notify::new());
    let graceful = GracefulShutdown::new();
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // For want of file descriptors, say.
            needed.notify_one();
            sleep(PAUSE).await;
            continue;
        };
        // With every place taken by a request under way, the stream is closed at once.
        let Some(place) = place(&places, &needed).await else { continue };
        let (busy, is_busy) = watch::channel(false);
        let under_way = UnderWay(busy);
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request, under_way.clone());
            async { Ok::<_, Infallible>(answered.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits::HEADERS)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        let needed = Arc::clone(&needed);
        tokio::spawn(async move {
            let _place = place;
            tokio::select! {
                // What goes wrong now concerns nobody but the other side.
                _ = connection => {}
                () = evicted(is_busy, &needed) => {}
            }
        });
    }
    drop(listener);
    graceful.shutdown().await;
}

/// A place for a new connection, if need be that of another.
async fn place(places: &Arc<Semaphore>, needed: &Notify) -> Option<OwnedSemaphorePermit> {
    if let Ok(place) = Arc::clone(places).try_acquire_owned() {
        return Some(place);
    }
    needed.notify_one();
    timeout(PAUSE, Arc::clone(places).acquire_owned()).await.ok()?.ok()
}

/// Done once the connection is to make room: only while no request of it is under way.
async fn evicted(mut is_busy: watch::Receiver<bool>, needed: &Notify) {
    loop {
        if is_busy.wait_for(|busy| !busy).await.is_err() {
            // The connection has ended, and everything of it with it.
            return std::future::pending().await;
        }
        tokio::select! {
            () = needed.notified() => return,
            _ = is_busy.wait_for(|busy| *busy) => {}
        }
    }
}
