//! Entries and the leaderboard.

use std::{fmt::Write, path::Path};

use pgn_lab::{Error, collection::Spread, machine::MachineRun};
use pgn_runs::files;
use serde::{Deserialize, Serialize};

use crate::{Record, Result, SIZES, Scored, TASKS};

/// What a model was told in training: its rung on the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Supervision {
    /// The answers.
    Answers,
    /// … masks and pointers after each operation.
    Pointers,
    /// … the writes of each operation, in order.
    Writes,
    /// … its loads and stores.
    LoadsAndStores,
    /// … its micro-steps and their states.
    MicroSteps,
}

impl Supervision {
    const ALL: [(Supervision, &str); 5] = [
        (Supervision::Answers, "Answers"),
        (Supervision::Pointers, "Masks and pointers"),
        (Supervision::Writes, "Ordered writes"),
        (Supervision::LoadsAndStores, "Loads and stores"),
        (Supervision::MicroSteps, "Micro-steps with states"),
    ];
}

/// What is said about its being exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It was tested.
    Tested,
    /// It equals the program on every view.
    Certified,
    /// Certified, and the checker has verified the proof.
    Proved,
}

/// The card of an entry, `card.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The name in tables.
    pub name: String,
    /// What it was told.
    pub supervision: Supervision,
    /// How exact it is said to be.
    pub claim: Claim,
    /// Training data, time, parameters.
    pub budget: String,
    /// Where the code is.
    pub code: String,
    /// Of an entry that is proved: a built-in machine or a `proof.safetensors` in its folder for
    /// each task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<String>,
}

/// A model in the leaderboard.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it says of itself.
    pub card: Card,
    /// What it scored.
    pub records: Vec<Record>,
}

impl Entry {
    /// Reads an entry's folder.
    pub fn load(folder: &Path) -> Result<Entry> {
        let path = folder.join("card.toml");
        let card: Card = toml::from_str(&files::read_text(&path)?)
            .map_err(|error| Error::file(&path, error.message()))?;
        if card.name.is_empty() || card.name.contains(['|', '\n']) {
            return Err(Error::file(&path, "name is empty or has a `|` or a line break"));
        }
        let path = folder.join("scores.json");
        let records: Vec<Record> = serde_json::from_str(&files::read_text(&path)?)
            .map_err(|error| Error::file(&path, format!("no scores ({error})")))?;
        Ok(Entry { card, records })
    }

    /// The entries in the folders of a folder, by supervision and name. Those that are said to be
    /// proved have to be: a few seconds.
    pub fn load_all(folder: &Path) -> Result<Vec<Entry>> {
        let read = |cause| Error::from(pgn_runs::Error::io("read", folder)(cause));
        let mut entries = Vec::new();
        for inner in std::fs::read_dir(folder).map_err(read)? {
            let inner = inner.map_err(read)?.path();
            if inner.join("card.toml").exists() {
                let entry = Entry::load(&inner)?;
                entry.check_claim(&inner)?;
                entries.push(entry);
            }
        }
        if entries.is_empty() {
            return Err(Error::file(folder, "no folder in it has a card.toml; expected entries"));
        }
        entries.sort_by_key(|entry: &Entry| (entry.card.supervision, entry.card.name.clone()));
        Ok(entries)
    }

    /// Has the checker verify the proofs of an entry that is said to be proved, one for each of its
    /// tasks.
    fn check_claim(&self, folder: &Path) -> Result<()> {
        if self.card.claim != Claim::Proved {
            return Ok(());
        }
        let mut proved = Vec::new();
        for place in &self.card.proofs {
            let path = folder.join(place);
            let bytes = match path.is_file() {
                true => files::read(&path)?,
                false => MachineRun::built_in(place)?.proof(),
            };
            let report = pgn_check::check(&bytes).map_err(|refutation| {
                Error::file(&path, format!("not proved: {}: {}", refutation.part, refutation.why))
            })?;
            proved.push(report.program);
        }
        let is_proved = |task: &str| {
            proved
                .iter()
                .any(|program| program.strip_prefix(task).is_some_and(|v| v.starts_with(" (")))
        };
        match self.records.iter().find(|record| !is_proved(&record.task)) {
            None => Ok(()),
            Some(record) => Err(Error::file(
                &folder.join("card.toml"),
                format!("it claims to be proved, and no proof in `proofs` is of {}", record.task),
            )),
        }
    }

