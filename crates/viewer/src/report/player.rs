//! The player alone: one recorded rollout in one HTML file.

use pgn_engine::Rollout;
use pgn_lab::collection::Table;
use pgn_structures::{Sequence, Task};

use super::{html::Html, moving::Data};
use crate::{Result, recorded::recorded};

/// The page of `pgn report` with nothing but a player in it: the truth and what a model, ours or
/// not, did on the same operations. The text of an HTML file.
///
/// ```
/// use pgn_engine::{Config, Model};
/// use pgn_structures::{Dataset, Sampling, Task};
///
/// let set = Dataset::sample(&Task::named("dsu")?, &Sampling::paper(8))?;
/// let rollout = Model::new(Config::preset("pgn")?, 0)?.rollout(set.sequence(0))?;
/// let page = pgn_viewer::player("dsu", set.sequence(0), &rollout)?;
/// assert!(page.starts_with("<!doctype html>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn player(task: &str, sequence: Sequence<'_>, rollout: &Rollout) -> Result<String> {
    let replay = recorded(task, Task::named(task).ok().as_ref(), sequence, rollout)?;
    let mut html = Html::new();
    html.raw("<div data-replay=\"0\"></div>");
    let mut data = Data::default();
    data.replays.push(replay);
    html.finish(&format!("A rollout: {task}"), &data)
}

/// A rollout to be played in a [`page()`].
pub struct Played<'a> {
    /// What stands above the player.
    pub title: &'a str,
    /// What the model did.
    pub rollout: &'a Rollout,
}

/// A page of its own: paragraphs, a table, and players of rollouts on one sequence. The text of an
/// HTML file. Names in backticks are set as code.
pub fn page(
    title: &str,
    paragraphs: &[String],
    table: &Table,
    task: &str,
    sequence: Sequence<'_>,
    played: &[Played<'_>],
) -> Result<String> {
    let mut html = Html::new();
    html.element("h1", title);
    for paragraph in paragraphs {
        html.element("p", paragraph);
    }
    html.table(table);
    let mut data = Data::default();
    for Played { title, rollout } in played {
        html.element("h2", title);
        html.raw(&format!("<div data-replay=\"{}\"></div>", data.replays.len()));
        data.replays.push(recorded(task, Task::named(task).ok().as_ref(), sequence, rollout)?);
    }
    html.finish(title, &data)
}

#[cfg(test)]
mod tests {
    use pgn_engine::{Config, Model};
    use pgn_structures::{Dataset, Node, Sampling};

    use super::*;

    #[test]
    fn a_rollout_is_replayed_step_by_step() {
        let set = Dataset::sample(&Task::named("lct").unwrap(), &Sampling::paper(9)).unwrap();
        let sequence = set.sequence(0);
        let model = Model::new(Config::preset("pgn").unwrap(), 1).unwrap();
        let mut rollout = model.rollout(sequence).unwrap();
        let replay = recorded("lct", None, sequence, &rollout).unwrap();
        assert_eq!(replay.steps.len(), set.ops);
        let mut pointers: Vec<Node> = (0..9).collect();
        for (t, step) in replay.steps.iter().enumerate() {
            for &[node, to] in &step.truth.moved {
                pointers[node as usize] = to;
            }
            assert_eq!(pointers, sequence.pointers_after(t));
            assert_eq!(step.model.answer == 1, rollout.query_logits[t] > 0.0);
        }
        assert!(player("lct", sequence, &rollout).unwrap().contains("data-replay"));
        rollout.pointers.as_mut().unwrap()[3] = 9;
        let error = player("lct", sequence, &rollout).unwrap_err().to_string();
        assert!(error.contains("has a pointer to 9; expected a node below 9"), "{error}");
        rollout.query_logits.pop();
        let error = player("lct", sequence, &rollout).unwrap_err().to_string();
        assert!(error.contains("has 12 query logits; expected 13"), "{error}");
    }
}
