//! The requests the page makes. All answers are JSON; what cannot be answered gets
//! `{"error": "one sentence"}`.
//!
//! | request | answer |
//! | --- | --- |
//! | `GET /api/about` | the version, the folder, the limits |
//! | `GET /api/runs` | a list of [`summary::Summary`] |
//! | `GET /api/run?id=…` | [`summary::Details`] |
//! | `GET /api/metrics?id=…&offset=…` | [`metrics::Lines`] |
//! | `POST /api/replay` | a [`Request`], answered by a [`replay::Replay`] |
//! | `POST /api/node` | a [`NodeRequest`], answered by a [`replay::NodeDetails`] |
//! | `POST /api/step` | a [`step::Request`], answered by [`step::Details`] |
//! | `GET /api/baselines?id=…` | a list of [`baselines::Baseline`] |
//! | `POST /api/sequences` | a [`sequences::Request`], answered by a list of [`sequences::Score`] |
//! | `POST /api/micro-steps` | a [`micro_steps::Request`], answered by [`micro_steps::MicroSteps`] |
//! | `POST /api/calls` | a [`calls::Request`], answered by [`calls::Called`] |
//! | `POST /api/operations` | the text of a CSV, answered by its operations |

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{
        DefaultBodyLimit, Query, State,
        rejection::{JsonRejection, QueryRejection},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use pgn_engine::Preset;
use pgn_lab::files;
use pgn_structures::{Node, Operation, Task, read_operations};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::{
    baselines, calls,
    catalogue::{Catalogue, Place},
    halt::Halt,
    limits, metrics, micro_steps,
    refusal::{Answer, Refusal},
    replay::{NodeRequest, Request},
    sequences, step, subject, summary,
};

/// What all requests share. What changes in it only saves work that was done before.
#[derive(Debug)]
pub struct Shared {
    catalogue: Catalogue,
    machines: micro_steps::Machines,
    replays: Arc<Semaphore>,
}

impl Shared {
    pub fn new(catalogue: Catalogue) -> Shared {
        Shared {
            catalogue,
            machines: micro_steps::Machines::default(),
            replays: Arc::new(Semaphore::new(limits::REPLAYS)),
        }
    }
}

/// The routes under `/api`.
pub fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/api/about", get(about))
        .route("/api/runs", get(runs))
        .route("/api/run", get(run))
        .route("/api/metrics", get(run_metrics))
        .route("/api/replay", post(replay))
        .route("/api/node", post(node))
        .route("/api/step", post(one_step))
        .route("/api/baselines", get(run_baselines))
        .route("/api/sequences", post(test_sequences))
        .route("/api/micro-steps", post(inside))
        .route("/api/calls", post(program_calls))
        .route("/api/operations", post(operations))
        .method_not_allowed_fallback(|| async {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "this address takes another method")
        })
        .layer(DefaultBodyLimit::max(limits::BODY))
        .with_state(shared)
}

type App = State<Arc<Shared>>;
type Body<T> = Result<Json<T>, JsonRejection>;

async fn about(State(app): App) -> Json<Value> {
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "folder": app.catalogue.folder().map(|folder| folder.display().to_string()),
        "tasks": app.catalogue.titles(),
        "models": models(),
        "limits": {
            "nodes": limits::NODES,
            "operations": limits::OPERATIONS,
            "cells": limits::CELLS,
            "sequences": limits::SEQUENCES,
        },
    }))
}

/// Every model's name with what it is.
fn models() -> Map<String, Value> {
    let machine = ("pgn-machine", "executes the algorithm itself, micro-step by micro-step");
    let presets = Preset::ALL.iter().map(|preset| (preset.name, preset.summary));
    presets.chain([machine]).map(|(name, summary)| (name.to_owned(), summary.into())).collect()
}

async fn runs(State(app): App) -> Response {
    blocking(app, None, |app, _| Ok(summary::all(&app.catalogue))).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    id: String,
}

async fn run(State(app): App, query: Result<Query<Run>, QueryRejection>) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return bad_query(rejection).into_response(),
    };
    blocking(app, None, move |app, _| summary::details(&app.catalogue, &query.id)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricsFrom {
    id: String,
    #[serde(default)]
    offset: u64,
}

async fn run_metrics(
    State(app): App,
    query: Result<Query<MetricsFrom>, QueryRejection>,
) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return bad_query(rejection).into_response(),
    };
    blocking(app, None, move |app, _| {
        let Place::Folder(path) = app.catalogue.find(&query.id)? else {
            return Ok(metrics::Lines::default());
        };
        let path = path.join(files::METRICS);
        if path.exists() && app.catalogue.inside(&path).is_none() {
            return Err(Refusal::damaged("metrics.jsonl is a link that leads out of the folder"));
        }
        metrics::read(&path, query.offset, limits::METRICS)
            .map_err(|error| Refusal::damaged(format!("metrics.jsonl cannot be read ({error})")))
    })
    .await
}

async fn replay(app: App, body: Body<Request>) -> Response {
    // Before the model is loaded, as it costs nothing.
    let check = |request: &Request| {
        limits::check(request.nodes, request.operations.as_ref().map_or(0, Vec::len))
    };
    compute(app, body, check, |request, app, halt| {
        request.answer(&subject::load(&app.catalogue, &request.model)?, halt)
    })
    .await
}

