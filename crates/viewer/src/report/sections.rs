//! The text of a report, section by section.

use pgn_figures::Figure;
use pgn_lab::{
    analysis,
    collection::{Table, title},
};
use pgn_paper::{Check, Claim, analyses, claims, free_claims, tables};

use super::{Report, ReportedRun, html::Html, html::escape, moving::Moving};

const CONTENTS: [(&str, &str); 8] = [
    ("scores", "Scores"),
    ("curves", "Learning curves"),
    ("beyond", "Beyond counting"),
    ("credit", "Credit"),
    ("pointers", "Pointers"),
    ("rollouts", "Rollouts"),
    ("runs", "Runs"),
    ("repeat", "How to repeat it"),
];

/// Writes everything.
pub fn write(html: &mut Html, report: &Report, moving: &Moving) {
    let count = report.runs.len();
    html.element("h1", "What was learned");
    html.element(
        "p",
        &format!(
            "A report of {count} run{} by pgn {}. This file needs no network and no other file.",
            if count == 1 { "" } else { "s" },
            env!("CARGO_PKG_VERSION")
        ),
    );
    let links = CONTENTS.map(|(id, title)| format!("<li><a href=\"#{id}\">{title}</a></li>"));
    let links = links.concat();
    html.raw(&format!("<nav aria-label=\"Contents\"><ul class=\"contents\">{links}</ul></nav>"));
    scores(html, report);
    curves(html, moving);
    analysed(html, report);
    rollouts(html, moving);
    runs(html, report, moving);
    repeat(html, report);
}

fn scores(html: &mut Html, report: &Report) {
    html.heading("scores", "Scores");
    html.element(
        "p",
        "Models are rolled out freely on test sequences they never saw. F₁ counts answer 1 as \
         positive. In each pair of columns the first is ours, the second the paper's: mean ± \
         standard deviation over seeds. A dash: not measured, or not in the paper.",
    );
    if let Some(sentence) = tables::grouping(&report.collection) {
        html.element("p", sentence);
    }
    // A hundred rows would hide what comes after them.
    let folded = report.runs.len() > 20;
    if !folded {
        html.table(&all_runs(report));
    }
    for task in report.collection.tasks() {
        html.element("h3", &title(task));
        let known = tables::of_task(&report.collection, task);
        known.iter().filter(|table| table.rows.len() > 1).for_each(|table| html.table(table));
    }
    if folded {
        let count = report.runs.len();
        html.raw(&format!("<details><summary>All {count} runs, a row each</summary>"));
        html.table(&all_runs(report));
        html.raw("</details>");
    }
    write_claims(html, "The paper's claims", &claims(&report.collection));
    write_claims(
        html,
        "The claims for models that read their own pointers in training: here, pgn is pgn-free",
        &free_claims(&report.collection),
    );
}

/// Every run in a line.
fn all_runs(report: &Report) -> Table {
    let sizes = report.collection.sizes();
    let mut header =
        ["", "task", "model", "seed", "epochs", "best", "validation F₁"].map(String::from).to_vec();
    header.extend(sizes.iter().map(|nodes| format!("F₁ n = {nodes}")));
    let row = |run: &ReportedRun| {
        let results = &run.results;
        let mut cells = vec![
            run.name.clone(),
            results.task.clone(),
            format!("`{}`", results.model),
            results.seed.to_string(),
            results.epochs.to_string(),
            results.best_epoch.to_string(),
            format!("{:.3}", results.validation.f1),
        ];
        let f1 = |&nodes: &usize| match results.at(nodes) {
            Some(scores) => format!("{:.3}", scores.f1),
            None => "–".to_owned(),
        };
        cells.extend(sizes.iter().map(f1));
        cells
    };
    Table { title: "All runs".to_owned(), header, rows: report.runs.iter().map(row).collect() }
}

