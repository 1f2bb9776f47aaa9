//! The numbers of the paper, to stand beside ours.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use pgn_lab::collection::Spread;

/// Tables 1 to 3 of the paper and the n = 200 result of its section 4.
#[derive(Debug, Deserialize)]
pub struct Numbers {
    f1: Columns,
    accuracy_percent: Columns,
    ablation_f1_lct_100: Means,
    scale_up_f1_lct_200_ops_300: BTreeMap<String, Cell>,
}

#[derive(Debug, Deserialize)]
struct Columns {
    columns: Vec<String>,
    mean: BTreeMap<String, Vec<f64>>,
    std: BTreeMap<String, Vec<f64>>,
}

#[derive(Debug, Deserialize)]
struct Means {
    mean: BTreeMap<String, f64>,
    std: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
struct Cell {
    mean: f64,
    std: f64,
}

/// The paper's numbers, built in.
pub fn numbers() -> &'static Numbers {
    static NUMBERS: LazyLock<Numbers> = LazyLock::new(|| {
        serde_json::from_str(include_str!("numbers.json"))
            .unwrap_or_else(|error| unreachable!("numbers.json is part of this crate: {error}"))
    });
    &NUMBERS
}

impl Numbers {
    /// The paper's F₁ of a model on a test size, from whichever table has it; `None` if none
    /// has.
    ///
    /// ```
    /// let paper = pgn_paper::numbers();
    /// assert_eq!(paper.f1("dsu", "pgn", 100).unwrap().mean, 0.866);
    /// assert_eq!(paper.f1("lct", "pgn", 200).unwrap().mean, 0.636);
    /// assert_eq!(paper.f1("lct", "supgnn", 100).unwrap().mean, 0.541);
    /// assert!(paper.f1("dsu", "supgnn", 100).is_none());
    /// ```
    pub fn f1(&self, task: &str, model: &str, nodes: usize) -> Option<Spread> {
        let ablation = || {
            let table = &self.ablation_f1_lct_100;
            let (mean, std) = (*table.mean.get(model)?, *table.std.get(model)?);
            ((task, nodes) == ("lct", 100)).then_some(Spread { mean, std: Some(std), count: 5 })
        };
        let scale_up = || {
            let cell = self.scale_up_f1_lct_200_ops_300.get(model)?;
            ((task, nodes) == ("lct", 200)).then_some(Spread {
                mean: cell.mean,
                std: Some(cell.std),
                count: 5,
            })
        };
        self.f1.cell(model, task, nodes).or_else(ablation).or_else(scale_up)
    }

    /// The paper's pointer accuracy (Table 2), as a fraction.
    pub fn pointer_accuracy(&self, task: &str, model: &str, nodes: usize) -> Option<Spread> {
        self.accuracy(&format!("pointers {model}"), task, nodes)
    }

    /// The paper's mask accuracy (Table 2), as a fraction.
    pub fn mask_accuracy(&self, task: &str, model: &str, nodes: usize) -> Option<Spread> {
        self.accuracy(&format!("masks {model}"), task, nodes)
    }

    fn accuracy(&self, row: &str, task: &str, nodes: usize) -> Option<Spread> {
        let percent = self.accuracy_percent.cell(row, task, nodes)?;
        let std = percent.std.map(|std| std / 100.0);
        Some(Spread { mean: percent.mean / 100.0, std, ..percent })
    }
}

impl Columns {
    fn cell(&self, row: &str, task: &str, nodes: usize) -> Option<Spread> {
        let name = format!("{task}-{nodes}");
        let column = self.columns.iter().position(|column| *column == name)?;
        let mean = *self.mean.get(row)?.get(column)?;
        Some(Spread { mean, std: self.std.get(row)?.get(column).copied(), count: 5 })
    }
}