    fn at(&self, task: &str, nodes: usize) -> impl Iterator<Item = &Record> {
        let task = task.to_owned();
        self.records.iter().filter(move |record| record.task == task && record.nodes == nodes)
    }

    /// The mean of a score over seeds.
    fn mean<F: Fn(&Record) -> Option<f64>>(
        &self,
        task: &str,
        nodes: usize,
        score: F,
    ) -> Option<f64> {
        mean(self.at(task, nodes).filter_map(score))
    }

    /// The largest size without an error, of all sizes up to it.
    fn exact_up_to(&self, task: &str) -> Option<usize> {
        let right = |nodes: usize| {
            let mut some = self.at(task, nodes).peekable();
            some.peek().is_some() && some.all(|record| record.all.first_error.is_none())
        };
        let sizes = SIZES.into_iter().map(|(nodes, _)| nodes);
        sizes.take_while(|&nodes| right(nodes)).last()
    }
}

/// The leaderboard as Markdown, its scores at `nodes` nodes.
pub fn table(entries: &[Entry], nodes: usize) -> String {
    let mut text = format!(
        "# Leaderboard\n\nScores at n = {nodes}, models trained at n = 20, on sequences of five families. \
         Entries are grouped by what they were told in training.\n"
    );
    let tasks: Vec<&str> = TASKS
        .into_iter()
        .filter(|task| entries.iter().any(|entry| entry.at(task, nodes).next().is_some()))
        .collect();
    let any = |task: &str| entries.iter().find_map(|entry| entry.at(task, nodes).next());
    let _ = writeln!(text, "\n## F₁ of the answers\n");
    header(&mut text, &tasks);
    type Rule = fn(&Scored) -> Option<f64>;
    let rules: [(&str, Rule); 3] = [
        ("always 0", |_| Some(0.0)),
        ("always 1", |scored| Some(scored.scores.f1_always_1)),
        ("counting", |scored| scored.counting_f1),
    ];
    for (name, rule) in rules {
        let cells = tasks.iter().map(|task| number(any(task).and_then(|one| rule(&one.all))));
        row(&mut text, name, cells);
    }
    grouped(&mut text, entries, |entry| {
        let cell = |task: &&str| match spread(entry.at(task, nodes).map(|one| one.all.scores.f1)) {
            Some(Spread { mean, std: Some(std), .. }) => format!("{mean:.3} ± {std:.3}"),
            found => number(found.map(|spread| spread.mean)),
        };
        tasks.iter().map(cell).collect()
    });
    let _ = writeln!(
        text,
        "\n## Largest n without an error\n\nAll families and seeds; pointers count where there are some.\n"
    );
    header(&mut text, &tasks);
    grouped(&mut text, entries, |entry| {
        let up_to = |task: &&str| entry.exact_up_to(task).map_or("–".into(), |n| n.to_string());
        tasks.iter().map(up_to).collect()
    });
    let _ = writeln!(text, "\n## F₁ by family\n\nMeans over the tasks that an entry has.\n");
    let families = pgn_structures::Family::ALL.map(pgn_structures::Family::name);
    header(&mut text, &families);
    let every = |name: &str, score: Rule| {
        let of = |task: &&str| any(task).and_then(|one| one.families.get(name)).and_then(score);
        number(mean(tasks.iter().filter_map(of)))
    };
    for (name, rule) in &rules[1..] {
        row(&mut text, name, families.iter().map(|family| every(family, *rule)));
    }
    grouped(&mut text, entries, |entry| {
        let one = |family: &&str| {
            let of = |record: &Record| record.families.get(*family).map(|one| one.scores.f1);
            number(mean(tasks.iter().filter_map(|task| entry.mean(task, nodes, of))))
        };
        families.iter().map(one).collect()
    });
    details(&mut text, entries, &tasks, nodes);
    text
}

