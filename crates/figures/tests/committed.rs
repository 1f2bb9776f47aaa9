//! The committed figures are what the committed numbers give.

use std::{collections::BTreeSet, fs, path::Path};

/// `chain-pgn-free` is of the kind `chain`.
fn kind(name: &str) -> &str {
    name.split('-').next().unwrap_or(name)
}

#[test]
fn figures_are_the_same_bytes_again() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let images = repository.join("docs/images");
    let figures = pgn_figures::draw(&repository.join("results/paper")).unwrap();
    let drawn: BTreeSet<_> = figures.iter().map(|figure| figure.name.clone()).collect();
    assert_eq!(drawn.len(), figures.len(), "two figures have the same name");

    let kinds: BTreeSet<_> = drawn.iter().map(|name| kind(name)).collect();
    let expected = ["beyond", "chain", "credit", "depth", "diameter", "f1", "validity"];
    assert_eq!(kinds, BTreeSet::from(expected));

    // No figure is missing, and none is left over from results that are gone.
    let committed: BTreeSet<_> = fs::read_dir(&images)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".svg").map(str::to_owned))
        .filter(|name| kinds.contains(kind(name)))
        .collect();
    assert_eq!(committed, drawn, "run pgn figures");

    for figure in figures {
        let path = images.join(format!("{}.svg", figure.name));
        assert!(
            fs::read_to_string(&path).unwrap() == figure.svg,
            "{}: run pgn figures",
            path.display()
        );
    }
}
