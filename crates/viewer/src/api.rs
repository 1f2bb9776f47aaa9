//! The requests the page makes: a request in, JSON out. There are neither sockets nor files in
//! here, so that the page can have it without a server, compiled to WebAssembly (`wasm.rs`). What
//! cannot be answered gets `{"error": "one sentence"}`.

use pgn_engine::Preset;
use pgn_structures::{Node, Operation, Task, read_operations};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{
    calls,
    catalogue::{Catalogue, Tasks},
    halt::Halt,
    limits, micro_steps,
    refusal::{Answer, Refusal},
    replay, sequences, step,
};

/// All that requests are answered from. What changes in it only saves work that was done before.
pub struct Api {
    catalogue: Catalogue,
    machines: micro_steps::Machines,
}

/// What is asked, besides where.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Behind the `?` of the address.
    pub query: &'a str,
    pub body: &'a [u8],
}

/// An address under `/api`.
pub struct Route {
    method: &'static str,
    path: &'static str,
    /// Whether answering takes computing, not just looking up.
    pub computes: bool,
    answer: Answering,
}

const fn get(path: &'static str, answer: Answering) -> Route {
    Route { method: "GET", path, computes: false, answer }
}

const fn post(path: &'static str, answer: Answering) -> Route {
    Route { method: "POST", path, computes: true, answer }
}

type Answering = fn(&Api, Asked<'_>, &Halt) -> Answer<Vec<u8>>;

/// All there is.
const ROUTES: [Route; 10] = [
    get("/api/about", |api, _, _| json(&api.about())),
    get("/api/runs", |api, _, halt| json(&api.catalogue.summaries(halt)?)),
    get("/api/run", |api, asked, _| json(&api.catalogue.details(&asked.query::<Run>()?.id)?)),
    get("/api/metrics", |api, asked, _| {
        let MetricsFrom { id, offset } = asked.query()?;
        json(&api.catalogue.metrics(&id, offset)?)
    }),
    post("/api/replay", |api, asked, halt| {
        let request: replay::Request = asked.json()?;
        // Before the model is loaded, as it costs nothing.
        limits::check(request.nodes, request.operations.as_ref().map_or(0, Vec::len))?;
        json(&request.answer(&api.catalogue.load(&request.model, request.epoch)?, halt)?)
    }),
    post("/api/step", |api, asked, halt| {
        let request: step::Request = asked.json()?;
        let replay::Request { model, epoch, .. } = &request.replay;
        json(&request.answer(&api.catalogue.load(model, *epoch)?, halt)?)
    }),
    post("/api/sequences", |api, asked, halt| {
        let request: sequences::Request = asked.json()?;
        json(&request.scores(&api.catalogue.load(&request.model, None)?, halt)?)
    }),
    post("/api/micro-steps", |api, asked, halt| {
        let request: micro_steps::Request = asked.json()?;
        let network = match &request.model {
            Some(id) => Some(api.catalogue.load(id, None)?),
            None => None,
        };
        json(&request.answer(&api.machines, network.as_ref(), halt)?)
    }),
    post("/api/calls", |api, asked, halt| {
        json(&asked.json::<calls::Request>()?.answer(&api.machines, halt)?)
    }),
    Route {
        computes: false,
        ..post("/api/operations", |_, asked, _| {
            json(&json!({ "operations": asked.json::<Csv>()?.read()? }))
        })
    },
];

impl Route {
    /// The address that is meant, `HEAD` being as good as `GET`.
    pub fn find(method: &str, path: &str) -> Answer<&'static Route> {
        let method = if method == "HEAD" { "GET" } else { method };
        match ROUTES.iter().find(|route| route.path == path) {
            None => Err(nothing_here()),
            Some(route) if route.method != method => Err(other_method()),
            Some(route) => Ok(route),
        }
    }

    /// The answer as JSON.
    pub fn answer(&self, api: &Api, asked: Asked<'_>, halt: &Halt) -> Answer<Vec<u8>> {
        (self.answer)(api, asked, halt)
    }
}

/// The refusal of an address that does not exist.
pub fn nothing_here() -> Refusal {
    Refusal::missing("there is nothing at this address; the page is at /")
}

