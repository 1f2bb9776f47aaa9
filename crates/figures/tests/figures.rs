//! What holds for every figure, whatever the numbers.

use pgn_engine::Model;
use pgn_figures::{Figure, of_analyses};
use pgn_lab::analysis::{Analyses, analyse_model};
use pgn_lab::{Data, RunConfig};
use pgn_structures::Task;

fn figures() -> Vec<Figure> {
    let mut runs = Vec::new();
    for task in ["dsu", "lct"] {
        for (model, seed) in [("gnn", 0), ("pgn", 0), ("pgn", 1)] {
            let mut settings = toml::toml! { test = { nodes = [6, 9], sequences = 3 } };
            settings.insert("task".into(), task.into());
            settings.insert("model".into(), model.into());
            settings.insert("seed".into(), seed.into());
            let config = RunConfig::resolve(settings).unwrap();
            let model = Model::new(config.network.clone(), config.seed).unwrap();
            let data = Data::tests_only(&config, &Task::named(task).unwrap(), "".as_ref()).unwrap();
            runs.push(analyse_model(&config, &model, &data).unwrap());
        }
    }
    of_analyses(&Analyses::new(runs))
}

/// The numbers of an attribute, wherever it occurs.
fn numbers<'a>(svg: &'a str, attribute: &'a str) -> impl Iterator<Item = f64> + 'a {
    let parts = svg.split(attribute).skip(1);
    parts.map(|rest| rest[..rest.find('"').unwrap()].parse().unwrap())
}

#[test]
fn figures_stay_inside_their_frame_and_name_their_axes() {
    let figures = figures();
    assert_eq!(figures.len(), 11);
    for Figure { name, caption, svg } in &figures {
        let [width, height] =
            [" width=\"", " height=\""].map(|of| numbers(svg, of).next().unwrap());
        assert!(svg.contains(&format!("viewBox=\"0 0 {width} {height}\"")));
        let most = [(" x=\"", width), (" y=\"", height), ("cx=\"", width), ("cy=\"", height)];
        for (attribute, most) in most {
            for number in numbers(svg, attribute) {
                assert!((0.0..=most).contains(&number), "{name}: {attribute}{number}");
            }
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        let axes = [">operation<", ">operations / n<", ">nodes, n<"];
        assert!(axes.iter().any(|axis| svg.contains(axis)), "{name}");
        assert!(svg.contains("prefers-color-scheme: dark"), "{name}");
        assert!(!caption.is_empty());
    }
}

#[test]
fn the_figures_in_the_docs_are_what_the_results_draw() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut compared = 0;
    for figure in pgn_figures::draw(&root.join("results/paper")).unwrap() {
        let path = root.join("docs/images").join(format!("{}.svg", figure.name));
        // Not every figure has to be in the docs.
        if let Ok(there) = std::fs::read_to_string(&path) {
            compared += 1;
            assert!(
                there == figure.svg,
                "{} is not current: run `pgn figures results/paper --out docs/images`",
                path.display()
            );
        }
    }
    assert!(compared >= 10, "{compared}");
}
