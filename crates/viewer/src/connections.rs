//! The connections of the server: how many, how long each may take to ask, and how they end.
//!
//! A connection costs its owner nothing, so a server that keeps all of them can be blocked by
//! anyone. Two rules prevent that: headers must arrive within [`limits::HEADERS`], and where
//! there are [`limits::CONNECTIONS`] already, a new one takes the place of the one that has had no
//! request under way for longest.

use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::Router;
use hyper::{server::conn::http1, service::Service, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, watch},
};

use crate::limits;

/// How long to wait after the system refused a connection, for want of file descriptors say.
const PAUSE: Duration = Duration::from_millis(20);

/// Answers requests until `shutdown` is done, then waits for those under way.
pub async fn serve(listener: TcpListener, app: Router, shutdown: impl Future<Output = ()>) {
    let table = Arc::new(Table::default());
    let (stop, stopping) = watch::channel(false);
    tokio::pin!(shutdown);
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                // With every place taken by a request under way, the stream is closed at once.
                if let Some(entry) = table.enter() {
                    let connection = connection(stream, app.clone(), entry, stopping.clone());
                    tokio::spawn(connection);
                }
            }
            Err(_) => {
                table.evict();
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    let _ = stop.send(true);
    while !table.is_empty() {
        tokio::time::sleep(PAUSE).await;
    }
}

async fn connection(
    stream: TcpStream,
    app: Router,
    entry: Entry,
    mut stopping: watch::Receiver<bool>,
) {
    let app = TowerToHyperService::new(app);
    let place = Arc::clone(&entry.place);
    let service = service_fn(move |request| {
        place.begin();
        let (place, answer) = (Arc::clone(&place), app.call(request));
        async move {
            let answer = answer.await;
            place.end();
            answer
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        _ = connection.as_mut() => true,
        () = entry.place.evicted.notified() => true,
        _ = stopping.wait_for(|stop| *stop) => false,
    };
    if !ended {
        connection.as_mut().graceful_shutdown();
        // What goes wrong now concerns nobody but the other side.
        let _ = connection.await;
    }
}

/// All open connections, by number.
#[derive(Default)]
struct Table {
    open: Mutex<(u64, BTreeMap<u64, Arc<Place>>)>,
}

/// A connection's place in the table, which it leaves when it is dropped.
struct Entry {
    number: u64,
    place: Arc<Place>,
    table: Arc<Table>,
}

/// What is known of a connection.
struct Place {
    /// Since when there is no request under way; `None` while there is one.
    idle: Mutex<Option<Instant>>,
    evicted: Notify,
}

impl Place {
    fn begin(&self) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn end(&self) {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn idle_since(&self) -> Option<Instant> {
        *self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A place for a new connection, if need be that of another; `None` if all are at work.
    fn enter(self: &Arc<Self>) -> Option<Entry> {
        if self.len() >= limits::CONNECTIONS && !self.evict() {
            return None;
        }
        let place = Place { idle: Mutex::new(Some(Instant::now())), evicted: Notify::new() };
        let place = Arc::new(place);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.0 += 1;
        let number = open.0;
        open.1.insert(number, Arc::clone(&place));
        Some(Entry { number, place, table: Arc::clone(self) })
    }

    /// Ends the connection that has been idle for longest, if there is one.
    fn evict(&self) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = open.1.iter().filter_map(|(&number, place)| Some((place.idle_since()?, number)));
        let Some((_, number)) = idle.min() else { return false };
        if let Some(place) = open.1.remove(&number) {
            place.evicted.notify_one();
        }
        true
    }

    fn len(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).1.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut open = self.table.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.1.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_connection_takes_the_place_of_the_one_that_was_idle_longest() {
        let table = Arc::new(Table::default());
        let mut entries: Vec<Entry> =
            (0..limits::CONNECTIONS).map(|_| table.enter().unwrap()).collect();
        // The first is at work, and the second was a moment ago.
        entries[0].place.begin();
        entries[1].place.begin();
        entries[1].place.end();
        entries.push(table.enter().unwrap());
        assert_eq!(table.len(), limits::CONNECTIONS);
        let is_open = |entry: &Entry| table.open.lock().unwrap().1.contains_key(&entry.number);
        let closed: Vec<usize> =
            (0..entries.len()).filter(|&index| !is_open(&entries[index])).collect();
        assert_eq!(closed, [2]);
        // Nobody is thrown out in the middle of a request.
        entries.iter().for_each(|entry| entry.place.begin());
        assert!(table.enter().is_none());
        entries.clear();
        assert!(table.is_empty() && table.enter().is_some());
    }
}
