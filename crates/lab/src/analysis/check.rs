//! Whether the numbers of an `analyses.json` can be what they say they are: the file may come from
//! anywhere, and figures index by what is in it.

use super::{Analysis, Chain, Credit, PointerStudy, Shares};

/// The most nodes that sequences may have.
const MAX_NODES: usize = 1 << 24;

impl Analysis {
    /// What is wrong with it, in words, if anything is.
    pub(super) fn check(&self) -> Result<(), String> {
        for beyond in &self.beyond {
            within("beyond", &[beyond.where_1, beyond.where_0], 1.0)?;
        }
        self.credit.iter().try_for_each(check_credit)?;
        self.pointers.iter().try_for_each(check_pointers)?;
        self.chains.iter().try_for_each(check_chain)
    }
}

fn check_nodes(what: &str, nodes: usize) -> Result<(), String> {
    if (2..=MAX_NODES).contains(&nodes) {
        return Ok(());
    }
    Err(format!("{what} has {nodes} nodes; expected from 2 to {MAX_NODES}"))
}

/// Whether all values are from 0 to `most`; rounding may add a little.
fn within(what: &str, values: &[f64], most: f64) -> Result<(), String> {
    match values.iter().find(|value| !(-1e-5..=most + 1e-4).contains(*value)) {
        Some(value) => Err(format!("{what} has the number {value}; expected from 0 to {most}")),
        None => Ok(()),
    }
}

fn of_length(what: &str, found: usize, expected: usize) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} has {found} steps; expected {expected}"))
}

fn check_credit(credit: &Credit) -> Result<(), String> {
    check_nodes("credit", credit.nodes)?;
    within("credit.idle", &[credit.idle], 1.0)?;
    let Credit { z, h, both, live, baseline, .. } = credit;
    for shares in [z, h, both, live, baseline] {
        let Shares { mean, operated, path, others } = shares;
        within("credit.mean", &[mean.operated, mean.path, mean.others], 1.0)?;
        for along in [operated, path, others] {
            of_length("credit", along.len(), credit.ops)?;
            within("credit", along, 1.0)?;
        }
    }
    Ok(())
}

fn check_pointers(study: &PointerStudy) -> Result<(), String> {
    check_nodes("pointers", study.nodes)?;
    let (most, steps) = (study.nodes as f64, study.ops as f64);
    let &PointerStudy { valid, same_components, acyclic, sequences_valid, .. } = study;
    let &PointerStudy { pair_precision, pair_recall, steps_until_invalid, .. } = study;
    let shares = [valid, same_components, acyclic, sequences_valid, pair_precision, pair_recall];
    within("pointers", &shares, 1.0)?;
    within("pointers.steps_until_invalid", &[steps_until_invalid], steps)?;
    for shapes in [study.truth, study.model] {
        within("pointers", &[shapes.depth, shapes.mean_depth, shapes.diameter], most)?;
    }
    let along = &study.along;
    of_length("pointers.along.valid", along.valid.len(), study.ops)?;
    within("pointers.along.valid", &along.valid, 1.0)?;
    for row in
        [&along.truth_depth, &along.model_depth, &along.truth_diameter, &along.model_diameter]
    {
        of_length("pointers.along", row.len(), study.ops)?;
        within("pointers.along", row, most)?;
    }
    Ok(())
}

fn check_chain(chain: &Chain) -> Result<(), String> {
    let nodes = chain.nodes;
    check_nodes("a chain", nodes)?;
    of_length("a chain", chain.steps.len(), nodes - 1)?;
    for step in &chain.steps {
        let numbers =
            [step.truth_depth, step.model_depth, step.truth_diameter, step.model_diameter];
        if let Some(number) = numbers.iter().find(|&&number| number as usize >= nodes) {
            return Err(format!(
                "a chain has a depth or diameter of {number}; expected below its {nodes} nodes"
            ));
        }
    }
    let Some(pointers) = &chain.pointers else { return Ok(()) };
    for rows in [&pointers.truth, &pointers.model] {
        of_length("a chain's pointers", rows.len(), chain.steps.len())?;
        for row in rows {
            if row.len() != nodes {
                return Err(format!(
                    "a chain has a row of {} pointers; expected {nodes}",
                    row.len()
                ));
            }
            if let Some(node) = row.iter().find(|&&node| node as usize >= nodes) {
                return Err(format!(
                    "a chain has a pointer to {node}; expected a node below {nodes}"
                ));
            }
        }
    }
    Ok(())
}
