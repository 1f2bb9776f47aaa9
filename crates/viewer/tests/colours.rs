//! A model has one colour: the page's curves and the figures agree.

#[test]
fn the_page_draws_a_model_in_the_ink_of_the_figures() {
    let styles = include_str!("../web/src/style.css");
    let mut compared = 0;
    for line in styles.lines().filter(|line| line.starts_with(".model-")) {
        let (model, rest) = line[".model-".len()..].split_once(' ').unwrap();
        let ink = rest.split_once("var(--").unwrap().1.split_once(')').unwrap().0;
        // The page's vermilion is darker, for text, and is called red.
        let ink = if ink == "red" { "vermilion" } else { ink };
        if let Some(figures) = pgn_figures::model_ink(model) {
            assert_eq!(ink, figures, "{model}");
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared}");
}