/// The refusal of a method that an address does not take.
pub fn other_method() -> Refusal {
    Refusal::new(405, "this address takes another method")
}

impl std::fmt::Debug for Api {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// About the built-in models, and whatever the catalogue has besides.
    pub fn new(catalogue: Catalogue) -> Api {
        Api { catalogue, machines: micro_steps::Machines::default() }
    }

    /// About the built-in models only.
    pub fn built_in() -> Api {
        Api::new(Catalogue::new(Tasks::default(), None))
    }

    /// The status and the JSON that answer a request: `GET` or `POST`, an address such as
    /// `/api/run?id=built-in:dsu`, and the body of a `POST`.
    ///
    /// ```
    /// let api = pgn_viewer::Api::built_in();
    /// let body = br#"{"model": "built-in:dsu", "nodes": 5, "operations": [[0, 1]]}"#;
    /// assert_eq!(api.answer("POST", "/api/replay", body).0, 200);
    /// ```
    pub fn answer(&self, method: &str, address: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let (path, query) = address.split_once('?').unwrap_or((address, ""));
        let answer = Route::find(method, path)
            .and_then(|route| route.answer(self, Asked { query, body }, &Halt::default()));
        match answer {
            Ok(json) => (200, json),
            Err(refusal) => (refusal.status, refusal.json()),
        }
    }

    fn about(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "folder": self.catalogue.folder(),
            "tasks": self.catalogue.tasks.all(|task| task.title().to_owned()),
            "answers": self.catalogue.tasks.all(|task| task.text().answers.clone()),
            "models": models(),
            "limits": {
                "nodes": limits::NODES,
                "operations": limits::OPERATIONS,
                "cells": limits::CELLS,
                "sequences": limits::SEQUENCES,
            },
        })
    }
}

/// Every model's name with what it is.
fn models() -> Map<String, Value> {
    let machine = ("pgn-machine", "executes the algorithm itself, micro-step by micro-step");
    let presets = Preset::ALL.iter().map(|preset| (preset.name, preset.summary));
    presets.chain([machine]).map(|(name, summary)| (name.to_owned(), summary.into())).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MetricsFrom {
    id: String,
    #[serde(default)]
    offset: u64,
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

impl Csv {
    fn read(&self) -> Answer<Vec<Vec<Node>>> {
        limits::check(self.nodes, 0)?;
        let name: String = self.name.chars().take(100).collect();
        let bad = |error: pgn_structures::Error| Refusal::bad(error.to_string());
        let task = Task::named(self.task.as_deref().unwrap_or("dsu")).map_err(bad)?;
        let operations =
            read_operations(self.text.as_bytes(), name.as_ref(), &task, self.nodes).map_err(bad)?;
        if operations.is_empty() {
            return Err(Refusal::bad(format!("{name}: no operations; expected a `u,v` a line")));
        }
        limits::check(self.nodes, operations.len())?;
        let parts = |one: &Operation| match task.has_kinds() {
            true => vec![one.u, one.v, Node::from(one.kind)],
            false => vec![one.u, one.v],
        };
        Ok(operations.iter().map(parts).collect())
    }
}

impl Asked<'_> {
    fn query<T: DeserializeOwned>(&self) -> Answer<T> {
        serde_urlencoded::from_str(self.query)
            .map_err(|error| Refusal::bad(one_line(&format!("the address: {error}"))))
    }

    fn json<T: DeserializeOwned>(&self) -> Answer<T> {
        let mut json = serde_json::Deserializer::from_slice(self.body);
        let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let status = if error.inner().is_data() { 422 } else { 400 };
            Refusal::new(status, one_line(&error.to_string()))
        })?;
        json.end().map_err(|error| Refusal::bad(one_line(&error.to_string())))?;
        Ok(value)
    }
}

fn json(value: &impl Serialize) -> Answer<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| Refusal::new(500, error.to_string()))
}

fn one_line(text: &str) -> String {
    let line: String = text.lines().collect::<Vec<_>>().join("; ");
    line.chars().take(300).collect()
}