type Score = fn(&Record) -> Option<f64>;

/// What the details have: a score, and that of the best rule without a model.
const COLUMNS: [(&str, Score, Score); 6] = [
    (
        "accuracy",
        |one| Some(one.all.scores.accuracy),
        |one| Some(one.all.scores.answers_1.max(1.0 - one.all.scores.answers_1)),
    ),
    ("beyond counting", |one| Some(one.all.beyond_counting), |_| None),
    (
        "pointers",
        |one| one.all.scores.pointer_accuracy,
        |one| one.all.trivial.map(|rules| rules.point_to_self.max(rules.keep_pointers)),
    ),
    ("masks", |one| one.all.scores.mask_accuracy, |one| one.all.trivial.map(|r| r.never_visit)),
    ("exact sequences", |one| one.all.scores.sequences_exact, |_| None),
    ("s per 1,000 operations", |one| one.seconds, |_| None),
];

/// Everything else, a row per entry and task.
fn details(text: &mut String, entries: &[Entry], tasks: &[&str], nodes: usize) {
    let _ = writeln!(
        text,
        "\n## Details\n\nIn brackets: the best rule without a model (always 0 or always 1; pointing to \
         itself, or no pointer moves; no node is visited).\n"
    );
    let first = ["claim", "task", "seeds", "F₁ of the worst seed", "first error"];
    header(text, &[&first[..], &COLUMNS.map(|(name, ..)| name)].concat());
    for entry in entries {
        for &task in tasks.iter().filter(|task| entry.at(task, nodes).next().is_some()) {
            let worst = entry.at(task, nodes).map(|one| one.all.scores.f1).reduce(f64::min);
            let first = entry.at(task, nodes).filter_map(|one| one.all.first_error).min();
            let mut cells = vec![
                format!("{:?}", entry.card.claim).to_lowercase(),
                task.to_owned(),
                entry.at(task, nodes).count().to_string(),
                number(worst),
                first.map_or("none".into(), |step| step.to_string()),
            ];
            for (_, score, rule) in COLUMNS {
                let found = entry.mean(task, nodes, score);
                let rule = found.and(entry.mean(task, nodes, rule));
                let rule = rule.map_or(String::new(), |rule| format!(" ({rule:.3})"));
                cells.push(number(found) + &rule);
            }
            row(text, &entry.card.name, cells);
        }
    }
    let _ = writeln!(text, "\n## Entries\n");
    header(text, &["supervision", "budget", "code"]);
    for Entry { card, .. } in entries {
        let told = Supervision::ALL.iter().find(|(one, _)| *one == card.supervision);
        let told = told.map_or("", |(_, name)| *name).to_lowercase();
        row(text, &card.name, [told, card.budget.clone(), card.code.clone()]);
    }
}

/// A row for each entry, below one with its supervision.
fn grouped(text: &mut String, entries: &[Entry], cells: impl Fn(&Entry) -> Vec<String>) {
    for (supervision, name) in Supervision::ALL {
        let mut some = entries.iter().filter(|one| one.card.supervision == supervision).peekable();
        if some.peek().is_some() {
            row(text, &format!("**{name}**"), []);
        }
        some.for_each(|entry| row(text, &entry.card.name, cells(entry)));
    }
}

fn header(text: &mut String, columns: &[&str]) {
    row(text, "", columns.iter().map(|&column| column.to_owned()));
    row(text, "---", columns.iter().map(|_| "---".to_owned()));
}

fn row(text: &mut String, name: &str, cells: impl IntoIterator<Item = String>) {
    let cells = cells.into_iter().map(|cell| format!(" {} |", cell.replace('|', "/")));
    let _ = writeln!(text, "| {name} |{}", cells.collect::<String>());
}

fn number(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.3}"))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    spread(values).map(|spread| spread.mean)
}

fn spread(values: impl Iterator<Item = f64>) -> Option<Spread> {
    Spread::of(&values.collect::<Vec<_>>())
}