fn write_claims(html: &mut Html, title: &str, claims: &[Claim]) {
    if claims.is_empty() {
        return;
    }
    html.element("h3", title);
    for claim in claims {
        html.raw(&format!("<p><b>{}</b>: {}.</p>", escape(claim.name), claim.verdict()));
        html.element("p", claim.criterion);
        html.raw("<ul>");
        for Check { text, holds, seeds } in &claim.checks {
            let seeds = seeds.map_or(String::new(), |(yes, of)| format!(" ({yes} of {of} seeds)"));
            let (class, mark) = if *holds { ("yes", "✓ yes") } else { ("no", "✗ no") };
            html.raw(&format!("<li><span class=\"{class}\">{mark}</span>: "));
            html.element("span", &(text.clone() + &seeds));
            html.raw("</li>");
        }
        html.raw("</ul>");
    }
}

fn curves(html: &mut Html, moving: &Moving) {
    html.heading("curves", "Learning curves");
    if moving.comparisons.is_empty() {
        html.element("p", "None of these runs has its metrics with it.");
        return;
    }
    html.element(
        "p",
        "Means over seeds. A curve can be read with the mouse, or with the arrow keys once it has \
         the focus. Each run's own curves are among the runs, below.",
    );
    let places: String = moving.comparisons.iter().map(place).collect();
    html.raw(&format!("<div class=\"charts\">{places}</div>"));
}

fn place(curves: &usize) -> String {
    format!("<div data-curves=\"{curves}\"></div>")
}

fn analysed(html: &mut Html, report: &Report) {
    let figures = pgn_figures::of_analyses(&report.analyses);
    let (beyond, figures): (Vec<_>, Vec<_>) =
        figures.into_iter().partition(|figure| figure.name == "beyond");
    let (credit, pointers): (Vec<_>, Vec<_>) =
        figures.into_iter().partition(|figure| figure.name.starts_with("credit"));
    beyond_counting(html, report, beyond);
    credit_and_pointers(html, report, credit, pointers);
}

fn draw(html: &mut Html, figures: Vec<Figure>) {
    for figure in figures {
        let picture = format!(
            "<figure class=\"figure\"><div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Figure {}\">{}</div>",
            escape(&figure.name),
            figure.svg
        );
        html.raw(&picture);
        html.element("figcaption", &figure.caption);
        html.raw("</figure>");
    }
}

fn beyond_counting(html: &mut Html, report: &Report, figures: Vec<Figure>) {
    html.heading("beyond", "Beyond counting");
    html.element(
        "p",
        "Counting how often the two nodes appeared before gives much of F₁ without any data \
         structure. Among operations whose nodes appeared equally often, how much likelier is the \
         answer 1 where it is right than where it is wrong?",
    );
    draw(html, figures);
    for task in analysis::tasks(&report.analyses) {
        if let Some(table) = analysis::beyond(&report.analyses, task) {
            html.element("h3", &title(task));
            html.table(&table);
        }
    }
}

fn credit_and_pointers(
    html: &mut Html,
    report: &Report,
    credit: Vec<Figure>,
    pointers: Vec<Figure>,
) {
    html.heading("credit", "Credit");
    html.element(
        "p",
        "The readout takes the maximum over nodes in each dimension of z and h, so that each \
         dimension of what the decoder reads comes from exactly one node. How much of it comes \
         from the nodes that matter to an operation, those with mask 0 in the truth, and how much \
         would if all nodes got the same?",
    );
    let (apart, together): (Vec<_>, Vec<_>) =
        credit.into_iter().partition(|f| f.name.ends_with("-z") || f.name.ends_with("-h"));
    draw(html, together);
    if !apart.is_empty() {
        html.raw("<details><summary>The same for z and h apart</summary>");
        draw(html, apart);
        html.raw("</details>");
    }
    let tasks = analysis::tasks(&report.analyses);
    let tables: Vec<(&str, Vec<Table>)> =
        tasks.into_iter().map(|task| (task, analysis::of_task(&report.analyses, task))).collect();
    for (task, tables) in &tables {
        html.element("h3", &title(task));
        tables.iter().take(1).for_each(|table| html.table(table));
    }
    html.heading("pointers", "Pointers");
    html.element(
        "p",
        "Pointers are valid after an operation if the same nodes are connected as in the truth, \
         and every pointer leads to a node that points to itself. Depth is the most pointers to \
         follow from a node to its root; diameter the longest of all shortest paths.",
    );
    for (task, tables) in &tables {
        if tables.len() > 1 {
            html.element("h3", &title(task));
        }
        tables.iter().skip(1).for_each(|table| html.table(table));
    }
    draw(html, pointers);
    write_claims(
        html,
        "What the paper says of credit and pointers",
        &analyses::claims(&report.analyses),
    );
}

