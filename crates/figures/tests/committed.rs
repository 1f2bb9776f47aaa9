//! The committed figures are what the committed numbers give.

use std::{fs, path::Path};

#[test]
fn figures_are_the_same_bytes_again() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let figures = pgn_figures::draw(&repository.join("results/paper")).unwrap();
    assert_eq!(figures.len(), 12);
    for figure in figures {
        let path = repository.join("docs/images").join(format!("{}.svg", figure.name));
        let committed = fs::read_to_string(&path).unwrap();
        assert!(committed == figure.svg, "{}: run pgn figures", path.display());
    }
}
