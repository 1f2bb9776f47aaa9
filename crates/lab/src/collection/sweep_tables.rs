//! The results of a sweep in tables: a row for each model and variant, mean and spread over seeds.

use pgn_runs::files;

use crate::{
    Queue, Result, Results,
    collection::{Collection, Spread, Table, title},
};

/// Where the tables of a queue are written.
const TABLES: &str = "tables.md";

/// Gathers the finished runs of a queue, writes `runs.json` and `tables.md`, and returns both.
pub fn sweep_tables(queue: &Queue) -> Result<(Collection, String)> {
    let (finished, others) = queue.finished();
    let mut results: Vec<Results> = Vec::new();
    for entry in &finished {
        results.push(Results::load(&entry.directory)?);
    }
    let total = queue.entries().len();
    let mut text = format!(
        "# Results of a sweep\n\nGenerated from {} of {total} runs. F₁ on the validation set \
         and on each test size: mean ± sample standard deviation over seeds.\n\n",
        results.len()
    );
    if others > 0 {
        text += &format!(
            "Left out, since their settings are not the sweep's: {others} of the runs that are \
             there.\n\n"
        );
    }
    let mut tasks: Vec<&str> = Vec::new();
    let mut rows: Vec<(&str, &str, Option<&str>)> = Vec::new();
    for entry in &finished {
        let row = (&*entry.task, &*entry.model, entry.variant.as_deref());
        if !rows.contains(&row) {
            rows.push(row);
        }
        if !tasks.contains(&row.0) {
            tasks.push(row.0);
        }
    }
    for task in tasks {
        let of_task = || finished.iter().zip(&results).filter(|(entry, _)| entry.task == task);
        let mut sizes: Vec<usize> =
            of_task().flat_map(|(_, run)| run.test.iter().map(|test| test.nodes)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut header = ["", "runs", "validation"].map(str::to_owned).to_vec();
        header.extend(sizes.iter().map(|n| format!("n = {n}")));
        let row = |&(_, model, variant): &(&str, &str, Option<&str>)| {
            let runs: Vec<&Results> = of_task()
                .filter(|(entry, _)| (&*entry.model, entry.variant.as_deref()) == (model, variant))
                .map(|(_, run)| run)
                .collect();
            let mut cells = vec![match variant {
                None => format!("`{model}`"),
                Some(variant) => format!("`{model}` {variant}"),
            }];
            cells.push(runs.len().to_string());
            cells.push(cell(runs.iter().map(|run| run.validation.f1)));
            cells.extend(
                sizes.iter().map(|&n| cell(runs.iter().filter_map(|run| Some(run.at(n)?.f1)))),
            );
            cells
        };
        let rows = rows.iter().filter(|(other, ..)| *other == task).map(row).collect();
        text += &Table { title: title(task), header, rows }.markdown();
    }
    let directories: Vec<_> = finished.iter().map(|entry| entry.directory.clone()).collect();
    let runs = Collection::gather(&directories)?;
    files::make_dir(queue.out())?;
    runs.save(queue.out())?;
    files::write(&queue.out().join(TABLES), text.as_bytes())?;
    Ok((runs, text))
}

/// Mean and spread of some scores; a dash where there are none.
fn cell(scores: impl Iterator<Item = f64>) -> String {
    let spread = Spread::of(&scores.collect::<Vec<_>>());
    spread.map_or("–".to_owned(), |spread| match spread.std {
        Some(std) => format!("{:.3} ± {std:.3}", spread.mean),
        None => format!("{:.3}", spread.mean),
    })
}