fn rollouts(html: &mut Html, moving: &Moving) {
    html.heading("rollouts", "Rollouts");
    html.element(
        "p",
        "The data structure and the model side by side. Play, or click into a player and step \
         with the arrow keys; a click on a node tells about it.",
    );
    for (index, title) in moving.replays.iter().enumerate() {
        html.element("h3", title);
        html.raw(&format!("<div data-replay=\"{index}\"></div>"));
    }
}

/// The runs, those of one model and task together.
fn runs(html: &mut Html, report: &Report, moving: &Moving) {
    html.heading("runs", "Runs");
    type Group<'a> = (String, Vec<(&'a ReportedRun, &'a Vec<usize>)>);
    let mut groups: Vec<Group> = Vec::new();
    for (run, curves) in report.runs.iter().zip(&moving.of_run) {
        let name = format!("{} {}", run.results.task, run.results.model);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, runs)) => runs.push((run, curves)),
            None => groups.push((name, vec![(run, curves)])),
        }
    }
    for (name, runs) in groups {
        let count = runs.len();
        html.element("h3", &format!("{name}, {count} run{}", if count == 1 { "" } else { "s" }));
        runs.into_iter().for_each(|(run, curves)| one_run(html, run, curves));
    }
}

fn one_run(html: &mut Html, run: &ReportedRun, curves: &[usize]) {
    let results = &run.results;
    let scores: Vec<String> =
        results.test.iter().map(|test| format!("{:.3}", test.scores.f1)).collect();
    html.raw(&format!(
        "<details class=\"run\"><summary><b>{}</b>: seed {}, test F₁ {}</summary>",
        escape(&run.name),
        results.seed,
        scores.join(", ")
    ));
    html.element(
        "p",
        &format!(
            "{} `{}`, seed {}: {} epochs, best at {}; {} weights; {:.0} s of training.",
            results.task,
            results.model,
            results.seed,
            results.epochs,
            results.best_epoch,
            results.parameters,
            results.timing.train_seconds
        ),
    );
    let places: String = curves.iter().map(place).collect();
    html.raw(&format!("<div class=\"charts\">{places}</div>"));
    html.element("p", "Its `config.toml`, from which `pgn train --config` repeats it:");
    html.pre(&run.config_text);
    html.raw("</details>");
}

fn repeat(html: &mut Html, report: &Report) {
    html.heading("repeat", "How to repeat it");
    html.element(
        "p",
        &format!(
            "Everything follows from the configs: the same settings give the same bits, whatever \
             the machine's number of threads. With pgn {}, and a run's config saved as \
             `config.toml`:",
            env!("CARGO_PKG_VERSION")
        ),
    );
    html.pre(
        "pgn train --config config.toml --out runs/again\n\
         pgn eval runs/again\n\
         pgn analyse runs/again\n\
         pgn report runs/again --out report.html",
    );
    let paper = report
        .runs
        .iter()
        .all(|run| run.results.epochs == 5000 && ["dsu", "lct"].contains(&&*run.results.task));
    if paper {
        html.element("p", "The paper's whole grid, ten models, two tasks and five seeds:");
        html.pre("pgn reproduce --full --out runs/paper\npgn report runs/paper --out report.html");
    }
}