async fn node(app: App, body: Body<NodeRequest>) -> Response {
    compute(
        app,
        body,
        |_| Ok(()),
        |request, app, halt| {
            request.answer(&subject::load(&app.catalogue, &request.replay.model)?, halt)
        },
    )
    .await
}

async fn one_step(app: App, body: Body<step::Request>) -> Response {
    compute(
        app,
        body,
        |_| Ok(()),
        |request, app, halt| {
            request.answer(&subject::load(&app.catalogue, &request.replay.model)?, halt)
        },
    )
    .await
}

async fn test_sequences(app: App, body: Body<sequences::Request>) -> Response {
    compute(
        app,
        body,
        |_| Ok(()),
        |request, app, halt| request.scores(&subject::load(&app.catalogue, &request.model)?, halt),
    )
    .await
}

async fn inside(app: App, body: Body<micro_steps::Request>) -> Response {
    compute(
        app,
        body,
        |_| Ok(()),
        |request, app, halt| {
            let network = match &request.model {
                Some(id) => Some(subject::load(&app.catalogue, id)?),
                None => None,
            };
            request.answer(&app.machines, network.as_ref(), halt)
        },
    )
    .await
}

async fn program_calls(app: App, body: Body<calls::Request>) -> Response {
    compute(app, body, |_| Ok(()), |request, app, halt| request.answer(&app.machines, halt)).await
}

/// Answers a request in JSON by computing, with one of a few permits.
async fn compute<R: Send + 'static, T: Serialize + Send + 'static>(
    State(app): App,
    body: Body<R>,
    check: impl FnOnce(&R) -> Answer<()>,
    answer: impl FnOnce(&R, &Shared, &Halt) -> Answer<T> + Send + 'static,
) -> Response {
    let request = match body {
        Ok(Json(request)) => request,
        Err(rejection) => return bad_body(rejection).into_response(),
    };
    if let Err(refusal) = check(&request) {
        return refusal.into_response();
    }
    let replays = Some(app.replays.clone());
    blocking(app, replays, move |app, halt| answer(&request, app, halt)).await
}

async fn run_baselines(State(app): App, query: Result<Query<Run>, QueryRejection>) -> Response {
    let query = match query {
        Ok(Query(query)) => query,
        Err(rejection) => return bad_query(rejection).into_response(),
    };
    let replays = Some(app.replays.clone());
    blocking(app, replays, move |app, halt| baselines::of_run(&app.catalogue, &query.id, halt))
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Csv {
    /// What errors call it.
    name: String,
    /// The task whose operations they are; any one of pairs unless told.
    #[serde(default)]
    task: Option<String>,
    nodes: usize,
    text: String,
}

async fn operations(body: Result<Json<Csv>, JsonRejection>) -> Response {
    let csv = match body {
        Ok(Json(csv)) => csv,
        Err(rejection) => return bad_body(rejection).into_response(),
    };
    let parse = || -> Answer<Vec<Vec<Node>>> {
        limits::check(csv.nodes, 0)?;
        let name: String = csv.name.chars().take(100).collect();
        let bad = |error: pgn_structures::Error| Refusal::bad(error.to_string());
        let task = Task::named(csv.task.as_deref().unwrap_or("dsu")).map_err(bad)?;
        let operations =
            read_operations(csv.text.as_bytes(), name.as_ref(), &task, csv.nodes).map_err(bad)?;
        if operations.is_empty() {
            return Err(Refusal::bad(format!("{name}: no operations; expected a `u,v` a line")));
        }
        limits::check(csv.nodes, operations.len())?;
        let parts = |one: &Operation| match task.has_kinds() {
            true => vec![one.u, one.v, Node::from(one.kind)],
            false => vec![one.u, one.v],
        };
        Ok(operations.iter().map(parts).collect())
    };
    match parse() {
        Ok(operations) => Json(json!({ "operations": operations })).into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

/// Does work that reads files or computes on a thread of its own; work that computes waits for
/// one of a few permits first, and holds it to its end. It is told to end when the request takes
/// too long.
async fn blocking<T: Serialize + Send + 'static>(
    app: Arc<Shared>,
    permits: Option<Arc<Semaphore>>,
    work: impl FnOnce(&Shared, &Halt) -> Answer<T> + Send + 'static,
) -> Response {
    let permit = match permits {
        Some(permits) => permits.acquire_owned().await.ok(),
        None => None,
    };
    let halt = Halt::default();
    // Dropped with this future: when the request takes too long, or its asker is gone.
    let _giving = halt.when_dropped();
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        halt.check()?;
        // The JSON is made here too: a large replay takes its time.
        work(&app, &halt).map(|value| serde_json::to_vec(&value))
    });
    match done.await {
        Ok(Ok(Ok(bytes))) => {
            let kind = [(axum::http::header::CONTENT_TYPE, "application/json")];
            (kind, bytes).into_response()
        }
        Ok(Err(refusal)) => refusal.into_response(),
        Ok(Ok(Err(_))) | Err(_) => {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "the server failed at this request")
                .into_response()
        }
    }
}

fn bad_query(rejection: QueryRejection) -> Refusal {
    Refusal::new(rejection.status(), one_line(&rejection.body_text()))
}

fn bad_body(rejection: JsonRejection) -> Refusal {
    match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is too long; expected at most {} bytes", limits::BODY),
        ),
        status => Refusal::new(status, one_line(&rejection.body_text())),
    }
}

fn one_line(text: &str) -> String {
    let line: String = text.lines().collect::<Vec<_>>().join("; ");
    line.chars().take(300).collect()
}
